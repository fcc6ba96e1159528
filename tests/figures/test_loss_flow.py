"""The moving figure: frames, buttons, the title made from the end, and the globe."""

import numpy as np
import pytest

from core.figures.globe import from_eye, graticule
from core.figures.loss_flow import SCALE, Part, loss_flow, takeaway
from core.figures.playback import still
from core.figures.theme import LIGHT
from core.losses.trajectory import Identity, Reference, Trajectory

IDENTITY = Identity(1.0, 1.0, 0.5, 1.0)


def made_up(dim: int = 2, points: int = 20, frames: int = 30, on_sphere: bool = True) -> Trajectory:
    random = np.random.default_rng(0)
    positions = random.standard_normal((frames + 1, points, dim)).astype(np.float32)
    if on_sphere:
        positions /= np.linalg.norm(positions, axis=2, keepdims=True)
    fall = np.linspace(1, 0, frames + 1)
    return Trajectory(positions, fall, fall, 2 + fall, frames, False, IDENTITY if on_sphere else None)


def parts(flow: Trajectory) -> list[Part]:
    return [
        Part("total", "Loss", flow.total),
        Part("alignment", "Alignment", flow.alignment),
        Part("distribution", "Push", flow.distribution, 2.0, "even"),
    ]


@pytest.mark.parametrize(("dim", "on_sphere"), [(2, True), (3, True), (2, False)])
def test_every_fifth_position_is_a_frame_that_moves_points_and_dots(dim, on_sphere):
    flow = made_up(dim, on_sphere=on_sphere)
    figure = loss_flow(flow, parts(flow), LIGHT)
    assert [frame.name for frame in figure.frames] == ["0", "5", "10", "15", "20", "25", "30"]
    last = figure.frames[-1]
    assert list(last.traces) == [0, 1, 5, 6, 7] and len(last.data) == 5
    assert last.data[0].x.dtype == np.int16 and len(last.data[0].x) == 10
    expected = from_eye(flow.positions[-1])[:10, :2] if dim == 3 else flow.positions[-1][:10]
    assert np.stack([last.data[0].x, last.data[0].y], 1) / SCALE == pytest.approx(expected, abs=1e-4)
    assert (last.data[2].x, last.data[2].y) == ((30,), (flow.total[-1],))
    assert figure.frames[1].data[3].y == (flow.alignment[5],)


@pytest.mark.parametrize(("frames", "names"), [(1, ["0", "1"]), (5, ["0", "5"]), (12, ["0", "5", "10", "12"])])
def test_the_animation_ends_at_the_last_position_and_the_slider_stops_at_each_frame(frames, names):
    flow = made_up(frames=frames)
    figure = loss_flow(flow, parts(flow), LIGHT)
    assert [frame.name for frame in figure.frames] == names == [step.label for step in figure.layout.sliders[0].steps]
    assert figure.frames[-1].data[2].y == (flow.total[-1],)


def test_on_paper_it_stands_as_it_ends():
    flow = made_up()
    figure = loss_flow(flow, parts(flow), LIGHT)
    kept = still(figure)
    assert not kept.frames and len(figure.frames) == 7
    assert np.stack([kept.data[0].x, kept.data[0].y], 1) / SCALE == pytest.approx(flow.positions[-1][:10], abs=1e-4)
    assert kept.data[5].x == (30,) and figure.data[5].x == (0,)


def test_second_views_lie_on_the_inner_ring():
    flow = made_up()
    figure = loss_flow(flow, parts(flow), LIGHT)
    assert np.hypot(figure.data[0].x, figure.data[0].y) == pytest.approx(np.full(10, SCALE), rel=1e-3)
    assert np.hypot(figure.data[1].x, figure.data[1].y) == pytest.approx(np.full(10, 0.92 * SCALE), rel=1e-3)
    assert list(figure.data[0].marker.color) == list(figure.data[1].marker.color)


