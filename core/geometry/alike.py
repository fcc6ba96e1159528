"""How alike embeddings of the same images are, and how to turn them onto each other. numpy only, so pages can call it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def kernel_alignment(x: ArrayLike, y: ArrayLike) -> float:
    """Linear centred kernel alignment of two representations; `core.geometry.cka` checks its arguments and says more.

    Args:
        x: Shape (n, d1), finite.
        y: Shape (n, d2), the same images in the same order.

    Returns:
        From 0 to 1; NaN if one of them does not vary.

    Source: Kornblith et al., "Similarity of Neural Network Representations Revisited", 2019, equation 3 and 4.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = float(np.linalg.norm(_gram(x)) * np.linalg.norm(_gram(y)))
    return float(np.square(y.T @ x).sum()) / scale if scale > 0 else float("nan")


def rotation_onto(z: ArrayLike, target: ArrayLike) -> Floats:
    """The orthogonal matrix R, mirror images allowed, for which z @ R comes closest to the target.

    Args:
        z: Shape (n, d), finite.
        target: The same shape.

    Source: Schönemann, "A Generalized Solution of the Orthogonal Procrustes Problem", 1966.
    """
    left, _, right = np.linalg.svd(np.asarray(z, dtype=np.float64).T @ np.asarray(target, dtype=np.float64))
    return left @ right


def aligned_epochs(z_epochs: ArrayLike) -> NDArray[np.float32]:
    """Turn the embedding of every epoch onto that of the next one, so that only what the loss moved moves.

    A contrastive loss does not see rotations: from one epoch to the next the axes may turn or flip for no reason.

    Args:
        z_epochs: Shape (e, n, d), one embedding of the same images per epoch, e >= 1.

    Returns:
        The same shape; the last epoch is as it was.

    Raises:
        ValueError: If the shape is another one.
    """
    frames = np.asarray(z_epochs, dtype=np.float64)
    if frames.ndim != 3 or 0 in frames.shape:
        raise ValueError(f"z_epochs must have shape (e, n, d) with e, n, d >= 1, got {frames.shape}.")
    turned = frames.copy()
    for place in range(len(frames) - 2, -1, -1):
        turned[place] = frames[place] @ rotation_onto(frames[place], turned[place + 1])
    return turned.astype(np.float32)


def alignment_table(spaces: Sequence[ArrayLike | None], rows: Sequence[ArrayLike]) -> Floats:
    """Kernel alignments of all pairs of representations, each on the images that both have.

    Args:
        spaces: Representations [n_i, d_i]; None where there is none.
        rows: Ids of their images, [n_i] each; equal ids are the same image.

    Returns:
        Shape (k, k), symmetric; NaN where fewer than two images are shared or a representation is missing or constant.
    """
    table = np.full((len(spaces), len(spaces)), np.nan)
    for i, x in enumerate(spaces):
        for j, y in enumerate(spaces[: i + 1]):
            if x is None or y is None:
                continue
            _, at_x, at_y = np.intersect1d(rows[i], rows[j], return_indices=True)
            if len(at_x) > 1:
                table[i, j] = table[j, i] = kernel_alignment(np.asarray(x)[at_x], np.asarray(y)[at_y])
    return table


def pair_uniformity(z: ArrayLike, t: float = 2) -> float:
    """Uniformity of a small embedding over all distinct pairs; `core.geometry.uniformity` takes large ones.

    Args:
        z: Unit rows, shape (n, d), n >= 2.
        t: Width of the Gaussian potential, > 0.

    Returns:
        log E exp(-t |x - y|^2), from -4t to 0; NaN if fewer than 2 rows have a direction.
    """
    z = np.asarray(z, dtype=np.float64)
    if z.ndim != 2 or len(z) < 2:
        raise ValueError(f"uniformity is a mean over pairs of points and needs at least 2 rows, got shape {z.shape}.")
    if z.any(axis=1).sum() < 2:
        return float("nan")
    cosines = (z @ z.T)[np.triu_indices(len(z), 1)]
    return float(np.log(np.exp(2 * t * (np.clip(cosines, -1, 1) - 1)).mean()))


def _gram(x: Floats) -> Floats:
    """The smaller of the two products; both have the same norm."""
    return x.T @ x if x.shape[1] <= len(x) else x @ x.T
