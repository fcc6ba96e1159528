"""The circle: arrows point along the forces, frames follow the flow."""

import numpy as np
import pytest

from core.figures.circle_forces import ARROWS, LONGEST, ROOM, circle_flow, circle_forces, letter_places
from core.figures.theme import DARK, LIGHT
from core.losses.forces import anchor_forces, flow, unit

ANGLES = np.deg2rad([20, 38, 48, 62, 72, 95, 200, 215])


def test_arrows_are_tangent_and_proportional_to_the_force():
    fig = circle_forces(ANGLES, 0, 0.2, LIGHT)
    forces = anchor_forces(ANGLES, 0, 0.2).on_points
    strongest = np.abs(forces).max()
    points = unit(ANGLES)
    arrows = {tuple(np.round((note.ax, note.ay), 6)): (note.x - note.ax, note.y - note.ay) for note in fig.layout.annotations}
    shown = [place for place in range(8) if abs(forces[place]) > 0.02 * strongest]
    assert len(arrows) == len(shown)
    for place in shown:
        along = np.array([-np.sin(ANGLES[place]), np.cos(ANGLES[place])])
        assert arrows[tuple(np.round(ARROWS * points[place], 6))] == pytest.approx(along * LONGEST * forces[place] / strongest)


def test_the_anchor_is_pulled_to_its_positive_when_alone_with_it():
    fig = circle_forces(np.deg2rad([0, 40, 180, 200]), 0, 0.2, LIGHT)
    arrow = next(note for note in fig.layout.annotations if note.ax == pytest.approx(ARROWS) and note.ay == pytest.approx(0))
    assert arrow.y > arrow.ay


def test_clicks_carry_the_index_of_the_point():
    markers = circle_forces(ANGLES, 3, 0.2, DARK).data[1]
    assert list(markers.customdata) == list(range(8))
    assert list(markers.text)[:4] == ["A", "A′", "B", "B′"]


def test_frames_are_the_flow():
    fig = circle_flow(ANGLES, 0.3, LIGHT, steps=12)
    path, losses = flow(ANGLES, 0.3, 12)
    assert [frame.name for frame in fig.frames] == [str(step) for step in range(0, 13, 2)]
    for step in (0, 4, 12):
        points, loss = fig.frames[step // 2].data
        assert np.asarray(points.x) == pytest.approx(np.cos(path[step]), abs=1e-6)
        assert loss.y[0] == pytest.approx(losses[step], rel=1e-5)
    assert np.asarray(fig.data[2].y) == pytest.approx(losses, rel=1e-5)


def test_nothing_moves_before_play_is_pressed():
    fig = circle_flow(ANGLES, 0.3, LIGHT, steps=3)
    play, pause = fig.layout.updatemenus[0].buttons
    assert (play.label, pause.label) == ("▶ Play", "❚❚ Pause")
    assert play.args[1]["transition"]["duration"] == 0
    assert [step.label for step in fig.layout.sliders[0].steps] == ["0", "2"]


@pytest.mark.parametrize(
    "degrees", [(20, 38, 48, 62, 72, 95, 200, 215), (0, 0, 60, 60, 120, 120), (0, 4, 7, 12, 14, 18, 22, 25, 27, 31, 34, 38)]
)
def test_no_letter_touches_another_or_an_arrow(degrees):
    angles = np.deg2rad(degrees)
    places = letter_places(angles)
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)[np.triu_indices(len(angles), 1)]
    assert gaps.min() > ROOM
    assert np.linalg.norm(places, axis=1).max() < 0.9 < 1 < ARROWS  # tangents only move away from the centre
    assert np.arctan2(places[:, 1], places[:, 0]) == pytest.approx(np.angle(np.exp(1j * angles)))
    letters = circle_forces(angles, 0, 0.2, LIGHT).data[2]
    assert list(letters.text)[:3] == ["A", "A′", "B"] and np.asarray(letters.x) == pytest.approx(places[:, 0], abs=1e-6)
