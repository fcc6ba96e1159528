"""The bars are the exact floor minus the line, and all of them are below zero, as the title says."""

import numpy as np
import pytest

from core.figures.floor_gap import floor_gap
from core.figures.theme import LIGHT
from core.losses.reference import information_line, randbit_floor


@pytest.mark.parametrize("images", [16, 64, 250, 256, 1000])
def test_every_bar_is_below_the_line(images):
    fig = floor_gap(images, LIGHT)
    bits, gaps = np.asarray(fig.data[0].x), np.asarray(fig.data[0].y)
    assert gaps == pytest.approx(
        [1000 * (randbit_floor(images, int(b)) - information_line(images, int(b))) for b in bits], rel=1e-4
    )
    assert (gaps < 0).all() and f"Up to {bits[-1]} shared bits" in fig.layout.title.text


def test_anchor_46():
    """256 images, 6 bits: exact 2.0754, line 2.0775."""
    fig = floor_gap(256, LIGHT)
    assert fig.data[0].y[5] == pytest.approx(-2.1, abs=0.11)
