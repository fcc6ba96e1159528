"""Where crops lie, against one-image-at-a-time samplers, and what they show, against explicit crops."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.stats import ks_2samp
from torchvision.transforms import RandomResizedCrop

from core.datasets.crops import ATTEMPTS, Boxes, crop_resize, tensorflow_boxes, torchvision_boxes

SIZES = [(28, 28), (32, 20), (5, 9), (1, 1), (3, 64)]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def slow_tensorflow_box(size, area, draws):
    """TensorFlow's sampler for one image, in float32 like the kernel; draws are (aspect, height, top, left) uniforms."""
    rows, columns = size
    f = np.float32
    smallest, largest = f(area[0]) * f(rows) * f(columns), f(area[1]) * f(rows) * f(columns)
    for u_aspect, u_height, u_top, u_left in draws:
        aspect = f(3 / 4) + f(4 / 3 - 3 / 4) * f(u_aspect)
        height, tallest = (int(np.rint(np.sqrt(pixels / aspect, dtype=f))) for pixels in (smallest, largest))
        if int(np.rint(tallest * aspect)) > columns:
            tallest = int(f(columns + 0.5 - 1e-7) / aspect)
        tallest = min(tallest, rows)
        height = min(height, tallest)
        if height < tallest:
            height += int(f(u_height) * f(tallest - height + 1))
        width = int(np.rint(height * aspect))
        if height * width < smallest:
            height += 1
            width = int(np.rint(height * aspect))
        if height * width > largest:
            height -= 1
            width = int(np.rint(height * aspect))
        if smallest <= height * width <= largest and 0 < width <= columns and 0 < height <= rows:
            top = int(f(u_top) * f(rows - height)) if height < rows else 0
            left = int(f(u_left) * f(columns - width)) if width < columns else 0
            return top, left, height, width
    return 0, 0, rows, columns


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("area", [(0.5, 1.0), (0.08, 1.0), (0.3, 0.4)])
def test_tensorflow_boxes_equal_the_sampler_for_one_image(size, area):
    n = 300
    uniforms = torch.rand((4, n, ATTEMPTS), generator=seeded()).numpy()
    expected = [slow_tensorflow_box(size, area, uniforms[:, row].T) for row in range(n)]
    boxes = torch.stack(tensorflow_boxes(n, size, area, seeded()), 1)
    assert boxes.tolist() == [list(map(float, box)) for box in expected]


def test_tensorflow_boxes_cover_what_they_should():
    """Notebook recipe at 28 px: every aspect and height occurs, the area stays within its limits."""
    boxes = tensorflow_boxes(20_000, (28, 28), (0.5, 1.0), seeded())
    area = boxes.height * boxes.width / 28**2
    assert 0.5 <= area.min() < 0.51 and area.max() == 1
    ratio = boxes.width / boxes.height
    assert 0.72 < ratio.min() < 0.76 and 1.32 < ratio.max() < 1.39  # whole pixels widen the range a little
    assert sorted(set(boxes.height.tolist())) == list(range(18, 29))  # 17 x 23 is below half of 784


@pytest.mark.parametrize("size", SIZES)
def test_torchvision_boxes_stay_inside(size):
    boxes = torchvision_boxes(500, size, (0.08, 1.0), seeded())
    assert (boxes.top >= 0).all() and (boxes.left >= 0).all() and (boxes.height >= 1).all() and (boxes.width >= 1).all()
    assert (boxes.top + boxes.height <= size[0]).all() and (boxes.left + boxes.width <= size[1]).all()
    assert all((part == part.round()).all() for part in boxes)


