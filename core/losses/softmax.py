"""One anchor's softmax: what the temperature does to its loss, its gradient and the shares of its negatives.

Pages import this module, so it uses numpy and scipy only. Every function takes similarities of one anchor: the
positive's score as a number, the negatives' scores as an array of shape (K,). The softmax has K + 1 terms.
The temperatures 0 and infinity mean the limits, not values.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, logsumexp

Floats = NDArray[np.float64]


class Gradient(NamedTuple):
    """Derivative of one anchor's loss with respect to its scores, in nats per unit of similarity."""

    positive: float  # never positive: raising this score lowers the loss
    negatives: Floats  # (K,), never negative; they sum to minus the positive's part


class Sweep(NamedTuple):
    """One anchor over many temperatures."""

    effective: Floats  # (T,) effective number of negatives
    pull: Floats  # (T,) size of the gradient on the positive, (1 - P+)/tau


def scores_of(positive: float, negatives: ArrayLike) -> Floats:
    """All K + 1 scores, the positive first: index 0 is the target of the equivalent cross entropy.

    Raises:
        ValueError: If there is no negative, or a score is not finite.
    """
    negatives = np.asarray(negatives, dtype=np.float64)
    if negatives.ndim != 1 or len(negatives) == 0:
        raise ValueError(f"negatives must have shape (K,) with K >= 1, got {negatives.shape}.")
    scores = np.concatenate([[float(positive)], negatives])  # (K + 1,)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite, got NaN or infinity.")
    return scores


def checked_tau(tau: float) -> float:
    """tau as a float, or a ValueError. 0 and infinity are allowed: they stand for the limits."""
    tau = float(tau)
    if not tau >= 0:
        raise ValueError(f"tau must be >= 0 (0 and infinity mean the limits), got {tau}.")
    return tau


def softmax(scores: ArrayLike, tau: float) -> Floats:
    """softmax(scores / tau), with its limits: all on the maximum at tau = 0 (ties share), equal shares at infinity.

    Args:
        scores: Shape (N,), any range.
        tau: Temperature, 0 to infinity.

    Returns:
        Shape (N,), non-negative, sums to 1.
    """
    scores, tau = np.asarray(scores, dtype=np.float64), checked_tau(tau)
    if tau == 0:
        top = scores == scores.max()
        return top / top.sum()
    logits = (scores - scores.max()) / tau  # 0 at infinity; the maximum taken off first, so that no exp overflows
    return np.exp(logits - logsumexp(logits))


def info_nce(positive: float, negatives: ArrayLike, tau: float) -> float:
    """InfoNCE loss of one anchor, -log P(positive), over K + 1 candidates.

    Returns:
        Nats, >= 0. log(K + 1) at tau = infinity; at tau = 0 it is 0 if the positive is the only maximum,
        log(number of tied maxima) if it shares the maximum, infinite otherwise.

    Source: van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018, eq. 4.
    """
    scores, tau = scores_of(positive, negatives), checked_tau(tau)
    if tau == 0:
        top = scores == scores.max()
        return float(np.log(top.sum())) if top[0] else float("inf")
    return float(logsumexp((scores - scores[0]) / tau))  # differences first: the positive's own term is exactly 0


def scaled_gradient(positive: float, negatives: ArrayLike, tau: float) -> Gradient:
    """tau times the gradient: -(1 - P+) for the positive, P_j for negative j. Finite in both limits."""
    shares = softmax(scores_of(positive, negatives), tau)
    return Gradient(-float(shares[1:].sum()), shares[1:])  # the sum, not 1 - P+, which would cancel at small tau


def gradient(positive: float, negatives: ArrayLike, tau: float) -> Gradient:
    """Gradient of the loss with respect to the scores: -(1 - P+)/tau and P_j/tau.

    Raises:
        ValueError: At tau = 0, where it is unbounded; `scaled_gradient` has a limit there.

    Source: Wang & Liu, "Understanding the Behaviour of Contrastive Loss", CVPR 2021, eq. 4-5.
    """
    if checked_tau(tau) == 0:
        raise ValueError("the gradient is unbounded at tau = 0; scaled_gradient gives tau times it.")
    scaled = scaled_gradient(positive, negatives, tau)
    return Gradient(scaled.positive / tau, scaled.negatives / tau)


def push_shares(negatives: ArrayLike, tau: float) -> Floats:
    """Share r_j of the total push that each negative receives: exp(s_j/tau) over the sum of all negatives.

    Returns:
        Shape (K,), sums to 1. The positive has no part in it.

    Source: Wang & Liu 2021, section 3.1.
    """
    return softmax(scores_of(0.0, negatives)[1:], tau)


