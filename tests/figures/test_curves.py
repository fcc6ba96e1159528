"""Curves over epochs and embeddings: panels, gaps, theory lines, colours by class and by bit."""

import numpy as np
import pandas as pd
import pytest

from core.figures.class_similarity import class_means, class_similarity, class_similarity_pair, within
from core.figures.curves import Curve, curves
from core.figures.embedding import embedding, embedding_pair
from core.figures.theme import LIGHT
from core.training.spec import RunSpec
from tests import fixtures


def curve(losses: list, name: str = "a", floor: float = 0.5, **more) -> Curve:
    history = pd.DataFrame({"epoch": range(1, len(losses) + 1), "loss": losses, "loss_floor": floor, "online_accuracy": 0.5})
    return Curve(f"{name:0>12}", name, history, "#0072B2", **more)


def test_two_panels_share_the_epochs():
    figure = curves([curve([3.0, 2.0, 1.0])], LIGHT, ("online_accuracy", "loss"), chance=0.1)
    assert figure.layout.yaxis.range == (0.0, 1.02) and figure.layout.xaxis2.range == (0.5, 3.5)
    assert figure.data[1].y.tolist() == [3.0, 2.0, 1.0]
    assert {note.text for note in figure.layout.annotations} == {"chance", "floor: the shared bits only"}


def test_without_bits_the_floor_is_that_of_knowing_nothing():
    """It was called the floor of the shared bits in studies that share none, where the loss lies far below it."""
    figure = curves([curve([6.0, 2.0], floor=5.5, bits=0)], LIGHT, ("loss",))
    assert [note.text for note in figure.layout.annotations] == ["knowing nothing"]


def test_infinite_losses_leave_a_gap_are_crossed_and_do_not_set_the_scale():
    figure = curves([curve([3.0, float("inf"), float("nan"), 1e0])], LIGHT, ("loss",))
    assert np.isnan(figure.data[0].y[1:3]).all() and figure.layout.yaxis.range[1] < 3.5
    assert figure.data[1].x.tolist() == [2, 3] and figure.data[1].marker.symbol == "x-thin"


def test_floor_is_left_out_where_runs_disagree():
    figure = curves([curve([3.0, 1.0], "a", 0.5), curve([3.0, 1.0], "b", 0.7)], LIGHT, ("loss",))
    assert not figure.layout.shapes


def test_up_to_six_lines_are_named_at_their_ends_more_get_a_legend():
    few = curves([curve([2.0, 1.0], f"r{n}") for n in range(6)], LIGHT, ("loss",))
    many = curves([curve([2.0, 1.0], f"r{n}") for n in range(7)], LIGHT, ("loss",))
    assert {f"r{n}" for n in range(6)} <= {note.text for note in few.layout.annotations} and not few.layout.showlegend
    assert many.layout.showlegend and sum(bool(trace.showlegend) for trace in many.data) == 7


def test_other_seeds_are_thin_and_below():
    figure = curves([curve([2.0, 1.0], "focus"), curve([2.0, 1.5], "other", faint=True)], LIGHT, ("loss",))
    assert [trace.name for trace in figure.data] == ["other", "focus"]
    assert figure.data[0].line.width < figure.data[1].line.width


def test_a_run_in_progress_is_dotted():
    assert curves([curve([2.0, 1.0], live=True)], LIGHT, ("loss",)).data[0].line.dash == "dot"


def test_a_missing_metric_draws_nothing():
    assert len(curves([curve([2.0])], LIGHT, ("alignment",)).data) == 0


# Embeddings


@pytest.fixture(scope="module")
def arrays() -> dict:
    return fixtures.embedding(RunSpec(bits=10))


def test_classes_are_traces_with_image_rows(arrays):
    figure = embedding(arrays, LIGHT, title="t")
    assert [trace.name for trace in figure.data] == [str(value) for value in range(10)]
    assert np.array_equal(figure.data[3].customdata, np.flatnonzero(arrays["labels"] == 3))
    assert "200 test images" in figure.layout.title.text and "of the variance of d = 16" in figure.layout.title.text


def test_variance_share_by_hand():
    """Two dimensions of four with variances 4, 1, 1, 2 hold (4 + 2) / 8 when PCA takes the largest two."""
    random = np.random.default_rng(0).normal(size=(4000, 4)) * np.sqrt([4, 1, 1, 2])
    made = {"z": random.astype(np.float16), "pca": random[:, [0, 3, 1]].astype(np.float32), "labels": np.zeros(4000, np.int64),
            "index": np.arange(4000), "code": np.zeros(4000, np.uint32)}  # fmt: skip
    assert "75% of the variance" in embedding(made, LIGHT, title="t").layout.title.text


def test_colour_by_bit_reads_the_code_low_bit_first(arrays):
    figure = embedding(arrays, LIGHT, color_by="bit 3")
    ones = next(trace for trace in figure.data if trace.name == "1")
    assert np.array_equal(ones.customdata, np.flatnonzero((arrays["code"] >> 2) & 1))


def test_two_dimensions_are_drawn_on_their_circle():
    flat = fixtures.embedding(RunSpec(bits=0), dimensions=2)
    figure = embedding(flat, LIGHT, title="t")
    assert figure.layout.shapes[0].type == "circle"
    radius = np.hypot(figure.data[0].x, figure.data[0].y)
    assert np.allclose(radius, 1, atol=2e-3)


def test_collapsed_embedding_is_said_to_have_no_variance(arrays):
    same = arrays | {"z": np.tile(arrays["z"][:1], (200, 1)), "pca": np.zeros((200, 3), np.float32)}
    assert "no variance: all points are equal" in embedding(same, LIGHT, title="t").layout.title.text


def test_many_points_are_drawn_with_webgl(arrays):
    grown = {key: np.concatenate([value] * 6) for key, value in arrays.items()}
    assert embedding(grown, LIGHT).data[0].type == "scattergl" and embedding(arrays, LIGHT).data[0].type == "scatter"


def test_pair_names_both_sides(arrays):
    figure = embedding_pair(arrays, arrays, ("no bits", "10 bits"), LIGHT)
    assert [note.text for note in figure.layout.annotations] == ["no bits", "10 bits"] and len(figure.data) == 20


# Similarity of classes


def test_class_means_against_a_loop():
    random = np.random.default_rng(0)
    z = random.normal(size=(30, 5))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    labels = random.integers(0, 3, 30)
    _, means = class_means(z, labels)
    for a in range(3):
        for b in range(3):
            pairs = [z[i] @ z[j] for i in np.flatnonzero(labels == a) for j in np.flatnonzero(labels == b) if i != j]
            assert means[a, b] == pytest.approx(np.mean(pairs))


def test_orthogonal_classes_give_the_identity_and_a_lonely_image_none():
    z, labels = np.eye(3)[[0, 0, 1, 1, 2]], np.array([4, 4, 7, 7, 9])
    classes, means = class_means(z, labels)
    assert classes.tolist() == [4, 7, 9] and np.allclose(means[:2, :2], np.eye(2)) and np.isnan(means[2, 2])
    assert within(z, labels) == 1


def test_both_maps_of_a_pair_share_one_scale(arrays):
    figure = class_similarity_pair(arrays, fixtures.embedding(RunSpec(bits=0)), ("a", "b"), LIGHT)
    assert figure.data[0].zmax == figure.data[1].zmax and figure.data[0].zmin == 0
    assert "within a class" in class_similarity(arrays, LIGHT, title="t").layout.title.text