@pytest.mark.parametrize("size", [(32, 32), (40, 96)])
def test_torchvision_boxes_are_distributed_as_torchvision_draws_them(size):
    """Kolmogorov-Smirnov on 3,000 draws of each; fixed seeds, level 1 in 1,000."""
    torch.manual_seed(0)
    image = torch.empty(1, *size)
    peer = np.array([RandomResizedCrop.get_params(image, [0.08, 1.0], [3 / 4, 4 / 3]) for _ in range(3000)])
    ours = torch.stack(torchvision_boxes(3000, size, (0.08, 1.0), seeded()), 1).numpy()
    for column in range(4):
        assert ks_2samp(peer[:, column], ours[:, column]).pvalue > 1e-3
    assert ks_2samp(peer[:, 2] * peer[:, 3], ours[:, 2] * ours[:, 3]).pvalue > 1e-3


def test_no_valid_draw_takes_the_largest_central_crop():
    """A 3 x 64 image never fits an aspect up to 4/3 at full area: torchvision then crops the centre."""
    boxes = torchvision_boxes(4, (3, 64), (0.9, 1.0), seeded())
    assert torch.stack(boxes, 1).tolist() == [[0, 30, 3, 4]] * 4
    boxes = tensorflow_boxes(4, (3, 64), (0.9, 1.0), seeded())
    assert torch.stack(boxes, 1).tolist() == [[0, 0, 3, 64]] * 4


@pytest.mark.parametrize("draw", [tensorflow_boxes, torchvision_boxes])
@pytest.mark.parametrize(("size", "channels"), [((28, 28), 1), ((32, 48), 3), ((7, 5), 4), ((1, 1), 1)])
def test_crop_resize_equals_explicit_crops(draw, size, channels):
    """Against F.interpolate of each crop by itself, mirrored or not."""
    n = 40
    x = torch.rand(n, channels, *size, generator=seeded(1))
    boxes = draw(n, size, (0.08, 1.0), seeded(2))
    flip = torch.rand(n, generator=seeded(3)) < 0.5
    expected = []
    for row in range(n):
        top, left, height, width = (int(part[row]) for part in boxes)
        crop = x[row : row + 1, :, top : top + height, left : left + width]
        full = F.interpolate(crop, size, mode="bilinear", align_corners=False, antialias=False)
        expected.append(full.flip(3) if flip[row] else full)
    torch.testing.assert_close(crop_resize(x, boxes, flip), torch.cat(expected), atol=2e-5, rtol=0)


def test_crop_of_everything_changes_nothing():
    x = torch.rand(3, 2, 28, 20, generator=seeded())
    whole = Boxes(torch.zeros(3), torch.zeros(3), torch.full((3,), 28.0), torch.full((3,), 20.0))
    torch.testing.assert_close(crop_resize(x, whole), x, atol=1e-5, rtol=0)


def test_pixels_outside_the_box_are_never_seen():
    """The border of an enlarged crop repeats the crop's own border; a bright surrounding must not bleed in."""
    x = torch.ones(1, 1, 28, 28)
    x[:, :, 10:20, 8:18] = 0
    box = Boxes(torch.tensor([10.0]), torch.tensor([8.0]), torch.tensor([10.0]), torch.tensor([10.0]))
    assert crop_resize(x, box).max() < 1e-5


def test_autocast_does_not_move_the_sampling_points():
    x = torch.rand(8, 1, 64, 64, generator=seeded())
    boxes = torchvision_boxes(8, (64, 64), (0.08, 1.0), seeded())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = crop_resize(x, boxes)
    assert inside.dtype == torch.float32 and torch.equal(inside, crop_resize(x, boxes))


def test_aspect_is_uniform_for_tensorflow_and_log_uniform_for_torchvision():
    """Mean aspect of the accepted draws on a large image, where whole pixels and rejection hardly matter: 1.0417 and 1.0139."""
    uniform = tensorflow_boxes(40_000, (4000, 4000), (0.2, 0.3), seeded())
    log_uniform = torchvision_boxes(40_000, (4000, 4000), (0.2, 0.3), seeded())
    for boxes, mean in ((uniform, (3 / 4 + 4 / 3) / 2), (log_uniform, (4 / 3 - 3 / 4) / (2 * math.log(4 / 3)))):
        assert abs((boxes.width / boxes.height).mean() - mean) < 0.004
