"""Shares of the push by group against a slow loop and both limits of the temperature."""

import numpy as np
import pytest

from core.losses.hardness import clouds, push_shares, unit_rows
from core.losses.softmax import effective_number
from core.losses.softmax import push_shares as one_anchor

Z, LABELS = clouds(classes=4, per_class=8, dim=5, spread=0.8, seed=1)


def slow(z, labels, tau, top):
    """The same shares, one anchor at a time in float64."""
    groups, effective = np.zeros(4), 0.0
    for i in range(len(z)):
        rest = np.array([j for j in range(len(z)) if j != i])
        scores = z[rest].astype(float) @ z[i].astype(float)
        share = one_anchor(scores, tau)
        hard = np.zeros(len(rest), dtype=bool)
        hard[np.argsort(-scores, kind="stable")[: max(1, round(top * len(rest)))]] = True
        false = labels[rest] == labels[i]
        groups += [share[hard & false].sum(), share[hard & ~false].sum(), share[~hard & false].sum(), share[~hard & ~false].sum()]
        effective += effective_number(scores, tau)
    return groups / len(z), effective / len(z)


@pytest.mark.parametrize("tau", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("top", [0.01, 0.2])
def test_shares_equal_a_slow_loop(tau, top):
    shares = push_shares(Z, LABELS, [tau], top=top)
    groups, effective = slow(Z, LABELS, tau, top)
    assert shares.groups[0] == pytest.approx(groups, abs=1e-4)
    assert shares.effective[0] == pytest.approx(effective, rel=1e-4)
    assert shares.hard == max(1, round(top * 31))
    assert shares.negatives == 31 and shares.anchors == 32


def test_limits():
    shares = push_shares(Z, LABELS, [1e-4, 1e4], top=0.1)
    assert shares.hard_share[0] == pytest.approx(1, abs=1e-3)
    assert shares.false_share[0] == pytest.approx(shares.hardest_same_class, abs=1e-3)
    assert shares.hard_share[1] == pytest.approx(3 / 31, abs=1e-3)
    assert shares.false_share[1] == pytest.approx(7 / 31, abs=1e-3)
    assert shares.same_class == pytest.approx(7 / 31)
    assert shares.groups.sum(axis=1) == pytest.approx(np.ones(2))


def test_scale_of_rows_does_not_matter():
    grown = Z * np.linspace(0.5, 9, len(Z))[:, None]
    assert push_shares(grown, LABELS, [0.1]).groups == pytest.approx(push_shares(Z, LABELS, [0.1]).groups, abs=1e-5)


def test_zero_rows_are_survived():
    z = Z.copy()
    z[3] = 0
    assert np.isfinite(push_shares(z, LABELS, [0.01]).groups).all()
    assert np.linalg.norm(unit_rows(z)[3]) == 0


def test_anchors_are_spread_over_the_rows():
    assert push_shares(Z, LABELS, [0.1], max_anchors=5).anchors == 5


@pytest.mark.parametrize(("call", "text"), [
    (lambda: push_shares(Z[:2], LABELS[:2], [0.1]), "z must have shape (n, d) with at least 3 rows, got (2, 5)."),
    (lambda: push_shares(Z, LABELS[:3], [0.1]), "labels must have shape (32,), got (3,)."),
    (lambda: push_shares(Z, LABELS, [0.0]), "every tau must be > 0 and finite."),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == text
