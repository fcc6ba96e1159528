"""How long a run will take here, from a few of its own training steps and its own evaluation."""

import time
from typing import Any

import torch

from core import datasets
from core.training.images import Images
from core.training.loop import Run, pinned, resolve_device
from core.training.spec import RunSpec

STEPS = 3  # timed, after one that warms up


def run_seconds(settings: dict[str, Any]) -> tuple[float, float]:
    """Time a run without doing it.

    Args:
        settings: RunSpec fields.

    Returns:
        Seconds of all its training steps, and of its evaluation. The data set is decoded on the way if it never was, which is
        not counted.

    Raises:
        ValueError: If the settings do not fit the data.
    """
    spec = RunSpec(**settings)
    device = resolve_device(spec.device)
    with pinned(spec.threads, spec.seed):
        images = Images(datasets.load(spec), spec, device)
        run = Run(spec, images, device, lambda record: None, lambda: False, 1)
        if spec.objective == "untrained" or spec.epochs == 0:
            each = 0.0
        else:
            trained_by = run.optimizers()
            order = torch.arange(spec.batch_size, device=device)
            run.step(order, *trained_by)
            started = time.perf_counter()
            for _ in range(STEPS):
                run.step(order, *trained_by)
            each = (time.perf_counter() - started) / STEPS
        started = time.perf_counter()
        run.measure()
        evaluation = time.perf_counter() - started
    return each * run.steps_per_epoch * spec.epochs, evaluation
