"""Decoupled contrastive learning: the positive taken out of the denominator. Not the GCL, whose tau and lam are separate."""

import torch
from torch import Tensor

from core.losses import checks
from core.losses.kernel import self_log_sum_exp
from core.losses.normalise import unit_rows
from core.losses.positives import one_minus_cosine
from core.losses.precision import full_precision


def dcl(z1: Tensor, z2: Tensor, tau: float) -> Tensor:
    """Pull of the positive without the factor 1 - P+, push of the 2n-2 negatives only.

    Args:
        z1: First view, shape (n, d) with n >= 2, floating; rows need not be normalised.
        z2: Second view, same shape.
        tau: Temperature, finite and > 0, no unit.

    Returns:
        Scalar in nats, mean over the 2n anchors; may be negative; log(2n-2) when all embeddings are equal.

    Raises:
        ValueError: If the shapes differ, there are fewer than 2 pairs, or tau is not > 0.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: Yeh et al., "Decoupled Contrastive Learning", 2021, equation 6, averaged over anchors.
    """
    tau = checks.temperature(tau)
    a, b = checks.pair(z1, z2, rows=2)
    with full_precision(a):
        x, y = unit_rows(a), unit_rows(b)
        log_sums = self_log_sum_exp(torch.cat([x, y]), tau, mask_self=True, leave_out=len(x))  # (2n,)
        value = log_sums.mean() + (one_minus_cosine(x, y).mean() - 1) / tau
    checks.finite(value, z1=a, z2=b)
    return value
