"""Trained encoders over the temperature, ours and published, and what the titles say about them."""

import numpy as np
import pandas as pd
import pytest

from core import published
from core.figures.lines import Progress
from core.figures.temperature_metrics import metrics_title, temperature_metrics, within_spread
from core.figures.theme import DARK, LIGHT
from core.studies.store import Store
from tests import fixtures

TAUS = (0.02, 0.1, 0.5, 2.0)
ACCURACY = {0.02: 0.90, 0.1: 0.95, 0.5: 0.93, 2.0: 0.85}


@pytest.fixture
def runs(tmp_path) -> pd.DataFrame:
    """Three seeds at four temperatures, made up."""
    spec = fixtures.study("temperature-mnist-5k")
    kept = [run for run in spec.expand() if run.objective == "nt_xent" and run.tau in TAUS]
    changes = {
        run.run_id: dict(
            linear_accuracy=ACCURACY[run.tau] + 0.01 * (run.seed - 1), uniformity=-3.8 + run.tau / 2, tolerance=0.1 + run.tau / 5
        )
        for run in kept
    }  # fmt: skip
    fixtures.fill(tmp_path, spec, results=changes, embeddings=False)
    table = Store(tmp_path).table(spec.name)
    return table[(table["objective"] == "nt_xent") & table["tau"].isin(TAUS)]


def wang_liu() -> pd.DataFrame:
    """The contrastive and the simple loss on CIFAR-10."""
    rows = published.rows(dataset="cifar10")
    return rows[(rows["source"] == "wang_liu_2021") & rows["setting"].isin(["contrastive loss", "simple loss"])]


def test_means_and_bands_over_seeds(runs):
    fig = temperature_metrics(runs, LIGHT)
    band, line = fig.data[:2]
    assert np.asarray(line.x) == pytest.approx(TAUS)
    assert np.asarray(line.y) == pytest.approx([ACCURACY[tau] for tau in TAUS])
    assert np.asarray(band.y)[:4] == pytest.approx([ACCURACY[tau] + 0.01 for tau in TAUS], abs=1e-6)
    assert fig.layout.yaxis.range == (0, 1.02)
    assert temperature_metrics(runs, LIGHT, zoom=True).layout.yaxis.range is None


def test_published_points_are_dashed_diamonds_at_finite_temperatures(runs):
    fig = temperature_metrics(runs, DARK, published=wang_liu())
    theirs = [trace for trace in fig.data if trace.marker.symbol == "diamond-open"]
    assert [list(np.round(trace.y, 4)) for trace in theirs] == [
        [0.7975, 0.8327, 0.8269, 0.8221], [-3.86, -3.6, -3.17, -2.96], [0.04, 0.178, 0.333, 0.372],
    ]  # fmt: skip
    assert {trace.line.dash for trace in theirs} == {"dash"}
    assert "Wang & Liu 2021" in fig.layout.title.text


def test_titles(runs):
    assert metrics_title(runs, None) == "The most accurate encoder has tau 0.1, the most uniform one tau 0.02"
    theirs = metrics_title(runs.iloc[:0], wang_liu())
    assert theirs == "In the published table accuracy peaks at tau 0.3, between uniform and tolerant"
    assert metrics_title(runs.assign(status="failed"), None) == "Accuracy, uniformity and tolerance against the temperature"


def test_a_peak_within_the_spread_is_not_called_one(runs):
    """The title named the most accurate temperature although the most uniform one was as good up to the choice of seeds."""
    near = runs.assign(linear_accuracy=0.9 + 0.01 * (runs["seed"] - 1) + 0.001 * (runs["tau"] == 0.1))
    assert metrics_title(near, None) == "Tau 0.02 is the most uniform; the best accuracy, at tau 0.1, is within its spread"
    assert within_spread(near, 0.1, 0.02) and not within_spread(runs, 0.1, 0.02)
    assert not within_spread(near[near["seed"] == 0], 0.1, 0.02)  # a single seed tells no spread


def test_an_unfinished_study_says_so(runs):
    fig = temperature_metrics(runs, LIGHT, progress=Progress(12, 39))
    assert "12 of 39 runs" in fig.layout.title.text
    assert fig.data[1].opacity == 0.5 and fig.data[1].line.dash == "dot"
