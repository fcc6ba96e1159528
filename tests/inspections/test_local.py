"""Masks of the shipped samples and of a folder; the picture they become; what cannot be shown is said."""

import numpy as np
import pytest

from core.figures.part_masks import GAP, TILE, compose, enlarged, part_masks
from core.figures.theme import DARK, LIGHT
from core.inspections import samples
from core.inspections.local import LocalFeatures, Masks, local_features


@pytest.fixture(scope="module")
def sample() -> dict:
    there = {entry.name: entry for entry in samples.present()}
    if not {"clean", "suppressed"} <= set(there):
        pytest.skip("this copy came without the sample checkpoints")
    return there


def test_pixels_stand_first_and_bits_make_the_suppressed_encoder_blind_to_places(sample):
    found = local_features([(name, str(sample[name].path)) for name in ("clean", "suppressed")], "mnist-5k", 4)
    assert [(mask.source, mask.stage) for mask in found.masks] == [
        ("pixels", "13 x 13"), ("clean", "13 x 13"), ("clean", "6 x 6"), ("suppressed", "13 x 13"), ("suppressed", "6 x 6"),
    ]  # fmt: skip
    assert found.images.shape == (5, 28, 28, 3) and not found.notes
    clean, suppressed = found.masks[1].groups, found.masks[3].groups
    assert all(len(np.unique(mask)) > 1 for mask in clean)
    assert all(len(np.unique(mask)) == 1 for mask in suppressed)  # the bits of an image outweigh what is where


def test_a_folder_of_other_images_and_a_file_that_is_no_checkpoint(sample, tmp_path):
    from PIL import Image

    for label in "ab":
        (tmp_path / "set" / label).mkdir(parents=True)
        for number in range(6):
            Image.new("RGB", (30 + number, 40), (number * 40, 90, 10)).save(tmp_path / "set" / label / f"{number}.png")
    (tmp_path / "wrong.pt").write_bytes(b"nothing")
    sources = [("clean", str(sample["clean"].path)), ("wrong", str(tmp_path / "wrong.pt"))]
    found = local_features(sources, str(tmp_path / "set"), 2)
    assert found.images.shape[1:] == (64, 64, 3) and found.masks[1].stage == "31 x 31"
    assert len(found.notes) == 1 and found.notes[0].startswith("wrong: ")


def made_up() -> LocalFeatures:
    images = np.random.default_rng(0).integers(0, 256, (2, 28, 28, 3), dtype=np.uint8)
    return LocalFeatures(images, (Masks("pixels", "13 x 13", np.zeros((2, 13, 13), np.uint8)),), ())


def test_the_picture_holds_image_and_mask_in_their_places():
    found = made_up()
    picture, centres = compose(found, LIGHT)
    assert picture.shape == (2 * TILE + GAP, 2 * TILE + GAP, 3) and centres == [TILE / 2, TILE + GAP + TILE / 2]
    np.testing.assert_array_equal(picture[TILE + GAP :, :TILE], enlarged(found.images[1]))
    grey = enlarged(found.images[0]).mean(2)
    blue = picture[:TILE, TILE + GAP :, 2].astype(float)
    np.testing.assert_allclose(blue, grey * 0.4 + 0xB2 * 0.6, atol=0.51)  # the first group is #0072B2


def test_the_figure_names_its_columns():
    fig = part_masks(made_up(), DARK, title="t")
    assert list(fig.layout.xaxis.ticktext) == ["image", "13 x 13"] and fig.layout.annotations[0].text == "pixels"
    assert fig.data[0].source.startswith("data:image/png")
