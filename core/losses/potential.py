"""Alignment and uniformity of Wang & Isola, as losses."""

import math

import torch
from torch import Tensor

from core.losses import checks
from core.losses.kernel import self_log_sum_exp
from core.losses.normalise import unit_rows
from core.losses.positives import one_minus_cosine
from core.losses.precision import full_precision
from core.losses.terms import LossTerms


def align_uniform(z1: Tensor, z2: Tensor, lam: float = 1.0, t: float = 2) -> LossTerms:
    """Mean squared distance of the pairs plus lam times the uniformity of the views.

    Args:
        z1: First view, shape (n, d) with n >= 2, floating; rows need not be normalised.
        z2: Second view, same shape.
        lam: Weight of the uniformity, >= 0.
        t: Width of the Gaussian potential, > 0.

    Returns:
        LossTerms: total = alignment + lam * distribution; alignment in [0, 4], twice 1 - cosine; distribution, the
        mean uniformity of the two views, in [-4t, 0].

    Raises:
        ValueError: If the shapes differ, there are fewer than 2 rows, lam is negative or t is not > 0.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: Wang & Isola 2020, section 4.3, alpha = 2.
    """
    lam, t = checks.weight(lam), checks.exponent(t)
    a, b = checks.pair(z1, z2, rows=2)
    terms = align_uniform_terms(a, b, lam, t)
    checks.finite(terms.total, z1=a, z2=b)
    return terms


def align_uniform_terms(z1: Tensor, z2: Tensor, lam: float, t: float = 2) -> LossTerms:
    """The same without checks."""
    with full_precision(z1):
        a, b = unit_rows(z1), unit_rows(z2)
        pull = 2 * one_minus_cosine(a, b).mean()
        spread = 0.5 * (log_mean_potential(a, t) + log_mean_potential(b, t))
        return LossTerms(pull + lam * spread, pull, spread)


def log_mean_potential(rows: Tensor, t: float) -> Tensor:
    """log of the mean of exp(-t |x - y|^2) over distinct pairs of unit rows, shape (n, d) with n >= 2.

    On the sphere |x - y|^2 = 2 - 2 x.y, so this is a log-sum-exp of cosines with temperature 1 / (2t).
    """
    n = len(rows)
    return torch.logsumexp(self_log_sum_exp(rows, 1 / (2 * t), mask_self=True), dim=0) - math.log(n * (n - 1)) - 2 * t
