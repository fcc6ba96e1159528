"""How many dimensions an embedding really uses: spectra and the rank measures read from them.

Four definitions are in use under similar names; each function says which one it is. Sums run in float64.
"""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.geometry.rows import matrix, sphere

RANKME_EPSILON = 1e-7  # added to each share, as in the Cookbook's equation 17
BLOCK_ROWS = 8192  # rows turned to float64 at a time


def spectrum(z, normalise: bool = True) -> NDArray[np.float64]:
    """Eigenvalues of the covariance of the embedding, largest first; their logarithms show dimensional collapse.

    Args:
        z: Shape (n, d), floating tensor or array.
        normalise: Divide each row by its norm first, as in the source.

    Returns:
        Shape (d,), >= 0. They equal the covariance's singular values. Uniform points give d values near 1/d.

    Raises:
        ValueError: If z is not a matrix of finite floats with at least 1 row.

    Source: Jing et al., "Understanding Dimensional Collapse in Contrastive Self-Supervised Learning", 2022, section 4.
    """
    return _eigenvalues(sphere(z) if normalise else matrix(z), centre=True)


def singular_values(z) -> NDArray[np.float64]:
    """Singular values of the uncentred matrix itself, largest first, shape (min(n, d),)."""
    z = matrix(z)
    return np.sqrt(_eigenvalues(z, centre=False)[: min(z.shape)] * len(z))


def rankme(z, epsilon: float = RANKME_EPSILON) -> float:
    """RankMe: exp of the entropy of the singular values of the uncentred, unnormalised matrix, scaled to sum 1.

    Args:
        z: Shape (n, d), floating tensor or array.
        epsilon: Added to each share.

    Returns:
        From 1 to min(n, d); k for k equal singular values. NaN if all of z is zero.

    Raises:
        ValueError: If z is not a matrix of finite floats with at least 1 row.

    Source: Garrido et al., "RankMe", 2023; A Cookbook of Self-Supervised Learning, equation 17.
    """
    values = singular_values(z)
    if not values.any():
        return math.nan
    shares = values / values.sum() + epsilon
    return float(np.exp(-(shares * np.log(shares)).sum()))


def participation_ratio(z) -> float:
    """(sum of eigenvalues)^2 / sum of squared eigenvalues of the centred covariance.

    Args:
        z: Shape (n, d), floating tensor or array.

    Returns:
        From 1 to d; k for k equal eigenvalues. n uniform points give about d / (1 + d/n). NaN if all rows are equal.

    Raises:
        ValueError: If z is not a matrix of finite floats with at least 1 row.
    """
    values = _eigenvalues(matrix(z), centre=True)
    return float(values.sum() ** 2 / (values**2).sum()) if values.any() else math.nan


def eigenvalue_rank(z) -> float:
    """exp of the entropy of the centred covariance's eigenvalues, scaled to sum 1. Not RankMe, and lower than it.

    Args:
        z: Shape (n, d), floating tensor or array.

    Returns:
        From 1 to d; k for k equal eigenvalues. NaN if all rows are equal.

    Raises:
        ValueError: If z is not a matrix of finite floats with at least 1 row.

    Source: Roy & Vetterli, "The Effective Rank", 2007, applied to the covariance.
    """
    values = _eigenvalues(matrix(z), centre=True)
    if not values.any():
        return math.nan
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def dead_dimensions(z, below: float = 1e-4) -> int:
    """Coordinates that hardly vary: standard deviation under this share of the largest one.

    Args:
        z: Shape (n, d), floating tensor or array.
        below: Share, from 0 to 1.
    """
    deviations = matrix(z).std(dim=0, unbiased=False)
    return int((deviations <= below * deviations.max()).sum())


def _eigenvalues(z: Tensor, centre: bool) -> NDArray[np.float64]:
    """Eigenvalues of z^T z / n, largest first, shape (d,); float64 on the CPU, where every device's users read it."""
    blocks = z.split(BLOCK_ROWS)
    mean = sum(block.cpu().double().sum(dim=0) for block in blocks) / len(z) if centre else 0.0
    gram = torch.zeros(z.shape[1], z.shape[1], dtype=torch.float64)
    for block in blocks:
        wide = block.cpu().double() - mean
        gram.addmm_(wide.T, wide)
    values = torch.linalg.eigvalsh(gram / len(z)).flip(0)
    noise = z.shape[1] * torch.finfo(torch.float64).eps * values[0].clamp_min(0)
    return torch.where(values > noise, values, 0).numpy()  # what is left of an exact zero is rounding of either sign
