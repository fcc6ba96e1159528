"""Quick stand-ins for `core.training.loop.train_run`, imported by name in workers.

What they do is set by fields that mean something else in a real run: `weight_decay` is the length of an epoch in seconds, and
`data_root` a folder in which every execution leaves files `<run_id>.<phase>.<pid>.<chance>`, so that tests can count what was
really executed, and by which process.
"""

import math
import os
import secrets
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.datasets.dataset import DataError
from core.training.spec import RunResult, RunSpec


class TrainedRun(NamedTuple):
    result: RunResult
    history: list[dict]
    checkpoint: bytes | None
    embedding: dict[str, np.ndarray] | None


def trace(spec: RunSpec, phase: str) -> None:
    if spec.data_root:
        (Path(spec.data_root) / f"{spec.run_id}.{phase}.{os.getpid()}.{secrets.token_hex(4)}").touch()


def accuracy(spec: RunSpec) -> float:
    """A number that depends on the settings, so that a mix-up of runs is seen."""
    return round(0.9 / (1 + spec.bits) + 0.01 * spec.tau + 0.001 * spec.seed, 6)


def result_of(spec: RunSpec, status: str, epochs: int, seconds: float) -> RunResult:
    return RunResult(
        run_id=spec.run_id, status=status, linear_accuracy=accuracy(spec) if status == "finished" else None, epochs_done=epochs,
        seconds=seconds, n_train=4000, n_test=1000, classes=10, device="fake", versions={"torch": "0"},
        finished_at="2026-01-01T00:00:00+00:00",
    )


def quick(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    """`spec.epochs` epochs of `spec.weight_decay` seconds; stops when asked."""
    trace(spec, "begin")
    started = time.perf_counter()
    pause, history = spec.weight_decay, []
    for epoch in range(1, spec.epochs + 1):
        for step in range(4):
            if should_stop():
                trace(spec, "stopped")
                return TrainedRun(result_of(spec, "stopped", epoch - 1, 0.0), history, None, None)
            time.sleep(pause / 4)
            on_progress({"kind": "step", "epoch": epoch, "epochs": spec.epochs, "step": step, "steps": 4})
        history.append({"epoch": epoch, "loss": 1 / epoch, "attempt": attempt, "samples_per_second": 10.0})
        on_progress({"kind": "epoch", **history[-1], "loss": np.float32(1 / epoch)})  # numpy numbers must get through
    rng = np.random.default_rng(spec.seed)
    z = rng.normal(size=(700, 4)).astype(np.float16)
    embedding = {"z": z, "labels": np.arange(700) % 10, "index": np.arange(700), "histogram": np.ones(5)}
    trace(spec, "end")
    return TrainedRun(result_of(spec, "finished", spec.epochs, time.perf_counter() - started), history, b"weights", embedding)


def held(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    """Runs with bits are in progress until somebody makes the file `go` in `data_root`; the others are quick."""
    until = time.monotonic() + 120
    while spec.bits and not (Path(spec.data_root) / "go").exists() and time.monotonic() < until:
        time.sleep(0.05)
        on_progress({"kind": "step", "epoch": 1, "epochs": spec.epochs, "step": 0, "steps": 4})
    return quick(spec, on_progress, should_stop, attempt)


def failing(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    """Runs with 5 bits raise; the others are quick."""
    if spec.bits == 5:
        trace(spec, "begin")
        raise ValueError("5 bits make the input not fit the encoder")
    return quick(spec, on_progress, should_stop, attempt)


class Unsendable(Exception):
    """An exception that cannot be pickled, as some libraries raise."""

    def __reduce__(self):
        raise TypeError("not to be sent")


def unsendable(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    raise Unsendable("a message")


def without_data(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    raise DataError("data_root: there is no folder photos.")


def deadly(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    """Runs with 5 bits take their worker with them, as the kernel does when memory runs out; the others are quick."""
    if spec.bits == 5:
        trace(spec, "begin")
        on_progress({"kind": "epoch", "epoch": 1, "loss": 1.0})
        time.sleep(0.1)
        os._exit(9)
    return quick(spec, on_progress, should_stop, attempt)


def once_deadly(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    """The first execution of each run with 5 bits takes its worker with it."""
    mark = Path(spec.data_root) / f"died-{spec.run_id}"
    if spec.bits == 5 and not mark.exists():
        mark.touch()
        on_progress({"kind": "epoch", "epoch": 1, "loss": 99.0})
        time.sleep(0.3)
        os._exit(9)
    return quick(spec, on_progress, should_stop, attempt)


def diverging(spec: RunSpec, on_progress=None, should_stop=None, attempt=1) -> TrainedRun:
    """Ends with a loss that is not a number."""
    trace(spec, "begin")
    history = [{"epoch": 1, "loss": math.nan, "alignment": math.inf}]
    return TrainedRun(result_of(spec, "diverged", 1, 0.1), history, None, None)
