"""Folding seeds: which runs form a line, and their mean and spread."""

import itertools
import math

import pandas as pd
import pytest

from core.figures.series import describe, differing, fold_seeds, name_series
from core.training.spec import RunSpec


def runs(*rows: dict) -> pd.DataFrame:
    """Runs with all RunSpec fields; further keys are results."""
    made = []
    for number, row in enumerate(rows):
        settings = {key: value for key, value in row.items() if key in RunSpec.model_fields}
        defaults = {"run_id": f"{number:012x}", "status": "finished", "label": ""}
        made.append(RunSpec(**settings).model_dump() | defaults | row)
    return pd.DataFrame(made)


def test_mean_and_spread_by_hand():
    """Three seeds 0.2, 0.4, 0.9: mean 0.5, sd with n - 1: sqrt((0.09 + 0.01 + 0.16) / 2)."""
    table = runs(*({"bits": 5, "seed": seed, "linear_accuracy": value} for seed, value in enumerate((0.2, 0.4, 0.9))))
    cell = fold_seeds(table, "linear_accuracy", "bits").iloc[0]
    assert cell["mean"] == pytest.approx(0.5)
    assert cell["sd"] == pytest.approx(math.sqrt(0.26 / 2))
    assert (cell["low"], cell["high"], cell["n"]) == (0.2, 0.9, 3)
    assert cell["run_ids"] == ("000000000000", "000000000001", "000000000002")


def test_order_of_the_rows_does_not_matter():
    grid = itertools.product((0, 5), (0.1, 0.5), (0, 1))
    table = runs(*({"bits": bits, "tau": tau, "seed": seed, "linear_accuracy": bits + tau + seed} for bits, tau, seed in grid))
    shuffled = table.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(fold_seeds(table, "linear_accuracy", "bits"), fold_seeds(shuffled, "linear_accuracy", "bits"))


def test_lines_are_named_by_what_differs():
    """tau tells contrastive lines apart; a supervised run has none, whatever its tau field holds."""
    table = runs({"tau": 0.05}, {"tau": 0.2, "bits": 5}, {"objective": "supervised", "tau": 0.2}, {"objective": "untrained"})
    named = name_series(table, "bits")
    assert named["series"].tolist() == ["tau 0.05", "tau 0.2", "Supervised", "Untrained"]
    assert named["kind"].tolist() == ["contrastive", "contrastive", "supervised", "untrained"]
    assert named["place"].tolist() == [0, 1, 2, 3]


def test_several_objectives_and_settings_are_all_named():
    table = runs({"objective": "nt_xent"}, {"objective": "gcl", "lam": 0.5}, {"objective": "gcl", "lam": 1.0, "batch_size": 500})
    assert name_series(table, "bits")["series"].tolist() == [
        "NT-Xent, batch size 250",
        "GCL (tau, lambda), lambda 0.5, batch size 250",
        "GCL (tau, lambda), lambda 1, batch size 500",
    ]


def test_one_line_without_differences_is_named_by_its_objective():
    assert name_series(runs({"bits": 0}, {"bits": 5}), "bits")["series"].unique().tolist() == ["NT-Xent"]


def test_diverged_failed_and_missing_values_are_counted_not_averaged():
    table = runs(
        {"seed": 0, "linear_accuracy": 0.5},
        {"seed": 1, "linear_accuracy": 0.1, "status": "diverged"},
        {"seed": 2, "linear_accuracy": float("nan")},
        {"seed": 3, "linear_accuracy": float("inf")},
        {"seed": 4, "linear_accuracy": None, "status": "failed"},
    )
    cell = fold_seeds(table, "linear_accuracy", "bits").iloc[0]
    assert (cell["mean"], cell["n"], cell["total"], cell["diverged"], cell["failed"]) == (0.5, 1, 5, 1, 1)
    assert math.isnan(cell["sd"])
    assert cell["run_id"] == "000000000000" and len(cell["run_ids"]) == 5


def test_a_running_run_does_not_split_its_line():
    """A run that has not ended shows n_train as asked for (all), ended ones as measured: not a difference."""
    ended = {"seed": 0, "n_train": 4000, "linear_accuracy": 0.5}
    table = runs(ended, {"seed": 1, "linear_accuracy": None, "status": "running"})
    assert differing(table) == []
    assert fold_seeds(table, "linear_accuracy", "bits")["total"].tolist() == [2]


def test_seed_machine_and_unused_settings_are_no_difference():
    supervised = {"objective": "supervised"}
    table = runs({**supervised, "tau": 0.1, "seed": 0}, {**supervised, "tau": 0.5, "seed": 1, "threads": 2})
    assert differing(table) == []


def test_a_metric_that_was_never_measured_gives_empty_cells():
    cells = fold_seeds(runs({"bits": 0}), "rankme", "bits")
    assert cells["n"].tolist() == [0] and math.isnan(cells["mean"].iloc[0])


def test_no_runs_give_an_empty_table():
    assert fold_seeds(runs({"bits": 0}).iloc[:0], "linear_accuracy", "bits").empty


def test_description_names_data_encoder_size_and_seeds():
    table = runs({"seed": 0, "n_train": 4000}, {"seed": 1, "n_train": 4000})
    assert describe(table, "mean ± sd") == "MNIST-5k, ConvN, n = 4,000, mean ± sd of 2 seeds"
    assert describe(table.iloc[:1], "mean ± sd") == "MNIST-5k, ConvN, n = 4,000, 1 seed"
    ends = runs(*({"seed": seed, "bits": bits, "n_train": 4000} for seed, bits in ((0, 0), (1, 0), (0, 5), (0, 10), (1, 10))))
    assert describe(ends, "mean ± sd") == "MNIST-5k, ConvN, n = 4,000, mean ± sd of 1 to 2 seeds"
