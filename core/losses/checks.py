"""Arguments of the losses: what is accepted, and the text a person sees when it is not."""

import math

import torch
from torch import Tensor

LARGEST_LAM = 1e15  # far above any use; the loss and its gradient stay well within float32
SMALLEST_TAU = 1e-15  # far below any use; 1 / tau and gradients that grow with it stay well within float32


class NotFiniteError(ValueError):
    """Some embeddings are NaN or infinite, so that the loss has no value."""


def temperature(tau: float) -> float:
    """tau as a plain number.

    Raises:
        ValueError: If tau is not a finite number > 0, or so small that gradients would leave the range of the numbers.
    """
    tau = _number(tau, "tau", "> 0", lambda value: value > 0)
    if tau < SMALLEST_TAU:
        raise ValueError(f"tau must be at least {SMALLEST_TAU:g}, got {tau:g}: below that, gradients would not be finite.")
    return tau


def weight(lam: float) -> float:
    """lam as a plain number.

    Raises:
        ValueError: If lam is not a finite number >= 0, or so large that the loss would leave the range of the numbers.
    """
    lam = _number(lam, "lam", ">= 0", lambda value: value >= 0)
    if lam > LARGEST_LAM:
        raise ValueError(f"lam must be at most {LARGEST_LAM:g}, got {lam:g}: above that, the loss would not be finite.")
    return lam


def exponent(t: float) -> float:
    """The width t of the Gaussian potential as a plain number.

    Raises:
        ValueError: If t is not a finite number > 0.
    """
    return _number(t, "t", "> 0", lambda value: value > 0)


def embeddings(z: Tensor, name: str = "z", rows: int = 1) -> Tensor:
    """One matrix of embeddings in the precision losses compute in.

    Args:
        z: Tensor or array, shape (rows, d), floating.
        name: How the error texts call it.
        rows: The fewest rows that make sense.

    Returns:
        The same values, float64 for float64 input, float32 for narrower types.

    Raises:
        ValueError: If z is not two-dimensional, not floating, or too small.
    """
    z = torch.as_tensor(z)
    if z.ndim != 2:
        raise ValueError(f"{name} must have shape (rows, d), got {tuple(z.shape)}.")
    if not z.is_floating_point():
        raise ValueError(f"{name} must hold floating-point numbers, got {z.dtype}. Convert it with .float().")
    if len(z) < rows or z.shape[1] < 1:
        least = "1 row" if rows == 1 else f"{rows} rows"
        raise ValueError(f"{name} must have at least {least} and 1 dimension, got shape {tuple(z.shape)}.")
    return z.to(torch.promote_types(z.dtype, torch.float32))


def pair(z1: Tensor, z2: Tensor, names: tuple[str, str] = ("z1", "z2"), rows: int = 1) -> tuple[Tensor, Tensor]:
    """Two views of the same images: row k of one belongs to row k of the other.

    Args:
        z1: First view, shape (n, d).
        z2: Second view, same shape, dtypes may differ.
        names: How the error texts call them.
        rows: The fewest rows that make sense.

    Returns:
        Both in one common precision, at least float32.

    Raises:
        ValueError: If a view is not a matrix of floats, or the shapes or devices differ.
    """
    a, b = embeddings(z1, names[0], rows), embeddings(z2, names[1], rows)
    if a.shape != b.shape:
        raise ValueError(f"{names[0]} and {names[1]} must have the same shape (n, d), got {tuple(a.shape)} and {tuple(b.shape)}.")
    if a.device != b.device:
        raise ValueError(f"{names[0]} and {names[1]} must be on the same device, got {a.device} and {b.device}.")
    dtype = torch.promote_types(a.dtype, b.dtype)
    return a.to(dtype), b.to(dtype)


def finite(value: Tensor, **rows: Tensor) -> None:
    """Refuse a loss without a value, naming how many rows are to blame.

    Looks at the value first: one number, and only on the CPU, where reading it costs nothing. On an accelerator
    the value would have to be waited for at every step, so there the caller looks at the value it logs anyway and
    calls `not_finite` when it is bad.

    Args:
        value: Scalar loss.
        rows: The matrices it was computed from, by name.

    Raises:
        NotFiniteError: If the value is NaN or infinite and lies on the CPU.
    """
    if value.device.type == "cpu" and not math.isfinite(value.item()):
        raise not_finite(**rows)


def not_finite(**rows: Tensor) -> NotFiniteError:
    """The error that says how many rows of each matrix are NaN or infinite."""
    counts = ", ".join(f"{int((~z.isfinite().all(dim=1)).sum())} of the {len(z)} rows of {name}" for name, z in rows.items())
    return NotFiniteError(
        f"The loss has no value: {counts} are not finite (NaN or infinity). "
        "Leave these rows out, or find where they arise, for example in a learning rate that is too high."
    )


def _number(value: float, name: str, allowed: str, holds) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and holds(number)):
        raise ValueError(f"{name} must be a finite number {allowed}, got {value}.")
    return number
