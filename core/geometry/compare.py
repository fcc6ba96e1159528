"""Two embeddings of the same images: how alike they are, and how to turn one onto the other."""

from typing import NamedTuple

import torch
from torch import Tensor

from core.geometry.alike import kernel_alignment, rotation_onto
from core.geometry.rows import matrix


class Procrustes(NamedTuple):
    """One embedding turned onto another."""

    aligned: Tensor  # (n, d) the first embedding after the turn, dtype of the input
    rotation: Tensor  # (d, d) orthogonal, float64: aligned = z @ rotation
    distance: float  # root mean square distance of the rows after the turn


def cka(x, y) -> float:
    """Linear centred kernel alignment: likeness of two representations, blind to rotation and overall scale.

    Args:
        x: Shape (n, d1), floating tensor or array.
        y: Shape (n, d2), the same images in the same order.

    Returns:
        From 0 (no linear relation) to 1 (equal up to rotation and scale). NaN if one of them does not vary. Random
        embeddings of few images are far above 0: about d / (n + d) for two of dimension d.

    Raises:
        ValueError: If the numbers of rows differ, there are fewer than 2, or rows are not finite.

    Source: Kornblith et al., "Similarity of Neural Network Representations Revisited", 2019, equation 3 and 4.
    """
    x, y = _same_rows(matrix(x, "x", rows=2), matrix(y, "y", rows=2), "x", "y")
    return kernel_alignment(x.cpu().double().numpy(), y.cpu().double().numpy())


def procrustes(z, target) -> Procrustes:
    """Turn an embedding, mirror images allowed, so that its rows come closest to those of another.

    The loss does not see rotations, so consecutive epochs or two encoders have arbitrary axes; turned onto each other
    they can be drawn in one frame.

    Args:
        z: What is turned, shape (n, d), floating tensor or array.
        target: What it is turned onto, same shape.

    Raises:
        ValueError: If the shapes differ, there is no row, or rows are not finite.

    Source: Schönemann, "A Generalized Solution of the Orthogonal Procrustes Problem", 1966.
    """
    z, target = _same_rows(matrix(z), matrix(target, "target"), "z", "target")
    if z.shape != target.shape:
        raise ValueError(f"z and target must have the same shape (n, d), got {tuple(z.shape)} and {tuple(target.shape)}.")
    wide, goal = z.cpu().double(), target.cpu().double()
    rotation = torch.from_numpy(rotation_onto(wide.numpy(), goal.numpy()))
    aligned = wide @ rotation
    distance = float((aligned - goal).square().sum(dim=1).mean().sqrt())
    return Procrustes(aligned.to(z), rotation, distance)


def _same_rows(a: Tensor, b: Tensor, first: str, second: str) -> tuple[Tensor, Tensor]:
    if len(a) != len(b):
        raise ValueError(f"{first} and {second} must embed the same images in the same order, got {len(a)} and {len(b)} rows.")
    return a, b
