"""Is the process that wrote a file still there? A number alone does not tell: it may be used again, or be a zombie."""

import os
import platform
from typing import Any

import psutil

CLOCK_STEP = 1.0  # seconds by which two readings of a process's start may differ


def identity(pid: int | None = None) -> dict[str, Any]:
    """What identifies a process for good: its number, its start and its machine.

    Args:
        pid: Process number; None for this process.

    Returns:
        {"pid", "created" (seconds since 1970), "host"}; created is 0 if the process has ended.
    """
    pid = os.getpid() if pid is None else pid
    try:
        created = psutil.Process(pid).create_time()
    except psutil.Error:
        created = 0.0
    return {"pid": pid, "created": created, "host": platform.node()}


def is_here(process: dict[str, Any]) -> bool:
    """Whether a process belongs to this machine, so that `is_running` can tell."""
    return process.get("host", platform.node()) == platform.node()


def is_running(process: dict[str, Any] | None) -> bool:
    """Whether the process with this identity runs on this machine.

    Args:
        process: From `identity`, or a file that holds it.

    Returns:
        False for ended processes, zombies, and another process that got the same number.
    """
    if not process or not is_here(process):
        return False
    try:
        found = psutil.Process(int(process["pid"]))
        return abs(found.create_time() - float(process["created"])) < CLOCK_STEP and found.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, KeyError, TypeError, ValueError):
        return False
