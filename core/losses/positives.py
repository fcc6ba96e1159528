"""Alignment: how far apart the two views of an image are on the sphere."""

import torch
from torch import Tensor

from core.losses import checks
from core.losses.normalise import unit_rows
from core.losses.precision import full_precision


def alignment(z1: Tensor, z2: Tensor) -> Tensor:
    """Mean over pairs of 1 - cosine similarity.

    Args:
        z1: First view, shape (n, d), floating; rows need not be normalised.
        z2: Second view, same shape.

    Returns:
        Scalar in [0, 2], float64 for float64 input, float32 otherwise. A row of zeros counts as a right angle, 1.

    Raises:
        ValueError: If the shapes differ, or there is no row.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    This is half the squared distance, summed over dimensions: half of `core.geometry.alignment` with alpha = 2, and
    d times the alignment of the authors' notebook.
    """
    a, b = checks.pair(z1, z2)
    with full_precision(a):
        value = one_minus_cosine(unit_rows(a), unit_rows(b)).mean()
    checks.finite(value, z1=a, z2=b)
    return value


def one_minus_cosine(a: Tensor, b: Tensor) -> Tensor:
    """1 - a_k . b_k for each pair of rows that are unit or zero. Shapes (n, d) to (n,).

    Written as half the squared difference, which stays exact for pairs that almost agree; the second part is 0
    but for rows of zeros.
    """
    norms = (torch.linalg.vector_norm(z.detach(), dim=1) for z in (a, b))
    missing = 2 - sum(norm.round() for norm in norms)  # (n,), 0 where both rows exist
    return 0.5 * ((a - b).square().sum(dim=1) + missing)


def mean_squared_difference(a: Tensor, b: Tensor) -> Tensor:
    """Mean over pairs and dimensions of (a - b)^2: the alignment of the sliced Wasserstein losses."""
    return (a - b).square().mean()
