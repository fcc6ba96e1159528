"""Is this cloud of points uniform on the sphere? Statistical tests, and what each can and cannot see.

All assume independent points. Images of one class, or two views of one image, are not, so on a large embedding every
test rejects; the size of the effect says more than the p-value. Without torch, so that pages can call it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc  # the survival function of chi-squared; scipy.stats, which has it too, imports slowly

from core.geometry.closed_forms import cosine_distribution

Floats = NDArray[np.float64]

BLOCK_ROWS = 2048  # similarities of this many rows squared are held at a time
GAP_BINS = 4096


class UniformityTest(NamedTuple):
    """Outcome of a test whose null hypothesis is the uniform distribution."""

    statistic: float  # about chi-squared with `freedom` degrees of freedom under uniformity
    freedom: int
    p_value: float  # chance of a statistic at least as large under uniformity
    effect: float  # size of the departure, 0 for none and 1 for the most extreme; does not grow with n


class CosineGap(NamedTuple):
    """Largest distance between the cosines' distribution and the exact law of uniform points."""

    gap: float  # from 0 to 1, difference of cumulative shares
    at: float  # the cosine where it occurs
    pairs: int  # distinct pairs counted


def rayleigh(z: ArrayLike) -> UniformityTest:
    """Rayleigh's test: do the points favour a direction?

    Sees a mean that is not 0: a cloud around one point, a hemisphere, an offset all embeddings share. Does not see
    anything symmetric about the origin: two antipodal clusters, a great circle, a collapse to a subspace.

    Args:
        z: Shape (n, d) with n >= 2 and d >= 2, finite; rows need not be normalised, none may be zero.

    Returns:
        The statistic n d R^2, R the length of the mean unit vector, with the correction that makes the chi-squared
        approximation good from small n on. The effect is R.

    Raises:
        ValueError: If z is not such a matrix.

    Source: Mardia & Jupp, "Directional Statistics", 2000, section 10.4.1, equation 10.4.4 and 10.4.7.
    """
    unit = _unit(z)
    n, d = unit.shape
    length = float(np.linalg.norm(unit.mean(axis=0)))
    plain = n * d * length**2
    statistic = (1 - 1 / (2 * n)) * plain + plain**2 / (2 * n * (d + 2))
    return UniformityTest(statistic, d, float(chdtrc(d, statistic)), length)


def bingham(z: ArrayLike) -> UniformityTest:
    """Bingham's test: do the points favour an axis or a subspace?

    Sees a scatter matrix that is not isotropic: antipodal clusters, a great circle, dimensional collapse. Does not see
    what leaves the second moments isotropic: a regular simplex or cross of clusters, and a small shift of the mean.

    Args:
        z: Shape (n, d) with n >= 2 and d >= 2, finite; rows need not be normalised, none may be zero.

    Returns:
        The statistic n d (d+2) / 2 (tr T^2 - 1/d), T the mean outer product of the unit rows. The effect is the same
        departure scaled to 1 for points on one axis: sqrt((d tr T^2 - 1) / (d - 1)).

    Raises:
        ValueError: If z is not such a matrix.

    Source: Mardia & Jupp 2000, section 10.7.1, equation 10.7.1.
    """
    unit = _unit(z)
    n, d = unit.shape
    departure = max(float(np.square(unit.T @ unit / n).sum()) - 1 / d, 0.0)
    statistic, freedom = n * d * (d + 2) / 2 * departure, (d - 1) * (d + 2) // 2
    return UniformityTest(statistic, freedom, float(chdtrc(freedom, statistic)), float(np.sqrt(departure * d / (d - 1))))


def cosine_gap(z: ArrayLike) -> CosineGap:
    """Largest gap between the observed cosines of all pairs and the exact law for uniform points.

    Sees clusters, collapse and anything else that changes how often points are near each other. Does not see which
    direction is favoured. It has no p-value, because pairs that share a point are not independent.

    Args:
        z: Shape (n, d) with n >= 2 and d >= 2, finite; rows need not be normalised, none may be zero.

    Raises:
        ValueError: If z is not such a matrix.
    """
    unit = _unit(z).astype(np.float32)
    n, d = unit.shape
    edges = np.linspace(-1, 1, GAP_BINS + 1)
    counts = np.zeros(GAP_BINS, dtype=np.int64)
    blocks = [unit[start : start + BLOCK_ROWS] for start in range(0, n, BLOCK_ROWS)]
    for i, rows in enumerate(blocks):
        square = rows @ rows.T
        counts += _counts(square[np.triu_indices(len(rows), 1)])
        for columns in blocks[i + 1 :]:
            counts += _counts(rows @ columns.T)
    pairs = n * (n - 1) // 2
    difference = np.cumsum(counts) / pairs - cosine_distribution(edges[1:], d)
    worst = int(np.abs(difference).argmax())
    return CosineGap(float(abs(difference[worst])), float(edges[worst + 1]), pairs)


def _counts(cosines: NDArray) -> NDArray[np.int64]:
    bins = ((cosines.ravel() + 1) * (GAP_BINS / 2)).astype(np.int64).clip(0, GAP_BINS - 1)
    return np.bincount(bins, minlength=GAP_BINS)


def _unit(z: ArrayLike) -> Floats:
    z = np.asarray(z, dtype=np.float64)
    if z.ndim != 2 or z.shape[0] < 2 or z.shape[1] < 2:
        raise ValueError(f"z must have shape (n, d) with n >= 2 and d >= 2, got {z.shape}.")
    if not np.isfinite(z).all():
        raise ValueError("z must be finite, got NaN or infinity.")
    norms = np.linalg.norm(z, axis=1, keepdims=True)
    zero = int((norms == 0).sum())
    if zero:
        raise ValueError(f"{zero} of the {len(z)} rows of z are zero and have no direction. Leave them out first.")
    return z / norms
