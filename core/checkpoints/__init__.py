"""Checkpoints of other codebases, opened safely. `inspect` and the report are light; `load_encoder` imports torch when called.

report = inspect("moco_v2_800ep_pretrain.pth.tar")
encoder, report = load_encoder("moco_v2_800ep_pretrain.pth.tar", normalisation="imagenet")
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.checkpoints.inspection import inspect, inspect_many
    from core.checkpoints.loading import load_encoder
    from core.checkpoints.normalise import PRESETS
    from core.checkpoints.report import CheckpointError, CheckpointReport, Choices, Limits
    from core.checkpoints.uploads import UploadStore

__all__ = [
    "PRESETS",
    "CheckpointError",
    "CheckpointReport",
    "Choices",
    "Limits",
    "UploadStore",
    "inspect",
    "inspect_many",
    "load_encoder",
]

_HOMES = {
    "inspect": "inspection",
    "inspect_many": "inspection",
    "load_encoder": "loading",
    "PRESETS": "normalise",
    "CheckpointError": "report",
    "CheckpointReport": "report",
    "Choices": "report",
    "Limits": "report",
    "UploadStore": "uploads",
}


def __getattr__(name: str):
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"core.checkpoints.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'core.checkpoints' has no attribute {name!r}")
