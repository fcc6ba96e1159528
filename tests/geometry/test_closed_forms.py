"""Closed forms of uniform points against arbitrary-precision arithmetic, integrals and samples."""

import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import i0
from scipy.stats import kstest

from core.geometry.closed_forms import (
    cosine_density,
    cosine_distribution,
    cosine_quantile,
    finite_sample_bound,
    log_hyp0f1,
    log_mean_exp_uniform,
    mean_resultant_length,
    uniform_optimum,
    von_mises_density,
    without_self_pairs,
)

mpmath.mp.dps = 40


@pytest.mark.parametrize("b", [0.5, 1, 1.5, 4, 64, 256, 2048])
@pytest.mark.parametrize("x", [1e-12, 1e-3, 1.0, 4.0, 100.0, 2.5e3, 2.5e5, 1e6, 1e12])
def test_log_hyp0f1_against_arbitrary_precision(b, x):
    exact = float(mpmath.log(mpmath.hyp0f1(b, x)))
    assert log_hyp0f1(b, x) == pytest.approx(exact, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("b", [1.0, 64.0])
def test_log_hyp0f1_where_the_series_hands_over(b):
    for x in (0.999e13, 1.001e13):
        assert log_hyp0f1(b, x) == pytest.approx(float(mpmath.log(mpmath.hyp0f1(b, x))), rel=1e-12)


def test_log_hyp0f1_at_zero():
    assert log_hyp0f1(3, 0) == 0


@pytest.mark.parametrize("dim", [2, 3, 16, 128, 512, 4096])
@pytest.mark.parametrize("t", [1e-3, 0.5, 2, 30, 1e3])
def test_uniform_optimum_for_every_width(dim, t):
    """No underflow from 2 to 4096 dimensions and t up to 1,000."""
    exact = float(-2 * mpmath.mpf(t) + mpmath.log(mpmath.hyp0f1(mpmath.mpf(dim) / 2, mpmath.mpf(t) ** 2)))
    assert uniform_optimum(dim, t) == pytest.approx(exact, rel=1e-10, abs=1e-12)
    assert -2 * t < uniform_optimum(dim, t) < 0


def test_anchor_23_uniformity_optimum():
    dims = (2, 3, 8, 16, 32, 64, 128, 256, 512, 2048)
    expected = (-1.57503, -2.07978, -3.08253, -3.51304, -3.75181, -3.87524, -3.93753, -3.96875, -3.98438, -3.99609)
    assert [uniform_optimum(dim) for dim in dims] == pytest.approx(expected, abs=1e-5)
    assert uniform_optimum(10**6) == pytest.approx(-4, abs=1e-5)


def test_one_dimension_is_two_points():
    """Half of the pairs agree, half are antipodal."""
    assert uniform_optimum(1, 2) == pytest.approx(math.log(0.5 + 0.5 * math.exp(-8)), abs=1e-12)


def test_anchor_26_with_and_without_self_pairs():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(20, 4))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    potential = np.exp(-2 * (2 - 2 * z @ z.T))
    with_self, without = np.log(potential.mean()), np.log(potential[~np.eye(20, dtype=bool)].mean())
    assert without_self_pairs(with_self, 20) == pytest.approx(without, abs=1e-10)


def test_anchor_27_finite_sample_bound():
    assert finite_sample_bound(256, 128) == pytest.approx(-4.157208, abs=1e-5)
    assert finite_sample_bound(2, 128) == -8  # two points can be antipodal
    assert finite_sample_bound(10**9, 128) == pytest.approx(uniform_optimum(128), abs=1e-6)


@pytest.mark.parametrize(
    ("dim", "taus", "expected"),
    [
        (2, (0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1), (17.5896, 12.0462, 7.9430, 3.3047, 1.8591, 0.8240, 0.2359)),
        (64, (0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1), (2.9926, 1.5581, 0.7723, 0.1947, 0.0867, 0.0312, 0.0078)),
        (128, (0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1), (1.5443, 0.7924, 0.3895, 0.0976, 0.0434, 0.0156, 0.0039)),
        (512, (0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1), (0.3903, 0.1992, 0.0976, 0.0244, 0.0109, 0.0039, 0.0010)),
        (2048, (0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 1), (0.0977, 0.0498, 0.0244, 0.0061, 0.0027, 0.0010, 0.0002)),
        (2, (0.01,), (96.7797,)),
    ],
)
def test_anchors_30_to_33_log_mean_exp(dim, taus, expected):
    assert [log_mean_exp_uniform(dim, tau) for tau in taus] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("dim", [2, 3, 5, 64])
def test_log_mean_exp_is_the_integral_over_the_cosine_density(dim):
    for tau in (0.2, 1.0):

        def integrand(angle, tau=tau):
            return math.exp(math.cos(angle) / tau) * cosine_density(math.cos(angle), dim) * math.sin(angle)

        assert math.log(quad(integrand, 0, math.pi)[0]) == pytest.approx(log_mean_exp_uniform(dim, tau), abs=1e-7)


