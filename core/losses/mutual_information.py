"""The InfoNCE bound on mutual information, I >= log N - L, measured where the information is known.

Pairs (x, y) are standard normal in each of `dim` coordinates with correlation rho; the critic is the optimal one,
log p(y | x) / p(y). Pages import this module, so it uses numpy only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
CHUNK = 2**18  # scores held at once: 1 MiB, small enough to stay in the cache


class Bound(NamedTuple):
    """One measured value of log N - L."""

    estimate: float  # nats
    spread: float  # nats; standard deviation over anchors divided by sqrt(anchors)
    anchors: int  # how many were averaged


def gaussian_information(dim: int, rho: float) -> float:
    """Mutual information of the pairs in nats: -(dim/2) log(1 - rho^2). Infinite for rho = +-1."""
    if not abs(rho) < 1:
        raise ValueError(f"rho must lie between -1 and 1, got {rho}.")
    return -dim / 2 * float(np.log1p(-(rho**2)))


def optimal_critic(x: Floats, y: Floats, rho: float) -> Floats:
    """log p(y_j | x_i) / p(y_j) for every i and j: shapes (..., n, dim) and (..., m, dim) to (..., n, m)."""
    dim = x.shape[-1]
    own = rho**2 / 2
    cross = rho * (x @ y.swapaxes(-1, -2))  # (..., n, m)
    exponent = cross - own * (x**2).sum(-1)[..., :, None] - own * (y**2).sum(-1)[..., None, :]
    return exponent / (1 - rho**2) - dim / 2 * np.log1p(-(rho**2))


def info_nce_bound(dim: int, rho: float, candidates: int, anchors: int = 8192, seed: int = 0) -> Bound:
    """log N - L with N candidates, the positive included, for the optimal critic.

    Batches of N pairs: each x is an anchor, its own y the positive, the other y of the batch are the N - 1 negatives.

    Args:
        dim: Coordinates, >= 1.
        rho: Correlation in each, between -1 and 1.
        candidates: N, >= 2.
        anchors: Wanted number; rounded to whole batches, at least one.
        seed: Of the samples.

    Raises:
        ValueError: If candidates is below 2.

    Source: van den Oord et al. 2018, section 2.3; N counts the positive.
    """
    if candidates < 2:
        raise ValueError(f"candidates must be at least 2 (one positive, one negative), got {candidates}.")
    rng = np.random.default_rng([seed, dim, candidates])
    batches = max(1, round(anchors / candidates))
    at_once = max(1, CHUNK // candidates**2)
    losses = []
    for start in range(0, batches, at_once):
        shape = (min(at_once, batches - start), candidates, dim)
        x = rng.standard_normal(shape, dtype=np.float32)
        y = rho * x + np.float32(np.sqrt(1 - rho**2)) * rng.standard_normal(shape, dtype=np.float32)
        scores = optimal_critic(x, y, rho)  # (batches, N, N), positives on the diagonal
        top = scores.max(axis=-1)
        total = np.exp(scores - top[..., None]).sum(axis=-1)
        losses.append((top + np.log(total) - np.diagonal(scores, axis1=-2, axis2=-1)).ravel())
    losses = np.concatenate(losses).astype(np.float64)
    return Bound(float(np.log(candidates) - losses.mean()), float(losses.std() / np.sqrt(len(losses))), len(losses))
