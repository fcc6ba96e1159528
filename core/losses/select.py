"""The loss a RunSpec asks for."""

from collections.abc import Callable

import torch
from torch import Tensor

from core.losses import checks
from core.losses.contrastive import cross_view_terms, nt_xent_terms
from core.losses.family import generalized_terms
from core.losses.normalise import unit_rows
from core.losses.positives import one_minus_cosine
from core.losses.potential import align_uniform_terms, log_mean_potential
from core.losses.precision import full_precision
from core.losses.terms import LossTerms

Loss = Callable[[Tensor, Tensor, torch.Generator | None], LossTerms]


def from_spec(spec) -> Loss:
    """The two-view loss of a run, ready for the training loop.

    Shapes are checked; values are not, so that nothing waits for the device. Rows that are not finite give a loss that
    is not finite: the loop watches the value it logs, and `core.losses.checks.not_finite` puts it in words.

    Args:
        spec: A RunSpec, or anything with its fields objective, tau, weight, mask_self and convention. The notebook's
            convention is taken to the letter, with the self term, whatever mask_self says.

    Returns:
        A function (z1, z2, generator) -> LossTerms; the generator is used by the sliced Wasserstein losses only.
        total is minimised; alignment and distribution are what the objective states: for nt_xent
        total = (alignment - 1) / tau + distribution; for cross_view twice the first part; for the others
        total = alignment + weight * distribution, but for "alignment" and "uniformity", which leave one part out.

    Raises:
        ValueError: If the objective is not a two-view loss, or tau or lam is out of range.
    """
    tau, lam = checks.temperature(spec.tau), checks.weight(spec.weight)
    mask_self = spec.mask_self and spec.convention == "standard"

    def gcl(distribution: str):
        return lambda a, b, generator: generalized_terms(a, b, distribution, tau, lam, mask_self, spec.convention, generator)

    losses = {
        "nt_xent": lambda a, b, _: nt_xent_terms(a, b, tau),
        "cross_view": lambda a, b, _: cross_view_terms(a, b, tau),
        "gcl": gcl("log_sum_exp"),
        "swd_hypersphere": gcl("hypersphere"),
        "swd_hypercube": gcl("hypercube"),
        "swd_normal": gcl("normal"),
        "align_uniform": lambda a, b, _: align_uniform_terms(a, b, lam),
        "alignment": lambda a, b, _: _alone(a, b, "alignment"),
        "uniformity": lambda a, b, _: _alone(a, b, "uniformity"),
    }
    if spec.objective not in losses:
        raise ValueError(f"objective must be one of {', '.join(losses)} for a loss of two views, got {spec.objective!r}.")
    loss = losses[spec.objective]
    rows = 2 if spec.objective in ("align_uniform", "uniformity") else 1  # uniformity is a mean over pairs of images

    def checked(z1: Tensor, z2: Tensor, generator: torch.Generator | None = None) -> LossTerms:
        return loss(*checks.pair(z1, z2, rows=rows), generator)

    return checked


def _alone(z1: Tensor, z2: Tensor, part: str) -> LossTerms:
    """One of the two parts of the loss as the whole of it; the other is reported without a gradient."""
    with full_precision(z1):
        a, b = unit_rows(z1), unit_rows(z2)
        pull = one_minus_cosine(a, b).mean()
        spread = 0.5 * (log_mean_potential(a, 2) + log_mean_potential(b, 2)) if len(a) > 1 else torch.full_like(pull, torch.nan)
        return LossTerms(pull, pull, spread.detach()) if part == "alignment" else LossTerms(spread, pull.detach(), spread)