@pytest.mark.parametrize("dim", [2, 3, 4, 10, 128, 2048])
def test_cosine_law(dim):
    """Integrates to 1, has variance 1/d, and the distribution and its inverse fit the density."""
    width = min(1.0, 12 / math.sqrt(dim))  # the density is a narrow bell in many dimensions
    start = math.acos(width)

    def moment(power):
        def integrand(angle):
            return math.cos(angle) ** power * cosine_density(math.cos(angle), dim) * math.sin(angle)

        return quad(integrand, start, math.pi - start, limit=200)[0]

    assert moment(0) == pytest.approx(1, abs=1e-8)
    assert moment(2) == pytest.approx(1 / dim, rel=1e-6)
    assert cosine_distribution([-1, 0, 1], dim) == pytest.approx([0, 0.5, 1], abs=1e-12)
    u = np.linspace(-0.9, 0.9, 7) * width
    slope = (cosine_distribution(u + 1e-6, dim) - cosine_distribution(u - 1e-6, dim)) / 2e-6
    assert slope == pytest.approx(cosine_density(u, dim), rel=1e-4, abs=1e-8)
    inner = np.linspace(0.05, 0.95, 7)
    assert cosine_distribution(cosine_quantile(inner, dim), dim) == pytest.approx(inner, abs=1e-10)


@pytest.mark.parametrize("dim", [2, 3, 32])
def test_cosine_law_of_a_sample(dim):
    rng = np.random.default_rng(dim)
    x, y = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in rng.normal(size=(2, 5000, dim)))
    assert kstest((x * y).sum(axis=1), lambda u: cosine_distribution(u, dim)).pvalue > 0.01


def test_cosine_density_special_dimensions():
    assert cosine_density([-0.3, 0.9], 3) == pytest.approx([0.5, 0.5])
    assert cosine_density(0.6, 2) == pytest.approx(1 / (math.pi * 0.8))
    assert cosine_density([-1.5, 2], 5) == pytest.approx([0, 0])
    assert math.isinf(cosine_density(1.0, 2))


@pytest.mark.parametrize("kappa", [0, 0.5, 10, 1000])
def test_von_mises_density(kappa):
    """One kernel is the von Mises law; a sum of kernels is their mean, and integrates to 1."""
    grid = np.linspace(-math.pi, math.pi, 20_001)[:-1]
    density = von_mises_density([0.3, -2.0, 1.0], grid, kappa)
    assert density.mean() * 2 * math.pi == pytest.approx(1, abs=1e-10)
    singles = [von_mises_density([angle], grid, kappa) for angle in (0.3, -2.0, 1.0)]
    assert density == pytest.approx(np.mean(singles, axis=0))
    if kappa <= 10:
        assert singles[0] == pytest.approx(np.exp(kappa * np.cos(grid - 0.3)) / (2 * math.pi * i0(kappa)))


def test_von_mises_density_of_many_points_equals_that_of_few_at_a_time():
    rng = np.random.default_rng(0)
    angles, at = rng.uniform(-3, 3, 3000), np.linspace(-3, 3, 1500)
    parts = [von_mises_density(part, at, 5.0) for part in np.split(angles, 3)]
    assert von_mises_density(angles, at, 5.0) == pytest.approx(np.mean(parts, axis=0))


@pytest.mark.parametrize("dim", [2, 3, 10, 512])
def test_mean_resultant_length(dim):
    for kappa in (1e-3, 1.0, 10.0, 50.0):
        exact = mpmath.besseli(mpmath.mpf(dim) / 2, kappa) / mpmath.besseli(mpmath.mpf(dim) / 2 - 1, kappa)
        assert mean_resultant_length(dim, kappa) == pytest.approx(float(exact), rel=1e-6)
    assert mean_resultant_length(dim, 0) == 0
    assert mean_resultant_length(dim, 1e6) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: uniform_optimum(0), "dim must be >= 1, got 0."),
        (lambda: uniform_optimum(3, 0), "t must be a finite number > 0, got 0."),
        (lambda: log_mean_exp_uniform(3, -1), "tau must be a finite number > 0, got -1."),
        (lambda: finite_sample_bound(1, 3), "rows must be >= 2, because uniformity is a mean over pairs, got 1."),
        (lambda: without_self_pairs(-1, 1), "rows must be >= 2, because uniformity is a mean over pairs, got 1."),
        (lambda: cosine_density(0, 1), "dim must be >= 2, because on a line every cosine is +1 or -1, got 1."),
        (lambda: von_mises_density([], [0.0], 1.0), "angles must have shape (n,) with n >= 1, got (0,)."),
        (lambda: von_mises_density([0.0], [0.0], -1.0), "kappa must be a finite number >= 0, got -1.0."),
        (lambda: log_hyp0f1(0, 1), "b must be a finite number > 0, got 0."),
        (lambda: log_hyp0f1(1, -1), "x must be a finite number >= 0, got -1."),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text
