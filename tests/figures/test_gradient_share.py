"""Shares of the push over the temperature: lines, limits, stacked groups."""

import re

import numpy as np
import pytest

from core.figures.gradient_share import gradient_share, push_groups, room_in_band
from core.figures.text import LINE, WIDE_SUBTITLE
from core.figures.theme import LIGHT
from core.losses.hardness import GROUPS, clouds, push_shares

SHARES = push_shares(*clouds(classes=4, per_class=15, dim=6, seed=3), np.geomspace(0.02, 2, 9), top=0.1)


def test_lines_and_their_limits():
    fig = gradient_share(SHARES, LIGHT)
    hard, hard_even, false, false_even = fig.data
    assert np.asarray(hard.y) == pytest.approx(SHARES.groups[:, 0] + SHARES.groups[:, 1], abs=1e-6)
    assert np.asarray(false.y) == pytest.approx(SHARES.groups[:, 0] + SHARES.groups[:, 2], abs=1e-6)
    assert hard_even.y[0] == pytest.approx(6 / 59, abs=1e-6)
    assert false_even.y[0] == pytest.approx(14 / 59, abs=1e-6)


def test_the_runs_own_temperature_is_marked_on_the_log_axis():
    """Annotations on log axes take the exponent."""
    fig = gradient_share(SHARES, LIGHT, tau=0.1)
    note = next(note for note in fig.layout.annotations if note.text == "trained at tau 0.1")
    assert note.x == pytest.approx(-1)
    assert not any("trained" in (note.text or "") for note in gradient_share(SHARES, LIGHT, tau=5.0).layout.annotations)


def test_a_long_name_of_the_embedding_breaks_and_moves_the_picture_down():
    """At 1024 px the subtitle was cut behind "the hardest"."""
    short, long = (gradient_share(SHARES, LIGHT, source=source) for source in ("clouds", "a run with many settings, " * 4))
    lines = re.sub("<(?!br).*?>", "", long.layout.title.text).split("<br>")
    assert len(lines) == 3 and max(map(len, lines[1:])) <= WIDE_SUBTITLE
    assert long.layout.margin.t == short.layout.margin.t + LINE


def test_groups_stack_to_all_of_the_push():
    fig = push_groups(SHARES, LIGHT)
    total = np.sum([np.asarray(trace.y) for trace in fig.data], axis=0)
    assert total == pytest.approx(np.ones(9), abs=1e-6)
    assert {trace.stackgroup for trace in fig.data} == {"push"}


def test_names_of_bands_stand_inside_them_or_at_their_end():
    fig = push_groups(SHARES, LIGHT)
    taus = np.log10(SHARES.taus)
    edges = np.concatenate([np.zeros((9, 1)), SHARES.groups.cumsum(axis=1)], axis=1)
    for note in fig.layout.annotations:
        band = GROUPS.index(note.text.replace(",<br>", ", "))
        at = [np.interp(note.x, taus, edges[:, side]) for side in (band, band + 1)]
        assert at[0] < note.y < at[1]
    assert {note.text.replace(",<br>", ", ") for note in fig.layout.annotations} == set(GROUPS)


def test_room_in_a_band():
    x = np.linspace(0, 1, 11)
    assert room_in_band(x, np.zeros(11), np.full(11, 0.4), 0.3) == pytest.approx((0.1875, 0.2), abs=0.05)
    wedge = np.where(x < 0.5, 0.02, 0.6)
    assert room_in_band(x, np.zeros(11), wedge, 0.3)[0] > 0.6
    assert room_in_band(x, np.zeros(11), np.full(11, 0.03), 0.3) is None
    assert room_in_band(x, np.zeros(11), np.ones(11), 1.2) is None
