"""The InfoNCE bound on Gaussian pairs against known information and published anchors."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from core.losses.mutual_information import gaussian_information, info_nce_bound, optimal_critic


@pytest.mark.parametrize(("dim", "expected"), [(1, 0.8304), (4, 3.3215), (10, 8.3037)])
def test_information_of_gaussian_pairs(dim, expected):
    assert gaussian_information(dim, 0.9) == pytest.approx(expected, abs=1e-4)


def test_the_critic_is_the_log_density_ratio():
    x, y, rho = np.array([[0.3, -1.0]]), np.array([[0.5, 0.2], [-1.0, 1.0]]), 0.8
    for j in range(2):
        joint = sum(multivariate_normal([0, 0], [[1, rho], [rho, 1]]).logpdf([x[0, d], y[j, d]]) for d in range(2))
        apart = sum(multivariate_normal(0, 1).logpdf(v[d]) for v in (x[0], y[j]) for d in range(2))
        assert optimal_critic(x, y, rho)[0, j] == pytest.approx(joint - apart)


@pytest.mark.parametrize(("dim", "candidates", "expected", "tolerance"), [
    (1, 8, 0.679, 0.06), (1, 64, 0.816, 0.06), (1, 512, 0.830, 0.06),
    (4, 8, 1.776, 0.02), (4, 64, 2.841, 0.07), (4, 512, 3.175, 0.08),
    (10, 8, 2.071, 0.01), (10, 64, 4.088, 0.03), (10, 512, 5.900, 0.03),
])  # fmt: skip
def test_bound_values(dim, candidates, expected, tolerance):
    bound = info_nce_bound(dim, 0.9, candidates)
    assert bound.estimate == pytest.approx(expected, abs=tolerance)
    assert bound.estimate < np.log(candidates)


def test_same_seed_same_number():
    assert info_nce_bound(2, 0.5, 16, seed=3) == info_nce_bound(2, 0.5, 16, seed=3)


def test_errors():
    with pytest.raises(ValueError, match=r"candidates must be at least 2 \(one positive, one negative\), got 1\."):
        info_nce_bound(1, 0.5, 1)
    with pytest.raises(ValueError, match="rho must lie between -1 and 1, got 1"):
        gaussian_information(1, 1)
