"""Which runs are in progress, how far they are, and how long the rest will take: what a supervisor knows at any moment."""

import time
from typing import Any

from core.studies.study import seconds_each
from core.training.spec import RunSpec

PREPARING = {"download": "downloading", "read": "reading", "resize": "resizing images"}  # kinds of records of core.datasets
RECENT = 500  # timed runs that an estimate looks at


class Active:
    """One run that was handed out."""

    def __init__(self, run: RunSpec, label: str) -> None:
        self.run, self.label = run, label
        self.execution = ""  # the one whose records count; empty until a worker has begun
        self.attempt = 1  # over the life of the run's folder
        self.tries = 0  # workers that have begun it, in this session
        self.submissions = 0  # times handed to Dask, in this session
        self.epoch = 0  # finished epochs
        self.share = 0.0  # 0 to 1
        self.rate: float | None = None  # images per second
        self.began = 0.0  # seconds since 1970; 0 until a worker has begun
        self.activity = ""  # before training: what is done with the data

    def submit(self) -> None:
        """The run is handed to Dask; no worker has begun it yet."""
        self.submissions += 1
        self.execution = ""

    def begin(self, execution: str, attempt: int) -> None:
        """A worker has begun, perhaps again."""
        self.execution, self.attempt = execution, attempt
        self.tries += 1
        self.epoch, self.share, self.rate, self.began, self.activity = 0, 0.0, None, time.time(), ""

    def advance(self, record: dict[str, Any]) -> None:
        """Take in a progress record of the worker: kind "step" or "epoch", or what `preparing` knows."""
        if record.get("kind") not in ("step", "epoch"):
            self.activity = preparing(record)
            return
        self.activity = ""
        epochs = max(1, self.run.epochs)
        if record.get("kind") == "epoch":
            self.epoch = int(record.get("epoch", self.epoch + 1))
            self.share = self.epoch / epochs
        elif record.get("kind") == "step" and record.get("steps"):
            self.share = (int(record.get("epoch", 1)) - 1 + record.get("step", 0) / record["steps"]) / epochs
        self.share = min(1.0, max(0.0, self.share))
        self.rate = record.get("samples_per_second", self.rate)

    def facts(self) -> dict[str, Any]:
        """The run's entry in state.json."""
        return {
            "run_id": self.run.run_id,
            "label": self.label,
            "attempt": self.attempt,
            "epoch": self.epoch,
            "epochs": self.run.epochs,
            "share": round(self.share, 4),
            "samples_per_second": self.rate,
            "began": self.began,
            "activity": self.activity,
        }


def preparing(record: dict[str, Any]) -> str:
    """What a run does before it trains, such as "downloading train-images: 34 %"; empty if the record does not tell.

    Args:
        record: Of a data set that is being loaded: {"kind": "download" | "read" | "resize" | ..., "done", "total", "file"?}.
    """
    if not record.get("total"):
        return ""
    doing = PREPARING.get(record.get("kind", ""), "reading images")
    file = f" {record['file']}" if record.get("file") else ""
    return f"{doing}{file}: {100 * record.get('done', 0) / record['total']:.0f} %"


def seconds_left(
    waiting: list[RunSpec], active: list[Active], timed: list[tuple[RunSpec, float]], workers: int
) -> float | None:
    """Wall time until the study is done.

    Args:
        waiting: Runs not handed out yet.
        active: Runs handed out; their share is taken off.
        timed: Ended runs with their seconds.
        workers: Runs at the same time.

    Returns:
        Seconds; None before anything comparable was timed.
    """
    runs = [*waiting, *(one.run for one in active)]
    costs = seconds_each(runs, timed[-RECENT:])
    known = [cost for cost in costs if cost is not None]
    if not runs or not known:
        return None if runs else 0.0
    typical = sum(known) / len(known)
    shares = [0.0] * len(waiting) + [one.share for one in active]
    total = sum((typical if cost is None else cost) * (1 - share) for cost, share in zip(costs, shares, strict=True))
    return total / max(1, min(workers, len(runs)))
