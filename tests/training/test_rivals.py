"""Runs with a rival in the picture: what is measured, what both views share, what is refused."""

import numpy as np
import pytest
import torch

from core.datasets import load
from core.training import RunSpec, fit
from core.training.images import Images

CPU = torch.device("cpu")
SMALL = dict(n_train=200, n_test=100, batch_size=100, epochs=1, head_dim=8)
CLOCK = {"seconds", "train_seconds", "samples_per_second", "finished_at"}


def test_digit_on_image_is_measured_and_repeats():
    spec = RunSpec(digits=16, digit_size=7, bits=2, **SMALL)
    one, two = fit(spec), fit(spec)
    assert one.model_dump(exclude=CLOCK) == two.model_dump(exclude=CLOCK)
    assert 0 <= one.digit_accuracy <= 1 and one.bits_known is not None and one.linear_accuracy is not None
    assert one.small_digit_accuracy is None and one.color_accuracy is None  # grey images
    assert any(note.startswith("16 different digit images of") for note in one.notes)


def test_two_sizes_measure_both_digits():
    result = fit(RunSpec(scene="two_sizes", image_size=44, digit_size=24, **SMALL))
    assert result.small_digit_accuracy == result.linear_accuracy and 0 <= result.large_digit_accuracy <= 1
    assert result.digit_accuracy is None
    assert "two digits on a canvas of 44 px, nominal sizes 20 px and 24 px; the class is the first one's" in result.notes


def test_a_grid_is_judged_by_single_digits():
    result = fit(RunSpec(scene="grid", scene_digits=4, image_size=60, **{**SMALL, "objective": "untrained"}))
    assert result.linear_accuracy is not None and result.large_digit_accuracy is None


def test_colour_images_measure_colours(tmp_path):
    from PIL import Image

    random = np.random.default_rng(0)
    for part, count in (("train", 30), ("test", 10)):
        for name, color in (("red", (200, 30, 30)), ("blue", (30, 30, 200))):
            folder = tmp_path / part / name
            folder.mkdir(parents=True)
            for number in range(count):
                noise = random.integers(-30, 30, (16, 16, 3)) + np.array(color)
                Image.fromarray(noise.astype(np.uint8)).save(folder / f"{number}.png")
    settings = dict(dataset="folder", data_root=str(tmp_path), batch_size=30, augment="simclr", objective="untrained")
    result = fit(RunSpec(**settings))
    assert result.color_class_accuracy == 1.0 and 0 <= result.color_accuracy <= 1 and 0.1 <= result.color_chance < 1


@pytest.fixture(scope="module")
def images() -> Images:
    spec = RunSpec(digits=1000, digit_size=7, **SMALL)
    return Images(load(spec), spec, CPU)


def test_training_pictures_change_with_the_step_and_evaluation_pictures_do_not(images):
    rows = torch.arange(20)
    assert not torch.equal(images.rows(rows, turn=0), images.rows(rows, turn=1))
    assert torch.equal(images.rows(rows), images.rows(rows))
    assert (images.rows(rows, turn=0) >= images._raw(rows, True)).all()


def test_both_views_of_a_canvas_hold_the_same_or_the_same_digits_elsewhere():
    for digit_draw, equal in (("fresh", True), ("views", False)):
        spec = RunSpec(scene="two_sizes", image_size=44, digit_size=24, digit_draw=digit_draw, augment="none", **SMALL)
        a, b = Images(load(spec), spec, CPU).views(torch.arange(10), spec, torch.Generator(), turn=0)
        assert torch.equal(a, b) == equal


def test_labels_belong_to_the_pictures_in_any_part(images):
    rows = torch.tensor([3, 50, 7])
    whole = images.rival_labels(True, probe=True)
    assert images.rival_labels(True, rows, probe=True).tolist() == whole[rows].tolist()
    pictures = torch.cat([x for x, _ in images.plain(True, probe=True)])
    assert torch.equal(torch.cat([x for x, _ in images.plain(True, rows, probe=True)]), pictures[rows])


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"digits": 4, "digit_size": 8},
            "digit_size: nine copies fit on 28 x 28 px up to 7 px a side, got 8. "
            "Lower digit_size, or enlarge the images (image_size).",
        ),
        ({"digits": 70_000}, "digits: MNIST has 60,000 training images, got 70,000. Lower digits."),
    ],
)
def test_digits_that_do_not_fit_stop_the_run_with_advice(fields, text):
    with pytest.raises(ValueError) as caught:
        fit(RunSpec(**fields, **SMALL))
    assert str(caught.value) == text
