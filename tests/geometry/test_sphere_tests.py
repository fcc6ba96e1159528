"""Tests of uniformity: right under uniformity, and blind exactly where they say."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from core.geometry import bingham, cosine_gap, rayleigh


def uniform(n, d, seed=0):
    z = np.random.default_rng(seed).normal(size=(n, d))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def test_by_hand():
    """Two points at right angles: mean length 1/sqrt 2; scatter isotropic."""
    z = np.eye(2)
    assert rayleigh(z).effect == pytest.approx(2**-0.5)
    plain = 2 * 2 * 0.5
    assert rayleigh(z).statistic == pytest.approx((1 - 1 / 4) * plain + plain**2 / (2 * 2 * 4))
    assert rayleigh(z).p_value == pytest.approx(chi2.sf(rayleigh(z).statistic, 2))
    assert bingham(z).statistic == pytest.approx(0, abs=1e-12) and bingham(z).p_value == pytest.approx(1)
    assert bingham([[1.0, 0.0], [-2.0, 0.0]]).effect == pytest.approx(1)
    assert bingham(np.eye(3)).freedom == 5 and bingham(uniform(9, 128)).freedom == 8255


@pytest.mark.parametrize(("n", "d"), [(30, 2), (100, 3), (200, 16), (100, 64)])
@pytest.mark.parametrize("test", [rayleigh, bingham], ids=["rayleigh", "bingham"])
def test_p_values_are_uniform_under_uniformity(test, n, d):
    p_values = [test(uniform(n, d, seed)).p_value for seed in range(400)]
    assert kstest(p_values, "uniform").pvalue > 1e-3
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.035)


def test_a_shifted_cloud_is_seen_by_rayleigh():
    z = uniform(500, 8) + np.eye(8)[0] * 0.3
    assert rayleigh(z).p_value < 1e-6
    assert bingham(z).p_value > 1e-6  # only the square of the shift shows in second moments


def test_antipodal_clusters_are_seen_by_bingham_only():
    z = np.concatenate([uniform(250, 5) + 2 * np.eye(5)[0]])
    z = np.concatenate([z, -z])
    assert rayleigh(z).p_value == pytest.approx(1)
    assert bingham(z).p_value < 1e-12


def test_a_subspace_is_seen_by_bingham_only():
    """Dimensional collapse: uniform on a circle inside five dimensions."""
    circle = np.pad(uniform(500, 2), ((0, 0), (0, 3)))
    assert rayleigh(circle).p_value > 1e-3
    assert bingham(circle).p_value < 1e-12 and bingham(circle).effect == pytest.approx(np.sqrt((5 / 2 - 1) / 4), abs=0.02)


def test_a_cross_of_clusters_is_seen_by_neither_but_by_the_cosines():
    z = np.concatenate([np.eye(4), -np.eye(4)]).repeat(100, axis=0)
    assert rayleigh(z).p_value == pytest.approx(1) and bingham(z).p_value == pytest.approx(1)
    assert cosine_gap(z).gap > 0.2


def test_cosine_gap():
    assert cosine_gap(uniform(3000, 16)).gap < 0.005
    assert cosine_gap(uniform(3000, 2)).gap < 0.01
    collapsed = cosine_gap(np.ones((10, 4)))
    assert collapsed.gap == pytest.approx(1, abs=1e-3) and collapsed.pairs == 45 and collapsed.at > 0.99


def test_cosine_gap_of_blocks_equals_that_of_the_whole(monkeypatch):
    from core.geometry import sphere_tests

    z = uniform(300, 4) + 0.2
    whole = cosine_gap(z)
    monkeypatch.setattr(sphere_tests, "BLOCK_ROWS", 64)
    assert cosine_gap(z) == whole


@pytest.mark.parametrize("test", [rayleigh, bingham, cosine_gap])
@pytest.mark.parametrize(
    ("z", "text"),
    [
        (np.ones((1, 3)), "z must have shape (n, d) with n >= 2 and d >= 2, got (1, 3)."),
        (np.ones((5, 1)), "z must have shape (n, d) with n >= 2 and d >= 2, got (5, 1)."),
        (np.ones(5), "z must have shape (n, d) with n >= 2 and d >= 2, got (5,)."),
        (np.array([[1.0, np.nan], [1.0, 1.0]]), "z must be finite, got NaN or infinity."),
        (np.array([[1.0, 1.0], [0.0, 0.0]]), "1 of the 2 rows of z are zero and have no direction. Leave them out first."),
    ],
)
def test_bad_input_is_named(test, z, text):
    with pytest.raises(ValueError) as error:
        test(z)
    assert str(error.value) == text
