"""Log-sum-exp over all cosine similarities of a batch, in memory that does not grow with the square of the batch.

The matrix of similarities is never whole: it is made a tile at a time, summed, and made again for the gradient. Where
it is small its tiles are kept instead, so that training batches pay nothing. Two facts save most of the work:

- Cosines lie in [-1, 1]. For tau >= 1/64, exp(s / tau) stays between e^-64 and e^64: one exponential per tile serves the
  sums over rows, the sums over columns and the gradient, without looking for a maximum. Smaller temperatures subtract it.
- Similarities of a batch with itself are symmetric, so half of the tiles tell everything: a tile's row sums belong to
  its rows and its column sums to its columns.

All functions are differentiable once.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Literal

import torch
from torch import Tensor

from core.losses.derivatives import first_derivative_only

LARGEST_LOGIT = 64.0  # e^64 times a million summands is far below float32's 3e38, e^-64 far above its 1e-38
CPU_TILE, CPU_KEPT = 1024, 2**22  # rows of a tile: 4 MB in float32, which stays in the cache; elements kept: 16 MB
ACCELERATOR_TILE, ACCELERATOR_KEPT = 4096, 2**24  # fewer, larger launches

Sums = Literal["self", "both", "rows"]  # of z z^T, over rows and columns of x y^T, over its rows only


def self_log_sum_exp(z: Tensor, tau: float, mask_self: bool, leave_out: int = 0) -> Tensor:
    """log sum_k exp(z_i . z_k / tau) for each row i of one batch.

    Args:
        z: Shape (rows, d); unit rows or zeros, float32 or float64.
        tau: Temperature, > 0.
        mask_self: Leave out k = i; then rows must be at least 2.
        leave_out: Also leave out k = i + leave_out and k = i - leave_out; 0 for none. Used where the positive does not
            belong in the sum.

    Returns:
        Shape (rows,).
    """
    offsets = (0,) * mask_self + (leave_out, -leave_out) * bool(leave_out)
    return _LogSumExp.apply(z, z, tau, offsets, "self")


def cross_log_sum_exp(x: Tensor, y: Tensor, tau: float) -> tuple[Tensor, Tensor]:
    """log sum_k exp(x_i . y_k / tau) for each row i of x, and log sum_i of the same for each row k of y.

    Args:
        x: Shape (n, d); unit rows or zeros, float32 or float64.
        y: Shape (m, d), likewise.
        tau: Temperature, > 0.

    Returns:
        Shapes (n,) and (m,).
    """
    return _LogSumExp.apply(x, y, tau, (), "both")


def row_log_sum_exp(x: Tensor, y: Tensor, tau: float) -> Tensor:
    """log sum_k exp(x_i . y_k / tau) for each row i of x only, at any temperature.

    Args:
        x: Shape (n, d); unit rows or zeros, float32 or float64.
        y: Shape (m, d), likewise.
        tau: Temperature, > 0.

    Returns:
        Shape (n,).
    """
    return _LogSumExp.apply(x, y, tau, (), "rows")


class _LogSumExp(torch.autograd.Function):
    """Logarithms of the row sums r and column sums c of E = exp(x y^T / tau).

    With incoming gradients g and h, the gradient with respect to the logits is (g_i / r_i + h_j / c_j) E_ij. In the mode
    "self" y is x, each tile stands for its mirror image too, and r and c, g and h are the same.
    """

    @staticmethod
    def forward(ctx, x: Tensor, y: Tensor, tau: float, offsets: tuple[int, ...], sums: Sums):
        row_logs = x.new_full((len(x),), -torch.inf)
        column_logs = row_logs if sums == "self" else x.new_full((len(y),), -torch.inf)
        keep = any(ctx.needs_input_grad) and len(x) * len(y) <= (CPU_KEPT if x.device.type == "cpu" else ACCELERATOR_KEPT)
        kept = []
        for rows, columns in _tiles(x, y, sums):
            tile = _tile(x, y, rows, columns, tau, offsets)
            _add(row_logs[rows], _log_sum(tile, 1, tau))
            if _counts_columns(sums, rows, columns):
                _add(column_logs[columns], _log_sum(tile, 0, tau))
            if keep:
                kept.append(tile)
        ctx.tau, ctx.offsets, ctx.sums = tau, offsets, sums
        ctx.save_for_backward(x, y, row_logs, column_logs, *kept)
        return (row_logs, column_logs) if sums == "both" else row_logs

    @staticmethod
    @first_derivative_only
    def backward(ctx, row_grad: Tensor, column_grad: Tensor | None = None):
        x, y, row_logs, column_logs, *kept = ctx.saved_tensors
        if ctx.sums == "self":
            column_grad = row_grad
        x_grad = torch.zeros_like(x)
        y_grad = x_grad if ctx.sums == "self" else torch.zeros_like(y) if ctx.needs_input_grad[1] else None
        for index, (rows, columns) in enumerate(_tiles(x, y, ctx.sums)):
            tile = kept[index] if kept else _tile(x, y, rows, columns, ctx.tau, ctx.offsets)
            by_row = (row_logs[rows, None], row_grad[rows, None])
            by_column = (column_logs[columns], column_grad[columns]) if ctx.sums != "rows" else None
            pull = _pull(tile, by_row, by_column, ctx.tau)  # gradient with respect to the tile's cosines
            x_grad[rows].addmm_(pull, y[columns])
            if y_grad is not None and (ctx.sums != "self" or rows != columns):
                y_grad[columns].addmm_(pull.T, x[rows])
        return x_grad, None if ctx.sums == "self" else y_grad, None, None, None


def _tiles(x: Tensor, y: Tensor, sums: Sums) -> Iterator[tuple[slice, slice]]:
    """Row and column ranges that cover all pairs of x and y; for a batch with itself, the upper triangle."""
    size = CPU_TILE if x.device.type == "cpu" else ACCELERATOR_TILE
    for i in range(0, len(x), size):
        for j in range(i if sums == "self" else 0, len(y), size):
            yield slice(i, min(i + size, len(x))), slice(j, min(j + size, len(y)))


def _counts_columns(sums: Sums, rows: slice, columns: slice) -> bool:
    """Whether a tile's column sums are wanted; a tile on the diagonal of a batch with itself has them in its rows."""
    return sums == "both" or (sums == "self" and rows != columns)