def entropy(shares: ArrayLike) -> float:
    """Shannon entropy of a distribution in nats; 0 log 0 counts as 0."""
    return float(entr(np.asarray(shares, dtype=np.float64)).sum())


def entropy_slope(negatives: ArrayLike, tau: float) -> float:
    """dH/dtau of the entropy of the push shares: Var_r(s) / tau^3, so it never falls.

    Raises:
        ValueError: At tau = 0, where the formula is 0/0.
    """
    if checked_tau(tau) == 0:
        raise ValueError("the slope of the entropy needs tau > 0, got 0.")
    negatives = np.asarray(negatives, dtype=np.float64)
    shares = push_shares(negatives, tau)
    centred = negatives - shares @ negatives
    return float(shares @ centred**2 / tau**3)


def effective_number(negatives: ArrayLike, tau: float) -> float:
    """exp of the entropy of the push shares: as many equal negatives would give the same spread. From 1 to K."""
    return float(np.exp(entropy(push_shares(negatives, tau))))


def sweep(positive: float, scores: ArrayLike, counts: ArrayLike, taus: ArrayLike) -> Sweep:
    """Effective number of negatives and pull on the positive over many temperatures, for negatives that repeat.

    Args:
        positive: Score of the positive.
        scores: Distinct scores of the negatives, shape (m,).
        counts: How often each occurs, shape (m,), > 0.
        taus: Temperatures, shape (T,), finite and > 0.

    Returns:
        The same numbers as `effective_number` and `gradient`, without writing out every negative.
    """
    scores, taus = scores_of(positive, scores), np.asarray(taus, dtype=np.float64)
    log_counts = np.log(np.concatenate([[1.0], np.asarray(counts, dtype=np.float64)]))
    logits = (scores - scores.max())[None, :] / taus[:, None]  # (T, m + 1)
    log_weights = logits + log_counts
    log_push = log_weights[:, 1:] - logsumexp(log_weights[:, 1:], axis=1, keepdims=True)  # log of count * r
    entropies = -(np.exp(log_push) * (log_push - log_counts[1:])).sum(axis=1)
    log_total = logsumexp(log_weights, axis=1)
    pull = np.exp(logsumexp(log_weights[:, 1:], axis=1) - log_total) / taus
    return Sweep(np.exp(entropies), pull)


def effective_number_uniform(count: int, tau: ArrayLike) -> Floats:
    """Effective number of negatives when `count` similarities fill (-1, 1) evenly.

    count * tau * sinh(1/tau) * exp(1 - coth(1/tau)/tau), the limit of many negatives.

    Args:
        count: Number of negatives, >= 1.
        tau: Temperatures > 0, any shape.

    Returns:
        The shape of tau; between 0 and count.
    """
    x = 1 / np.asarray(tau, dtype=np.float64)
    log_sinh = x + np.log1p(-np.exp(-2 * x)) - np.log(2)  # sinh itself overflows at tau < 0.0014
    return count * np.exp(log_sinh - np.log(x) + 1 - x / np.tanh(x))


def penalty_uniform(similarity: ArrayLike, tau: float) -> Floats:
    """Push on a negative at this similarity, in multiples of the average, among similarities that fill (-1, 1) evenly.

    exp(s/tau) / (tau sinh(1/tau)): its mean over (-1, 1) is 1. Wang & Liu 2021, figure 3, in this unit.
    """
    x = 1 / float(tau)
    log_sinh = x + np.log1p(-np.exp(-2 * x)) - np.log(2)
    return np.exp(np.asarray(similarity, dtype=np.float64) * x - log_sinh + np.log(x))


def cold_limit(positive: float, negatives: ArrayLike) -> float:
    """Limit of tau * loss for tau -> 0: max(s_max - s+, 0), a triplet loss without margin (Wang & Liu 2021, eq. 6)."""
    scores = scores_of(positive, negatives)
    return float(max(scores[1:].max() - scores[0], 0.0))


def hot_slope(positive: float, negatives: ArrayLike) -> float:
    """Limit of tau * (loss - log N) for tau -> infinity: mean score of all N candidates minus the positive's.

    Linear in the scores, every negative weighs the same (Wang & Liu 2021, eq. 3 and 7).
    """
    scores = scores_of(positive, negatives)
    return float(scores.mean() - scores[0])
