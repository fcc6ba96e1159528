"""Fold the seeds of a grid: one row per (tau, lambda) cell with its mean, spread and what became of its runs.

Pages import this module, so it uses numpy and pandas only.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.training.spec import RunSpec

ENDED = ("finished", "diverged", "failed")
COLUMNS = ["tau", "lam", "mean", "sd", "n", "diverged", "failed", "live", "expected", "values", "run_ids"]


class Run(NamedTuple):
    """What a cell keeps of a run."""

    seed: int
    run_id: str
    status: str
    value: float  # NaN if not measured


def fold_cells(table: pd.DataFrame, metric: str, expected: Iterable[RunSpec] = ()) -> pd.DataFrame:
    """One row per cell of a tau-lambda grid.

    Args:
        table: One row per run with columns run_id, tau, lam, seed, status and `metric`, as Store.table gives it. A missing lam
            means tau, as in RunSpec.
        metric: Column to average, over finished runs with a finite value only; what became of the others is counted.
        expected: The runs the study asks for; cells without a result then appear with n = 0.

    Returns:
        Rows sorted by tau, then lam: tau, lam, mean and sd (NaN for none and below two values; sd with n - 1), n values,
        diverged, failed and live (begun, not ended) runs, expected runs, and tuples of the values and run ids in the order of
        their seeds (ids of runs that are not in the mean last).
    """
    asked: dict[tuple[float, float], set[str]] = {}
    for run in expected:
        asked.setdefault((run.tau, run.weight), set()).add(run.run_id)
    begun = _by_cell(table, metric) if len(table) else {}
    rows = [
        _fold(tau, lam, begun.get((tau, lam), []), asked.get((tau, lam), set())) for tau, lam in sorted(set(asked) | set(begun))
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _by_cell(table: pd.DataFrame, metric: str) -> dict[tuple[float, float], list[Run]]:
    """The runs of each cell, by seed. Plain lists: a group-by of pandas takes a hundred times as long for a few hundred rows."""
    taus = table["tau"].astype(float)
    lams = pd.to_numeric(table["lam"], errors="coerce").fillna(taus) if "lam" in table else taus
    values = pd.to_numeric(table[metric], errors="coerce") if metric in table else pd.Series(np.nan, table.index)
    cells: dict[tuple[float, float], list[Run]] = {}
    columns = (taus, lams, table["seed"], table["run_id"], table["status"], values)
    for tau, lam, *run in zip(*(column.tolist() for column in columns), strict=True):
        cells.setdefault((tau, float(lam)), []).append(Run(*run))
    return {cell: sorted(runs, key=lambda run: run.seed) for cell, runs in cells.items()}


def _fold(tau: float, lam: float, runs: list[Run], asked: set[str]) -> tuple:
    """One row of `fold_cells`."""
    good = [run for run in runs if run.status == "finished" and np.isfinite(run.value)]
    rest = [run for run in runs if not (run.status == "finished" and np.isfinite(run.value))]
    values = tuple(run.value for run in good)
    ended = {status: sum(run.status == status for run in runs) for status in ENDED}
    return (
        tau,
        lam,
        float(np.mean(values)) if values else np.nan,
        float(np.std(values, ddof=1)) if len(values) > 1 else np.nan,
        len(values),
        ended["diverged"],
        ended["failed"],
        len(runs) - sum(ended.values()),
        len(asked | {run.run_id for run in runs}),
        values,
        tuple(run.run_id for run in (*good, *rest)),
    )


def as_grid(cells: pd.DataFrame, column: str = "mean") -> tuple[list[float], list[float], np.ndarray]:
    """A column of `fold_cells` as a matrix.

    Returns:
        Temperatures (ascending), weights (ascending), and values of shape (weights, temperatures), NaN where there is no cell.
    """
    wide = cells.pivot(index="lam", columns="tau", values=column)
    return [float(tau) for tau in wide.columns], [float(lam) for lam in wide.index], wide.to_numpy(dtype=float)


def cell_at(cells: pd.DataFrame, tau: float, lam: float) -> pd.Series | None:
    """The row of one cell, or None; values are matched to a relative 1e-9, because they travel through addresses as text."""
    match = cells[np.isclose(cells["tau"], tau, rtol=1e-9, atol=0) & np.isclose(cells["lam"], lam, rtol=1e-9, atol=0)]
    return None if match.empty else match.iloc[0]


def neighbours(cells: pd.DataFrame, tau: float, lam: float) -> dict[str, pd.Series | None]:
    """The four cells next to one: "smaller tau", "larger tau", "smaller lambda", "larger lambda"; None beyond the grid's edge."""
    taus, lams = sorted(cells["tau"].unique()), sorted(cells["lam"].unique())
    column, row = int(np.argmin(np.abs(np.log(taus) - np.log(tau)))), int(np.argmin(np.abs(np.log(lams) - np.log(lam))))
    places = {
        "smaller tau": (column - 1, row),
        "larger tau": (column + 1, row),
        "smaller lambda": (column, row - 1),
        "larger lambda": (column, row + 1),
    }
    return {
        name: cell_at(cells, taus[i], lams[j]) if 0 <= i < len(taus) and 0 <= j < len(lams) else None
        for name, (i, j) in places.items()
    }
