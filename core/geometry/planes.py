"""Which view of an embedding is drawn: the circle or the sphere itself, or the leading directions of more dimensions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float32]

SWEEPS = 24  # of subspace iteration; the leading directions of an embedding stand apart after a few
SPARE = 5  # directions carried along beyond those that are wanted


class Projection(NamedTuple):
    """Unit rows seen along a few directions."""

    points: Floats  # (n, k) coordinates; rows are no longer of length one where d > k
    share: float  # of the sum of squares of all rows, from 0 to 1; 1 where nothing is left out
    exact: bool  # the embedding has no more dimensions than the picture


def unit(z: ArrayLike) -> Floats:
    """Rows divided by their norms, float32; rows of zeros stay zero.

    Args:
        z: Shape (n, d), finite.

    Raises:
        ValueError: If z is not such a matrix.
    """
    z = np.asarray(z, dtype=np.float32)
    if z.ndim != 2 or 0 in z.shape:
        raise ValueError(f"z must have shape (n, d) with n >= 1 and d >= 1, got {z.shape}.")
    if not np.isfinite(z).all():
        raise ValueError("z must be finite, got NaN or infinity.")
    norms = np.linalg.norm(z, axis=1, keepdims=True)
    return z / np.where(norms > 0, norms, 1)


def leading(z: ArrayLike, k: int) -> Projection:
    """Unit rows in the k directions that keep most of their squared length. Not centred: the origin stays the sphere's centre.

    Args:
        z: Shape (n, d); rows need not be normalised.
        k: Directions, >= 1.

    Returns:
        The rows themselves where d <= k, padded with zeros; else their coordinates, whose signs are the same on every machine.
    """
    rows = unit(z)
    d = rows.shape[1]
    if k < 1:
        raise ValueError(f"k must be >= 1, got {k}.")
    if d <= k:
        return Projection(np.pad(rows, ((0, 0), (0, k - d))), 1.0, True)
    if d <= 512:
        axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))[1][:, ::-1][:, :k]
    else:  # 2,048 dimensions would take seconds otherwise
        basis = np.random.default_rng(0).standard_normal((d, k + SPARE))
        for _ in range(SWEEPS):
            basis = np.linalg.qr(rows.T @ (rows @ basis))[0]
        axes = basis @ np.linalg.svd(rows @ basis, full_matrices=False)[2].T[:, :k]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(k)])
    points = (rows @ (axes * signs)).astype(np.float32)
    total = float(np.square(rows).sum())
    return Projection(points, float(np.square(points).sum()) / total if total else 0.0, False)


def on_sphere(points: ArrayLike) -> Floats:
    """Points pushed out to the unit circle or sphere: their directions."""
    return unit(points)


def total_variance(z: ArrayLike) -> float:
    """How far unit rows lie from one another: 1 minus the squared length of their mean.

    Args:
        z: Shape (n, d), n >= 1; rows need not be normalised.

    Returns:
        0 for a point, 1 for rows around the whole sphere; the trace of the covariance.
    """
    return float(1 - np.square(unit(z).mean(axis=0, dtype=np.float64)).sum())


def angles(points: ArrayLike) -> NDArray[np.float64]:
    """Angles of points in the plane, radians from -pi to pi, shape (n,)."""
    points = np.asarray(points, dtype=np.float64)
    return np.arctan2(points[:, 1], points[:, 0])


def shortest_arc(angle: ArrayLike, share: float = 0.8) -> tuple[float, float]:
    """The shortest arc that holds a share of the points.

    Args:
        angle: Radians, shape (n,), n >= 1.
        share: From 0 to 1.

    Returns:
        Where it begins and how long it is, radians, counter-clockwise.

    Raises:
        ValueError: If there is no point or the share is out of range.
    """
    ordered = np.sort(np.mod(np.asarray(angle, dtype=np.float64), 2 * np.pi))
    n = len(ordered)
    if n == 0 or not 0 < share <= 1:
        raise ValueError(f"shortest_arc needs at least 1 point and a share in (0, 1], got {n} points and {share}.")
    held = max(1, int(np.ceil(share * n)))
    twice = np.concatenate([ordered, ordered + 2 * np.pi])
    lengths = twice[held - 1 : held - 1 + n] - ordered
    first = int(lengths.argmin())
    return float(ordered[first]), float(lengths[first])


def sphere_density(points: ArrayLike, at: ArrayLike, kappa: float) -> NDArray[np.float64]:
    """Density on the sphere of points, each smeared by a von Mises-Fisher kernel, relative to the uniform density.

    Args:
        points: Unit vectors, shape (n, 3).
        at: Unit vectors, shape (..., 3).
        kappa: Concentration, > 0.

    Returns:
        Shape (...,): 1 where the density is that of uniform points.
    """
    points, at = np.asarray(points, dtype=np.float64), np.asarray(at, dtype=np.float64)
    if not kappa > 0:
        raise ValueError(f"kappa must be > 0, got {kappa}.")
    # The kernel is kappa / (4 pi sinh kappa) exp(kappa u); over 1 / (4 pi), and without overflow:
    height = 2 * kappa / -np.expm1(-2 * kappa)
    flat = at.reshape(-1, 3)
    total = np.zeros(len(flat))
    for part in np.array_split(points, max(1, len(points) * len(flat) // 2_000_000)):
        total += np.exp(kappa * (flat @ part.T - 1)).sum(axis=1)
    return (height * total / len(points)).reshape(at.shape[:-1])
