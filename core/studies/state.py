"""StudyState: how a study is doing, as its files and its supervisor's pulse tell."""

import time
from typing import Any, Literal, NamedTuple

from core.studies.process import is_here, is_running

STALLED_AFTER = 30.0  # seconds without a sign of life; the supervisor gives one every 2 s

StudyStatus = Literal[
    "missing",  # no such study
    "empty",  # defined, nothing run, nobody at work
    "queued",  # the supervisor starts up; no run has begun
    "running",
    "stalled",  # it should be running, but its supervisor is gone or silent; starting it again resumes it
    "stopped",  # stopped on request; starting it again resumes it
    "failed",  # ended by an error, see message
    "finished",
]
ACTIVE = frozenset({"queued", "running"})


class RunningRun(NamedTuple):
    """A run in progress."""

    run_id: str
    label: str
    attempt: int  # 1 for the first
    epoch: int  # finished epochs
    epochs: int
    share: float  # 0 to 1, of its epochs
    samples_per_second: float | None
    seconds: float  # since this attempt began
    activity: str = ""  # before training: "downloading train-images: 34 %"


class StudyState(NamedTuple):
    """How a study is doing."""

    status: StudyStatus
    total: int = 0  # runs of the study
    finished: int = 0
    diverged: int = 0
    failed: int = 0
    running: int = 0
    queued: int = 0
    heartbeat_age: float | None = None  # seconds since the supervisor's last sign of life
    started: float | None = None  # seconds since 1970
    seconds: float | None = None  # since the start, or from start to end
    seconds_left: float | None = None  # the supervisor's own estimate
    workers: int = 0
    pid: int | None = None
    message: str = ""  # why it failed, or what a reader should know
    runs: tuple[RunningRun, ...] = ()  # in progress

    @property
    def ended(self) -> int:
        """Runs that will not be run again in this session: finished, diverged or failed."""
        return self.finished + self.diverged + self.failed

    @property
    def active(self) -> bool:
        """Whether a supervisor is at work, so that a page should look again soon."""
        return self.status in ACTIVE


def judge(written: dict[str, Any], counts: dict[str, int], now: float | None = None) -> StudyState:
    """The state of a study from what its supervisor last wrote.

    Args:
        written: Content of state.json.
        counts: Ended runs by status, counted in the results.
        now: Seconds since 1970; None for the clock.

    Returns:
        The state; "running" only if the supervisor is alive and gave a sign within `STALLED_AFTER` seconds.
    """
    now = time.time() if now is None else now
    status = written.get("status", "")
    age = max(0.0, now - float(written.get("heartbeat", 0)))
    message = str(written.get("message", ""))
    ended = sum(counts.values())
    total = max(int(written.get("total", 0)), ended)
    runs: tuple[RunningRun, ...] = ()
    if status in ACTIVE:
        if (is_here(written) and not is_running(written)) or age > STALLED_AFTER:
            gone = is_here(written) and not is_running(written)
            message = "The supervisor is gone." if gone else f"No sign of life for {age:.0f} s."
            status = "stalled"
        else:
            runs = tuple(_running_run(run, now) for run in written.get("running", ()))
            status = "running" if runs or ended else "queued"
    elif status == "finished" and ended < total:
        status, message = "stopped", f"{total - ended} of {total} runs have no result, because they were deleted or are new."
    elif status not in {"stopped", "failed", "finished"}:
        status = "stopped" if ended else "empty"
    started = written.get("started")
    last = now if status in ACTIVE else float(written.get("heartbeat", 0))
    return StudyState(
        status=status,
        total=total,
        **{name: counts.get(name, 0) for name in ("finished", "diverged", "failed")},
        running=len(runs),
        queued=max(0, total - ended - len(runs)),
        heartbeat_age=age if "heartbeat" in written else None,
        started=started,
        seconds=max(0.0, last - started) if started else None,
        seconds_left=written.get("seconds_left") if status in ACTIVE else None,
        workers=int(written.get("workers", 0)) if status in ACTIVE else 0,
        pid=written.get("pid") if status in ACTIVE else None,
        message=message,
        runs=runs,
    )


def _running_run(run: dict[str, Any], now: float) -> RunningRun:
    epochs = max(1, int(run.get("epochs", 1)))
    return RunningRun(
        run_id=run["run_id"],
        label=run.get("label", ""),
        attempt=int(run.get("attempt", 1)),
        epoch=int(run.get("epoch", 0)),
        epochs=epochs,
        share=min(1.0, max(0.0, float(run.get("share", 0.0)))),
        samples_per_second=run.get("samples_per_second"),
        seconds=max(0.0, now - float(run.get("began", now))),
        activity=str(run.get("activity", "")),
    )
