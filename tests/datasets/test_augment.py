"""Two views of a batch: seeds, ranges, probabilities, and independence of how the work is cut."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets import augment
from core.datasets.augment import draw, to_float, two_views


def batch(n=30, channels=3, height=32, width=32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, channels, height, width), generator=generator, dtype=torch.uint8)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


shapes = st.tuples(st.integers(1, 5), st.sampled_from([1, 2, 3, 5]), st.integers(1, 40), st.integers(1, 40))


@settings(deadline=None, max_examples=60)
@given(shapes, st.sampled_from(["crop", "simclr", "none"]), st.floats(0, 2), st.integers(0, 2**31))
def test_views_have_the_images_shape_and_range(shape, recipe, strength, seed):
    """Any shape, one pixel included: float32 in [0, 1], the same seed the same views, the images themselves untouched."""
    images = batch(*shape)
    before = images.clone()
    a, b = two_views(images, recipe, strength, seeded(seed))
    again = two_views(images, recipe, strength, seeded(seed))
    for view, repeated in zip((a, b), again, strict=True):
        assert view.shape == images.shape and view.dtype == torch.float32
        assert view.min() >= 0 and view.max() <= 1 + 1e-6
        assert torch.equal(view, repeated)
    assert torch.equal(images, before)


@pytest.mark.parametrize("recipe", ["crop", "simclr"])
@pytest.mark.parametrize("channels", [1, 3])
def test_every_view_of_every_epoch_differs(recipe, channels):
    """Pitfall 29: repeated augmentations. Two epochs of two batches from one generator: eight different views."""
    images = batch(channels=channels)
    generator = seeded()
    views = [view for _ in range(4) for view in two_views(images, recipe, 0.5, generator)]
    for first in range(len(views)):
        for second in range(first):
            different = (views[first] != views[second]).flatten(1).any(1)
            assert different.float().mean() > 0.9


@pytest.mark.parametrize("recipe", ["crop", "simclr"])
def test_pieces_do_not_change_the_result(recipe, monkeypatch):
    """All random numbers are drawn before the work is cut up."""
    images = batch(n=40, height=40, width=40)
    expected = two_views(images, recipe, 0.5, seeded())
    monkeypatch.setattr(augment, "PIECE", 3 * 40 * 40 * 7)
    for view, other in zip(expected, two_views(images, recipe, 0.5, seeded()), strict=True):
        torch.testing.assert_close(view, other, atol=1e-6, rtol=0)


@pytest.mark.parametrize("recipe", ["crop", "simclr"])
def test_memory_layout_does_not_change_the_result(recipe):
    """Data sets hold [n, h, w, c]; seen as [n, c, h, w] these are channels-last tensors."""
    images = batch()
    transposed = images.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    for view, other in zip(two_views(images, recipe, 0.5, seeded()), two_views(transposed, recipe, 0.5, seeded()), strict=True):
        assert torch.equal(view, other) and view.is_contiguous(memory_format=torch.channels_last)


def test_float_images_are_taken_as_they_are():
    images = batch()
    floats = two_views(images / 255, "simclr", 0.5, seeded())
    for view, other in zip(two_views(images, "simclr", 0.5, seeded()), floats, strict=True):
        assert torch.equal(view, other)


def test_to_float_scales_to_one():
    values = torch.tensor([0, 51, 255], dtype=torch.uint8)
    assert to_float(values).tolist() == [0.0, pytest.approx(0.2), 1.0]
    assert to_float(values.float()) is not None and to_float(values.float()).tolist() == [0, 51, 255]


def test_none_gives_the_images_twice():
    images = batch()
    a, b = two_views(images, "none", 0.5, seeded())
    assert torch.equal(a, images / 255) and torch.equal(a, b)
    a.zero_()
    assert b.max() > 0, "the two views must not share memory"


def test_an_empty_batch_gives_empty_views():
    a, b = two_views(batch(n=0), "simclr", 0.5, seeded())
    assert a.shape == b.shape == (0, 3, 32, 32)


def test_simclr_probabilities():
    """Shares of 20,000 drawn plans, within 4 standard deviations."""
    n = 20_000
    plan = draw(n, (3, 64, 64), "simclr", 0.5, seeded())
    jittered = ((plan.jitter.factor != 1) | (plan.jitter.shift != 0)).any(1)
    for chosen, probability in ((plan.flip, 0.5), (jittered, 0.8), (plan.gray, 0.2), (plan.sigma > 0, 0.5)):
        assert abs(chosen.float().mean() - probability) < 4 * (probability * (1 - probability) / n) ** 0.5
    blurred = plan.sigma[plan.sigma > 0]
    assert 0.1 <= blurred.min() < 0.101 and 1.999 < blurred.max() <= 2.0


def test_simclr_orders_and_strengths():
    """All 24 orders of the four operations occur equally often; strengths fill SimCLR's ranges for s = 0.5."""
    plan = draw(48_000, (3, 32, 32), "simclr", 0.5, seeded()).jitter
    chosen = ((plan.factor != 1) | (plan.shift != 0)).any(1)
    kind = torch.where(plan.shift != 0, 3, torch.where(plan.mean > 0, 1, torch.where(plan.gray > 0, 2, 0)))[chosen]
    numbers, counts = (kind * torch.tensor([64, 16, 4, 1])).sum(1).unique(return_counts=True)
    assert len(numbers) == 24
    expected = len(kind) / 24
    assert ((counts - expected) ** 2 / expected).sum() < 58.6  # chi-square, 23 degrees of freedom, level 1 in 20,000
    factor, shift = plan.factor[chosen], plan.shift[chosen]
    for operation in range(3):
        values = factor[kind == operation]
        assert 0.6 <= values.min() < 0.601 and 1.399 < values.max() <= 1.4001 and abs(values.mean() - 1) < 0.01
    turns = shift[kind == 3]
    assert -0.1001 <= turns.min() < -0.0999 and 0.0999 < turns.max() <= 0.1001


