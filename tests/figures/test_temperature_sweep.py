"""Curves over the temperature against the closed forms at their ends and at marked points."""

import numpy as np
import pytest

from core.figures.anchor_softmax import Candidates
from core.figures.loss_reference import loss_reference
from core.figures.temperature_sweep import HIGH, LOW, TAUS, effective_negatives, gradient_size
from core.figures.theme import LIGHT

SPREAD = Candidates(0.9, tuple((np.arange(256) + 0.5) / 128 - 1))


def test_effective_negatives_follow_the_closed_form_of_even_scores():
    fig = effective_negatives(SPREAD, 0.1, LIGHT)
    even, measured, marker = fig.data[:3]
    inside = TAUS > 0.04  # 256 scores are too few to look continuous below
    assert np.asarray(measured.y)[inside] == pytest.approx(np.asarray(even.y)[inside], rel=2e-3)
    assert measured.y[-1] == pytest.approx(256, rel=1e-3)
    assert marker.x[0] == pytest.approx(0.1) and marker.y[0] == pytest.approx(556.7 / 16, rel=2e-3)


@pytest.mark.parametrize(("tau", "at", "value"), [(0.0, LOW, 1), (np.inf, HIGH, 256)])
def test_limits_are_marked_at_the_ends(tau, at, value):
    marker = effective_negatives(SPREAD, tau, LIGHT).data[2]
    assert (marker.x[0], marker.y[0]) == pytest.approx((at, value))


@pytest.mark.parametrize("tau", [LOW, HIGH])
@pytest.mark.parametrize("figure", [effective_negatives, gradient_size, loss_reference])
def test_the_mark_of_now_lies_on_the_axis_at_both_ends(figure, tau):
    """In float32 the least temperature lay outside the range, and the browser left the mark out."""
    fig = figure(SPREAD, tau, LIGHT)
    low, high = fig.layout.xaxis.range
    assert low <= np.log10(float(fig.data[-1].x[0])) <= high
    assert len(fig.data[-1].x) == 1


def test_large_numbers_of_negatives_have_separators():
    axis = effective_negatives(Candidates(0.9, (), 65535, 0.1), 1.0, LIGHT).layout.yaxis
    assert axis.ticktext[-2:] == ("10,000", "100,000") and axis.tickvals[-1] == 100_000


def test_gradient_size_is_one_minus_p_over_tau():
    few = Candidates(0.2, (0.5, 0.1, -0.3))
    fig = gradient_size(few, 0.5, LIGHT)
    plain, curve, marker = fig.data
    assert np.asarray(plain.y) == pytest.approx(1 / TAUS, rel=1e-5)
    assert marker.y[0] == pytest.approx(1.501089, abs=1e-5)
    weight = np.exp(np.array([0.2, 0.5, 0.1, -0.3]) / TAUS[40])
    assert curve.y[40] == pytest.approx((1 - weight[0] / weight.sum()) / TAUS[40], rel=1e-5)


def test_the_title_says_what_doubling_tau_does():
    collapsed = Candidates(1.0, (1.0,) * 9)
    assert "multiplies the pull by 0.50" in gradient_size(collapsed, 0.3, LIGHT).layout.title.text
    assert len(gradient_size(collapsed, np.inf, LIGHT).data) == 2  # nothing to mark
