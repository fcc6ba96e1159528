"""Trained: what a run leaves behind, as plain data that can be sent and stored without torch."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np


TRAIN_RUN = "core.training.loop:train_run"  # what does one run; tests put something faster in its place


class Trained(NamedTuple):
    """`core.training.loop.TrainedRun`, for readers without torch."""

    result: dict[str, Any]  # fields of RunResult
    history: list[dict[str, Any]]  # one record per epoch
    checkpoint: bytes | None  # safetensors
    embedding: "dict[str, np.ndarray] | None"  # arrays of embedding.npz


def run_by_name(name: str) -> Callable[..., Any]:
    """The function that does a run.

    Args:
        name: "package.module:name"; called as `core.training.loop.train_run` is.

    Returns:
        The function; its module is imported, and torch with it.
    """
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)
