"""Cosine similarities of all pairs as histograms: positive pairs, same class, different classes."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.geometry.rows import sphere

BLOCK_ROWS = 1024  # similarities of this many rows squared are held at a time


class SimilarityHistograms(NamedTuple):
    """Counts of cosines per bin, every unordered pair once."""

    edges: NDArray[np.float64]  # (bins + 1,) from -1 to 1
    same_class: NDArray[np.int64]  # (bins,) distinct images of one class
    different_class: NDArray[np.int64]  # (bins,) images of two classes
    positive: NDArray[np.int64] | None  # (bins,) two views of one image; None without a second view


def similarity_histograms(z, labels=None, z2=None, bins: int = 200) -> SimilarityHistograms:
    """Count the cosines of all pairs of rows, a block at a time.

    Args:
        z: Shape (n, d), floating tensor or array; rows need not be normalised.
        labels: Shape (n,), integer classes; None puts all pairs under different_class.
        z2: Second view of the same images, shape (n, d), or None.
        bins: Number of equal bins over [-1, 1], >= 1; the last one includes 1.

    Returns:
        Counts; same_class and different_class add up to n (n-1) / 2, positive to n.

    Raises:
        ValueError: If shapes do not fit or rows are not finite.
    """
    if bins < 1:
        raise ValueError(f"bins must be >= 1, got {bins}.")
    z = sphere(z)
    labels = torch.arange(len(z)) if labels is None else torch.as_tensor(labels).cpu()
    if labels.shape != (len(z),):
        raise ValueError(f"labels must have shape ({len(z)},), one per row of z, got {tuple(labels.shape)}.")
    _, group, sizes = labels.unique(return_inverse=True, return_counts=True)
    order = group.argsort().to(z.device)
    z = z[order]  # rows of a class side by side
    every = _pairs(z, bins)
    classes = [part for part in z.split(sizes.tolist()) if len(part) > 1]
    same = every if len(sizes) == 1 else sum((_pairs(part, bins) for part in classes), np.zeros(bins, dtype=np.int64))
    positive = None
    if z2 is not None:
        other = sphere(z2, "z2")
        if other.shape != z.shape:
            raise ValueError(f"z and z2 must have the same shape (n, d), got {tuple(z.shape)} and {tuple(other.shape)}.")
        positive = _count((z * other[order]).sum(dim=1), bins)
    return SimilarityHistograms(np.linspace(-1, 1, bins + 1), same, every - same, positive)


def _pairs(z: Tensor, bins: int) -> NDArray[np.int64]:
    """Histogram of the cosines of distinct rows of z."""
    total = np.zeros(bins, dtype=np.int64)
    blocks = z.split(BLOCK_ROWS)
    for i, rows in enumerate(blocks):
        square = rows @ rows.T
        above = torch.ones_like(square, dtype=torch.bool).triu_(1)
        total += _count(square[above], bins)
        for columns in blocks[i + 1 :]:
            total += _count(rows @ columns.T, bins)
    return total


def _count(cosines: Tensor, bins: int) -> NDArray[np.int64]:
    """Counts per bin; a cosine that rounding put outside [-1, 1] belongs to the bin at its end."""
    return torch.histc(cosines.clamp(-1, 1), bins, -1, 1).cpu().numpy().astype(np.int64)
