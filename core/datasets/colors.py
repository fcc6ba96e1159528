"""Colour operations on whole batches, one strength per image.

Values and formulas are torchvision's (`torchvision.transforms.v2.functional`): brightness, contrast and saturation blend
the image with black, its mean grey or its greyscale version; hue turns the HSV hue. Results are clipped to [0, 1].

Only the first three channels are colours. Images with fewer than three channels have one grey channel: brightness and
contrast change it, saturation, hue and greyscale leave it alone. Further channels always pass through untouched.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

LUMA = (0.2989, 0.587, 0.114)  # weights of red, green and blue in grey, as torchvision
Operation = Callable[[Tensor, Tensor | slice], Tensor]  # (images, index of their settings) -> images
TINY = 1e-12  # smallest chroma that is divided by; greys have chroma 0 and no hue


class Jitter(NamedTuple):
    """Colour jitter of n images in four steps; each step of an image is one blend, or one turn of the hue."""

    factor: Tensor  # float [n, 4], share of the image in the blend; 1 = no blend at this step
    mean: Tensor  # float [n, 4], 1 where the image is blended with its mean grey, else 0
    gray: Tensor  # float [n, 4], 1 where it is blended with its greyscale version, else 0 (both 0: with black)
    shift: Tensor  # float [n, 4], turn of the hue as a share of the full circle; 0 = no turn at this step


def adjust_brightness(x: Tensor, factor: Tensor) -> Tensor:
    """Multiply each image by its factor; float [n, c, h, w] in [0, 1], factor float [n] >= 0."""
    return _on_colors(x, lambda colors: (colors * _per_image(factor)).clamp_(0, 1))


def adjust_contrast(x: Tensor, factor: Tensor) -> Tensor:
    """Blend each image with its mean grey: 0 is flat grey, 1 unchanged; float [n, c, h, w], factor float [n] >= 0."""
    one = torch.ones_like(factor)
    return _on_colors(x, lambda colors: _blend(colors, factor, mean=one, gray=1 - one))


def adjust_saturation(x: Tensor, factor: Tensor) -> Tensor:
    """Blend each image with its greyscale version: 0 is grey, 1 unchanged; float [n, c, h, w], factor float [n] >= 0."""
    if x.shape[1] < 3:
        return x
    one = torch.ones_like(factor)
    return _on_colors(x, lambda colors: _blend(colors, factor, mean=1 - one, gray=one))


def adjust_hue(x: Tensor, shift: Tensor) -> Tensor:
    """Turn the HSV hue of each image; float [n, c, h, w], shift float [n] as a share of the full circle, -0.5 to 0.5."""
    if x.shape[1] < 3:
        return x
    return _on_colors(x, lambda colors: _turn_hue(colors, shift))


def to_gray(x: Tensor) -> Tensor:
    """Replace the three colours by their grey; float [n, c, h, w]."""
    if x.shape[1] < 3:
        return x
    return _on_colors(x, lambda colors: _gray(colors).expand_as(colors).clone())


def jitter(x: Tensor, plan: Jitter) -> Tensor:
    """Apply the four colour operations to each image in its own order.

    Args:
        x: Images, float [n, c, h, w] in [0, 1].
        plan: What to do with each image, on the device of x.

    Returns:
        float [n, c, h, w] in [0, 1].
    """
    return _on_colors(x, lambda colors: _jitter_colors(colors, plan))


def on_rows(x: Tensor, rows: Tensor, operation: Operation) -> Tensor:
    """Apply an operation to some images of a batch.

    Args:
        x: Images [n, c, h, w]; may be changed in place.
        rows: Which ones, bool [n].
        operation: (images, index) -> images, where index selects the same images' settings from tensors [n, ...].

    Returns:
        [n, c, h, w]. On the CPU only the chosen images are computed. On accelerators all are, and the others are put
        back: to count the chosen ones there means to wait for the device, and that costs more.
    """
    return _pick(x, rows, operation) if x.device.type == "cpu" else _put_back(x, rows, operation)


def _put_back(x: Tensor, rows: Tensor, operation: Operation) -> Tensor:
    return torch.where(_per_image(rows), operation(x, slice(None)), x)


def _pick(x: Tensor, rows: Tensor, operation: Operation) -> Tensor:
    index = rows.nonzero().squeeze(1)
    if len(index) == len(x):
        return operation(x, slice(None))
    if len(index):
        x[index] = operation(x[index], index)
    return x


def _jitter_colors(x: Tensor, plan: Jitter) -> Tensor:
    for step in range(plan.factor.shape[1]):
        factor, mean, gray, shift = (setting[:, step] for setting in plan)
        if x.device.type != "cpu" or bool((factor != 1).any()):
            x = _blend(x, factor, mean, gray)
        if x.shape[1] >= 3:
            x = on_rows(x, shift != 0, lambda images, index, shift=shift: _turn_hue(images, shift[index]))
    return x


def _on_colors(x: Tensor, operation: Callable[[Tensor], Tensor]) -> Tensor:
    """Apply an operation to the colour channels: the first three, or the first of fewer."""
    colors = 3 if x.shape[1] >= 3 else 1
    if x.shape[1] == colors:
        return operation(x)
    return torch.cat([operation(x[:, :colors]), x[:, colors:]], dim=1)


def _blend(x: Tensor, factor: Tensor, mean: Tensor, gray: Tensor) -> Tensor:
    """factor * x + (1 - factor) * (mean * mean grey + gray * grey), clipped to [0, 1]; the settings are float [n]."""
    ground = _gray(x)  # [n, 1, h, w]
    level = ground.mean((2, 3), keepdim=True) * _per_image(mean * (1 - factor))
    ground = torch.addcmul(level, ground, _per_image(gray * (1 - factor)))
    return torch.addcmul(ground, x, _per_image(factor)).clamp_(0, 1)


def _gray(x: Tensor) -> Tensor:
    """Grey of the first three channels [n, 1, h, w]; a single channel is its own grey."""
    if x.shape[1] == 1:
        return x
    red, green, blue = x.unbind(1)
    return (LUMA[0] * red).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2]).unsqueeze(1)


def _turn_hue(x: Tensor, shift: Tensor) -> Tensor:
    """RGB -> HSV, add the shift to the hue, back to RGB, without building the HSV image.

    A colour channel of offset o (5, 3, 1 for red, green, blue) is value - chroma * clip(min(k, 4 - k), 0, 1) with
    k = (o + 6 * hue) mod 6. The cases of the hue are mixed with 0/1 weights: on the CPU `torch.where` is ten times slower.
    """
    red, green, blue = x.unbind(1)
    value = x.amax(1)  # [n, h, w]
    chroma = value - x.amin(1)
    to_blue = (red - green).add_(chroma, alpha=4)
    to_green = (blue - red).add_(chroma, alpha=2)
    sector = to_blue.lerp_(to_green, (value == green).to(x.dtype)).lerp_(green - blue, (value == red).to(x.dtype))
    hue = sector.div_(chroma.clamp_min(TINY)).mul_(1 / 6).add_(shift[:, None, None])
    offsets = torch.arange(11, 6, -2, dtype=x.dtype, device=x.device)[:, None, None] / 6  # a full circle added: frac needs >= 0
    k = (hue[:, None] + offsets).frac_().mul_(6)  # [n, 3, h, w]
    return torch.addcmul(value[:, None], torch.minimum(k, 4 - k).clamp_(0, 1), chroma[:, None], value=-1)


def _per_image(setting: Tensor) -> Tensor:
    """[n] -> [n, 1, 1, 1]."""
    return setting[:, None, None, None]
