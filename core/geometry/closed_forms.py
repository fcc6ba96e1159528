"""What the metrics are compared with: exact values for points uniform on the sphere. Without torch.

The sphere is S^(dim-1), the unit vectors of R^dim. Two points have cosine u and squared distance 2 - 2u.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, betaln, gammaln, i0e, ive, logsumexp, xlog1py, xlogy  # scipy.stats imports slowly

Floats = NDArray[np.float64]

SERIES_LIMIT = 1e13  # argument up to which the series is summed; its length grows like the square root


def log_hyp0f1(b: float, x: float) -> float:
    """log of the confluent hypergeometric limit function 0F1(; b; x) for x >= 0, without overflow or underflow.

    0F1(; m/2; k^2/4) is the mean of exp(k u) over the cosine u of uniform points of S^(m-1). The power series has
    positive terms x^k / (k! (b)_k), added up in log space until well past the largest, which lies near k (k + b) = x.

    Args:
        b: Parameter, > 0.
        x: Argument, >= 0.

    Returns:
        Log value, >= 0.

    Raises:
        ValueError: If b or x is out of range.
    """
    if not (b > 0 and math.isfinite(b)):
        raise ValueError(f"b must be a finite number > 0, got {b}.")
    if not (x >= 0 and math.isfinite(x)):
        raise ValueError(f"x must be a finite number >= 0, got {x}.")
    if x == 0:
        return 0.0
    root = math.sqrt(x)
    if x > SERIES_LIMIT:  # far beyond any temperature in use; the Bessel form is exact there, and underflows elsewhere
        return gammaln(b) - (b - 1) * math.log(root) + math.log(ive(b - 1, 2 * root)) + 2 * root
    peak = 2 * x / (b + math.sqrt(b * b + 4 * x))  # solves k (k + b) = x without cancellation
    k = np.arange(1, math.ceil(peak + 12 * math.sqrt(peak + 1)) + 24)  # terms fall off like a bell of width sqrt(peak)
    log_terms = np.cumsum(math.log(x) - np.log(k) - np.log(b + k - 1))
    return float(np.logaddexp(0, logsumexp(log_terms)))  # 0 is the first term, log 1


def log_mean_exp_uniform(dim: int, tau: float) -> float:
    """log E exp(u / tau) for the cosine u of two independent uniform points of the sphere.

    Args:
        dim: Ambient dimension, >= 1.
        tau: Temperature, > 0.

    Returns:
        Nats, between 0 and 1/tau.

    The value is log 0F1(; dim/2; 1/(4 tau^2)). The Bessel form underflows from dim = 512 on.
    """
    _check_dim(dim)
    if not (tau > 0 and math.isfinite(tau)):
        raise ValueError(f"tau must be a finite number > 0, got {tau}.")
    return log_hyp0f1(dim / 2, 0.25 / tau**2)


def uniform_optimum(dim: int, t: float = 2) -> float:
    """Uniformity of the uniform distribution on the sphere: the least value any distribution can have.

    Args:
        dim: Ambient dimension of the embedding, >= 1.
        t: Width of the Gaussian potential, > 0.

    Returns:
        log E exp(-t |x - y|^2) = -2t + log 0F1(; dim/2; t^2), in (-2t, 0). A finite sample, whose own pairs are left
        out, may go below it, down to `finite_sample_bound`.

    Source: Wang & Isola, "Alignment and Uniformity on the Hypersphere", 2020, corollary 1.
    """
    _check_dim(dim)
    _check_t(t)
    return -2 * t + log_hyp0f1(dim / 2, t * t)


def finite_sample_bound(rows: int, dim: int, t: float = 2) -> float:
    """Least uniformity that `rows` points can have when each point's distance to itself is left out.

    Args:
        rows: Number of points, >= 2.
        dim: Ambient dimension, >= 1.
        t: Width of the Gaussian potential, > 0.

    Returns:
        max(-4t, log((rows e^U - 1) / (rows - 1))) with U = `uniform_optimum`; -4t, all pairs antipodal, where the
        argument is not positive.

    Derived from corollary 1 of Wang & Isola, which holds with self-pairs, through `without_self_pairs`.
    """
    if rows < 2:
        raise ValueError(f"rows must be >= 2, because uniformity is a mean over pairs, got {rows}.")
    argument = rows * math.exp(uniform_optimum(dim, t)) - 1
    return -4 * t if argument <= 0 else max(-4 * t, math.log(argument / (rows - 1)))


def without_self_pairs(uniformity: float, rows: int) -> float:
    """Turn a uniformity that counts each point's pair with itself into the one over distinct pairs.

    Args:
        uniformity: log of the mean potential over all rows^2 ordered pairs, in [-log(rows), 0].
        rows: Number of points, >= 2.

    The value is log((B e^U - 1) / (B - 1)).
    """
    if rows < 2:
        raise ValueError(f"rows must be >= 2, because uniformity is a mean over pairs, got {rows}.")
    return math.log((rows * math.exp(uniformity) - 1) / (rows - 1))


def cosine_density(cosine: ArrayLike, dim: int) -> Floats:
    """Density of the cosine u of two independent uniform points of the sphere; integrates to 1 over [-1, 1].

    (1 + u) / 2 follows the Beta((dim-1)/2, (dim-1)/2) law.

    Args:
        cosine: Values, any shape; 0 outside [-1, 1].
        dim: Ambient dimension, >= 2 (in one dimension the cosine is +1 or -1 and has no density).

    Returns:
        The shape of cosine. Infinite at +-1 in two dimensions, 1/2 everywhere in three.
    """
    shape = _beta_shape(dim)
    share = (1 + np.asarray(cosine, dtype=np.float64)) / 2
    inside = np.clip(share, 0, 1)
    density = np.exp(xlogy(shape - 1, inside) + xlog1py(shape - 1, -inside) - betaln(shape, shape)) / 2
    return np.where(share == inside, density, 0.0)[()]


def cosine_distribution(cosine: ArrayLike, dim: int) -> Floats:
    """Probability that the cosine of two independent uniform points is at most this value.

    Args:
        cosine: Values, any shape.
        dim: Ambient dimension, >= 2.
    """
    shape = _beta_shape(dim)
    return betainc(shape, shape, np.clip((1 + np.asarray(cosine, dtype=np.float64)) / 2, 0, 1))


def cosine_quantile(probability: ArrayLike, dim: int) -> Floats:
    """The cosine below which this share of pairs of uniform points lies; the inverse of `cosine_distribution`."""
    shape = _beta_shape(dim)
    return 2 * betaincinv(shape, shape, np.asarray(probability, dtype=np.float64)) - 1


def von_mises_density(angles: ArrayLike, at: ArrayLike, kappa: float) -> Floats:
    """Density on the circle of the points `angles`, each smeared by a von Mises kernel.

    exp(cos / tau) is this kernel with kappa = 1/tau, so the temperature is the width of the smear.

    Args:
        angles: Where the points lie, shape (n,), radians, n >= 1.
        at: Where the density is wanted, shape (m,), radians.
        kappa: Concentration, >= 0; larger is narrower. 0 gives the uniform density 1 / (2 pi).

    Returns:
        Shape (m,), per radian; integrates to 1 over the circle.
    """
    angles, at = np.asarray(angles, dtype=np.float64), np.asarray(at, dtype=np.float64)
    if angles.ndim != 1 or len(angles) == 0:
        raise ValueError(f"angles must have shape (n,) with n >= 1, got {angles.shape}.")
    if not (kappa >= 0 and math.isfinite(kappa)):
        raise ValueError(f"kappa must be a finite number >= 0, got {kappa}.")
    total = np.zeros(at.shape)
    for part in np.array_split(angles, max(1, len(angles) * at.size // 2_000_000)):  # 16 MB of kernel values at a time
        total += np.exp(kappa * (np.cos(at[..., None] - part) - 1)).sum(axis=-1)
    return total / (2 * np.pi * i0e(kappa) * len(angles))


def mean_resultant_length(dim: int, kappa: float) -> float:
    """Length of the mean of a von Mises-Fisher distribution, I_(d/2)(kappa) / I_(d/2-1)(kappa): 0 uniform, 1 a point.

    Args:
        dim: Ambient dimension, >= 2.
        kappa: Concentration, >= 0.
    """
    _beta_shape(dim)
    if not (kappa >= 0 and math.isfinite(kappa)):
        raise ValueError(f"kappa must be a finite number >= 0, got {kappa}.")
    x = kappa**2 / 4  # the Bessel functions themselves underflow where kappa is far below dim
    return kappa / dim * math.exp(log_hyp0f1(dim / 2 + 1, x) - log_hyp0f1(dim / 2, x))


def _check_dim(dim: int) -> None:
    if dim < 1:
        raise ValueError(f"dim must be >= 1, got {dim}.")


def _check_t(t: float) -> None:
    if not (t > 0 and math.isfinite(t)):
        raise ValueError(f"t must be a finite number > 0, got {t}.")


def _beta_shape(dim: int) -> float:
    if dim < 2:
        raise ValueError(f"dim must be >= 2, because on a line every cosine is +1 or -1, got {dim}.")
    return (dim - 1) / 2
