"""Studies: grids of runs. Names are imported when they are first asked for: a worker needs no pandas, a page no Dask."""

from importlib import import_module

_HOMES = {"Store": "store", "StudyState": "state", "StudyError": "names", "StudySpec": "study", "run": "engine"}

__all__ = ["Store", "StudyError", "StudySpec", "StudyState", "run"]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"core.studies.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'core.studies' has no attribute {name!r}")
