"""How an inspection is doing, as its files and the pulse of its process tell."""

import time
from typing import Any, Literal, NamedTuple

from core.studies.process import is_here, is_running

STALLED_AFTER = 60.0  # seconds without a sign of life; the process gives one with every batch and every part

Status = Literal[
    "missing",  # no such inspection
    "queued",  # its process starts up
    "running",
    "stalled",  # it should be running, but its process is gone or silent
    "stopped",  # stopped on request
    "failed",  # ended by an error, see message
    "finished",
]
ACTIVE = frozenset({"queued", "running"})


class InspectionState(NamedTuple):
    """How an inspection is doing."""

    status: Status
    part: str = ""  # what is being done: "training images"
    share: float = 0.0  # 0 to 1, of all the work
    rate: float | None = None  # images per second through the encoder
    seconds: float | None = None  # since the start, or from start to end
    seconds_left: float | None = None
    message: str = ""  # why it failed or stalled

    @property
    def active(self) -> bool:
        """Whether a process is at work, so that a page should look again soon."""
        return self.status in ACTIVE


def judge(written: dict[str, Any] | None, now: float | None = None) -> InspectionState:
    """The state of an inspection from what its process last wrote.

    Args:
        written: Content of state.json; None if there is none that can be read.
        now: Seconds since 1970; None for the clock.

    Returns:
        The state; active only if the process is alive and gave a sign within `STALLED_AFTER` seconds.
    """
    if not written or written.get("status") not in {*ACTIVE, "stopped", "failed", "finished"}:
        return InspectionState("missing")
    now = time.time() if now is None else now
    status, message = written["status"], str(written.get("message", ""))
    age = max(0.0, now - _number(written, "heartbeat", 0.0))
    if status in ACTIVE:
        gone = is_here(written) and not is_running(written)
        if gone or age > STALLED_AFTER:
            status = "stalled"
            message = "Its process is gone." if gone else f"No sign of life for {age:.0f} s."
    started = _number(written, "started")
    last = now if status in ACTIVE else _number(written, "heartbeat", now)
    return InspectionState(
        status=status,
        part=str(written.get("part", "")),
        share=min(1.0, max(0.0, _number(written, "share", 0.0))),
        rate=_number(written, "rate"),
        seconds=max(0.0, last - started) if started else None,
        seconds_left=_number(written, "seconds_left") if status in ACTIVE else None,
        message=message,
    )


def _number(written: dict[str, Any], name: str, otherwise: float | None = None) -> float | None:
    """A field as a number; another program may have put anything there."""
    value = written.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
