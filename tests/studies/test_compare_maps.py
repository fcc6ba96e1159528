"""Cell-by-cell comparison: Welch and Holm against scipy and a hand-made case."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.studies.cells import fold_cells
from core.studies.compare_maps import at_weights_of, compare_cells, comparison_sentence, holm, welch


def map_of(values: dict[tuple[float, float], list[float]]) -> pd.DataFrame:
    rows = [(tau, lam, s, "finished", v) for (tau, lam), vs in values.items() for s, v in enumerate(vs)]
    table = pd.DataFrame(rows, columns=["tau", "lam", "seed", "status", "linear_accuracy"])
    return fold_cells(table.assign(run_id=[f"{i:012x}" for i in range(len(table))]), "linear_accuracy")


def test_welch_equals_scipy():
    rng = np.random.default_rng(0)
    for n, m in ((2, 2), (3, 5), (10, 3)):
        x, y = rng.normal(0, 1, n), rng.normal(0.5, 2, m)
        expected = stats.ttest_ind(y, x, equal_var=False)
        assert welch(x, y) == pytest.approx((expected.statistic, expected.df, expected.pvalue))


def test_welch_without_a_test():
    assert np.isnan(welch([1.0], [1.0, 2.0])).all() and np.isnan(welch([1.0, 1.0], [2.0, 2.0])).all()


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03, np.nan])) == pytest.approx([0.03, 0.06, 0.06, np.nan], nan_ok=True)
    assert holm(np.array([0.6, 0.9])) == pytest.approx([1.0, 1.0])
    assert holm(np.array([])).size == 0


def test_shared_cells_are_compared_and_the_sentence_counts():
    a = map_of({(0.1, 1): [0.90, 0.91, 0.92], (0.2, 1): [0.5, 0.6, 0.7], (0.5, 1): [0.5], (1, 1): [0.2, 0.3]})
    b = map_of({(0.1, 1): [0.80, 0.81, 0.82], (0.2, 1): [0.5, 0.65, 0.7], (0.5, 1): [0.7, 0.8], (9, 1): [0.2, 0.3]})
    table = compare_cells(a, b)
    assert list(table["tau"]) == [0.1, 0.2, 0.5]
    assert table["difference"].to_numpy() == pytest.approx([-0.1, 0.05 / 3, 0.25])
    expected = stats.ttest_ind([0.80, 0.81, 0.82], [0.90, 0.91, 0.92], equal_var=False).pvalue
    assert table["p"][0] == pytest.approx(expected) and table["p_holm"][0] == pytest.approx(2 * expected)
    assert np.isnan(table["p"][2])
    assert comparison_sentence(table, "masked", "unmasked", "linear probe") == (
        "Over 3 shared cells, linear probe is 0.056 higher on average in unmasked than in masked. "
        "0 cells are significantly higher and 1 lower (2 tested, Welch with Holm at 0.05, 3 and 3 seeds)."
    )


def test_nothing_to_compare_is_said():
    a, b = map_of({(0.1, 1): [0.9]}), map_of({(0.2, 1): [0.9]})
    assert comparison_sentence(compare_cells(a, b), "A", "B", "kNN") == "A and B share no measured cell."
    one = compare_cells(a, map_of({(0.1, 1): [0.8]}))
    assert comparison_sentence(one, "A", "B", "kNN").endswith("None can be tested: a test needs two seeds on each side.")


def test_a_map_is_read_between_its_weights_seed_by_seed():
    a = map_of({(0.1, 1): [0.5, 0.6], (0.1, 2): [0.5, 0.7], (0.1, 50): [0.1, 0.2], (0.2, 2): [0.4]})
    b = map_of({(0.1, 1): [0.2, 0.4], (0.1, 4): [0.6, 0.6], (0.5, 2): [0.9, 0.9]})
    read = at_weights_of(b, a)
    assert list(zip(read["tau"], read["lam"], strict=True)) == [(0.1, 1.0), (0.1, 2.0)]  # 50 lies beyond, 0.2 is not there
    assert read["values"][0] == pytest.approx((0.2, 0.4)) and read["values"][1] == pytest.approx((0.4, 0.5))
    assert read["mean"][1] == pytest.approx(0.45) and list(read["n"]) == [2, 2]
    table = compare_cells(a, read)
    assert table["difference"].to_numpy() == pytest.approx([-0.25, -0.15]) and table["p"].notna().all()
    assert at_weights_of(b, map_of({(7, 1): [0.5]})).empty
    uneven = map_of({(0.1, 1): [0.2, 0.4], (0.1, 4): [0.6]})
    assert list(at_weights_of(uneven, a)["lam"]) == [1.0]


def test_the_sentence_begins_with_a_capital():
    a, b = map_of({(0.1, 1): [0.9]}), map_of({(0.2, 1): [0.9]})
    assert comparison_sentence(compare_cells(a, b), "the one", "the other", "kNN").startswith("The one and the other share")
