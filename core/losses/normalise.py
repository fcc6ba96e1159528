"""Rows on the unit sphere, safely."""

import torch
from torch import Tensor

from core.losses.derivatives import first_derivative_only


def unit_rows(z: Tensor) -> Tensor:
    """Each row divided by its L2 norm; a row of zeros has no direction, stays zero and receives no gradient.

    Entries of any magnitude are fine: rows are scaled by their largest entry before they are squared.

    Args:
        z: Shape (..., d), float32 or float64; rows are the last dimension.

    Returns:
        Same shape and dtype. Differentiable once.
    """
    return _UnitRows.apply(z)


class _UnitRows(torch.autograd.Function):
    """x / |x| with gradient (g - u (u . g)) / |x|: one pass where the traced form takes eight."""

    @staticmethod
    def forward(ctx, z: Tensor) -> Tensor:
        largest = z.abs().amax(dim=-1, keepdim=True)  # (..., 1)
        tiny = torch.finfo(z.dtype).tiny
        scaled = z / largest.clamp_min(tiny)  # largest entry 1, or a row of zeros
        norm = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
        unit = scaled / norm.clamp_min(1)
        length = norm * largest
        ctx.save_for_backward(unit, (length > 0) / length.clamp_min(tiny))
        return unit

    @staticmethod
    @first_derivative_only
    def backward(ctx, grad: Tensor) -> Tensor:
        unit, inverse_length = ctx.saved_tensors
        return (grad - unit * (unit * grad).sum(dim=-1, keepdim=True)) * inverse_length
