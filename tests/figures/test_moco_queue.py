"""The dictionary's animation: every frame is the state of its step."""

import numpy as np
import pytest

from core.figures.moco_queue import moco_queue
from core.figures.theme import LIGHT
from core.losses.queue_trace import trace

RUN = trace(slots=4, momentum=0.9, steps=9)


def test_frames_show_ages_and_encoders():
    fig = moco_queue(RUN, 0.9, 256, LIGHT)
    assert len(fig.frames) == 9
    for step in (0, 2, 8):
        bars, pointer, keys, encoders = fig.frames[step].data
        age = RUN.age[step]
        assert np.asarray(bars.customdata) == pytest.approx(age)
        assert np.asarray(bars.y) == pytest.approx(np.where(age < 0, 0.35, age + 0.6), rel=1e-6)
        assert float(bars.base or -0.6) == -0.6  # so that the tops stand at the ages
        assert pointer.x[0] == step % 4
        assert np.isnan(np.asarray(keys.x)).sum() == (age < 0).sum()
        angle = np.arctan2(np.asarray(encoders.y), np.asarray(encoders.x))
        assert angle == pytest.approx([RUN.query[step], RUN.key[step]], abs=1e-5)


def test_the_shown_frame_is_the_active_one():
    fig = moco_queue(RUN, 0.9, 256, LIGHT, start=5)
    assert fig.layout.sliders[0].active == 5
    assert np.asarray(fig.data[0].customdata) == pytest.approx(RUN.age[5])


def test_bars_are_redrawn_when_played():
    assert moco_queue(RUN, 0.9, 256, LIGHT).layout.updatemenus[0].buttons[0].args[1]["frame"]["redraw"] is True
