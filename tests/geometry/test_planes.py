"""Projections onto circle and sphere: exact where they can be, and what is left out is said."""

import numpy as np
import pytest

from core.geometry.planes import angles, leading, shortest_arc, sphere_density, total_variance, unit

RANDOM = np.random.default_rng(0)


def test_two_and_three_dimensions_are_shown_as_they_are():
    z = RANDOM.normal(size=(50, 2))
    view = leading(z, 2)
    assert view.exact and view.share == 1
    np.testing.assert_allclose(view.points, z / np.linalg.norm(z, axis=1, keepdims=True), rtol=1e-5)
    assert leading(z, 3).points.shape == (50, 3) and not leading(z, 3).points[:, 2].any()


@pytest.mark.parametrize("d", [16, 700])
def test_the_leading_directions_are_those_of_the_singular_value_decomposition(d):
    z = RANDOM.normal(size=(300, d)) * np.r_[9, 5, 3, np.ones(d - 3)]
    view = leading(z, 2)
    rows = unit(z).astype(np.float64)
    values = np.linalg.svd(rows, compute_uv=False)
    assert view.share == pytest.approx(np.square(values[:2]).sum() / len(z), rel=1e-3) and not view.exact
    np.testing.assert_allclose(np.linalg.norm(view.points, axis=0), values[:2], rtol=1e-3)
    np.testing.assert_array_equal(view.points, leading(z, 2).points)


def test_rows_of_zeros_stay_and_bad_rows_are_refused():
    assert not unit(np.zeros((2, 3))).any()
    with pytest.raises(ValueError, match=r"^z must be finite, got NaN or infinity\.$"):
        unit([[np.nan, 1.0]])


def test_the_shortest_arc_crosses_the_cut_of_the_circle():
    begin, length = shortest_arc(np.deg2rad([-10, 0, 10, 20, 180]), 0.8)
    assert np.rad2deg(begin) == pytest.approx(350) and np.rad2deg(length) == pytest.approx(30)
    assert shortest_arc([1.0], 0.8) == (pytest.approx(1.0), 0.0)
    with pytest.raises(ValueError, match="at least 1 point"):
        shortest_arc([], 0.8)


def test_total_variance_is_the_trace_of_the_covariance():
    assert total_variance([[2.0, 0.0]] * 5) == pytest.approx(0) and total_variance([[1.0, 0.0], [-3.0, 0.0]]) == pytest.approx(1)
    z = np.random.default_rng(0).normal(size=(50, 4)) + 1
    assert total_variance(z) == pytest.approx(np.trace(np.cov(unit(z).T, bias=True)), abs=1e-6)


def test_angles():
    np.testing.assert_allclose(angles([[1, 0], [0, 2], [-1, 0]]), [0, np.pi / 2, np.pi])


def test_the_density_is_one_for_uniform_points_and_integrates_to_one():
    grid = unit(RANDOM.normal(size=(4000, 3)))
    assert sphere_density(grid, grid[:5], 20.0) == pytest.approx(1, abs=0.25)
    # One point: the mean over uniform places is the integral of the density.
    assert sphere_density([[0, 0, 1.0]], grid, 5.0).mean() == pytest.approx(1, rel=0.05)
    peak = sphere_density([[0, 0, 1.0]], [[0, 0, 1.0]], 40.0)
    assert peak == pytest.approx(80, rel=1e-9)  # kappa / (4 pi sinh kappa) e^kappa, over 1 / (4 pi)
