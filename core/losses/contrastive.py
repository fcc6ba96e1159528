"""The two contrastive cross entropies: NT-Xent (2n-1 candidates) and the cross-view form (n candidates)."""

import torch
from torch import Tensor

from core.losses import checks
from core.losses.kernel import cross_log_sum_exp, self_log_sum_exp
from core.losses.normalise import unit_rows
from core.losses.positives import one_minus_cosine
from core.losses.precision import full_precision
from core.losses.terms import LossTerms


def nt_xent(z1: Tensor, z2: Tensor, tau: float) -> Tensor:
    """Normalised-temperature cross entropy: find the other view among the 2n-1 other embeddings.

    The positive is one of the candidates; the anchor itself is masked.

    Args:
        z1: First view, shape (n, d), floating; rows need not be normalised.
        z2: Second view, same shape.
        tau: Temperature, finite and > 0, no unit.

    Returns:
        Scalar >= 0 in nats, mean over the 2n anchors; exactly 0 for one pair. float64 for float64 input, float32 otherwise.

    Raises:
        ValueError: If the shapes differ, there is no row, or tau is not > 0.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: Chen et al., "A Simple Framework for Contrastive Learning of Visual Representations", 2020, equation 1.
        The authors' objective.py returns twice this value.
    """
    tau = checks.temperature(tau)
    a, b = checks.pair(z1, z2)
    value = nt_xent_terms(a, b, tau).total
    checks.finite(value, z1=a, z2=b)
    return value


def cross_view(z1: Tensor, z2: Tensor, tau: float) -> Tensor:
    """Cross-view InfoNCE: find the image among the n embeddings of the other view; both directions summed.

    Args:
        z1: First view, shape (n, d), floating; rows need not be normalised.
        z2: Second view, same shape.
        tau: Temperature, finite and > 0, no unit.

    Returns:
        Scalar >= 0 in nats: the sum, not the mean, of the two directions. Exactly 0 for one pair.

    Raises:
        ValueError: If the shapes differ, there is no row, or tau is not > 0.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: google-research/simclr, colabs/intriguing_properties/randbits_mnist.ipynb.
    """
    tau = checks.temperature(tau)
    a, b = checks.pair(z1, z2)
    value = cross_view_terms(a, b, tau).total
    checks.finite(value, z1=a, z2=b)
    return value


def nt_xent_terms(z1: Tensor, z2: Tensor, tau: float) -> LossTerms:
    """NT-Xent with its split: total = (alignment - 1) / tau + distribution. Arguments are not checked."""
    with full_precision(z1):
        views = unit_rows(torch.stack([z1, z2]))  # (2, n, d)
        apart = one_minus_cosine(*views.unbind())  # (n,)
        log_sums = self_log_sum_exp(views.flatten(0, 1), tau, mask_self=True)  # (2n,)
        return LossTerms(_cross_entropy(log_sums.view(2, -1), apart, tau).mean(), apart.mean(), log_sums.mean())


def cross_view_terms(z1: Tensor, z2: Tensor, tau: float) -> LossTerms:
    """Cross-view InfoNCE with its split: total = 2 (alignment - 1) / tau + distribution. Arguments are not checked."""
    with full_precision(z1):
        a, b = unit_rows(torch.stack([z1, z2])).unbind()  # (n, d) each
        apart = one_minus_cosine(a, b)  # (n,)
        log_sums = torch.stack(cross_log_sum_exp(a, b, tau))  # (2, n)
        return LossTerms(2 * _cross_entropy(log_sums, apart, tau).mean(), apart.mean(), 2 * log_sums.mean())


def _cross_entropy(log_sums: Tensor, apart: Tensor, tau: float) -> Tensor:
    """Loss of each anchor, shape (2, n), from its log-sum-exp and 1 - cosine of its pair, shape (n,).

    The positive is one of the summands, so a negative difference is rounding; with one pair it is the only one.
    """
    losses = (log_sums + (apart - 1) / tau).clamp_min(0)
    return losses if len(apart) > 1 else losses * 0
