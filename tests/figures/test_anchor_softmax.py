"""The bars of one anchor equal the closed forms, at every temperature and in both limits."""

import numpy as np
import pytest

from core.figures.anchor_softmax import Candidates, anchor_softmax
from core.figures.theme import DARK, LIGHT

CATALOGUE = Candidates(0.8, (0.75,), 255, 0.1)


def bars(fig):
    """Score, probability and gradient bars."""
    return [np.asarray(trace.x) for trace in fig.data]


def test_scores_probabilities_and_gradients():
    tau = 0.1
    scores, shares, slopes = bars(anchor_softmax(CATALOGUE, tau, LIGHT))
    weight = np.exp(np.array([0.8, 0.75, *[0.1] * 255]) / tau)
    p = weight / weight.sum()
    assert scores == pytest.approx([0.8, 0.75, 0.1], abs=1e-6)
    assert shares == pytest.approx([p[0], p[1], p[2:].sum()], rel=1e-5)
    assert slopes == pytest.approx([-(1 - p[0]) / tau, p[1] / tau, p[2:].sum() / tau], rel=1e-5)
    assert slopes.sum() == pytest.approx(0, abs=1e-5)


def test_worked_example_in_words():
    fig = anchor_softmax(CATALOGUE, 0.1, LIGHT)
    assert "K = 256 negatives, K + 1 = 257 terms" in fig.layout.title.text
    assert "the positive has 54%" in fig.layout.title.text


@pytest.mark.parametrize(("candidates", "tau", "loss"), [
    (Candidates(1.0, (), 7, 1.0), 0.1, "2.079"),  # log 8
    (Candidates(0.2, (0.5, 0.1, -0.3)), 0.0, "∞"),
    (Candidates(0.2, (0.5, 0.1, -0.3)), np.inf, "1.386"),  # log 4
    (CATALOGUE, 0.1, "0.6093"),  # -log 0.5438
])  # fmt: skip
def test_the_loss_stands_under_the_probabilities(candidates, tau, loss):
    """The first question of the tour asks for the cost of guessing, which no part of its picture told."""
    fig = anchor_softmax(candidates, tau, LIGHT)
    assert fig.layout.xaxis2.title.text == f"Loss −log P⁺ = {loss}"


@pytest.mark.parametrize(("tau", "shares", "slopes"), [
    (0.0, [1, 0, 0], [0, 0, 0]),
    (np.inf, [1 / 257, 1 / 257, 255 / 257], [-256 / 257, 1 / 257, 255 / 257]),
])  # fmt: skip
def test_limits_show_tau_times_the_gradient(tau, shares, slopes):
    fig = anchor_softmax(CATALOGUE, tau, DARK)
    assert bars(fig)[1] == pytest.approx(shares, rel=1e-6)
    assert bars(fig)[2] == pytest.approx(slopes, rel=1e-6)
    assert any("tau × gradient" in note.text for note in fig.layout.annotations)


def test_no_gradient_at_all_is_nought_on_a_plain_axis():
    """The limit tau → 0 with a winning positive showed −0 and an axis up to 100 pico."""
    fig = anchor_softmax(CATALOGUE, 0.0, LIGHT)
    assert list(fig.data[2].text) == ["0", "0", "0"]
    assert fig.layout.xaxis3.range == pytest.approx((0, 0.1))


def test_a_crowd_alone_is_called_negatives():
    fig = anchor_softmax(Candidates(1.0, (), 7, 1.0), 0.1, LIGHT)
    assert list(fig.data[0].y) == ["positive", "7 negatives"]
    assert bars(fig)[1] == pytest.approx([1 / 8, 7 / 8])
    assert "equal negatives share the push equally" in fig.layout.title.text
