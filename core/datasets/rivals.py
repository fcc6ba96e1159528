"""A rival: a second feature inside the picture that competes with its class, and when it is drawn how."""

from typing import NamedTuple

import torch
from torch import Tensor

from core.datasets.dataset import Split
from core.training.spec import RunSpec


class Occasion(NamedTuple):
    """What pictures are needed for."""

    train: bool = True  # rows of the training split, else of the test split
    turn: int | None = None  # training step; None: evaluation, the same pictures every time
    view: int = 0  # 0 or 1: canvases with digit_draw "views" show the same digits at other places in view 1
    probe: bool = False  # evaluation of the rival itself: DigitOnImage then shows digits that no training image carried


class Drawn(NamedTuple):
    """Pictures with the rival in them."""

    images: Tensor  # uint8 [n, c, side, side]
    labels: Tensor  # int64 [n], class of the rival in each picture; -1 where it has none


def build_rival(spec: RunSpec, train: Split, test: Split, device: torch.device):
    """The rival that a run asks for: DigitOnImage, MultiDigits, or None.

    Args:
        spec: Its fields digits, digit_size, digit_draw, overlay, scene, scene_digits, image_size and seed are used.
        train: Training images as loaded.
        test: Test images as loaded.
        device: Where pictures are composed.

    Raises:
        ValueError: If the digits do not fit the pictures, or there are fewer than asked for.
    """
    if spec.scene != "picture":
        from core.datasets.multi_digits import MultiDigits

        return MultiDigits(spec, train, test, device)
    if spec.digits:
        from core.datasets.digit_on_image import DigitOnImage

        return DigitOnImage(spec, train.images.shape[1], device)
    return None
