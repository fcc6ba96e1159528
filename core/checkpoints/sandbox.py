"""Run the reading process, watch it, and turn its answers into reports: the parent's side.

A fresh process for each request takes a quarter of a second and 32 MB, because the reader needs NumPy but not torch
(a process with torch: 3 seconds and 520 MB). So none is kept waiting, and no file meets what another left behind.
Answers are JSON, checked against the report's fields; objects of the file never cross over.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import psutil
from pydantic import ValidationError

from core.checkpoints.report import CheckpointError, CheckpointReport, Choices, Limits

CHILD = Path(__file__).with_name("child.py")
LOOK_EVERY = 0.05  # seconds between looks at the child's memory
START_UP = 30.0  # seconds a process may take to start on a busy machine
SLACK = 2**26  # bytes that the process needs for itself
LONGEST_ANSWER = 64 * 2**20  # characters


class Job(NamedTuple):
    """One file to examine."""

    path: Path
    choices: Choices = Choices()
    out: Path | None = None  # folder for the encoder's tensors; None: report only


def run(jobs: Sequence[Job], limits: Limits) -> list[CheckpointReport | CheckpointError]:
    """Examine files in a reading process; one that dies costs its own file only.

    Returns:
        For each job a report, or the reason why there is none.
    """
    answers: list[CheckpointReport | CheckpointError] = []
    while len(answers) < len(jobs):
        answers += _run_until_death(jobs[len(answers) :], limits)
    return answers


def _run_until_death(jobs: Sequence[Job], limits: Limits) -> list[CheckpointReport | CheckpointError]:
    child = _start()
    try:
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=_forward, args=(child.stdout, lines), name="checkpoint-answers", daemon=True).start()
        with contextlib.suppress(OSError):  # it died at once; the answers say so
            child.stdin.write(json.dumps(_request(jobs, limits)))
            child.stdin.close()
        answers: list[CheckpointReport | CheckpointError] = []
        for _ in jobs:
            slack = START_UP if not answers else 0.0
            line = _wait(child, lines, limits, slack)
            answers.append(_answer(line) if isinstance(line, str) else line)
            if not isinstance(line, str):
                break
        return answers
    finally:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                stream.close()


def _start() -> subprocess.Popen[str]:
    environment = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ
    }
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")  # threads reserve memory
    environment["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # looking for plugins takes a tenth of the start
    return subprocess.Popen(
        [sys.executable, "-I", str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=environment, encoding="utf-8", errors="replace", close_fds=True,
    )  # fmt: skip


def _request(jobs: Sequence[Job], limits: Limits) -> dict[str, Any]:
    described = [
        {
            "path": str(job.path.absolute()),
            "choices": job.choices.model_dump(),
            "out": str(job.out.absolute()) if job.out else None,
        }
        for job in jobs
    ]
    return {"limits": limits.model_dump(), "jobs": described}


def _forward(stream: IO[str], lines: "queue.SimpleQueue[str]") -> None:
    """Move answers into a queue, because a queue can be waited for with a time limit; an empty line means the end."""
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(LONGEST_ANSWER):
            lines.put(line)
    lines.put("")


def _wait(child: subprocess.Popen[str], lines: "queue.SimpleQueue[str]", limits: Limits, slack: float) -> str | CheckpointError:
    """The next answer, or the reason why it does not come."""
    deadline = time.monotonic() + limits.seconds + slack
    while True:
        try:
            line = lines.get(timeout=LOOK_EVERY)
            return line or _death(child, limits)
        except queue.Empty:
            pass
        if time.monotonic() > deadline:
            return CheckpointError("too_slow", _slow(limits))
        if _memory(child) > limits.memory_bytes + SLACK:
            return limits.out_of_memory()


def _memory(child: subprocess.Popen[str]) -> int:
    """Resident bytes; the only limit on memory where the system enforces none (macOS, Windows)."""
    try:
        return psutil.Process(child.pid).memory_info().rss
    except psutil.Error:
        return 0


def _death(child: subprocess.Popen[str], limits: Limits) -> CheckpointError:
    code = child.wait()
    if hasattr(signal, "SIGXCPU") and code == -signal.SIGXCPU:
        return CheckpointError("too_slow", _slow(limits))
    if hasattr(signal, "SIGXFSZ") and code == -signal.SIGXFSZ:
        return CheckpointError("too_large", "The encoder would be written as a larger file than the checkpoint allows.")
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return CheckpointError(
        "crashed",
        (
            f"The process that read the file ended without an answer ({how}). "
            "The file is damaged or hostile; nothing else was affected."
        ),
    )


def _slow(limits: Limits) -> str:
    return (
        f"Reading the file took longer than {limits.seconds:g} s and was stopped. Save the state_dict alone, or raise the limit."
    )


def _answer(line: str) -> CheckpointReport | CheckpointError:
    try:
        answer = json.loads(line)
        if "report" in answer:
            return CheckpointReport.model_validate(answer["report"])
        return CheckpointError(answer["problem"], answer["message"])
    except (ValueError, KeyError, TypeError, ValidationError):
        return CheckpointError("crashed", "The process that read the file gave an answer that makes no sense; it was not used.")
