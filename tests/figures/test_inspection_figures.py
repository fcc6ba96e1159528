"""Figures of an inspection: competing features, what the embedding follows, and the sheet of pictures."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from core.figures.competing import bit_pull, bit_takeaway, competing, takeaway
from core.figures.theme import DARK, LIGHT
from core.figures.thumbnails import Picture, data_uri, thumbnails
from tests.inspections import made_up

SUMMARY = made_up.summary(made_up.arrays())


def test_bars_hold_the_plain_accuracy_first_then_each_alteration():
    fig = competing(SUMMARY, LIGHT)
    h, z = fig.data
    assert list(h.x) == ["plain images", "other random bits", "fine detail removed"]
    np.testing.assert_allclose(h.y, [0.83, 0.31, 0.31], rtol=1e-6)
    np.testing.assert_allclose(z.y, [0.61, 0.31, 0.31], rtol=1e-6)
    assert fig.layout.shapes[0].y0 == 0.1 and "guessing 0.10" in fig.layout.annotations[0].text


def test_an_unknown_alteration_of_a_later_version_is_left_out():
    fig = competing(SUMMARY | {"competing": [*SUMMARY["competing"], {"name": "upside_down", "h": {"accuracy": 0.5}}]}, LIGHT)
    assert len(fig.data[0].x) == 3


def test_titles_say_what_the_numbers_say():
    assert takeaway(SUMMARY) == "“other random bits” costs the most: accuracy falls from 0.83 to 0.31"
    assert takeaway(SUMMARY | {"competing": []}) == "No change of the image costs much of the class"
    blind = SUMMARY | {"h": SUMMARY["h"] | {"linear_accuracy": 0.12}}
    assert takeaway(blind) == "No change of the image costs the class: it is not known to begin with"
    assert bit_takeaway(SUMMARY) == "When image and bits disagree, z follows the bits"
    assert bit_takeaway({}) == "What does the embedding follow?"


def test_the_line_of_guessing_runs_through_no_number():
    low = SUMMARY["competing"][0] | {"h": SUMMARY["competing"][0]["h"] | {"accuracy": 0.06}}
    text = competing(SUMMARY | {"competing": [low], "chance": 0.1}, LIGHT).data[0].text
    assert text[-1] == "0.06<br> " and "<br>" not in text[0]


def test_pull_has_three_bars_per_space_and_no_negative_zero():
    fig = bit_pull(SUMMARY, DARK)
    assert [trace.name for trace in fig.data] == ["h", "z"]
    np.testing.assert_allclose(fig.data[0].y, [0.2, 0.8, 0.01], rtol=1e-6)
    almost = {"name": "other_bits", "h": {"same_image": -0.001, "same_feature": 1.0, "neither": -0.2}}
    assert list(bit_pull({"competing": [almost]}, LIGHT).data[0].text) == ["0.00", "1.00", "−0.20"]


def pictures(count, side=5):
    random = np.random.default_rng(0)
    return [
        Picture(7 * place, random.integers(0, 256, (side, side, 1), dtype=np.uint8), str(place), f"image {place}", "#D55E00")
        for place in range(count)
    ]


@pytest.mark.parametrize("count", [1, 3, 4, 7])
def test_every_picture_is_there_once_with_its_id(count):
    fig = thumbnails(pictures(count), LIGHT, per_row=3, selected=7)
    assert fig.data[0].customdata.tolist() == [7 * place for place in range(count)]
    assert len(fig.layout.images) == len(fig.layout.shapes) == count
    at = {(x, y) for x, y in zip(fig.data[0].x.tolist(), fig.data[0].y.tolist(), strict=True)}
    assert len(at) == count and len({y for _, y in at}) == -(-count // 3)
    assert {shape.line.color for shape in fig.layout.shapes} <= {"#D55E00", LIGHT.outline}


def test_pixels_survive_the_way_into_the_browser():
    for channels in (1, 3):
        pixels = np.random.default_rng(1).integers(0, 256, (28, 28, channels), dtype=np.uint8)
        decoded = np.asarray(Image.open(io.BytesIO(base64.b64decode(data_uri(pixels).partition(",")[2]))))
        assert decoded.shape[:2] == (84, 84)  # three times, so that pixels stay sharp
        np.testing.assert_array_equal(decoded[1::3, 1::3].reshape(28, 28, -1), pixels)


def test_the_same_input_gives_the_same_figure():
    assert thumbnails(pictures(4), LIGHT, per_row=2).to_json() == thumbnails(pictures(4), LIGHT, per_row=2).to_json()
    assert competing(SUMMARY, LIGHT).to_json() == competing(SUMMARY, LIGHT).to_json()
