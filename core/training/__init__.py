"""Training. `RunSpec` and `RunResult` are light; `fit` imports torch when it is first asked for."""

from core.training.spec import RunResult, RunSpec

__all__ = ["RunResult", "RunSpec", "fit"]


def __getattr__(name: str):
    if name == "fit":
        from core.training.loop import fit

        return fit
    raise AttributeError(f"module 'core.training' has no attribute {name!r}")
