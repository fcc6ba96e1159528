"""Small stored embeddings looked at in the page process: cosines of pairs, as densities. numpy only.

`core.geometry.similarities` does the same for large embeddings, in blocks and with torch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float32]
MAX_ROWS = 2000  # pairs of more rows belong to core.geometry.similarities


class CosineDensities(NamedTuple):
    """How the cosines of pairs are distributed; each density integrates to 1 over [-1, 1], or is all NaN without a pair."""

    centers: Floats  # (bins,)
    same_class: Floats  # (bins,)
    other_class: Floats  # (bins,)
    mean_same: float
    mean_other: float


def cosine_densities(z: ArrayLike, labels: ArrayLike, bins: int = 80) -> CosineDensities:
    """Densities of the cosines within a class and between classes, every unordered pair once.

    Args:
        z: Shape (n, d), 2 to 2,000 rows; normalised here, rows of zeros and rows that are not finite are left out.
        labels: Shape (n,), the classes.
        bins: Equal bins over [-1, 1].

    Raises:
        ValueError: If shapes do not fit or there are too many rows.
    """
    z, labels = np.asarray(z, dtype=np.float32), np.asarray(labels)
    if z.ndim != 2 or labels.shape != (len(z),):
        raise ValueError(f"z must have shape (n, d) and labels (n,), got {z.shape} and {labels.shape}.")
    if len(z) > MAX_ROWS:
        raise ValueError(f"z must have at most {MAX_ROWS:,} rows, got {len(z):,}; core.geometry.similarities takes more.")
    length = np.linalg.norm(z, axis=1)
    good = np.isfinite(length) & (length > 0)
    z, labels = z[good] / length[good, None], labels[good]
    upper = np.triu_indices(len(z), 1)
    cosines = np.clip((z @ z.T)[upper], -1, 1)
    same = (labels[:, None] == labels[None, :])[upper]
    edges = np.linspace(-1, 1, bins + 1)
    parts = cosines[same], cosines[~same]
    densities = [_density(part, edges) for part in parts]
    means = [float(part.mean()) if len(part) else float("nan") for part in parts]
    return CosineDensities(((edges[1:] + edges[:-1]) / 2).astype(np.float32), *densities, *means)


def _density(values: Floats, edges: NDArray[np.float64]) -> Floats:
    if not len(values):
        return np.full(len(edges) - 1, np.nan, dtype=np.float32)
    return np.histogram(values, edges, density=True)[0].astype(np.float32)
