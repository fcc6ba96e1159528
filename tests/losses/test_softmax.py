"""One anchor's softmax against worked examples, finite differences and both limits of the temperature."""

import numpy as np
import pytest

from core.losses import softmax as sm

# theory.md-style worked example: one hard negative among easy ones
POSITIVE, NEGATIVES = 0.2, np.array([0.5, 0.1, -0.3])


def finite_difference(function, x, step=1e-6):
    """Central difference of a scalar function at a scalar or a vector."""
    x = np.asarray(x, dtype=float)
    slopes = np.empty(x.size)
    for i in range(x.size):
        up, down = x.copy().reshape(-1), x.copy().reshape(-1)
        up[i] += step
        down[i] -= step
        slopes[i] = (function(up.reshape(x.shape)) - function(down.reshape(x.shape))) / (2 * step)
    return slopes.reshape(x.shape)


@pytest.mark.parametrize(("tau", "p", "hard", "easy"), [
    (0.05, 0.7309, 0.2689, 0.000155), (0.1, 0.5438, 0.3298, 0.1264), (0.5, 0.0154, 0.0140, 0.9706),
])  # fmt: skip
def test_weights_of_one_hard_and_many_easy_negatives(tau, p, hard, easy):
    shares = sm.softmax([0.8, 0.75, *[0.1] * 255], tau)
    assert shares[0] == pytest.approx(p, abs=1e-4)
    assert shares[1] == pytest.approx(hard, abs=1e-4)
    assert shares[2:].sum() == pytest.approx(easy, abs=1e-6 if easy < 1e-3 else 1e-4)


@pytest.mark.parametrize(("tau", "positive", "negatives", "tolerance"), [
    (0.5, -1.501089, (0.909076, 0.408474, 0.183539), 1e-6), (0.1, -9.534020, (9.359456, 0.171424, 0.003140), 1e-5),
])  # fmt: skip
def test_gradient_values(tau, positive, negatives, tolerance):
    gradient = sm.gradient(POSITIVE, NEGATIVES, tau)
    assert gradient.positive == pytest.approx(positive, abs=tolerance)
    assert gradient.negatives == pytest.approx(negatives, abs=tolerance)
    assert gradient.positive + gradient.negatives.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("tau", [0.05, 0.3, 1.0, 20.0])
def test_gradient_is_the_derivative_of_the_loss(tau):
    gradient = sm.gradient(POSITIVE, NEGATIVES, tau)
    positive = finite_difference(lambda s: sm.info_nce(float(s), NEGATIVES, tau), POSITIVE)
    negatives = finite_difference(lambda s: sm.info_nce(POSITIVE, s, tau), NEGATIVES)
    assert gradient.positive == pytest.approx(positive, rel=1e-6)
    assert gradient.negatives == pytest.approx(negatives, rel=1e-5, abs=1e-8)


def test_gradient_keeps_its_small_part_where_one_minus_p_would_cancel():
    gradient = sm.gradient(1.0, [0.0], 0.02)  # 1 - P+ is about exp(-50), below float64's resolution around 1
    assert gradient.positive == pytest.approx(-np.exp(-50) / 0.02, rel=1e-9)


@pytest.mark.parametrize(("tau", "slope", "entropy"), [(0.5, 1.268765, 0.441057), (1.0, 0.424405, 0.832396)])
def test_entropy_and_its_slope(tau, slope, entropy):
    scores = np.array([1.0, 0.0, -1.0])
    assert sm.entropy(sm.push_shares(scores, tau)) == pytest.approx(entropy, abs=1e-6)
    assert sm.entropy_slope(scores, tau) == pytest.approx(slope, abs=1e-6)
    assert sm.entropy_slope(scores, tau) == pytest.approx(
        finite_difference(lambda t: sm.entropy(sm.push_shares(scores, float(t))), tau).item(), rel=1e-6
    )


@pytest.mark.parametrize(("tau", "expected"), [(0.1, 0.306620), (0.05, 0.300141), (0.01, 0.300000)])
def test_tau_times_loss_goes_to_the_cold_limit(tau, expected):
    assert tau * sm.info_nce(POSITIVE, NEGATIVES, tau) == pytest.approx(expected, abs=1e-6)
    assert sm.cold_limit(POSITIVE, NEGATIVES) == pytest.approx(0.3)