def test_no_blur_up_to_32_pixels():
    assert draw(4, (3, 32, 32), "simclr", 0.5, seeded()).sigma is None
    assert draw(4, (3, 33, 33), "simclr", 0.5, seeded()).sigma is not None


def test_strength_zero_leaves_colors_alone():
    """s = 0 switches jitter off; a red image is red or grey afterwards, nothing else."""
    images = torch.zeros(200, 3, 16, 16, dtype=torch.uint8)
    images[:, 0] = 255
    a, _ = two_views(images, "simclr", 0.0, seeded())
    seen = a.amax((2, 3))
    red = (seen - torch.tensor([1.0, 0, 0])).abs().amax(1) < 1e-5
    gray = (seen - 0.2989).abs().amax(1) < 1e-5
    assert (red | gray).all() and 20 < gray.sum() < 60


def test_further_channels_are_cropped_and_flipped_along():
    """A fourth channel equal to the red one stays equal to what the red one would be without colour operations."""
    images = batch(n=64)
    four = torch.cat([images, images[:, :1]], 1)
    a, _ = two_views(four, "simclr", 1.0, seeded())
    plain, _ = two_views(four, "simclr", 0.0, seeded())
    torch.testing.assert_close(a[:, 3], plain[:, 3], atol=1e-6, rtol=0)


def test_the_crop_recipe_keeps_at_least_half_of_the_image():
    """Recipe crop on a ramp of columns: no mirror image, and the visible range is that of a crop of at least 0.5 area."""
    ramp = torch.linspace(0, 255, 28).round().to(torch.uint8).expand(500, 1, 28, 28)
    a, _ = two_views(ramp, "crop", 0.5, seeded())
    assert (a.diff(dim=3) >= -1e-5).all(), "the crop recipe has no flip"
    visible = (a[:, 0, 0, -1] - a[:, 0, 0, 0]) * 27 + 1
    assert visible.min() > 16.5 and visible.max() < 28.01


@pytest.mark.parametrize(
    ("images", "recipe", "strength", "message"),
    [
        (torch.zeros(2, 28, 28), "crop", 0.5, "images must have shape [n, c, h, w] with no empty side, got [2, 28, 28]"),
        (torch.zeros(2, 0, 28, 28), "none", 0.5, "images must have shape [n, c, h, w] with no empty side, got [2, 0, 28, 28]"),
        (torch.zeros(2, 1, 28, 28), "moco", 0.5, "recipe must be 'crop', 'simclr' or 'none', got 'moco'"),
        (torch.zeros(2, 1, 28, 28), "simclr", -1, "color_strength must lie between 0 and 2.5, got -1"),
    ],
)
def test_wrong_input_is_named(images, recipe, strength, message):
    with pytest.raises(ValueError) as error:
        two_views(images, recipe, strength, seeded())
    assert str(error.value) == message


def test_gray_is_the_probability_that_a_view_loses_its_colours():
    images = torch.rand(400, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    shares = []
    for gray in (0.0, 0.2, 1.0):
        a, _ = two_views(images, "simclr", 0.0, torch.Generator().manual_seed(1), gray=gray)
        shares.append(float((a - a[:, :1]).abs().amax((1, 2, 3)).lt(1e-6).float().mean()))
    assert shares[0] == 0 and abs(shares[1] - 0.2) < 0.06 and shares[2] == 1
    with pytest.raises(ValueError, match=r"^gray must lie between 0 and 1, got 1.5$"):
        two_views(images, "simclr", 0.5, torch.Generator(), gray=1.5)
