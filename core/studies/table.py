"""One row per run: the settings and the measurements of many runs as a pandas table."""

import math
import types
from collections.abc import Iterable
from typing import Any, Union, get_args, get_origin

import numpy as np
import pandas as pd

from core.training.spec import USES_TAU, RunResult, RunSpec

HEAD = ("run_id", "label", "status", "attempt")
# Fields of both, such as device and n_train: the measured value, once there is one.
COLUMNS = tuple(dict.fromkeys((*HEAD, *RunSpec.model_fields, *RunResult.model_fields)))
SPEC_DEFAULTS = RunSpec().model_dump(mode="json")
RESULT_DEFAULTS = {name: field.default for name, field in RunResult.model_fields.items() if not field.is_required()}


def _kind(annotation: Any) -> type:
    """How a column is stored: int, float, bool, or object for everything else."""
    while hasattr(annotation, "__metadata__"):  # Annotated
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        inner = {_kind(part) for part in get_args(annotation) if part is not type(None)}
        return float if inner <= {int, float} else object  # a missing number is NaN
    return annotation if annotation in (int, float, bool) else object


KINDS: dict[str, type] = {name: _kind(field.annotation) for name, field in RunSpec.model_fields.items()}
KINDS |= {name: _kind(field.annotation) for name, field in RunResult.model_fields.items() if name not in ("n_train", "n_test")}
KINDS |= {"attempt": int}


def table(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """The runs as a table.

    Args:
        rows: One per run: {"run_id", "label", "attempt", "status"?, "spec": changed fields, "result": measured fields}.

    Returns:
        One row per run with the columns `COLUMNS`: run_id, label (of its block), status, attempt, all fields of RunSpec and of
        RunResult. Numbers that were not measured are NaN.
    """
    rows = list(rows)
    specs = [row.get("spec") or {} for row in rows]
    results = [row.get("result") or {} for row in rows]
    columns = {name: _column(name, rows, specs, results) for name in COLUMNS}
    return pd.DataFrame(columns, columns=COLUMNS)


def _column(name: str, rows: list[dict], specs: list[dict], results: list[dict]) -> np.ndarray:
    if name in ("run_id", "label"):
        return _array([row.get(name, "") for row in rows], object)
    if name == "attempt":
        return _array([row.get(name, 1) for row in rows], int)
    if name == "status":
        return _array([row.get("status") or result.get("status", "") for row, result in zip(rows, results, strict=True)], object)
    kind = KINDS.get(name, object)
    if name not in SPEC_DEFAULTS:
        default = RESULT_DEFAULTS.get(name)
        return _array([result.get(name, default) for result in results], kind)
    default = SPEC_DEFAULTS[name]
    if name not in RunResult.model_fields:
        return _array([spec.get(name, default) for spec in specs], kind)
    return _array([result.get(name) or spec.get(name, default) for spec, result in zip(specs, results, strict=True)], kind)


def _array(values: list[Any], kind: type) -> np.ndarray:
    if kind is object:
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if kind is float:
        return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=np.int64 if kind is int else bool)


def used(runs: pd.DataFrame) -> pd.DataFrame:
    """The table without the dials that a run's objective does not look at: the tau of a supervised run says nothing.

    Args:
        runs: From `table`; not changed.

    Returns:
        A copy in which tau is NaN but for objectives with a temperature, and momentum but for MoCo.
    """
    objective = runs["objective"]
    return runs.assign(
        tau=runs["tau"].where(objective.isin(USES_TAU)), momentum=runs["momentum"].where(objective == "moco")
    )
