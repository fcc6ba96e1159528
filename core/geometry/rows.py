"""Embeddings as the metrics take them: a matrix of finite numbers, tensor or array."""

import torch
from torch import Tensor

from core.losses.normalise import unit_rows


def matrix(z, name: str = "z", rows: int = 1) -> Tensor:
    """A detached matrix in at least float32.

    Args:
        z: Tensor or array, shape (n, d), floating.
        name: How the error texts call it.
        rows: The fewest rows that make sense.

    Raises:
        ValueError: If z is not a matrix of finite floats with enough rows.
    """
    z = torch.as_tensor(z).detach()
    if z.ndim != 2 or z.shape[1] < 1:
        raise ValueError(f"{name} must have shape (n, d) with d >= 1, got {tuple(z.shape)}.")
    if not z.is_floating_point():
        raise ValueError(f"{name} must hold floating-point numbers, got {z.dtype}. Convert it to float first.")
    if len(z) < rows:
        raise ValueError(f"{name} must have at least {rows} row{'s' * (rows > 1)}, got {len(z)}.")
    bad = int((~z.isfinite().all(dim=1)).sum())
    if bad:
        raise ValueError(f"{bad} of the {len(z)} rows of {name} are not finite (NaN or infinity). Leave them out first.")
    return z.to(torch.promote_types(z.dtype, torch.float32))


def sphere(z, name: str = "z", rows: int = 1) -> Tensor:
    """The same, each row divided by its norm; rows of zeros stay zero, see `zero_rows`."""
    return unit_rows(matrix(z, name, rows))


def zero_rows(z) -> int:
    """Rows without a direction. They count as at right angles to everything, and should be reported beside a metric."""
    return int((matrix(z, rows=0) == 0).all(dim=1).sum())
