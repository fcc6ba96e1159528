"""The run table: columns worth showing, values of the wanted epoch, rows that never move."""

import pandas as pd
import pytest

from core.figures.run_table import best_value, columns, comparison, run_names, stable_order, with_picked
from tests.figures.test_series import runs


@pytest.fixture
def table() -> pd.DataFrame:
    labelled = dict(label="Supervised", objective="supervised", bits=10)
    return runs(
        {"label": "NT-Xent", "bits": 0, "tau": 0.1, "linear_accuracy": 0.95, "online_accuracy": 0.8, "loss": 0.4},
        {"label": "NT-Xent", "bits": 10, "tau": 0.2, "linear_accuracy": 0.40, "online_accuracy": 0.3, "loss": 0.2},
        {**labelled, "linear_accuracy": 0.96, "online_accuracy": 0.9, "loss": 0.1},
    ).assign(error=None, epochs_done=20, seconds=20.0, samples_per_second=4400.0, finished_at="2026-11-29T12:00:00+00:00")


def titles(table, pick="last") -> list[str]:
    return [column.title for column in columns(table, pick)]


def test_differing_settings_come_first_and_constant_ones_are_left_out(table):
    shown = titles(table)
    assert shown[:5] == ["status", "line", "bits", "tau", "seed"]
    assert "batch size" not in shown and "objective" not in shown  # the line's label says it
    assert "RankMe of z" not in shown  # nobody measured it
    assert shown[-1] == "run"


def test_without_labels_the_objective_is_a_setting(table):
    assert "objective" in titles(table.assign(label=""))


def test_choice_of_epoch_stands_in_the_title(table):
    assert "online probe, last epoch" in titles(table) and "online probe, best epoch" in titles(table, "best")
    assert "linear probe" in titles(table, "best")  # measured once, after training


PEAK = [{"epoch": 1, "online_accuracy": 0.2, "loss": 3.0}, {"epoch": 2, "online_accuracy": 0.9, "loss": 0.1},
        {"epoch": 3, "online_accuracy": 0.5, "loss": float("nan")}]  # fmt: skip


def test_best_and_last_differ_for_a_curve_with_a_peak(table):
    best = with_picked(table, "best", lambda run_id: PEAK if run_id.endswith("0") else [])
    assert best["online_accuracy"].tolist() == [0.9, 0.3, 0.9]  # runs without epochs keep their values
    assert best["loss"].iloc[0] == 0.1  # for a loss the lowest is best
    assert with_picked(table, "last", lambda run_id: PEAK) is table


def test_best_ignores_what_is_not_finite():
    assert best_value([{"loss": float("inf")}, {"loss": None}, {"loss": 2.0}], "loss") == 2.0
    assert best_value([{"loss": float("nan")}], "loss", otherwise=7.0) == 7.0


def test_rows_keep_their_places_when_runs_arrive_end_or_vanish():
    """A run that ends moves up in the store's order; a selection by place must not move with it."""
    assert stable_order(["b", "new", "a"], before=["a", "gone", "b"]) == ["a", "b", "new"]
    assert stable_order(["a", "a", "b"], before=[]) == ["a", "b"]


def test_comparison_shows_only_what_differs(table):
    pair = table.iloc[:2]
    side_by_side = comparison(pair, run_names(pair))
    assert side_by_side.columns.tolist() == ["0 bits, tau 0.1", "10 bits, tau 0.2"]
    assert side_by_side.loc["tau"].tolist() == ["0.1", "0.2"]
    assert side_by_side.loc["linear probe"].tolist() == ["0.950", "0.400"]
    assert "epochs" not in side_by_side.index


def test_runs_with_equal_settings_are_told_apart_by_their_id(table):
    twins = table.iloc[[0, 0]].assign(run_id=["aaaa00000000", "bbbb00000000"])
    assert list(run_names(twins).values()) == ["NT-Xent (aaaa)", "NT-Xent (bbbb)"]


def test_seeds_name_runs_that_differ_in_nothing_else(table):
    seeds = table.iloc[[0, 0]].assign(run_id=["aaaa00000000", "bbbb00000000"], seed=[0, 1])
    assert list(run_names(seeds).values()) == ["seed 0", "seed 1"]
