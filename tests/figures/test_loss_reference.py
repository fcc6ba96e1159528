"""The loss between its own lines."""

import numpy as np
import pytest

from core.figures.anchor_softmax import Candidates
from core.figures.loss_reference import TAUS, loss_reference
from core.figures.theme import LIGHT


def test_lines_are_log_n_and_the_simplex():
    count = 256
    collapsed, simplex, scores, marker = loss_reference(Candidates(0.9, (), count - 1, 0.1), 0.2, LIGHT).data
    assert np.asarray(collapsed.y) == pytest.approx(np.full(len(TAUS), np.log(count)), rel=1e-6)
    assert np.asarray(simplex.y) == pytest.approx(np.log1p((count - 1) * np.exp(-count / ((count - 1) * TAUS))), rel=1e-5)
    assert np.asarray(scores.y) == pytest.approx(np.log1p((count - 1) * np.exp(-0.8 / TAUS)), rel=1e-5)
    assert marker.y[0] == pytest.approx(np.log1p(255 * np.exp(-4)), rel=1e-6)


def test_a_collapsed_anchor_lies_on_its_line():
    collapsed, _, scores, _ = loss_reference(Candidates(1.0, (), 7, 1.0), 0.2, LIGHT).data
    assert np.asarray(scores.y) == pytest.approx(np.asarray(collapsed.y))


def test_the_simplex_is_reached_by_its_own_cosines():
    _, simplex, scores, _ = loss_reference(Candidates(1.0, (), 7, -1 / 7), 0.2, LIGHT).data
    assert np.asarray(scores.y) == pytest.approx(np.asarray(simplex.y), rel=1e-5)