def _fits_without_maximum(tau: float) -> bool:
    return 1 / tau <= LARGEST_LOGIT


def _tile(x: Tensor, y: Tensor, rows: slice, columns: slice, tau: float, offsets: tuple[int, ...]) -> Tensor:
    """Logits of a tile, or their exponentials where these cannot overflow; left out where column - row is an offset."""
    logits = (x[rows] / tau) @ y[columns].T
    for offset in offsets:
        shift = rows.start + offset - columns.start
        if -len(logits) < shift < logits.shape[1]:
            logits.diagonal(shift).fill_(-torch.inf)
    return logits.exp_() if _fits_without_maximum(tau) else logits


def _log_sum(tile: Tensor, dim: int, tau: float) -> Tensor:
    """log of the sums of the exponentials of a tile over one dimension."""
    return tile.sum(dim).log_() if _fits_without_maximum(tau) else torch.logsumexp(tile, dim)


def _add(total: Tensor, part: Tensor) -> None:
    """Add to a sum of which the logarithm is kept, in place."""
    torch.logaddexp(total, part, out=total)


def _pull(tile: Tensor, by_row: tuple[Tensor, Tensor], by_column: tuple[Tensor, Tensor] | None, tau: float) -> Tensor:
    """Sum over both directions of softmax share times incoming gradient, over tau; pairs are (log sums, gradient)."""
    directions = [by_row] if by_column is None else [by_row, by_column]
    if _fits_without_maximum(tau):
        weights = [logs.neg().exp_() * (grad / tau) for logs, grad in directions]
        return reduce(torch.add, weights) * tile
    # A share is at most 1. At a tiny temperature logits are so large that rounding alone could lift it to infinity.
    return reduce(Tensor.add_, [(tile - logs).clamp_(max=0).exp_().mul_(grad / tau) for logs, grad in directions])
