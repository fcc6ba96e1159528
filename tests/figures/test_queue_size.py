"""MoCo's two dials on trained encoders."""

import numpy as np
import pandas as pd
import pytest

from core.figures.lines import Progress
from core.figures.queue_size import queue_size
from core.figures.theme import LIGHT
from core.studies.store import Store
from pages.parts.infonce.queue_study import split
from tests import fixtures


@pytest.fixture
def moco(tmp_path) -> pd.DataFrame:
    """The queue study with made-up accuracies that grow with K and with m."""
    spec = fixtures.study("moco-queue-mnist-5k")
    changes = {
        run.run_id: dict(linear_accuracy=0.8 + run.queue / 40000 + run.momentum / 100 + 0.001 * run.seed)
        for run in spec.expand()
        if run.objective == "moco"
    }
    fixtures.fill(tmp_path, spec, results=changes, embeddings=False)
    table = Store(tmp_path).table(spec.name)
    return table[table["objective"] == "moco"]


def test_each_panel_has_its_own_dial(moco):
    by_queue, by_momentum = split(moco)
    fig = queue_size(by_queue, by_momentum, LIGHT, reference=0.9, chance=0.1)
    lines = [trace for trace in fig.data if trace.mode == "lines+markers"]
    assert list(lines[0].x) == ["250", "500", "1000", "2000", "3000", "3750"]
    assert list(lines[1].x) == ["0", "0.5", "0.9", "0.99", "0.999"]
    assert lines[0].y[0] == pytest.approx(0.8 + 250 / 40000 + 0.0099 + 0.001, abs=1e-6)
    assert "A queue 15 times as long gains 8.7 points" in fig.layout.title.text
    assert {note.text for note in fig.layout.annotations} >= {"NT-Xent", "chance"}


def test_every_seed_of_the_shared_point_is_in_both_panels(moco):
    by_queue, by_momentum = split(moco)
    shared = set(by_queue["run_id"]) & set(by_momentum["run_id"])
    assert len(shared) == 3


def test_a_small_change_is_called_small(moco):
    by_queue, by_momentum = split(moco.assign(linear_accuracy=0.9 + np.linspace(0, 0.01, len(moco))[::-1] * (moco["seed"] - 1)))
    fig = queue_size(by_queue, by_momentum, LIGHT, progress=Progress(20, 33))
    assert "changes accuracy by less than its spread" in fig.layout.title.text
    assert "20 of 33 runs" in fig.layout.title.text
