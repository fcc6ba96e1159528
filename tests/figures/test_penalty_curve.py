"""The penalty curve against its closed form."""

import numpy as np
import pytest

from core.figures.penalty_curve import SIMILARITY, penalty_curve
from core.figures.theme import LIGHT


def test_lines_are_the_closed_form():
    fig = penalty_curve([1.0, 0.2], LIGHT)
    for tau, line in zip((0.2, 1.0), fig.data, strict=True):
        expected = np.exp(SIMILARITY / tau) / (tau * np.sinh(1 / tau))
        assert np.asarray(line.y) == pytest.approx(np.maximum(expected, 1e-4), rel=1e-5)


def test_the_title_compares_the_extremes():
    assert "by 22,026 at tau 0.05, by 1.65 at tau 1" in penalty_curve([0.05, 1.0], LIGHT).layout.title.text
    assert "tau 1" not in penalty_curve([0.05], LIGHT).layout.title.text


def test_the_average_push_is_labelled_at_one_on_the_log_axis():
    """A horizontal line's own annotation on a log axis once stood at 10 instead of 1."""
    note = next(note for note in penalty_curve([0.1], LIGHT).layout.annotations if note.text == "average push")
    assert note.y == 0
