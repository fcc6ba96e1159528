"""Forces on the circle against finite differences of the loss."""

import numpy as np
import pytest

from core.losses.forces import anchor_forces, flow, partner, total_forces, unit
from core.losses.softmax import info_nce

ANGLES = np.array([0.1, 0.5, 2.0, 2.2, -1.0, -2.5])


def anchor_loss(angles, anchor, tau):
    """The loss of one anchor, written from the vectors."""
    z = unit(angles)
    scores = z @ z[anchor]
    positive = partner(anchor, len(angles))
    rest = [i for i in range(len(angles)) if i not in (anchor, positive)]
    return info_nce(scores[positive], scores[rest], tau)


def slopes(function, angles, step=1e-6):
    """Central differences with respect to every angle."""
    eye = np.eye(len(angles)) * step
    return np.array([(function(angles + e) - function(angles - e)) / (2 * step) for e in eye])


@pytest.mark.parametrize("tau", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("anchor", [0, 3])
def test_forces_are_minus_the_slope_of_the_anchors_loss(anchor, tau):
    forces = anchor_forces(ANGLES, anchor, tau)
    assert forces.on_points == pytest.approx(-slopes(lambda a: anchor_loss(a, anchor, tau), ANGLES), rel=1e-5, abs=1e-7)
    assert forces.loss == pytest.approx(anchor_loss(ANGLES, anchor, tau), rel=1e-12)
    assert forces.on_anchor.sum() == pytest.approx(forces.on_points[anchor])
    assert forces.shares.sum() == pytest.approx(1)
    assert forces.shares[anchor] == 0


def test_forces_balance():
    """Turning everything together changes nothing, so the forces add up to zero."""
    assert anchor_forces(ANGLES, 2, 0.1).on_points.sum() == pytest.approx(0, abs=1e-10)
    assert total_forces(ANGLES, 0.1)[0].sum() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("tau", [0.05, 0.5])
def test_total_is_the_mean_over_anchors(tau):
    force, loss = total_forces(ANGLES, tau)
    each = [anchor_forces(ANGLES, i, tau) for i in range(len(ANGLES))]
    assert force == pytest.approx(np.mean([f.on_points for f in each], axis=0), rel=1e-9, abs=1e-12)
    assert loss == pytest.approx(np.mean([f.loss for f in each]))


def test_two_antipodal_pairs_stay():
    force, loss = total_forces(np.array([0.0, 0.0, np.pi, np.pi]), 0.5)
    assert force == pytest.approx(np.zeros(4), abs=1e-12)
    assert loss == pytest.approx(0.035976, abs=1e-6)


def test_flow_lowers_the_loss():
    path, losses = flow(ANGLES, 0.2, 40)
    assert path.shape == (41, 6) and losses.shape == (41,)
    assert losses[-1] < losses[0]
    assert losses[0] == pytest.approx(total_forces(ANGLES, 0.2)[1])


@pytest.mark.parametrize(("call", "text"), [
    (lambda: anchor_forces(ANGLES[:5], 0, 0.1), "the circle needs an even number of points, at least 4, got 5."),
    (lambda: anchor_forces(ANGLES, 6, 0.1), "anchor must be from 0 to 5, got 6."),
    (lambda: anchor_forces(ANGLES, 0, 0), "tau must be > 0 and finite, got 0."),
])  # fmt: skip
def test_errors(call, text):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == text
