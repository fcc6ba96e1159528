"""The negatives of one anchor: shares, classes and the hard set."""

import numpy as np
import pytest

from core.figures.hard_and_false import hard_and_false
from core.figures.theme import LIGHT
from core.losses.hardness import clouds

Z, LABELS = clouds(classes=3, per_class=10, dim=4, seed=2)


def test_points_are_shares_and_colours_are_classes():
    tau, anchor = 0.3, 4
    fig = hard_and_false(Z, LABELS, anchor, tau, LIGHT, top=0.1)
    scores = np.delete(Z @ Z[anchor], anchor).astype(float)
    shares = np.exp(scores / tau) / np.exp(scores / tau).sum()
    false = np.delete(LABELS, anchor) == LABELS[anchor]
    for trace, mask in zip(fig.data, (~false, false), strict=True):
        assert np.asarray(trace.x) == pytest.approx(scores[mask], abs=1e-6)
        assert np.asarray(trace.y) == pytest.approx(shares[mask], rel=1e-4)
    assert len(fig.data[1].x) == 9
    assert set(np.asarray(fig.data[1].customdata)) == set(np.flatnonzero(LABELS[anchor] == LABELS)) - {anchor}


def test_words_count_the_overlap():
    fig = hard_and_false(Z, LABELS, 0, 0.1, LIGHT, top=0.1)
    scores = np.delete(Z @ Z[0], 0)
    hard = np.argsort(-scores)[:3]
    both = int((np.delete(LABELS, 0)[hard] == LABELS[0]).sum())
    assert f"9 of 29 negatives are false, {both} also hard" in fig.layout.title.text


def test_vanishing_shares_stay_on_the_chart():
    fig = hard_and_false(Z, LABELS, 0, 0.02, LIGHT)
    lowest = min(np.asarray(trace.y).min() for trace in fig.data)
    assert lowest > 0 and np.log10(lowest) >= fig.layout.yaxis.range[0]


def test_shares_below_the_axis_are_marked_and_told_exactly():
    tau = 0.02
    fig = hard_and_false(Z, LABELS, 0, tau, LIGHT)
    scores = np.delete(Z @ Z[0], 0).astype(float)
    shares = np.exp((scores - scores.max()) / tau)
    shares /= shares.sum()
    below = shares < 1e-6 * shares.max()
    marked = np.concatenate([np.asarray(trace.marker.symbol) == "triangle-down-open" for trace in fig.data])
    assert marked.sum() == below.sum() > 0 and f"▽ {below.sum()} below the axis" in fig.layout.title.text
    rows = np.concatenate([np.asarray(trace.customdata) for trace in fig.data])
    texts = dict(zip(rows, [text for trace in fig.data for text in trace.hovertext], strict=True))
    assert all(texts[row].endswith(f"share {share:.2g}") for row, share in zip(range(1, len(Z)), shares, strict=True))
