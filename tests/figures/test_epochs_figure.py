"""The embedding from epoch to epoch, and the plane of a few encoders."""

import numpy as np
import pytest

from core.figures.encoder_plane import Placed, encoder_plane
from core.figures.epochs import epochs_figure
from core.figures.theme import DARK, LIGHT
from core.geometry.closed_forms import uniform_optimum

N = 40
ARRAYS = {"labels": np.arange(N) % 4, "index": np.arange(N)}


def frames(d: int, e: int = 3) -> np.ndarray:
    z = np.random.default_rng(0).normal(size=(e, N, d))
    return z / np.linalg.norm(z, axis=2, keepdims=True)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_one_frame_per_epoch_all_points_in_each_and_the_last_one_shown(d):
    fig = epochs_figure(frames(d), [0, 5, 10], ARRAYS, LIGHT)
    assert [frame.name for frame in fig.frames] == ["0", "1", "2"]
    assert all(len(frame.data[0].x) == N and tuple(frame.traces) == (0,) for frame in fig.frames)
    np.testing.assert_array_equal(fig.data[0].x, fig.frames[-1].data[0].x)
    slider = fig.layout.sliders[0]
    assert slider.active == 2 and [step.label for step in slider.steps] == ["0", "5", "10"]
    if d == 3:
        assert np.hypot(fig.data[0].x, fig.data[0].y).max() <= 1.0001


def test_the_dot_is_where_the_epoch_was_measured():
    path = {"epoch": np.arange(1, 11), "alignment": np.linspace(1, 0.1, 10), "uniformity": np.linspace(-0.5, -1.4, 10)}
    fig = epochs_figure(frames(2), [0, 5, 10], ARRAYS, DARK, path=path)
    dots = [frame.data[1] for frame in fig.frames]
    assert np.isnan(dots[0].x[0])  # before training nothing was measured
    assert dots[1].x[0] == pytest.approx(path["uniformity"][4]) and dots[2].y[0] == pytest.approx(0.1)
    assert "optimum, d = 2" in [note.text for note in fig.layout.annotations]


def test_epochs_must_fit():
    with pytest.raises(ValueError, match="one embedding per epoch"):
        epochs_figure(frames(2), [1, 2], ARRAYS, LIGHT)


def test_the_plane_names_who_is_closest_to_its_own_optimum_and_counts_who_is_missing():
    placed = [
        Placed("flat", 0.2, uniform_optimum(2) + 0.01, 0.9, 2),
        Placed("wide", 0.3, uniform_optimum(64) + 0.5, None, 64),
        Placed("gone", float("nan"), -1.0, 0.5, 64),
    ]
    fig = encoder_plane(placed, LIGHT)
    said = fig.layout.title.text
    assert "flat covers its sphere most evenly" in said and "1 without alignment left out" in said
    assert [trace.text[0] for trace in fig.data] == ["flat", "wide"]
    assert fig.data[1].marker.symbol == "circle-open"
    assert [shape.x0 for shape in fig.layout.shapes] == pytest.approx([uniform_optimum(2), uniform_optimum(64)])


def test_the_plane_calls_nobody_even_where_all_have_collapsed():
    """Of two points on the sphere one was said to cover it most evenly."""
    points = [Placed("a", 0.02, -0.05, 0.3, 192), Placed("b", 0.02, -0.04, 0.8, 512)]
    said = encoder_plane(points, LIGHT).layout.title.text
    assert "None covers its sphere" in said and "evenly" not in said
    even = Placed("c", 0.2, uniform_optimum(64) + 0.1, 0.5, 64)
    assert "c covers its sphere most evenly" in encoder_plane([*points, even], LIGHT).layout.title.text


def test_names_in_the_plane_stay_inside_and_off_each_other():
    """Of two encoders at almost one place the names were printed on each other, and long ones ran into the scale."""
    placed = [
        Placed("vit_32_p4.pth.tar", 0.018, -0.052, 0.3, 192),
        Placed("gray_stem.pth", 0.016, -0.040, 0.8, 512),
        Placed("zero_conv.pth", 0.052, -0.122, 0.8, 512),
        Placed("Alignment only, d = 2", 0.001, -0.003, 0.9, 2),
        Placed("far", 0.096, -1.858, 0.9, 3),
    ]
    (cloud,) = encoder_plane(placed, LIGHT).data
    sides = dict(zip(cloud.text, cloud.textposition, strict=True))
    assert list(cloud.text) == [entry.name for entry in placed]
    near = [sides[name] for name in ("vit_32_p4.pth.tar", "gray_stem.pth", "Alignment only, d = 2")]
    assert all(side.endswith("left") for side in near) and near[0] != near[1]  # x = 0 is at the right edge
    assert sides["far"] == "top center"
