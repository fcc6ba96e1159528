"""Fitted scores are drawn on their closed forms."""

import numpy as np
import pytest

from core.figures.learned_optimum import learned_optimum
from core.figures.theme import LIGHT
from core.losses import optima

WORLD = optima.small_world(21)


@pytest.mark.parametrize("offset", [True, False])
def test_dots_lie_on_the_grey_lines(offset):
    fits = (optima.learn_posterior(WORLD), optima.learn_density(WORLD, 5, offset), optima.learn_ratio(WORLD, 2))
    fig = learned_optimum(WORLD, *fits, LIGHT, offset=offset)
    for place, fit in enumerate(fits):
        theory, dots = fig.data[2 * place : 2 * place + 2]
        assert np.asarray(theory.y) == pytest.approx(fit.theory, rel=1e-5)
        assert np.asarray(dots.y) == pytest.approx(np.asarray(theory.y), rel=5e-3, abs=1e-3)
    assert ("sum to 1.000" in fig.layout.title.text) == offset
