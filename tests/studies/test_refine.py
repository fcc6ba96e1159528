"""Studies made from studies: missing runs and weights around the ridge."""

import numpy as np
import pandas as pd
import pytest

from core.studies.cells import fold_cells
from core.studies.names import StudyError
from core.studies.refine import around_ridge, free_name, missing_runs, new_weights, study_of
from core.studies.ridge import find_ridge
from core.studies.study import StudySpec

TEXT = """
name = "small-map"
title = "A small map"
seeds = [0, 1]
[base]
objective = "gcl"
epochs = 5
[[block]]
label = "GCL"
[block.grid]
tau = [0.1, 0.2, 0.5, 1.0]
lam = [0.1, 0.2, 0.5, 1.0]
"""


@pytest.fixture
def study() -> StudySpec:
    return StudySpec.from_text(TEXT)


def table(runs, value=lambda run: 0.9 - 0.05 * (np.log(run.lam / run.tau)) ** 2) -> pd.DataFrame:
    rows = [(run.run_id, run.tau, run.lam, run.seed, "finished", value(run) + 0.001 * run.seed) for run in runs]
    return pd.DataFrame(rows, columns=["run_id", "tau", "lam", "seed", "status", "linear_accuracy"])


def test_the_missing_runs_and_only_they_make_a_study(study):
    runs = study.expand()
    measured = table(runs[:20])
    measured.loc[3, "status"] = "failed"
    measured.loc[4, "status"] = "diverged"
    left = missing_runs(study, measured)
    assert {run.run_id for run in left} == {run.run_id for run in [runs[3], *runs[20:]]}
    fill = study_of(left, "small-map-missing", "Missing cells")
    assert {run.run_id for run in fill.expand()} == {run.run_id for run in left}
    assert StudySpec.from_text(fill.to_toml()) == fill


def test_a_complete_study_has_nothing_to_fill(study):
    assert missing_runs(study, table(study.expand())) == []
    with pytest.raises(StudyError, match="nothing is missing: every run of the study has ended"):
        study_of([], "x", "X")


def test_new_weights_lie_beside_the_best_one():
    tested = np.array([0.1, 0.2, 0.5, 1.0])
    assert new_weights(tested, 0.2, np.nan, np.nan, "") == [0.14, 0.32]
    assert new_weights(tested, 0.2, 0.05, 0.9, "") == [0.14, 0.32, 0.71]
    assert new_weights(tested, 1.0, np.nan, np.nan, "high") == [0.71, 2.0]
    assert new_weights(tested, 0.1, np.nan, np.nan, "low") == [0.05, 0.14]
    assert new_weights(np.array([0.1, 0.14, 0.2, 0.32, 0.5]), 0.2, np.nan, np.nan, "") == [0.17, 0.25]


def test_cells_around_the_ridge(study):
    runs = study.expand()
    cells = fold_cells(table(runs), "linear_accuracy", runs)
    finer = around_ridge(study, cells, find_ridge(cells), {"small-map", "small-map-ridge"})
    assert finer.name == "small-map-ridge-2"
    old, new = {run.run_id for run in runs}, finer.expand()
    assert not old & {run.run_id for run in new}
    assert {run.seed for run in new} == {0, 1} and {run.epochs for run in new} == {5}
    assert {(run.tau, run.lam) for run in new if run.tau == 0.2} == {(0.2, 0.14), (0.2, 0.32)}
    assert {(run.tau, run.lam) for run in new if run.tau == 1.0} == {(1.0, 0.71), (1.0, 2.0)}
    merged = pd.concat([table(runs), table(new)])
    refined = fold_cells(merged, "linear_accuracy", [*runs, *new])
    assert find_ridge(refined).slope == pytest.approx(1, abs=0.05)


def test_without_a_ridge_there_is_nothing_to_refine(study):
    cells = fold_cells(pd.DataFrame(), "linear_accuracy", study.expand())
    with pytest.raises(StudyError, match="no ridge to refine yet"):
        around_ridge(study, cells, find_ridge(cells), set())


def test_names_stay_within_the_limit():
    assert free_name("a", {"a", "a-2"}) == "a-3"
    long = "x" * 64
    assert free_name(long, {long}) == "x" * 62 + "-2"
