"""Cosine densities of small embeddings."""

import numpy as np
import pytest

from core.geometry.samples import cosine_densities


def test_by_hand():
    z = np.array([[1.0, 0], [2.0, 0], [0, 1.0], [0, -3.0]])
    found = cosine_densities(z, [0, 0, 1, 1], bins=4)
    assert found.mean_same == pytest.approx(0.0) and found.mean_other == pytest.approx(0.0)
    assert found.same_class == pytest.approx([1.0, 0, 0, 1.0])  # cosines 1 and -1, each half the pairs, in bins of width 0.5
    assert found.other_class == pytest.approx([0, 0, 2.0, 0])


def test_rows_without_a_direction_are_left_out():
    z = np.array([[1.0, 0], [0, 1.0], [0, 0], [np.nan, 1]])
    found = cosine_densities(z, [0, 1, 0, 1])
    assert np.isnan(found.same_class).all() and np.isnan(found.mean_same) and found.mean_other == pytest.approx(0)


def test_limits_are_named():
    with pytest.raises(ValueError, match=r"^z must have at most 2,000 rows, got 2,001"):
        cosine_densities(np.ones((2001, 2)), np.zeros(2001))
    with pytest.raises(ValueError, match=r"^z must have shape \(n, d\) and labels \(n,\), got \(3, 2\) and \(2,\)\.$"):
        cosine_densities(np.ones((3, 2)), [0, 1])
