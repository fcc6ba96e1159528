"""What an embedding looks like beside the prior it was pushed to: norms, coordinates and angles. numpy and scipy only.

Three priors: uniform on the unit hypersphere, uniform on the hypercube [-1, 1]^d, standard normal. Pages import this module.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtri

from core.geometry.closed_forms import cosine_density, cosine_quantile

Prior = Literal["hypersphere", "hypercube", "normal"]
PRIOR_OF = {"swd_hypersphere": "hypersphere", "swd_hypercube": "hypercube", "swd_normal": "normal"}  # others: hypersphere
SAMPLE = 20_000  # rows drawn where the cube has no closed form
Floats = NDArray[np.float64]


class Histogram(NamedTuple):
    """A density on equal bins."""

    centers: Floats  # (bins,)
    density: Floats  # (bins,) integrates to 1


class Reached(NamedTuple):
    """The distribution of stored embeddings."""

    norms: Histogram
    coordinates: Histogram  # all dimensions together
    low: Floats  # (bins,) 10 % quantile over the dimensions of each one's density
    high: Floats  # (bins,) 90 %
    cosines: Histogram  # of all pairs of rows
    distance: float  # mean over dimensions of the Wasserstein-1 distance to the prior's coordinate, in its standard deviations
    mean_norm: float
    rows: int


def coordinate_density(prior: Prior, dim: int, x: ArrayLike) -> Floats:
    """Density of one coordinate of the prior.

    Args:
        prior: "hypersphere", "hypercube" or "normal".
        dim: Dimension d, >= 2 for the hypersphere.
        x: Values, any shape.
    """
    x = np.asarray(x, dtype=np.float64)
    _check(prior, dim)
    if prior == "hypersphere":
        return np.where(np.abs(x) < 1, cosine_density(np.clip(x, -1, 1), dim), 0.0)
    if prior == "hypercube":
        return np.where(np.abs(x) <= 1, 0.5, 0.0)
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def coordinate_quantile(prior: Prior, dim: int, p: ArrayLike) -> Floats:
    """Quantiles of one coordinate of the prior."""
    p = np.asarray(p, dtype=np.float64)
    _check(prior, dim)
    if prior == "hypersphere":
        return np.asarray(cosine_quantile(p, dim))
    return 2 * p - 1 if prior == "hypercube" else ndtri(p)


def coordinate_sd(prior: Prior, dim: int) -> float:
    """Standard deviation of one coordinate: 1/sqrt(d), 1/sqrt(3) or 1."""
    _check(prior, dim)
    return {"hypersphere": dim**-0.5, "hypercube": 3**-0.5, "normal": 1.0}[prior]


def norm_density(prior: Prior, dim: int, r: ArrayLike) -> Floats:
    """Density of the norm: the chi distribution for the normal prior, a sampled one for the cube, none for the sphere (all NaN).

    Args:
        prior: Which.
        dim: Dimension d.
        r: Values >= 0 on equal steps.
    """
    r = np.asarray(r, dtype=np.float64)
    _check(prior, dim)
    if prior == "hypersphere":
        return np.full_like(r, np.nan)  # all of it at 1
    if prior == "normal":
        with np.errstate(divide="ignore"):
            log = (1 - dim / 2) * np.log(2) + (dim - 1) * np.log(r) - r**2 / 2 - gammaln(dim / 2)
        return np.exp(log)
    norms = np.linalg.norm(_cube(dim), axis=1)
    step = r[1] - r[0]
    return np.histogram(norms, np.concatenate([r - step / 2, [r[-1] + step / 2]]), density=True)[0]


def pair_cosine_density(prior: Prior, dim: int, c: ArrayLike) -> Floats:
    """Density of the cosine of two independent draws: exact for the hypersphere and the normal prior, sampled for the cube."""
    c = np.asarray(c, dtype=np.float64)
    _check(prior, dim)
    if prior != "hypercube":
        return np.where(np.abs(c) < 1, cosine_density(np.clip(c, -1, 1), dim), 0.0)
    rows = _cube(dim)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = (unit[: SAMPLE // 2] * unit[SAMPLE // 2 :]).sum(axis=1)
    step = c[1] - c[0]
    return np.histogram(cosines, np.concatenate([c - step / 2, [c[-1] + step / 2]]), density=True)[0]


def reached(z: ArrayLike, norms: ArrayLike | None, prior: Prior, bins: int | None = None) -> Reached:
    """Summarise stored embeddings for comparison with a prior.

    Args:
        z: Unit rows, shape (n, d), n >= 2, d >= 2.
        norms: Their lengths before normalisation, shape (n,); None where they were not stored (then all 1).
        prior: For the hypersphere the unit rows are compared, for the others rows times their norms.
        bins: Of each histogram; None takes twice the square root of n, 20 to 60.

    Raises:
        ValueError: If shapes do not fit or values are not finite.
    """
    z = np.asarray(z, dtype=np.float64)
    if z.ndim != 2 or len(z) < 2 or z.shape[1] < 2:
        raise ValueError(f"z must have shape (n, d) with n and d at least 2, got {z.shape}.")
    norms = np.ones(len(z)) if norms is None else np.asarray(norms, dtype=np.float64)
    if norms.shape != (len(z),):
        raise ValueError(f"norms must have shape ({len(z)},), got {norms.shape}.")
    if not (np.isfinite(z).all() and np.isfinite(norms).all()):
        raise ValueError("z and norms must be finite; this run has diverged.")
    _check(prior, z.shape[1])
    n, dim = z.shape
    bins = bins or int(np.clip(2 * n**0.5, 20, 60))
    unit = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12)  # float16 rows are unit to three digits only
    rows = unit if prior == "hypersphere" else unit * norms[:, None]
    edges = _edges(rows, prior, dim, bins)
    each = np.stack([np.histogram(column, edges, density=True)[0] for column in rows.T])  # (d, bins)
    low, high = np.percentile(each, [10, 90], axis=0)
    cosines = np.clip((unit @ unit.T)[np.triu_indices(n, 1)], -1, 1)
    return Reached(
        _histogram(norms, np.linspace(0, max(norms.max() * 1.1, 1e-6), bins + 1)),
        Histogram((edges[1:] + edges[:-1]) / 2, each.mean(axis=0)),
        low,
        high,
        _histogram(cosines, np.linspace(-1, 1, bins + 1)),
        coordinate_distance(rows, prior),
        float(norms.mean()),
        n,
    )


def coordinate_distance(rows: ArrayLike, prior: Prior) -> float:
    """Mean over dimensions of the Wasserstein-1 distance of a coordinate to the prior's, in the prior's standard deviations.

    0 only for an exact match; a fresh sample of the prior itself gives about 0.7 / sqrt(n).

    Args:
        rows: Shape (n, d).
        prior: Which.
    """
    rows = np.sort(np.asarray(rows, dtype=np.float64), axis=0)
    n, dim = rows.shape
    ideal = coordinate_quantile(prior, dim, (np.arange(n) + 0.5) / n)
    return float(np.abs(rows - ideal[:, None]).mean() / coordinate_sd(prior, dim))


def sample_distance(prior: Prior, n: int, dim: int, seed: int = 0) -> float:
    """The same distance for a fresh sample of the prior: what a perfect embedding of n rows shows."""
    return coordinate_distance(draw(prior, n, dim, seed), prior)


def draw(prior: Prior, n: int, dim: int, seed: int = 0) -> Floats:
    """n independent rows of the prior, shape (n, d)."""
    _check(prior, dim)
    random = np.random.default_rng(seed)
    if prior == "hypercube":
        return random.uniform(-1, 1, (n, dim))
    rows = random.standard_normal((n, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if prior == "hypersphere" else rows


def _edges(rows: Floats, prior: Prior, dim: int, bins: int) -> Floats:
    """Bins that hold both the prior and all but the furthest coordinates."""
    reach = {"hypersphere": 5 * dim**-0.5, "hypercube": 1.6, "normal": 4.0}[prior]
    far = float(np.quantile(np.abs(rows), 0.999))
    limit = 1.0 if prior == "hypersphere" else max(reach, far)
    return np.linspace(-min(max(reach, far), limit), min(max(reach, far), limit), bins + 1)


def _histogram(values: Floats, edges: Floats) -> Histogram:
    return Histogram((edges[1:] + edges[:-1]) / 2, np.histogram(values, edges, density=True)[0])


def _cube(dim: int) -> Floats:
    return draw("hypercube", SAMPLE, dim, seed=0)


def _check(prior: str, dim: int) -> None:
    if prior not in get_args(Prior):
        raise ValueError(f"prior must be one of {', '.join(get_args(Prior))}, got {prior!r}.")
    if dim < 1 or (prior == "hypersphere" and dim < 2):
        raise ValueError(f"dim must be >= 1, and >= 2 on the hypersphere, got {dim}.")
