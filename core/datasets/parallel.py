"""Do something with many files at once, in threads, with progress. Pillow decodes and resizes outside Python's lock."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

BATCH = 64  # items per task of a thread
THREADS = 8  # at most
RECORD_EVERY = 0.25  # seconds between progress records

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[dict[str, Any]], None]


def attempt(function: Callable[[Item], Result], item: Item) -> Result | Exception:
    """The function's result, or the exception it raised: on damaged files Pillow's readers raise nearly anything."""
    try:
        return function(item)
    except Exception as error:
        return error


def attempt_all(
    function: Callable[[Item], Result], items: Sequence[Item], kind: str, on_progress: Progress
) -> list[Result | Exception]:
    """`attempt` for every item, several at a time.

    Args:
        function: What to do with one item; must be safe to call from several threads.
        items: The items.
        kind: Name of the progress records.
        on_progress: Called from this thread with {"kind": kind, "done": items, "total": items, "rate": items per second},
            at most four times a second, and at the end.

    Returns:
        Results and exceptions in the order of the items.
    """
    batches = [items[start : start + BATCH] for start in range(0, len(items), BATCH)]
    results: list[Result | Exception] = []
    began = told = time.monotonic()
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        for part in pool.map(lambda batch: [attempt(function, item) for item in batch], batches):
            results += part
            now = time.monotonic()
            if now - told >= RECORD_EVERY or len(results) == len(items):
                told = now
                rate = len(results) / max(now - began, 1e-9)
                on_progress({"kind": kind, "done": len(results), "total": len(items), "rate": rate})
    return results
