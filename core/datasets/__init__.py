"""Data sets: sources, competing features, augmentation.

`load` and the shapes it returns are free of torch; `core.datasets.augment` is the part that works on tensors.
"""

__all__ = ["DataError", "DataSet", "Split", "load"]


def __getattr__(name: str):
    if name == "load":
        from core.datasets.sources import load

        return load
    if name in {"DataError", "DataSet", "Split"}:
        from core.datasets import dataset

        return getattr(dataset, name)
    raise AttributeError(f"module 'core.datasets' has no attribute {name!r}")
