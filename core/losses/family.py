"""The generalized contrastive loss: alignment + lam * distribution, with four distribution terms."""

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from core.losses import checks
from core.losses.kernel import self_log_sum_exp
from core.losses.normalise import unit_rows
from core.losses.positives import mean_squared_difference, one_minus_cosine
from core.losses.precision import full_precision
from core.losses.terms import LossTerms
from core.losses.wasserstein import distance_to_prior

Distribution = Literal["log_sum_exp", "hypersphere", "hypercube", "normal"]
Convention = Literal["standard", "notebook"]


def generalized(
    z1: Tensor,
    z2: Tensor,
    distribution: Distribution = "log_sum_exp",
    *,
    tau: float = 1.0,
    lam: float = 1.0,
    mask_self: bool | None = None,
    convention: Convention = "standard",
    generator: torch.Generator | None = None,
) -> LossTerms:
    """Generalized contrastive loss, GCL (tau, lam).

    With "log_sum_exp" the alignment is the mean of 1 - cosine and the distribution the log-sum-exp with width tau;
    lam = tau gives 1 + tau * NT-Xent exactly, and its gradient tau times that of NT-Xent. With a prior the alignment is
    the mean squared difference over pairs and dimensions and the distribution the sliced Wasserstein distance to it;
    rows are normalised for the hypersphere only.

    The convention "notebook" is the authors' published code to the letter: half the mean squared difference, which on
    the sphere is (1 - cosine) / d; log-sum-exp with the self term and less log d. Their lam = tau is *not* NT-Xent: that
    takes lam = tau / d. `core.losses.conversion` converts.

    Args:
        z1: First view, shape (n, d), floating; rows need not be normalised.
        z2: Second view, same shape.
        distribution: "log_sum_exp", or the prior "hypersphere", "hypercube" or "normal".
        tau: Temperature, finite and > 0; used by the log-sum-exp only.
        lam: Weight of the distribution term, finite and >= 0.
        mask_self: Leave each row out of its own log-sum-exp; None is yes in the standard convention, no in the notebook's.
        convention: "standard" or "notebook".
        generator: Random numbers of the sliced Wasserstein distance; None is torch's global generator.

    Returns:
        LossTerms: total = alignment + lam * distribution.

    Raises:
        ValueError: If shapes differ, there is no row, or an option is out of range.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: Chen, Luo, Li 2021, table 1; google-research/simclr, generalized_contrastive_loss.ipynb. Deviations of the
        standard convention: alignment summed over dimensions with the log-sum-exp, so that lam = tau is NT-Xent; self
        term masked; sliced Wasserstein distance as a mean, so that lam does not depend on the batch size.
    """
    tau, lam = checks.temperature(tau), checks.weight(lam)
    if distribution not in get_args(Distribution):
        raise ValueError(f"distribution must be one of {', '.join(get_args(Distribution))}, got {distribution!r}.")
    if convention not in get_args(Convention):
        raise ValueError(f"convention must be one of {', '.join(get_args(Convention))}, got {convention!r}.")
    a, b = checks.pair(z1, z2)
    terms = generalized_terms(a, b, distribution, tau, lam, mask_self, convention, generator)
    checks.finite(terms.total, z1=a, z2=b)
    return terms


def generalized_terms(
    z1: Tensor,
    z2: Tensor,
    distribution: Distribution,
    tau: float,
    lam: float,
    mask_self: bool | None = None,
    convention: Convention = "standard",
    generator: torch.Generator | None = None,
) -> LossTerms:
    """The same without checks."""
    notebook = convention == "notebook"
    with full_precision(z1):
        on_sphere = distribution in ("log_sum_exp", "hypersphere")
        a, b = (unit_rows(z1), unit_rows(z2)) if on_sphere else (z1, z2)
        both = torch.cat([a, b])  # (2n, d)
        if distribution == "log_sum_exp":
            masked = not notebook if mask_self is None else mask_self
            spread = self_log_sum_exp(both, tau, masked).mean()
            spread = spread - math.log(a.shape[1]) if notebook else spread
        else:
            spread = distance_to_prior(both, distribution, generator)
        if notebook:
            pull = 0.5 * mean_squared_difference(a, b)
        elif distribution == "log_sum_exp":
            pull = one_minus_cosine(a, b).mean()
        else:
            pull = mean_squared_difference(a, b)
        return LossTerms(pull + lam * spread, pull, spread)
