"""Who is pushed away: hard negatives, false negatives, and their overlap, on the embedding of real images.

Hard means most similar to the anchor. False means of the anchor's own class. They are different sets. Pages import this
module, so it uses numpy only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
GROUPS = ("hard and false", "hard, not false", "false, not hard", "neither")


class PushShares(NamedTuple):
    """Mean over anchors of the share of the push that groups of negatives receive."""

    taus: Floats  # (T,)
    groups: Floats  # (T, 4) in the order of GROUPS; each row sums to 1
    effective: Floats  # (T,) mean effective number of negatives, exp of the entropy of the shares
    hardest_same_class: float  # how often the single hardest negative is of the anchor's class: the limit tau -> 0
    same_class: float  # share of negatives of the anchor's class: the limit tau -> infinity
    negatives: int  # per anchor
    hard: int  # how many of them count as hard
    anchors: int  # anchors averaged

    @property
    def hard_share(self) -> Floats:
        """(T,) share of the push on the hardest negatives."""
        return self.groups[:, 0] + self.groups[:, 1]

    @property
    def false_share(self) -> Floats:
        """(T,) share of the push on negatives of the anchor's own class."""
        return self.groups[:, 0] + self.groups[:, 2]


def unit_rows(z: ArrayLike) -> NDArray[np.float32]:
    """Rows divided by their length, float32; a zero row stays zero."""
    z = np.asarray(z, dtype=np.float32)
    length = np.linalg.norm(z, axis=1, keepdims=True)
    return z / np.maximum(length, np.finfo(np.float32).tiny)


def push_shares(z: ArrayLike, labels: ArrayLike, taus: ArrayLike, top: float = 0.01, max_anchors: int = 400) -> PushShares:
    """Share of the push by group of negatives, for a range of temperatures.

    Every other row is a negative of an anchor, as the loss treats it. Ties at the border of the hard set are broken by
    the order of the rows.

    Args:
        z: Embeddings, shape (n, d), n >= 3; normalised here.
        labels: Class of each row, shape (n,).
        taus: Temperatures, all > 0 and finite.
        top: Fraction of the negatives that count as hard; at least one negative does.
        max_anchors: Anchors averaged, spread evenly over the rows.

    Raises:
        ValueError: For fewer than 3 rows, labels of another length, or a temperature that is not > 0.
    """
    z, labels = unit_rows(z), np.asarray(labels)
    taus = np.atleast_1d(np.asarray(taus, dtype=np.float64))
    if z.ndim != 2 or len(z) < 3:
        raise ValueError(f"z must have shape (n, d) with at least 3 rows, got {z.shape}.")
    if labels.shape != (len(z),):
        raise ValueError(f"labels must have shape ({len(z)},), got {labels.shape}.")
    if not ((taus > 0) & np.isfinite(taus)).all():
        raise ValueError("every tau must be > 0 and finite.")
    anchors = np.unique(np.linspace(0, len(z) - 1, min(max_anchors, len(z))).round().astype(int))
    scores = z[anchors] @ z.T  # (a, n)
    scores[np.arange(len(anchors)), anchors] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :-1]  # hardest first, the anchor itself dropped
    scores = np.take_along_axis(scores, order, axis=1)  # (a, n - 1)
    false = labels[order] == labels[anchors][:, None]
    hard = max(1, round(top * scores.shape[1]))
    below = scores - scores[:, :1]  # 0 for the hardest
    groups, effective = np.empty((len(taus), 4)), np.empty(len(taus))
    for row, tau in enumerate(taus):
        weight = np.exp(below / np.float32(tau))
        total = weight.sum(axis=1)
        on_false = np.where(false, weight, 0)
        hard_false, all_false = on_false[:, :hard].sum(1) / total, on_false.sum(1) / total
        all_hard = weight[:, :hard].sum(1) / total
        parts = (hard_false, all_hard - hard_false, all_false - hard_false)
        groups[row, :3] = [part.mean(dtype=np.float64) for part in parts]
        groups[row, 3] = 1 - groups[row, :3].sum()
        # H = log total - mean logit, both under the shares
        entropy = np.log(total) - (weight * below).sum(1) / total / tau
        effective[row] = np.exp(entropy).mean(dtype=np.float64)
    return PushShares(
        taus, groups, effective, float(false[:, 0].mean()), float(false.mean()), scores.shape[1], hard, len(anchors)
    )


def clouds(classes: int = 10, per_class: int = 40, dim: int = 16, spread: float = 1.4, seed: int = 0) -> tuple[Floats, NDArray]:
    """A made-up embedding: classes as overlapping clouds on the sphere, to try things before any run exists.

    Args:
        classes: Number of clouds.
        per_class: Points in each.
        dim: Dimension of the sphere's space.
        spread: Length of the random part added to a unit centre; larger overlaps more.
        seed: Of the draw.

    Returns:
        Unit rows of shape (classes * per_class, dim), and their labels.
    """
    rng = np.random.default_rng(seed)
    centres = unit_rows(rng.standard_normal((classes, dim)))
    labels = np.repeat(np.arange(classes), per_class)
    noise = rng.standard_normal((len(labels), dim)) / np.sqrt(dim)
    return unit_rows(centres[labels] + spread * noise), labels
