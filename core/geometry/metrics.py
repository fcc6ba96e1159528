"""Where an embedding lies on the hypersphere: alignment, uniformity, tolerance.

Every function takes embeddings that need not be normalised and normalises the rows itself. A row of zeros has no direction:
among others it counts as at right angles to everything (see `zero_rows`), and where nothing else is left there is no value.
"""

import math

import torch

from core.geometry.rows import matrix, sphere
from core.losses.potential import log_mean_potential
from core.losses.precision import full_precision


def alignment(z1, z2, alpha: float = 2) -> float:
    """Mean distance of the two views of an image, to the power alpha.

    Args:
        z1: First view, shape (n, d), floating tensor or array.
        z2: Second view, same shape.
        alpha: Power, > 0.

    Returns:
        E |x - y|^alpha over unit rows. For alpha = 2 from 0 (views agree) to 4 (antipodal), and 2 for independent
        uniform points; twice the alignment term of the loss. NaN if no pair has a direction in both views.

    Raises:
        ValueError: If shapes differ, there is no row, rows are not finite, or alpha is not > 0.

    Source: Wang & Isola, "Alignment and Uniformity on the Hypersphere", 2020, section 4.1.
    """
    if not alpha > 0:
        raise ValueError(f"alpha must be > 0, got {alpha}.")
    x, y = sphere(z1, "z1"), sphere(z2, "z2")
    if x.shape != y.shape:
        raise ValueError(f"z1 and z2 must have the same shape (n, d), got {tuple(x.shape)} and {tuple(y.shape)}.")
    if not (_directed(x) & _directed(y)).any():
        return math.nan
    return float((x - y).norm(dim=1).pow(alpha).mean())


def uniformity(z, t: float = 2) -> float:
    """How evenly the points cover the sphere: log of the mean Gaussian potential over distinct pairs.

    All pairs are used, a block at a time: 50,000 rows need a few megabytes beside the embeddings.

    Args:
        z: One view, shape (n, d), n >= 2, floating tensor or array.
        t: Width of the potential, > 0.

    Returns:
        log E exp(-t |x - y|^2), from -4t (two antipodal points) to 0 (all points equal). Lower is more uniform; compare
        with `uniform_optimum(d, t)`. For two views, take the mean of both values. NaN if fewer than 2 rows have a
        direction, as when all are zero.

    Raises:
        ValueError: If there are fewer than 2 rows, rows are not finite, or t is not > 0.

    Source: Wang & Isola 2020, section 4.1 and appendix B.1.
    """
    if not 0 < t < float("inf"):
        raise ValueError(f"t must be a finite number > 0, got {t}.")
    z = matrix(z, rows=0)
    if len(z) < 2:
        raise ValueError(f"uniformity is a mean over pairs of points and needs at least 2 rows, got {len(z)}.")
    z = sphere(z)
    if _directed(z).sum() < 2:
        return math.nan
    with torch.no_grad(), full_precision(z):
        return float(log_mean_potential(z, t))


def tolerance(z, labels) -> float:
    """Mean cosine of distinct pairs of the same class: how much semantic likeness the embedding tolerates.

    Computed from class sums, because the sum of all pairs' products is the squared norm of the sum.

    Args:
        z: Shape (n, d), floating tensor or array.
        labels: Shape (n,), integer classes.

    Returns:
        From -1 to 1; 1 when every class is a point. NaN if no two rows of a class have a direction.

    Raises:
        ValueError: If labels do not fit, no class has two rows, or rows are not finite.

    Source: Wang & Liu, "Understanding the Behaviour of Contrastive Loss", 2021, equation 11, read as the conditional
        mean that its table 1 reports: the formula as printed cannot exceed the share of same-class pairs.
    """
    z = sphere(z)
    labels = torch.as_tensor(labels, device=z.device)
    if labels.shape != (len(z),):
        raise ValueError(f"labels must have shape ({len(z)},), one per row of z, got {tuple(labels.shape)}.")
    _, group, sizes = labels.unique(return_inverse=True, return_counts=True)
    pairs = int((sizes * (sizes - 1)).sum())
    if pairs == 0:
        raise ValueError(f"tolerance needs two rows of the same class, got {len(z)} rows of {len(sizes)} different classes.")
    if not (group[_directed(z)].bincount() > 1).any():
        return math.nan
    sums = torch.zeros(len(sizes), z.shape[1], dtype=z.dtype, device=z.device).index_add_(0, group, z)  # (classes, d)
    wide = torch.float64 if z.device.type != "mps" else torch.float32
    with_self = sums.to(wide).square().sum()
    return float((with_self - z.to(wide).square().sum()) / pairs)


def _directed(rows: torch.Tensor) -> torch.Tensor:
    """Which rows are not zero, shape (n,)."""
    return rows.any(dim=1)
