"""Folding seeds into cells: means, spread, and every kind of run that is not in the mean."""

import numpy as np
import pandas as pd
import pytest

from core.studies.cells import as_grid, cell_at, fold_cells, neighbours
from core.training.spec import RunSpec


def runs(*rows) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["tau", "lam", "seed", "status", "linear_accuracy"])
    return table.assign(run_id=[f"{i:012x}" for i in range(len(table))])


def test_three_seeds_fold_into_one_cell():
    table = runs((0.1, 1, 2, "finished", 0.9), (0.1, 1, 0, "finished", 0.6), (0.1, 1, 1, "finished", 0.6))
    cells = fold_cells(table, "linear_accuracy")
    assert len(cells) == 1
    cell = cells.iloc[0]
    assert cell["mean"] == pytest.approx(0.7) and cell["sd"] == pytest.approx(np.sqrt(0.03)) and cell["n"] == 3
    assert cell["values"] == (0.6, 0.6, 0.9) and cell["run_ids"] == ("000000000001", "000000000002", "000000000000")


def test_only_finished_runs_with_a_value_are_averaged_and_the_others_counted():
    cells = fold_cells(
        runs(
            (0.1, 1, 0, "finished", 0.9), (0.1, 1, 1, "diverged", 0.1), (0.1, 1, 2, "failed", np.nan),
            (0.1, 1, 3, "running", 0.3), (0.1, 1, 4, "finished", np.nan), (0.1, 1, 5, "stopped", 0.2),
        ),
        "linear_accuracy",
    )  # fmt: skip
    cell = cells.iloc[0]
    assert (cell["n"], cell["diverged"], cell["failed"], cell["live"], cell["expected"]) == (1, 1, 1, 2, 6)
    assert cell["mean"] == 0.9 and np.isnan(cell["sd"])
    assert cell["run_ids"][0] == "000000000000" and len(cell["run_ids"]) == 6


def test_expected_cells_without_a_run_are_kept_as_missing():
    asked = [RunSpec(objective="gcl", tau=tau, lam=lam, seed=seed) for tau in (0.1, 1.0) for lam in (0.5, 2.0) for seed in (0, 1)]
    table = runs((0.1, 0.5, 0, "finished", 0.8))
    table["run_id"] = [asked[0].run_id]
    cells = fold_cells(table, "linear_accuracy", asked)
    assert list(zip(cells["tau"], cells["lam"], cells["n"], cells["expected"], strict=True)) == [
        (0.1, 0.5, 1, 2), (0.1, 2.0, 0, 2), (1.0, 0.5, 0, 2), (1.0, 2.0, 0, 2),
    ]  # fmt: skip
    assert fold_cells(pd.DataFrame(), "linear_accuracy", asked)["n"].sum() == 0
    assert fold_cells(pd.DataFrame(), "linear_accuracy").empty


def test_a_missing_lambda_is_tau():
    cells = fold_cells(runs((0.2, None, 0, "finished", 0.8)), "linear_accuracy")
    assert cells.iloc[0]["lam"] == 0.2


def test_a_metric_that_was_not_measured_gives_cells_without_values():
    assert fold_cells(runs((0.2, 1, 0, "finished", 0.8)), "tolerance").iloc[0]["n"] == 0


def test_grid_and_neighbours():
    table = runs(*[(tau, lam, 0, "finished", tau + 10 * lam) for tau in (0.1, 0.2, 0.5) for lam in (1, 2)])
    cells = fold_cells(table, "linear_accuracy")
    taus, lams, values = as_grid(cells)
    assert taus == [0.1, 0.2, 0.5] and lams == [1.0, 2.0]
    assert values == pytest.approx(np.array([[10.1, 10.2, 10.5], [20.1, 20.2, 20.5]]))
    beside = neighbours(cells, 0.2, 1)
    assert beside["smaller tau"]["tau"] == 0.1 and beside["larger tau"]["tau"] == 0.5
    assert beside["smaller lambda"] is None and beside["larger lambda"]["lam"] == 2
    assert cell_at(cells, float(f"{0.2:g}"), 1)["mean"] == pytest.approx(10.2) and cell_at(cells, 0.3, 1) is None
