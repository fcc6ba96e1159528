"""Reference lines for a loss curve: collapsed, perfectly spread, and limited to the shared bits.

Closed forms in nats, without torch, so that pages can draw them. Losses at different temperatures, candidate counts or
conventions are not comparable, so each curve is drawn with its own lines. `kind` names the loss: "nt_xent" is the mean
over 2n anchors with 2n-1 candidates, "cross_view" one direction with n candidates (the trained loss is the sum of two).
"""

import math
from typing import Literal

import numpy as np

Kind = Literal["nt_xent", "cross_view"]
VIEWS = {"nt_xent": 2, "cross_view": 1}  # embeddings of each other image among the candidates


def chance(candidates: int) -> float:
    """Loss when all embeddings are equal: log of the number of candidates, the positive included.

    Args:
        candidates: 2n-1 for NT-Xent, n for one direction of the cross-view loss, K+1 for MoCo, >= 1.

    Raises:
        ValueError: If there is no candidate.
    """
    if candidates < 1:
        raise ValueError(f"candidates must be >= 1, got {candidates}.")
    return math.log(candidates)


def simplex(n: int, tau: float, kind: Kind = "nt_xent") -> float:
    """Least possible loss: views identical, images on the corners of a regular simplex. Needs dimension >= n - 1.

    Args:
        n: Images in the batch, >= 1.
        tau: Temperature, > 0.
        kind: Which loss.

    The value is log(1 + m exp(-n / ((n-1) tau))) with m = 2n-2 or n-1 negatives.
    """
    negatives = _negatives(n, kind)
    _check_tau(tau)
    if n == 1:
        return 0.0
    return math.log1p(negatives * math.exp(-n / ((n - 1) * tau)))


def mean_field(n: int, dim: int, tau: float, kind: Kind = "nt_xent") -> float:
    """Loss when views are identical and images uniform on the sphere, the sum replaced by its expectation.

    Args:
        n: Images in the batch, >= 1; queue length + 1 with kind "cross_view" gives MoCo's line.
        dim: Dimension of the embedding, >= 1.
        tau: Temperature, > 0.
        kind: Which loss.

    The value is log(e^(1/tau) + m E) - 1/tau with m negatives.
    """
    negatives = _negatives(n, kind)
    _check_tau(tau)
    if n == 1:
        return 0.0
    from core.geometry.closed_forms import log_mean_exp_uniform  # it takes scipy.special, which the first page does without

    return float(np.logaddexp(0, math.log(negatives) + log_mean_exp_uniform(dim, tau) - 1 / tau))


def randbit_floor(n: int, bits: int, kind: Kind = "nt_xent") -> float:
    """Best expected loss of an encoder that keeps the shared bits and nothing else.

    Images with equal codes cannot be told apart; those with different codes are taken as far apart (tau -> 0). The
    number of other images with the anchor's code is Binomial(n-1, 2^-bits), and the expectation is taken exactly.

    Args:
        n: Images in the batch, >= 1.
        bits: Shared bits, >= 0; codes are uniform.
        kind: Which loss; for the summed cross-view loss, double the value.

    Returns:
        Nats. log(candidates) at 0 bits, towards 0 far beyond `saturation_bits`.

    The value is E log(1 + 2 Bin(n-1, 2^-bits)), or without the 2.
    """
    _negatives(n, kind)
    share = _share(bits)
    if share == 1:
        return math.log1p(VIEWS[kind] * (n - 1))
    same = np.arange(n)  # other images with the anchor's code
    return float(_binomial(same, n - 1, share) @ np.log1p(VIEWS[kind] * same))


def _binomial(k: np.ndarray, n: int, share: float) -> np.ndarray:
    """Probabilities of k hits in n draws, 0 < share < 1. Without scipy, which takes a fifth of a second of the first page."""
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    ways = log_factorial[n] - log_factorial[k] - log_factorial[n - k]
    return np.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share))


def randbit_floor_finite_tau(n: int, bits: int, tau: float, kind: Kind = "nt_xent") -> float:
    """The same encoder at a finite temperature, different codes at right angles.

    The number of same-code negatives is replaced by its mean, so this lies slightly above the exact expectation.

    Args:
        n: Images in the batch, >= 1.
        bits: Shared bits, >= 0.
        tau: Temperature, > 0.
        kind: Which loss.

    The value is log(1 + m p + m (1-p) e^(-1/tau)) with p = 2^-bits and m negatives.
    """
    negatives, share = _negatives(n, kind), _share(bits)
    _check_tau(tau)
    return math.log1p(negatives * share + negatives * (1 - share) * math.exp(-1 / tau))


def information_line(n: int, bits: int, kind: Kind = "nt_xent") -> float:
    """log(candidates) - bits ln 2, not below 0: what b bits of information could save at most.

    Good for explaining, but not a lower bound of NT-Xent, whose candidates come in pairs: the exact `randbit_floor`
    lies up to 0.0021 below it.

    Args:
        n: Images in the batch, >= 1.
        bits: Shared bits, >= 0.
        kind: Which loss.
    """
    candidates = _negatives(n, kind) + 1
    _share(bits)
    return max(math.log(candidates) - bits * math.log(2), 0.0)


def saturation_bits(n: int, kind: Kind = "nt_xent") -> float:
    """Bits that suffice to name every candidate: log2(2n-1), or log2(n). Beyond it the bits alone solve the task."""
    return math.log2(_negatives(n, kind) + 1)


def collapsed_log_sum_exp(n: int, tau: float, mask_self: bool = True) -> float:
    """Distribution term of the generalized loss when all 2n embeddings are equal: log(2n-1) + 1/tau.

    The alignment is 0 there, so the loss is lam times this value.
    """
    _negatives(n, "nt_xent")
    _check_tau(tau)
    return math.log(2 * n - 1 if mask_self else 2 * n) + 1 / tau


def collapsed_sliced_wasserstein(dim: int, prior: Literal["hypersphere", "hypercube", "normal"]) -> float:
    """Expected sliced Wasserstein term (mean scale) of a collapsed batch: one point, or the origin off the sphere.

    The mean square of the prior's coordinates plus that of the point: 2/d on the sphere, 1/3 for the cube, 1 for the
    normal prior.
    """
    if dim < 1:
        raise ValueError(f"dim must be >= 1, got {dim}.")
    return {"hypersphere": 2 / dim, "hypercube": 1 / 3, "normal": 1.0}[prior]


def log_sum_exp_of_codes(n: int, bits: int, tau: float) -> float:
    """Distribution term of the generalized loss for an encoder that keeps the bits only, tau -> 0 apart from the 1/tau.

    With alignment 0 the generalized loss is lam times this value; at lam = tau that is 1 + tau * `randbit_floor`.
    """
    _check_tau(tau)
    return 1 / tau + randbit_floor(n, bits)


def _negatives(n: int, kind: Kind) -> int:
    if n < 1:
        raise ValueError(f"n must be >= 1 image, got {n}.")
    if kind not in VIEWS:
        raise ValueError(f"kind must be one of {', '.join(VIEWS)}, got {kind!r}.")
    return VIEWS[kind] * (n - 1)


def _share(bits: int) -> float:
    if bits < 0:
        raise ValueError(f"bits must be >= 0, got {bits}.")
    return 2.0**-bits


def _check_tau(tau: float) -> None:
    if not 0 < tau < math.inf:
        raise ValueError(f"tau must be a finite number > 0, got {tau}.")
