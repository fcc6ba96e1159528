"""Forces of the contrastive loss on points of the circle, and where they carry the points.

Angles stand for unit vectors in the plane. Pages import this module, so it uses numpy only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.losses.softmax import info_nce, softmax

Floats = NDArray[np.float64]


class Forces(NamedTuple):
    """How one anchor's loss moves every point: minus its derivative with respect to each angle, in nats per radian."""

    on_points: Floats  # (n,) counter-clockwise positive; the anchor's own entry is the sum of all pulls on it
    on_anchor: Floats  # (n,) what each other point contributes to the anchor's force; 0 at the anchor
    shares: Floats  # (n,) softmax share of each candidate; 0 at the anchor
    loss: float  # nats


def unit(angles: ArrayLike) -> Floats:
    """Angles in radians to unit vectors, shape (n,) to (n, 2)."""
    angles = np.asarray(angles, dtype=np.float64)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def partner(index: int | NDArray, count: int) -> int | NDArray:
    """The positive of each point: points 2k and 2k + 1 are two views of image k."""
    if count < 4 or count % 2:
        raise ValueError(f"the circle needs an even number of points, at least 4, got {count}.")
    return index ^ 1


def anchor_forces(angles: ArrayLike, anchor: int, tau: float) -> Forces:
    """Forces of one anchor's InfoNCE loss on all points; every other point is a candidate.

    Args:
        angles: Shape (n,), radians, n even and at least 4; 2k and 2k + 1 are a positive pair.
        anchor: Index of the anchor.
        tau: Temperature, finite and > 0.

    Returns:
        Forces; the angle derivative of s = cos(a - b) is sin(b - a).

    Raises:
        ValueError: For an odd number of points, an index out of range or a tau that is not > 0 and finite.
    """
    angles = np.asarray(angles, dtype=np.float64)
    positive = partner(anchor, len(angles))
    if not 0 <= anchor < len(angles):
        raise ValueError(f"anchor must be from 0 to {len(angles) - 1}, got {anchor}.")
    if not 0 < tau < np.inf:
        raise ValueError(f"tau must be > 0 and finite, got {tau}.")
    others = np.flatnonzero(np.arange(len(angles)) != anchor)
    scores = np.cos(angles[others] - angles[anchor])
    shares = np.zeros(len(angles))
    shares[others] = softmax(scores, tau)
    slope = shares / tau  # dL/ds_j; the positive's is (P - 1)/tau
    slope[positive] = -shares[np.arange(len(angles)) != positive].sum() / tau
    turn = np.sin(angles - angles[anchor])  # ds_j / d(anchor angle); the opposite sign for point j
    on_anchor = -slope * turn
    on_points = slope * turn
    on_points[anchor] = on_anchor.sum()
    is_positive = others == positive
    loss = info_nce(scores[is_positive][0], scores[~is_positive], tau)
    return Forces(on_points, on_anchor, shares, loss)


def total_forces(angles: ArrayLike, tau: float) -> tuple[Floats, float]:
    """Minus the angle gradient of the NT-Xent loss (mean over all anchors), and that loss.

    Args:
        angles: Shape (n,), radians, pairs as in `anchor_forces`.
        tau: Temperature, finite and > 0.

    Returns:
        Forces of shape (n,) in nats per radian, loss in nats.
    """
    angles = np.asarray(angles, dtype=np.float64)
    count = len(angles)
    rows = np.arange(count)
    positives = partner(rows, count)
    difference = angles[None, :] - angles[:, None]  # (n, n) candidate minus anchor
    logits = np.cos(difference) / tau
    np.fill_diagonal(logits, -np.inf)
    top = logits.max(axis=1, keepdims=True)
    shares = np.exp(logits - top)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    loss = float((top[:, 0] + np.log(total[:, 0]) - logits[rows, positives]).mean())
    shares[rows, positives] -= 1  # now tau * dL/ds
    pull = shares * np.sin(difference) / (tau * count)  # d/d(anchor angle) of s is sin(candidate - anchor)
    return -pull.sum(axis=1) + pull.sum(axis=0), loss


def flow(angles: ArrayLike, tau: float, steps: int, step_size: float = 0.08) -> tuple[Floats, Floats]:
    """Follow the forces by gradient descent; the step is scaled by tau so that all temperatures move at a like pace.

    Args:
        angles: Start, shape (n,), radians.
        tau: Temperature, finite and > 0.
        steps: Number of steps, >= 0.
        step_size: Radians moved by a force of 1/tau per image; capped at 0.2 radians a step.

    Returns:
        Angles of shape (steps + 1, n) and losses of shape (steps + 1,), the start first.
    """
    angles = np.asarray(angles, dtype=np.float64)
    path, losses = [angles], []
    for _ in range(steps):
        force, loss = total_forces(path[-1], tau)
        losses.append(loss)
        path.append(path[-1] + np.clip(step_size * tau * len(angles) * force, -0.2, 0.2))
    losses.append(total_forces(path[-1], tau)[1])
    return np.array(path), np.array(losses)
