"""Circle, sphere, hemispheres and map: the true geometry, all points, ids, and what is cut or left out is said."""

import numpy as np
import pytest

from core.figures.circle import INNER, OUTER, circle
from core.figures.points import POINTS
from core.figures.scatter_map import scatter_map
from core.figures.sphere import APART, LIFT, TURN, hemispheres, sphere
from core.figures.theme import DARK, LIGHT

RANDOM = np.random.default_rng(1)
N = 120


def arrays(d: int) -> dict:
    z = RANDOM.normal(size=(N, d))
    labels = np.arange(N) % 4
    return {
        "z": (z / np.linalg.norm(z, axis=1, keepdims=True)).astype(np.float16),
        "labels": labels,
        "predicted": np.where(np.arange(N) < 100, labels, 0),
        "index": 1000 + np.arange(N),
    }


def points(fig):
    return next(trace for trace in fig.data if trace.name == POINTS)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize(("draw", "d"), [(circle, 2), (circle, 9), (sphere, 3), (sphere, 9), (hemispheres, 3), (hemispheres, 9)])
def test_every_point_is_there_once_with_its_id(draw, d, theme):
    data = arrays(d)
    fig = draw(data, theme, focus={1}, subtitle="settings")
    assert sorted(points(fig).customdata) == data["index"].tolist()
    assert (np.asarray(points(fig).marker.color) == theme.faded).sum() == N * 3 // 4
    said = "strongest directions of d = 9" in fig.layout.title.text
    assert said == (d == 9)
    assert fig.to_json() == draw(data, theme, focus={1}, subtitle="settings").to_json()


def test_angles_on_the_circle_are_those_of_the_embedding_and_each_class_has_its_ring():
    data = arrays(2)
    trace = points(circle(data, LIGHT))
    radius = np.hypot(trace.x, trace.y)
    wanted = np.linspace(OUTER, INNER, 4)[data["labels"]]
    np.testing.assert_allclose(radius, wanted, atol=1e-3)
    np.testing.assert_allclose(np.stack([trace.x, trace.y], 1) / radius[:, None], data["z"].astype(float), atol=2e-3)


def test_a_collapsed_circle_says_where_its_density_was_cut():
    data = arrays(2)
    data["z"] = np.tile([[1.0, 0.0]], (N, 1))
    assert "its peak is" in circle(data, LIGHT).layout.title.text
    assert "its peak is" in hemispheres({**data, "z": np.tile([[1.0, 0, 0]], (N, 1))}, LIGHT).layout.title.text


def test_the_sphere_turns_in_the_browser_and_only_when_asked():
    data = arrays(3)
    fig = sphere(data, LIGHT)
    drawn = np.stack([points(fig).x, points(fig).y, points(fig).z], 1)
    np.testing.assert_allclose(drawn, data["z"].astype(float) * LIFT, atol=2e-3)
    assert len(fig.frames) == TURN and all(not frame.data for frame in fig.frames)  # cameras only: nothing is sent twice
    assert fig.layout.updatemenus[0].buttons[0].label == "▶ Play"


def test_the_back_half_lies_beside_the_front_half():
    data = arrays(3)
    trace = points(hemispheres(data, LIGHT))
    x, y = np.asarray(trace.x), np.asarray(trace.y)
    back = x > APART / 2
    assert 0 < back.sum() < N
    assert (np.hypot(x - APART * back, y) <= 1.001).all()


def test_the_map_greys_all_but_the_picked_ones():
    data = arrays(9)
    fig = scatter_map(data["z"][:, :2], data, LIGHT, kind="tsne", color_by="correctness", picked={1005})
    colors = np.asarray(points(fig).marker.color)
    assert (colors != LIGHT.faded).sum() == 1 and points(fig).customdata[-1] == 1005  # on top
    assert fig.layout.dragmode == "lasso"
    with pytest.raises(ValueError, match="one row per image"):
        scatter_map(data["z"][:5, :2], data, LIGHT)
    with pytest.raises(ValueError, match="kind must be pca or tsne"):
        scatter_map(data["z"], data, LIGHT, kind="umap")
