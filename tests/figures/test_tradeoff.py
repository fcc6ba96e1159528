"""The trade-off plane, the places of dial values, the image strip."""

import base64
import io
import itertools

import numpy as np
import plotly.io as pio
import pytest
from PIL import Image

from core.datasets.strips import Strip
from core.figures.dials import places
from core.figures.series import fold_seeds
from core.figures.strips import BAR, GAP, TILE, compose, strips
from core.figures.suppression import suppression
from core.figures.theme import DARK, LIGHT
from core.figures.tradeoff import ROOM, paired, tradeoff
from core.studies import Store
from tests import fixtures


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("store")
    fixtures.fill(root, fixtures.study("digits-cifar10"), embeddings=False)
    return Store(root).table("digits-cifar10")


def test_doubling_dials_stand_on_a_logarithmic_axis_with_room_for_none():
    np.testing.assert_allclose(places("digits", [0, 1, 4, 256]), [-2, 0, 2, 8])
    np.testing.assert_allclose(places("bits", [0, 1, 20]), [0, 1, 20])


def test_the_curve_over_digit_images_has_its_values_as_ticks(runs):
    fig = suppression(fold_seeds(runs, "linear_accuracy", "digits"), LIGHT, dial="digits", chance=0.1)
    assert list(fig.layout.xaxis.ticktext) == ["0", "1", "16", "256", "4,000"]
    line = next(trace for trace in fig.data if trace.name == "tau 0.1")
    np.testing.assert_allclose(line.x, [-2, 0, 4, 8, np.log2(4000)], rtol=1e-6)
    band = next(trace for trace in fig.data if trace.fill == "toself")
    assert min(band.x) == -2 and max(band.x) == pytest.approx(np.log2(4000))


def test_paths_hold_what_both_features_measured(runs):
    first, second = (fold_seeds(runs, metric, "digits") for metric in ("linear_accuracy", "digit_accuracy"))
    points = paired(first, second)
    assert 0 not in set(points["x"])  # clean pictures have no digit to be known
    fig = tradeoff(first, second, LIGHT, metrics=("linear_accuracy", "digit_accuracy"), dial="digits", chance=(0.1, 0.1))
    assert [trace.name for trace in fig.data] == ["tau 0.05", "tau 0.1", "tau 0.2", "Supervised", "Untrained"]
    path, known = fig.data[1], points[points["series"] == "tau 0.1"]
    np.testing.assert_allclose(path.x, known["mean_x"], rtol=1e-6)
    np.testing.assert_allclose(path.y, known["mean_y"], rtol=1e-6)
    dials = [f"{x:,.10g}" for x in known["x"]]
    assert all(text in ("", dial) for text, dial in zip(path.text, dials, strict=True))
    assert list(path.marker.size) == sorted(path.marker.size)
    written = [(x, y) for trace in fig.data for x, y, text in zip(trace.x, trace.y, trace.text, strict=True) if text]
    assert len(written) >= 4  # and none covers another
    assert all(abs(a[0] - b[0]) > ROOM[0] or abs(a[1] - b[1]) > ROOM[1] for a, b in itertools.combinations(written, 2))
    assert path.customdata[0] in set(runs["run_id"]) and "digit probe" in path.hovertext[0]
    again = tradeoff(first, second, LIGHT, metrics=("linear_accuracy", "digit_accuracy"), dial="digits", chance=(0.1, 0.1))
    assert pio.to_json(fig) == pio.to_json(again)


def test_zoom_fits_both_axes_and_says_so(runs):
    """Paths of a few hundredths lay in a corner of an empty plane, whatever the switch above said."""
    first, second = (fold_seeds(runs, metric, "digits") for metric in ("linear_accuracy", "digit_accuracy"))
    what = dict(metrics=("linear_accuracy", "digit_accuracy"), dial="digits", chance=(0.1, 0.1))
    fig, points = tradeoff(first, second, LIGHT, zoom=True, **what), paired(first, second)
    for axis, name in ((fig.layout.xaxis, "x"), (fig.layout.yaxis, "y")):
        low, high = axis.range
        means, bars = points[f"mean_{name}"], points[f"sd_{name}"]
        assert low < (means - bars).min() and (means + bars).max() < high and high - low < 1.2 * (means.max() - means.min()) + 0.1
    assert "zoomed to the data" in fig.layout.title.text
    long = tradeoff(first, second, LIGHT, zoom=True, subtitle="a subtitle that needs more than " * 4, **what)
    assert long.layout.title.text.count("<br>") == 2 and long.layout.margin.t > fig.layout.margin.t  # else cut at 1024 px
    assert not any(shape.y0 == shape.y1 == 0.1 for shape in fig.layout.shapes)  # chance lies below what is shown
    assert tuple(tradeoff(first, second, LIGHT, **what).layout.xaxis.range) == (0, 1.04)


def test_nothing_measured_is_an_empty_plane():
    empty = fold_seeds(Store("/nonexistent").table("none"), "linear_accuracy", "digits")
    assert len(tradeoff(empty, empty, DARK, metrics=("linear_accuracy", "digit_accuracy"), dial="digits").data) == 0


def shown(bits: int = 0) -> Strip:
    views = np.random.default_rng(0).integers(0, 256, (3, 2, 2, 28, 28, 3), dtype=np.uint8)
    codes = tuple(np.array([[1, 0, 1][:bits], [0, 0, 1][:bits]], np.uint8).reshape(2, bits) for _ in range(3))
    return Strip(views, codes, ("cat", "dog"))


def test_every_view_is_in_its_place_pixel_for_pixel():
    strip = shown()
    picture, centres, rows = compose(strip, LIGHT)
    scale, tile = TILE // 28, TILE // 28 * 28
    for position in range(3):
        for image in range(2):
            for view in range(2):
                top, left = rows[2 * image + view] - tile / 2, centres[position] - tile / 2
                part = picture[int(top) : int(top) + tile : scale, int(left) : int(left) + tile : scale]
                np.testing.assert_array_equal(part, strip.views[position, image, view])
    assert picture.shape[1] == 3 * tile + 2 * GAP


def test_bits_are_squares_below_each_pair():
    strip = shown(bits=3)
    picture, centres, rows = compose(strip, LIGHT)
    tile = TILE // 28 * 28
    middle = int(rows[1] + tile / 2 + GAP // 2 + BAR / 2)
    left = int(centres[0] - tile / 2)
    seen = [int(picture[middle, left + int((number + 0.5) * tile / 3), 0]) for number in range(3)]
    assert seen == [255, 0, 255]


def test_the_figure_carries_the_picture_and_its_labels():
    fig = strips(shown(), ["0", "5", "10"], DARK, axis="Added bits", title="t")
    png = Image.open(io.BytesIO(base64.b64decode(fig.data[0].source.split(",")[1])))
    np.testing.assert_array_equal(np.asarray(png), compose(shown(), DARK)[0])
    assert list(fig.layout.xaxis.ticktext) == ["0", "5", "10"] and fig.layout.yaxis.ticktext[0] == "cat, view 1"
    assert len(fig.to_json()) < 300_000