def test_nothing_moves_before_play_and_no_frame_redraws():
    flow = made_up()
    figure = loss_flow(flow, parts(flow), LIGHT)
    labels = [button.label for button in figure.layout.updatemenus[0].buttons]
    assert labels == ["▶ Play", "❚❚ Pause", "◀ Step", "Step ▶", "↺ Restart"]
    options = figure.to_plotly_json()["layout"]["updatemenus"][0]["buttons"]
    for button in options:
        frames = button["args"][1]["frame"]
        for frame in frames if isinstance(frames, list | tuple) else [frames]:
            assert frame["redraw"] is False
    play = options[0]["args"][1]
    assert play["frame"]["duration"] == play["transition"]["duration"] == 200 and play["transition"]["easing"] == "linear"
    assert options[2]["args"][1]["direction"] == "reverse"
    assert len(figure.layout.sliders[0].steps) == 7


@pytest.mark.parametrize(("label", "change"), [("Step ▶", 1), ("◀ Step", -1)])
def test_a_step_goes_to_the_very_next_frame(label, change):
    """Plotly's rule: the list from after the current frame on, unless that is its first or last; then the whole list."""
    flow = made_up()
    figure = loss_flow(flow, parts(flow), LIGHT)
    button = next(button for button in figure.layout.updatemenus[0].buttons if button.label == label)
    names = list(button.args[0])[::change]
    keys = [frame.name for frame in figure.frames]
    for k, key in enumerate(keys):
        at = names.index(key)
        left = names[at + 1 :] if 0 < at < len(names) - 1 else names
        assert left[:2][-1] == keys[min(max(k + change, 0), len(keys) - 1)]


def test_the_page_gets_two_hundred_points_under_its_budget():
    flow = made_up(points=200, frames=150)
    assert len(loss_flow(flow, parts(flow), LIGHT).to_json()) < 300_000


def test_the_back_of_the_globe_is_drawn_smaller():
    flow = made_up(3)
    sizes = np.array(loss_flow(flow, parts(flow), LIGHT).frames[4].data[0].marker.size)
    depth = from_eye(flow.positions[20])[:10, 2]
    assert (np.argsort(sizes, kind="stable") == np.argsort(np.rint(7 + 4 * depth), kind="stable")).all()


def test_the_eye_turns_and_keeps_lengths():
    points = np.random.default_rng(0).standard_normal((50, 3))
    seen = from_eye(points)
    assert np.linalg.norm(seen, axis=1) == pytest.approx(np.linalg.norm(points, axis=1), rel=1e-5)
    a, e = np.radians(35), np.radians(25)
    assert from_eye([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)]) == pytest.approx([0, 0, 1], abs=1e-6)
    assert graticule().count("M") >= 11 and len(graticule()) < 12_000


@pytest.mark.parametrize(
    ("alignment", "distribution", "reference", "push", "said"),
    [
        ([1, 0], [3, 2.0001], Reference(0, 2.0, True), True, "Views meet and images spread evenly, 0.0001 from the closed form"),
        ([1, 0], [3, 2.5], Reference(0, 2.0, True), True, "Views meet; images are not even, the push ends 0.5 above its optimum"),
        ([1, 0.5], [3, 1.5], Reference(0, 2.0, True), True, "Views stay apart; the push ends 0.5 below that of even pairs"),
        ([1, 0], [3, 2.5], None, True, "Views meet; the distribution term falls from 3 to 2.5"),
        ([1, 0], [3, 3.1], Reference(0, 2.0, True), False, "Views meet; nothing spreads the images"),
        ([1, 0.05], [3, 2.5], None, True, "Views come close; the distribution term falls from 3 to 2.5"),
        ([1, 0.5], [3, 2.5], None, True, "Views stay apart; the distribution term falls from 3 to 2.5"),
    ],
)
def test_the_title_follows_the_numbers(alignment, distribution, reference, push, said):
    ends = (np.array(part, dtype=float) for part in (alignment, alignment, distribution))
    flow = Trajectory(np.zeros((2, 4, 2), np.float32), *ends, 1, False, None)
    assert takeaway(flow, reference, push) == said
