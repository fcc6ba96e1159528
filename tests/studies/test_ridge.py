"""The ridge: exact where the response is a parabola, honest at edges, on plateaus and with one seed."""

import numpy as np
import pandas as pd
import pytest

from core.studies.cells import fold_cells
from core.studies.ridge import best_weight, find_ridge, published_sentence, ridge_sentence

TAUS = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
LAMS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]


def synthetic(slope=0.9, shift=0.0, noise=0.0, seeds=3, curve=0.05, taus=TAUS, lams=LAMS, seed=0) -> pd.DataFrame:
    """Accuracy that falls off as a parabola in log lambda around log lambda* = slope * log tau + shift."""
    rng = np.random.default_rng(seed)
    rows = [
        (tau, lam, s, "finished", 0.95 - curve * (np.log(lam) - slope * np.log(tau) - shift) ** 2 + noise * rng.standard_normal())
        for tau in taus for lam in lams for s in range(seeds)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["tau", "lam", "seed", "status", "linear_accuracy"])
    return fold_cells(table.assign(run_id=[f"{i:012x}" for i in range(len(table))]), "linear_accuracy")


def test_a_parabola_is_found_exactly_on_an_uneven_grid():
    ridge = find_ridge(synthetic(slope=0.9, shift=-0.2))
    assert ridge.slope == pytest.approx(0.9, abs=1e-9) and ridge.intercept == pytest.approx(-0.2, abs=1e-9)
    for point in ridge.points:
        assert point.lam == pytest.approx(np.exp(0.9 * np.log(point.tau) - 0.2), rel=1e-9)
        assert point.used and point.low == pytest.approx(point.lam) and point.high == pytest.approx(point.lam)


def test_vertex_by_hand():
    x = np.log([1.0, 2.0, 4.0])
    assert best_weight(x, np.array([0.0, 1.0, 0.0])) == pytest.approx(np.log(2))
    assert best_weight(x, np.array([0.0, 1.0, 1.0])) == pytest.approx(np.log(2) * 1.5)  # midway to the equal neighbour
    assert best_weight(x, np.array([2.0, 1.0, 0.0])) == 0.0
    assert best_weight(x, np.array([0.0, 1.0, 2.0])) == pytest.approx(np.log(4))
    assert best_weight(x, np.array([1.0, 1.0, 1.0])) == 0.0  # a plateau: the first of the best cells


@pytest.mark.parametrize("values", np.random.default_rng(1).random((20, 5)))
def test_the_interpolated_weight_stays_next_to_the_best_cell(values):
    x = np.log([0.1, 0.15, 1.0, 5.0, 6.0])
    best = best_weight(x, values)
    assert np.argmin(np.abs(x - best)) == values.argmax() or np.isclose(np.abs(x - best).min(), np.abs(x[values.argmax()] - best))


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    hits = 0
    for seed in range(60):
        ridge = find_ridge(synthetic(slope=0.9, noise=0.01, curve=0.02, seed=seed), draws=400)
        hits += ridge.low <= 0.9 <= ridge.high
    assert hits >= 50  # 95 % of 60 are 57; five temperatures make a bootstrap somewhat short


def test_lower_is_better_turns_the_ridge_over():
    cells = synthetic()
    turned = cells.assign(mean=-cells["mean"], values=[tuple(-v for v in values) for values in cells["values"]])
    assert find_ridge(turned, higher_is_better=False).slope == pytest.approx(0.9, abs=1e-9)
    assert all(point.edge for point in find_ridge(turned).points)


def test_equal_cells_give_equal_intervals():
    cells = synthetic(noise=0.01)
    assert find_ridge(cells) == find_ridge(cells)


def test_temperatures_at_the_edge_are_told_and_left_out():
    ridge = find_ridge(synthetic(slope=1.0, lams=[0.02, 0.05, 0.1, 0.2, 0.5, 1.0]))
    assert [point.edge for point in ridge.points] == ["", "", "", "", "high", "high", "high"]
    assert ridge.slope == pytest.approx(1.0, abs=1e-9)
    said = ridge_sentence(ridge)
    assert "(4 of 7 temperatures, 3 seeds)" in said
    assert "At tau = 1, 2 and 5 it is the largest tried, so the optimum may lie outside the grid" in said


