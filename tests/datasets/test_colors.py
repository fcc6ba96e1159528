"""Batched colour operations against torchvision's, one image at a time."""

import pytest
import torch
from torchvision.transforms.v2 import functional as peer

from core.datasets import colors

N = 48


@pytest.fixture
def x():
    """Random pixels, and the cases that are special for hue: greys, pure colours, black, white, ties of two channels."""
    images = torch.rand(N, 3, 9, 7, generator=torch.Generator().manual_seed(0))
    images[0] = images[0, :1]
    images[1] = torch.tensor([1.0, 0, 0])[:, None, None]
    images[2] = torch.tensor([0, 1.0, 0])[:, None, None]
    images[3] = torch.tensor([0, 0, 1.0])[:, None, None]
    images[4], images[5] = 0, 1
    images[6, 1] = images[6, 0]
    images[7, 2] = images[7, 1]
    images[8, 2] = images[8, 0]
    images[9] = (images[9] * 4).floor() / 3  # few levels: many ties
    return images


def uniform(low, high, seed=1):
    return low + (high - low) * torch.rand(N, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("ours", "theirs", "setting"),
    [
        (colors.adjust_brightness, peer.adjust_brightness, uniform(0, 2.6)),
        (colors.adjust_contrast, peer.adjust_contrast, uniform(0, 2.6)),
        (colors.adjust_saturation, peer.adjust_saturation, uniform(0, 2.6)),
        (colors.adjust_hue, peer.adjust_hue, uniform(-0.5, 0.5)),
        (colors.adjust_hue, peer.adjust_hue, torch.tensor([-0.5, 0.5, 0.0, 0.25]).repeat(N // 4)),
        (colors.adjust_brightness, peer.adjust_brightness, torch.tensor([0.0, 1.0]).repeat(N // 2)),
        (colors.adjust_contrast, peer.adjust_contrast, torch.tensor([0.0, 1.0]).repeat(N // 2)),
        (colors.adjust_saturation, peer.adjust_saturation, torch.tensor([0.0, 1.0]).repeat(N // 2)),
    ],
)
def test_operations_equal_torchvision(x, ours, theirs, setting):
    expected = torch.stack([theirs(image, float(value)) for image, value in zip(x, setting, strict=True)])
    before = x.clone()
    torch.testing.assert_close(ours(x, setting), expected, atol=5e-6, rtol=0)
    assert torch.equal(x, before)


def test_to_gray_equals_torchvision(x):
    torch.testing.assert_close(colors.to_gray(x), peer.rgb_to_grayscale(x, num_output_channels=3), atol=1e-6, rtol=0)


def test_further_channels_pass_through_untouched(x):
    """Pitfall 28: operations written for three channels must leave the others alone, and not fail on them."""
    extra = torch.rand(N, 2, 9, 7)
    wide = torch.cat([x, extra], 1)
    for operation, setting in ((colors.adjust_brightness, 0.5), (colors.adjust_contrast, 0.5), (colors.adjust_saturation, 0.5),
                               (colors.adjust_hue, 0.2)):
        out = operation(wide, torch.full((N,), setting))
        assert torch.equal(out[:, 3:], extra) and torch.equal(out[:, :3], operation(x, torch.full((N,), setting)))
    assert torch.equal(colors.to_gray(wide)[:, 3:], extra)
    assert torch.equal(colors.jitter(wide.clone(), plan_of(N))[:, 3:], extra)


def test_gray_images_have_brightness_and_contrast_only(x):
    gray = x[:, :1].clone()
    half = torch.full((N,), 0.5)
    assert torch.equal(colors.adjust_brightness(gray, half), gray * 0.5)
    expected = torch.stack([peer.adjust_contrast(image, 0.5) for image in gray])
    torch.testing.assert_close(colors.adjust_contrast(gray, half), expected, atol=1e-6, rtol=0)
    for untouched in (colors.adjust_saturation(gray, half), colors.adjust_hue(gray, half), colors.to_gray(gray)):
        assert torch.equal(untouched, gray)


def test_with_two_channels_only_the_first_is_a_color(x):
    out = colors.adjust_brightness(x[:, :2], torch.full((N,), 0.5))
    assert torch.equal(out[:, 0], x[:, 0] * 0.5) and torch.equal(out[:, 1], x[:, 1])


def plan_of(n, seed=2):
    """A jitter with every order of operations, and settings within SimCLR's ranges."""
    generator = torch.Generator().manual_seed(seed)
    kind = torch.rand(n, 4, generator=generator).argsort(1)
    amount = 0.2 + 1.6 * torch.rand(n, 4, generator=generator)
    return colors.Jitter(
        factor=torch.where(kind == 3, 1.0, amount), mean=(kind == 1).float(), gray=(kind == 2).float(),
        shift=torch.where(kind == 3, 0.25 * (amount - 1), 0.0),
    )


def test_jitter_applies_each_images_operations_in_its_own_order(x):
    plan = plan_of(N)
    expected = x.clone()
    for row in range(N):
        for step in range(4):
            image = expected[row]
            if plan.shift[row, step]:
                image = peer.adjust_hue(image, float(plan.shift[row, step]))
            elif plan.mean[row, step]:
                image = peer.adjust_contrast(image, float(plan.factor[row, step]))
            elif plan.gray[row, step]:
                image = peer.adjust_saturation(image, float(plan.factor[row, step]))
            else:
                image = peer.adjust_brightness(image, float(plan.factor[row, step]))
            expected[row] = image
    torch.testing.assert_close(colors.jitter(x.clone(), plan), expected, atol=2e-5, rtol=0)


@pytest.mark.parametrize("way", [colors.on_rows, colors._pick, colors._put_back])
@pytest.mark.parametrize("chosen", [[], [1], [0, 2], [0, 1, 2]])
def test_on_rows_changes_the_chosen_images_only(way, chosen):
    """Both ways, the processor's (compute the chosen ones) and the accelerators' (compute all, put the others back)."""
    x = torch.rand(3, 1, 2, 2)
    rows = torch.zeros(3, dtype=torch.bool)
    rows[chosen] = True
    amount = torch.tensor([2.0, 3.0, 5.0])
    expected = torch.where(rows[:, None, None, None], x * amount[:, None, None, None], x)
    assert torch.equal(way(x.clone(), rows, lambda images, i: images * amount[i][:, None, None, None]), expected)