def test_cold_limit_is_zero_when_the_positive_wins():
    assert sm.cold_limit(0.9, NEGATIVES) == 0
    assert 0.001 * sm.info_nce(0.9, NEGATIVES, 0.001) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("tau", "expected"), [(1, -0.035309), (10, -0.070916), (100, -0.074591), (1000, -0.074959)])
def test_loss_goes_to_log_n_with_the_hot_slope(tau, expected):
    assert tau * (sm.info_nce(POSITIVE, NEGATIVES, tau) - np.log(4)) == pytest.approx(expected, abs=1e-6)


def test_hot_slope_value():
    assert sm.hot_slope(POSITIVE, NEGATIVES) == pytest.approx(-0.075, abs=1e-12)


@pytest.mark.parametrize(("tau", "expected"), [
    (0.05, 278.4), (0.07, 389.7), (0.1, 556.7), (0.2, 1112.9), (0.3, 1653.9), (0.5, 2536.0), (0.7, 3086.2), (1.0, 3519.8),
])  # fmt: skip
def test_effective_number_of_evenly_spaced_negatives(tau, expected):
    spaced = (np.arange(4096) + 0.5) / 2048 - 1
    assert sm.effective_number(spaced, tau) == pytest.approx(expected, abs=0.1)
    assert sm.effective_number_uniform(4096, tau) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("count", [1, 7, 4000])
def test_a_sweep_over_repeated_negatives_equals_writing_them_out(count):
    taus = [0.01, 0.1, 1.0, 50.0]
    swept = sm.sweep(0.4, [0.5, 0.1, -0.3], [1, count, 2], taus)
    written = np.array([0.5, *[0.1] * count, -0.3, -0.3])
    assert swept.effective == pytest.approx([sm.effective_number(written, tau) for tau in taus], rel=1e-9)
    assert swept.pull == pytest.approx([-sm.gradient(0.4, written, tau).positive for tau in taus], rel=1e-9)


def test_effective_number_limits():
    spaced = np.linspace(-1, 1, 101)
    assert sm.effective_number(spaced, np.inf) == pytest.approx(101, rel=1e-12)
    assert sm.effective_number(np.full(101, 0.3), 0.05) == pytest.approx(101, rel=1e-6)
    assert sm.effective_number(spaced, 0) == 1
    assert sm.effective_number_uniform(4096, 1e4) == pytest.approx(4096, rel=1e-6)
    assert np.isfinite(sm.effective_number_uniform(4096, 1e-4))


def test_penalty_curve_has_mean_one_and_equals_the_shares_of_many_negatives():
    spaced = (np.arange(20000) + 0.5) / 10000 - 1
    for tau in (0.05, 0.3, 2.0):
        curve = sm.penalty_uniform(spaced, tau)
        assert curve.mean() == pytest.approx(1, rel=1e-5)
        assert curve == pytest.approx(sm.push_shares(spaced, tau) * 20000, rel=1e-5)


def test_limits_of_the_softmax():
    assert sm.softmax([0.1, 0.9, 0.9], 0).tolist() == [0, 0.5, 0.5]
    assert sm.softmax([0.1, 0.9, 0.9], np.inf) == pytest.approx([1 / 3] * 3)
    assert sm.info_nce(0.5, [0.1], 0) == 0
    assert sm.info_nce(0.5, [0.5], 0) == pytest.approx(np.log(2))
    assert sm.info_nce(0.1, [0.5], 0) == np.inf
    assert sm.info_nce(0.1, [0.5] * 255, np.inf) == pytest.approx(np.log(256))


def test_small_temperatures_stay_finite():
    assert sm.info_nce(-1, [1.0], 1e-3) == pytest.approx(2000)
    assert np.isfinite(sm.softmax(np.linspace(-1, 1, 50), 1e-6)).all()


@pytest.mark.parametrize(("call", "text"), [
    (lambda: sm.info_nce(0.1, [], 0.1), "negatives must have shape (K,) with K >= 1, got (0,)."),
    (lambda: sm.info_nce(np.nan, [0.1], 0.1), "scores must be finite, got NaN or infinity."),
    (lambda: sm.softmax([0.1], -1), "tau must be >= 0 (0 and infinity mean the limits), got -1.0."),
    (lambda: sm.gradient(0.1, [0.1], 0), "the gradient is unbounded at tau = 0; scaled_gradient gives tau times it."),
    (lambda: sm.entropy_slope([0.1], 0), "the slope of the entropy needs tau > 0, got 0."),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == text