def test_a_flat_temperature_is_told_and_left_out():
    cells = synthetic(noise=0.002)
    spread = [(0.48, 0.5, 0.52), (0.5, 0.52, 0.48), (0.47, 0.5, 0.54)]  # the last mean is the best, by less than the noise
    flat = [spread[2 if lam == 1.0 else i % 2] for i, lam in enumerate(cells["lam"])]
    values = [bad if tau == 5.0 else good for tau, good, bad in zip(cells["tau"], cells["values"], flat, strict=True)]
    ridge = find_ridge(cells.assign(values=values, mean=[np.mean(v) for v in values]))
    assert [point.flat for point in ridge.points] == [False] * 6 + [True]
    assert ridge.slope == pytest.approx(0.9, abs=0.02)
    assert ridge_sentence(ridge).endswith("At tau = 5 lambda makes no difference that 3 seeds can show.")


def test_one_seed_has_a_slope_but_no_interval_per_temperature():
    ridge = find_ridge(synthetic(seeds=1, noise=0.01))
    assert all(np.isnan(point.low) and np.isnan(point.high) for point in ridge.points)
    assert ridge.low < ridge.slope < ridge.high and ridge.seeds == 1
    assert "1 seed, so the interval rests on the temperatures alone)" in ridge_sentence(ridge)


@pytest.mark.parametrize(
    ("slope", "noise", "expected"),
    [
        (0.9, 0.002, "rises with tau: slope 0.9"),
        (-0.8, 0.002, "falls with tau: slope −0.8"),
        (0.0, 0.01, "neither clearly rises nor falls"),
    ],
)
def test_the_sentence_follows_the_data(slope, noise, expected):
    said = ridge_sentence(find_ridge(synthetic(slope=slope, noise=noise)), "Self-similarity masked")
    assert said.startswith("Self-similarity masked: the best lambda ") and expected in said


def test_a_proportional_ridge_is_named_only_when_one_is_inside_the_interval():
    assert "proportional" in ridge_sentence(find_ridge(synthetic(slope=1.0, noise=0.01)))
    assert "slower than in proportion" in ridge_sentence(find_ridge(synthetic(slope=0.5, noise=0.002)))
    assert "faster than in proportion" in ridge_sentence(find_ridge(synthetic(slope=1.4, noise=0.002)))
    assert "proportion" not in ridge_sentence(find_ridge(synthetic(slope=-0.8, noise=0.002)))


def test_one_temperature_at_the_edge_is_singular():
    said = ridge_sentence(find_ridge(synthetic(slope=1.0, lams=[0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0])))
    assert "At tau = 5 it is the largest tried" in said and "this temperature is left out" in said


def test_the_published_remark_is_judged_by_all_maps():
    up, down, level = (find_ridge(synthetic(slope=slope, noise=0.002)) for slope in (0.9, -0.8, 0.0))
    said = published_sentence([up, up])
    assert "**That does not hold here**: the best lambda rises with tau in all 2 conventions measured" in said
    assert "**That holds here**: the best lambda falls with tau in the one convention measured" in published_sentence([down])
    assert "falls with tau in 1 and rises in 1" in published_sentence([up, down, level])
    assert published_sentence([find_ridge(synthetic(taus=[0.1, 0.2]))]) == ""


def test_too_little_data_is_said():
    assert ridge_sentence(find_ridge(synthetic(lams=[0.1, 0.2]))) == (
        "The ridge is not known yet: no temperature has three measured weights."
    )
    few = find_ridge(synthetic(taus=[0.1, 0.2]))
    assert np.isnan(few.slope)
    assert ridge_sentence(few) == (
        "The slope of the ridge is not known: only 2 of 2 temperatures have a clear best lambda inside the grid (3 seeds)."
    )
