"""Two augmented views of a batch of images, computed for all images at once on the device the images are on.

Recipes:
    crop: random resized crop only, area 0.5 to 1, TensorFlow's sampler: the official RandBits-MNIST notebook.
    simclr: random resized crop, area 0.08 to 1, flip, colour jitter, greyscale, and blur for images above 32 pixels.
    none: both views are the images themselves.

Every random number comes from the generator that is passed in. They are all drawn before any pixel is touched, so the
result does not depend on how the work is cut into pieces.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from core.datasets import blurs, colors, crops

Recipe = Literal["crop", "simclr", "none"]

CROP_AREA = (0.5, 1.0)  # recipe crop
SIMCLR_AREA = (0.08, 1.0)  # recipe simclr, as the rest below
FLIP = 0.5  # probability
JITTER = 0.8  # probability
BRIGHTNESS, CONTRAST, SATURATION, HUE = range(4)
STRENGTHS = (0.8, 0.8, 0.8, 0.2)  # of these four, times the colour strength
STRONGEST = 2.5  # colour strength at which the hue turns by up to half a circle, either way
GRAY = 0.2  # probability
PIECE = 2**19  # values per piece on the CPU, so that a piece and its intermediates stay near the core


class Plan(NamedTuple):
    """Everything random about n views; tensors with first dimension n, None = not done."""

    boxes: crops.Boxes
    flip: Tensor | None
    jitter: colors.Jitter | None
    gray: Tensor | None  # bool
    sigma: Tensor | None  # blur, pixels; 0 = no blur


def to_float(images: Tensor) -> Tensor:
    """uint8 0..255 -> float32 0..1, same shape and memory layout; floating images pass through."""
    return images if images.is_floating_point() else images.to(torch.float32).div_(255)


def two_views(
    images: Tensor, recipe: Recipe, color_strength: float, generator: torch.Generator, gray: float = GRAY
) -> tuple[Tensor, Tensor]:
    """Two independent random views of each image.

    Args:
        images: uint8 [n, c, h, w], or float in [0, 1]. Three channels or more: the first three are colours.
            Fewer: grey, see `core.datasets.colors`.
        recipe: "crop", "simclr" or "none".
        color_strength: SimCLR's s, 0 to 2.5; 0 leaves brightness, contrast, saturation and hue alone.
        generator: Source of all randomness, on the device of the images or on the CPU. Same state, same views.
        gray: Probability that a view loses its colours, recipe simclr.

    Returns:
        Two float32 tensors [n, c, h, w] in [0, 1] on the device of the images, in channels-last memory format.

    Raises:
        ValueError: If the images have another shape, or recipe or color_strength is unknown or out of range.
    """
    if images.ndim != 4 or 0 in images.shape[1:]:
        raise ValueError(f"images must have shape [n, c, h, w] with no empty side, got {list(images.shape)}")
    if recipe == "none":
        x = to_float(images)
        return x, x.clone()
    n = len(images)
    plan = draw(2 * n, images.shape[1:], recipe, color_strength, generator, gray)
    plan = _map(plan, lambda values: values.to(images.device, non_blocking=True))
    pixels = images.permute(0, 2, 3, 1).contiguous()  # [n, h, w, c], as data sets hold them: nothing to copy then
    views = torch.empty((2 * n, *pixels.shape[1:]), device=images.device)
    for rows in _pieces(plan, images):
        x = to_float(pixels[rows % n]).permute(0, 3, 1, 2)
        x = apply(x, _map(plan, lambda values, rows=rows: values[rows]))
        views[rows] = x.permute(0, 2, 3, 1).contiguous()  # one transposing copy while the piece is in cache
    views = views.permute(0, 3, 1, 2)
    return views[:n], views[n:]


def draw(
    n: int, shape: tuple[int, int, int], recipe: Recipe, color_strength: float, generator: torch.Generator, gray: float = GRAY
) -> Plan:
    """Draw the random settings of n views.

    Args:
        n: Number of views.
        shape: Channels, height and width of the images.
        recipe: "crop" or "simclr".
        color_strength: SimCLR's s, 0 to 2.5.
        generator: Source of randomness; the plan lies on its device.
        gray: Probability of greyscale, 0 to 1.

    Raises:
        ValueError: If recipe is unknown, or color_strength or gray out of range.
    """
    channels, height, width = shape
    if recipe == "crop":
        return Plan(crops.tensorflow_boxes(n, (height, width), CROP_AREA, generator), None, None, None, None)
    if recipe != "simclr":
        raise ValueError(f"recipe must be 'crop', 'simclr' or 'none', got {recipe!r}")
    if not 0 <= color_strength <= STRONGEST:
        raise ValueError(f"color_strength must lie between 0 and {STRONGEST}, got {color_strength}")
    boxes = crops.torchvision_boxes(n, (height, width), SIMCLR_AREA, generator)
    if not 0 <= gray <= 1:
        raise ValueError(f"gray must lie between 0 and 1, got {gray}")
    flip, jittered, grayed, blurred, u_sigma = torch.rand((5, n), generator=generator, device=generator.device)
    u_order, u_strength = torch.rand((2, n, 4), generator=generator, device=generator.device)
    sigma = None
    if min(height, width) > blurs.SMALLEST_SIDE:
        low, high = blurs.SIGMA
        sigma = torch.where(blurred < blurs.PROBABILITY, low + (high - low) * u_sigma, 0.0)
    plan = _draw_jitter(u_order, u_strength, jittered < JITTER, color_strength, channels) if color_strength > 0 else None
    return Plan(boxes, flip < FLIP, plan, grayed < gray, sigma)


def apply(x: Tensor, plan: Plan) -> Tensor:
    """Carry out a plan.

    Args:
        x: Images, float [n, c, h, w] in [0, 1].
        plan: One setting per image, on the device of x.

    Returns:
        float [n, c, h, w] in [0, 1].
    """
    x = crops.crop_resize(x, plan.boxes, plan.flip)
    if plan.jitter is not None:
        x = colors.jitter(x, plan.jitter)
    if plan.gray is not None and x.shape[1] >= 3:
        x = colors.on_rows(x, plan.gray, lambda images, index: colors.to_gray(images))
    if plan.sigma is not None:
        x = colors.on_rows(x, plan.sigma > 0, lambda images, index: blurs.blur(images, plan.sigma[index]))
    return x


def _draw_jitter(u_order: Tensor, u_strength: Tensor, chosen: Tensor, color_strength: float, channels: int) -> colors.Jitter:
    """Uniform numbers [n, 4] -> the four steps of each image; images that are not chosen are left alone."""
    spread = torch.tensor(STRENGTHS, device=u_order.device) * color_strength
    low, high = 1 - spread, 1 + spread
    amount = low.clamp_min(0) + (high - low.clamp_min(0)) * u_strength  # [n, 4], one column per operation, 1 = unchanged
    kind = u_order.argsort(1)  # [n, 4], operation of each step, every order equally likely
    active = chosen[:, None] if channels >= 3 else chosen[:, None] & (kind < SATURATION)
    amount = torch.where(active, amount.gather(1, kind), 1.0)
    return colors.Jitter(
        factor=torch.where(kind == HUE, 1.0, amount),
        mean=(kind == CONTRAST).float(),
        gray=(kind == SATURATION).float(),
        shift=torch.where(kind == HUE, amount - 1, 0.0),
    )


def _pieces(plan: Plan, images: Tensor) -> Sequence[Tensor]:
    """Rows of the plan, cut into pieces that are worked on together; one piece on accelerators.

    On the CPU, views whose hue turns at the same step come together: most pieces then need no picking of rows.
    """
    n = len(plan.boxes.top)
    rows = torch.arange(n, device=images.device)
    if images.device.type != "cpu" or n == 0:
        return [rows]
    if plan.jitter is not None:
        step = (plan.jitter.shift != 0).to(torch.uint8) * torch.arange(1, 5, dtype=torch.uint8)
        rows = step.amax(1).argsort(stable=True)
    return rows.split(max(1, PIECE // images[0].numel()))


def _map(value, function):
    """Apply a function to every tensor of a plan, keeping None and the nesting."""
    if value is None:
        return None
    if isinstance(value, Tensor):
        return function(value)
    return type(value)(*(_map(part, function) for part in value))
