"""Colour as a competing feature: how much of it a representation keeps, and how much of the class it gives away.

The colours of an image are its histogram over 4 x 4 x 4 levels of red, green and blue. Images with similar histograms form
groups (k-means), and a linear probe on the representation has to name the group: accuracy on the same scale as the class.
"""

from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from core.evaluation.linear_probe import linear_probe

LEVELS = 4  # per channel
GROUPS = 10
PIECE = 2_000  # images whose histograms are counted at once


class ColorKnowledge(NamedTuple):
    """What is known of colours, each a share of the test images, 0 to 1."""

    group_accuracy: float  # linear probe on the representation for the colour group
    group_chance: float  # share of the largest group
    class_accuracy: float  # linear probe on the histogram for the class


def histograms(images: np.ndarray) -> np.ndarray:
    """Colour histogram of each image.

    Args:
        images: uint8 [n, h, w, c], c >= 3; the first three channels are red, green and blue.

    Returns:
        float32 [n, 64]: square roots of the shares of pixels, so that Euclidean distance compares histograms fairly (Hellinger).

    Raises:
        ValueError: If the images have no colours.
    """
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] < 3:
        raise ValueError(f"images must be uint8 [n, h, w, c] with at least 3 channels, got {images.dtype} {list(images.shape)}.")
    bins = LEVELS**3
    out = np.empty((len(images), bins), np.float32)
    for start in range(0, len(images), PIECE):
        part = images[start : start + PIECE, ..., :3] // (256 // LEVELS)
        place = (part[..., 0].astype(np.int64) * LEVELS + part[..., 1]) * LEVELS + part[..., 2]  # [n, h, w]
        place = place.reshape(len(part), -1) + bins * np.arange(len(part))[:, None]
        out[start : start + PIECE] = np.bincount(place.ravel(), minlength=bins * len(part)).reshape(len(part), bins)
    return np.sqrt(out / (images.shape[1] * images.shape[2]))


def color_knowledge(
    train: np.ndarray, test: np.ndarray, h_train: np.ndarray, y_train: np.ndarray, h_test: np.ndarray, y_test: np.ndarray
) -> ColorKnowledge:
    """Compare what representation and colours know.

    Args:
        train: Training images, uint8 [n, h, w, c], c >= 3.
        test: Test images, uint8 [m, h, w, c].
        h_train: Their representations, float [n, d].
        y_train: Their classes, int [n].
        h_test: Representations of the test images, [m, d].
        y_test: Their classes, [m].

    Returns:
        The three shares. With fewer than 10 training images or one colour for all, there are fewer groups.
    """
    colors, colors_test = histograms(train), histograms(test)
    different = len(np.unique(colors, axis=0))
    groups = KMeans(min(GROUPS, different), n_init=3, random_state=0).fit(colors)
    group, group_test = groups.labels_.astype(np.int64), groups.predict(colors_test).astype(np.int64)
    chance = float(np.bincount(group_test).max() / len(group_test))
    known = linear_probe(h_train, group, h_test, group_test).accuracy if different > 1 else chance
    return ColorKnowledge(known, chance, linear_probe(colors, y_train, colors_test, y_test).accuracy)
