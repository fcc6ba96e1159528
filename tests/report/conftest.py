"""Invented studies of every kind that a report can draw from, made once."""

from pathlib import Path

import pytest

from core.report.catalogue import FIGURES
from core.report.drawing import Source
from core.studies import Store
from core.studies.catalogue import Entry, catalogue, find
from tests import fixtures
from tests.map_runs import fill_map

SHOWN = {  # figure -> study that it is drawn from
    "suppression": "randbit-mnist-5k",
    "loss_floor": "randbit-mnist-5k",
    "embedding_pair": "randbit-mnist-5k",
    "curves": "randbit-mnist-5k",
    "embedding": "randbit-mnist-5k",
    "tau_lambda": "tau-lambda-mnist-5k",
    "tau_lambda_slices": "tau-lambda-mnist-5k",
    "temperature_metrics": "temperature-mnist-5k",
    "uniformity_tolerance": "temperature-mnist-5k",
    "queue_size": "moco-queue-mnist-5k",
    "head_depths": "priors-heads-mnist-5k",
}
ALONE = ("contrastive_accuracy", "full_softmax_cost")  # figures without a study


@pytest.fixture(scope="session")
def report_stores(tmp_path_factory) -> Path:
    """A folder with `results` and `runs`, as the environment variables name them."""
    root = tmp_path_factory.mktemp("report")
    for name in ("randbit-mnist-5k", "temperature-mnist-5k", "moco-queue-mnist-5k"):
        fixtures.fill(root / "results", fixtures.study(name, seeds=(0, 1)))
    fixtures.fill(root / "results", fixtures.study("priors-heads-mnist-5k", seeds=(0, 1)), embeddings=False)
    fill_map(root / "results", fixtures.study("tau-lambda-mnist-5k", seeds=(0, 1)))
    fixtures.fill(root / "runs", fixtures.study("randbit-quick"), folders=True)
    return root


@pytest.fixture(scope="session")
def entries(report_stores) -> list[Entry]:
    """The catalogue of those studies."""
    return catalogue(Store(report_stores / "results"), Store(report_stores / "runs"), fixtures.STUDIES)


@pytest.fixture(scope="session")
def draw(entries):
    """Draw a figure of the catalogue by its name, with options."""

    def drawn(name: str, theme, folder: Path = Path(), **options):
        kind = FIGURES[name]
        entry = find(entries, SHOWN[name]) if name in SHOWN else None
        return kind.build(Source(entry, entries, folder), kind.options(**options), theme)

    return drawn
