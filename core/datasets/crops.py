"""Random resized crops of whole batches: where to crop, and the resampling itself."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

ASPECT = (3 / 4, 4 / 3)  # width / height of a crop, both recipes
ATTEMPTS = 10  # draws per image before the whole image is taken, as torchvision; TensorFlow's 100 change nothing measurable


class Boxes(NamedTuple):
    """One crop per image in whole pixels, inside the image; float tensors [n]."""

    top: Tensor
    left: Tensor
    height: Tensor
    width: Tensor


def tensorflow_boxes(n: int, size: tuple[int, int], area: tuple[float, float], generator: torch.Generator) -> Boxes:
    """Crops as `tf.image.sample_distorted_bounding_box` draws them: aspect uniform, then height uniform in its range.

    Args:
        n: Number of crops.
        size: Height and width of the images, pixels.
        area: Smallest and largest share of the image's area, 0 to 1.
        generator: Source of randomness; the boxes are made on its device.

    Returns:
        n boxes. An image without a valid draw in `ATTEMPTS` is taken whole.

    Source: TensorFlow, kernel of sample_distorted_bounding_box_op. Kept on purpose: the offset never reaches its last
        value (a crop 3 pixels smaller than the image starts at 0, 1 or 2, not 3).
    """
    rows, columns = size
    smallest, largest = (share * rows * columns for share in area)
    aspect, u_height, u_top, u_left = _uniform((4, n, ATTEMPTS), generator)
    aspect = ASPECT[0] + (ASPECT[1] - ASPECT[0]) * aspect
    height = (smallest / aspect).sqrt().round()
    tallest = (largest / aspect).sqrt().round()
    too_wide = (tallest * aspect).round() > columns
    tallest = torch.where(too_wide, ((columns + 0.5 - 1e-7) / aspect).floor(), tallest).clamp_max(rows)
    height = torch.minimum(height, tallest)
    height = height + _below(u_height, tallest - height + 1)
    width = (height * aspect).round()
    height = torch.where(height * width < smallest, height + 1, height)  # rounding may leave the allowed range by a pixel
    width = (height * aspect).round()
    height = torch.where(height * width > largest, height - 1, height)
    width = (height * aspect).round()
    pixels = height * width
    valid = (pixels >= smallest) & (pixels <= largest) & (width <= columns) & (height <= rows) & (width > 0) & (height > 0)
    top = _below(u_top, (rows - height).clamp_min(1))
    left = _below(u_left, (columns - width).clamp_min(1))
    whole = (0.0, 0.0, float(rows), float(columns))
    return _first_valid(Boxes(top, left, height, width), valid, whole)


def torchvision_boxes(n: int, size: tuple[int, int], area: tuple[float, float], generator: torch.Generator) -> Boxes:
    """Crops as torchvision's `RandomResizedCrop` draws them: area uniform, logarithm of the aspect uniform.

    Args:
        n: Number of crops.
        size: Height and width of the images, pixels.
        area: Smallest and largest share of the image's area, 0 to 1.
        generator: Source of randomness; the boxes are made on its device.

    Returns:
        n boxes. Without a valid draw in `ATTEMPTS`, the largest central crop of allowed aspect.

    Source: torchvision.transforms.v2.RandomResizedCrop.
    """
    rows, columns = size
    u_area, u_aspect, u_top, u_left = _uniform((4, n, ATTEMPTS), generator)
    pixels = (area[0] + (area[1] - area[0]) * u_area) * rows * columns
    low, high = torch.tensor(ASPECT).log().tolist()
    aspect = (low + (high - low) * u_aspect).exp()
    height, width = (pixels / aspect).sqrt().round(), (pixels * aspect).sqrt().round()
    valid = (height > 0) & (height <= rows) & (width > 0) & (width <= columns)
    top, left = _below(u_top, rows - height + 1), _below(u_left, columns - width + 1)
    return _first_valid(Boxes(top, left, height, width), valid, _central(rows, columns))


def crop_resize(x: Tensor, boxes: Boxes, flip: Tensor | None = None) -> Tensor:
    """Cut one box out of each image and stretch it to the full size, in one resampling pass.

    Bilinear with half-pixel centres and no antialiasing (none is needed: a crop is never larger than its image). Pixels
    outside the box are never looked at.

    Args:
        x: Images, float [n, c, h, w].
        boxes: One per image, on the device of x.
        flip: Which results to mirror left to right, bool [n]; None for none.

    Returns:
        float [n, c, h, w]; equal to interpolating each explicit crop with `F.interpolate`, up to rounding.
    """
    n, _, rows, columns = x.shape
    y = _positions(boxes.top, boxes.height, rows)  # [n, h]
    x_at = _positions(boxes.left, boxes.width, columns)  # [n, w]
    if flip is not None:
        x_at = torch.where(flip[:, None], x_at.flip(1), x_at)
    grid = torch.empty((n, rows, columns, 2), dtype=x.dtype, device=x.device)
    grid[..., 0] = ((2 * x_at + 1) / columns - 1)[:, None, :]
    grid[..., 1] = ((2 * y + 1) / rows - 1)[:, :, None]
    # Sampling points lie inside the image, so what is beyond it matters to rounding only; Apple's MPS knows no "border".
    beyond = "zeros" if x.device.type == "mps" else "border"
    with torch.autocast(x.device.type, enabled=False):  # half precision would move the sampling points by pixels
        return F.grid_sample(x, grid, mode="bilinear", padding_mode=beyond, align_corners=False)


def _positions(start: Tensor, length: Tensor, size: int) -> Tensor:
    """Where the centres of `size` output pixels fall, in input pixels [n, size]; never beyond the crop's own centres."""
    centres = torch.arange(size, device=start.device) + 0.5
    inside = centres * (length / size)[:, None] - 0.5
    return torch.minimum(inside.clamp_min(0), (length - 1)[:, None]) + start[:, None]


def _central(rows: int, columns: int) -> tuple[float, float, float, float]:
    """The largest centred box of allowed aspect: top, left, height, width."""
    height, width = rows, columns
    if columns / rows < ASPECT[0]:
        height = round(columns / ASPECT[0])
    elif columns / rows > ASPECT[1]:
        width = round(rows * ASPECT[1])
    return float((rows - height) // 2), float((columns - width) // 2), float(height), float(width)


def _first_valid(boxes: Boxes, valid: Tensor, otherwise: tuple[float, float, float, float]) -> Boxes:
    """Per row, the first draw that is valid [n, attempts] -> [n]; `otherwise` where none is."""
    order = torch.arange(valid.shape[1], device=valid.device)
    first = torch.where(valid, order, valid.shape[1]).amin(1, keepdim=True)
    found = first < valid.shape[1]
    first = first.clamp_max(valid.shape[1] - 1)
    return Boxes(*(torch.where(found, value.gather(1, first), fallback).squeeze(1)
                   for value, fallback in zip(boxes, otherwise, strict=True)))


def _uniform(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


def _below(u: Tensor, count: Tensor) -> Tensor:
    """u in [0, 1) -> a whole number in [0, count), as a float; rounding in float32 must not reach count itself."""
    return torch.minimum((u * count).floor(), count - 1)
