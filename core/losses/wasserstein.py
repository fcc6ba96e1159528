"""Distribution term of the generalized contrastive loss: sliced Wasserstein distance to a prior."""

from typing import Literal, get_args

import torch
from torch import Tensor

from core.losses import checks
from core.losses.normalise import unit_rows
from core.losses.precision import full_precision

Prior = Literal["hypersphere", "hypercube", "normal"]
Scale = Literal["mean", "algorithm1"]


def sliced_wasserstein(
    z: Tensor,
    prior: Prior,
    generator: torch.Generator | None = None,
    n_projections: int | None = None,
    scale: Scale = "mean",
) -> Tensor:
    """Squared sliced Wasserstein distance between the embeddings and a fresh sample of the prior.

    Both are projected on random orthogonal directions, sorted, and compared in order. Sample and directions are new at
    every call; the gradient flows only through the embeddings.

    Args:
        z: Both views stacked, shape (b, d), floating. Rows are normalised for the hypersphere only.
        prior: "hypersphere" (uniform on it), "hypercube" (uniform on [-1, 1]^d) or "normal" (standard).
        generator: Where the random numbers come from; None is torch's global generator.
        n_projections: Number of directions d', from 1 to d; None is d.
        scale: "mean" divides the sum by b d', so that lam keeps its meaning when the batch grows; "algorithm1" by d d',
            as the paper's algorithm, which is b/d times as much.

    Returns:
        Scalar >= 0, float64 for float64 input, float32 otherwise; 0 only where the sorted projections agree.

    Raises:
        ValueError: If z is not a matrix of floats with at least 1 row, or an option is not one of those named.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: Chen, Luo, Li 2021, algorithm 1. Deviations: the mean scale; a real sort in place of the notebook's
        permutation from ranks, which fails on ties, that is on collapsed embeddings.
    """
    z = checks.embeddings(z)
    with full_precision(z):
        rows = unit_rows(z) if prior == "hypersphere" else z
        value = distance_to_prior(rows, prior, generator, n_projections, scale)
    checks.finite(value, z=z)
    return value


def distance_to_prior(
    rows: Tensor,
    prior: Prior,
    generator: torch.Generator | None = None,
    n_projections: int | None = None,
    scale: Scale = "mean",
) -> Tensor:
    """The distance for rows that are already normalised where the prior asks for it."""
    if scale not in get_args(Scale):
        raise ValueError(f"scale must be one of {', '.join(get_args(Scale))}, got {scale!r}.")
    b, d = rows.shape
    sample = draw_prior(rows, prior, generator)  # (b, d)
    directions = orthonormal_columns(d, d if n_projections is None else n_projections, rows, generator)  # (d, d')
    projected = (rows @ directions).T.sort(dim=1).values  # (d', b), each row sorted over the batch
    target = (sample @ directions).T.sort(dim=1).values
    mean = (projected - target).square().mean()
    return mean if scale == "mean" else mean * (b / d)


def draw_prior(like: Tensor, prior: Prior, generator: torch.Generator | None = None) -> Tensor:
    """Independent rows of the prior, with the shape, dtype and device of `like`."""
    if prior == "hypercube":
        return _random(torch.rand, like.shape, like, generator) * 2 - 1
    if prior == "normal":
        return _random(torch.randn, like.shape, like, generator)
    if prior == "hypersphere":
        return unit_rows(_random(torch.randn, like.shape, like, generator))
    raise ValueError(f"prior must be one of {', '.join(get_args(Prior))}, got {prior!r}.")


def orthonormal_columns(d: int, columns: int, like: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """A uniformly random matrix of shape (d, columns) with W^T W = I, dtype and device of `like`.

    The QR decomposition of a Gaussian matrix is uniform once the signs of R's diagonal are moved into Q.
    """
    if not 1 <= columns <= d:
        raise ValueError(f"n_projections must be from 1 to the dimension {d}, got {columns}.")
    q, r = torch.linalg.qr(_random(torch.randn, (d, columns), like, generator))
    return q * torch.where(r.diagonal() < 0, -1, 1)


def _random(draw, shape, like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Draw where the generator lives, then move: a CPU generator serves embeddings on any device."""
    device = like.device if generator is None else generator.device
    return draw(tuple(shape), dtype=like.dtype, device=device, generator=generator).to(like.device)
