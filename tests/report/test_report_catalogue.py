"""Every figure of a report: it draws in both themes, says how it was made, and its settings run the same runs again."""

import re

import numpy as np
import pandas as pd
import pytest

from core.figures.theme import DARK, LIGHT
from core.report.catalogue import FIGURES, TABLES
from core.report.drawing import CannotDraw, Source
from core.report.relay import title_parts
from core.report.settings import study_behind
from core.studies import Store
from core.studies.catalogue import catalogue, find
from core.studies.study import StudySpec
from tests import fixtures
from tests.map_runs import fill_map
from tests.report.conftest import ALONE, SHOWN

DRAWN = [*SHOWN, *ALONE]


def test_every_figure_of_the_catalogue_is_tested_here():
    assert set(DRAWN) == set(FIGURES) - {"kept"}


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_complete(name, draw):
    made = draw(name, LIGHT)
    title, _ = title_parts(made.figure)
    assert title and made.alt and made.provenance
    assert made.figure.layout.paper_bgcolor == LIGHT.paper
    assert len(made.data()) > 1 and len(made.data().columns) > 1
    assert draw(name, DARK).figure.layout.paper_bgcolor == DARK.paper


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_figure_twice_is_the_same(name, draw):
    """Pictures are remembered and charts are sent by their hash: a builder that draws from a clock would defeat both."""
    assert draw(name, LIGHT).figure.to_json() == draw(name, LIGHT).figure.to_json()


@pytest.mark.parametrize("name", list(SHOWN))
def test_settings_run_the_runs_that_the_figure_shows(name, draw, entries):
    """The exported TOML, read again, expands to the same run ids."""
    entry = find(entries, SHOWN[name])
    made = draw(name, LIGHT)
    again = {run.run_id for run in StudySpec.from_text(made.settings()).expand()}
    table = entry.store.table(entry.name)
    if name in ("curves", "embedding", "embedding_pair"):
        count = int(made.provenance.split(" runs")[0].split(" run")[0].rsplit("· ", 1)[1].replace(",", ""))
        assert len(again) == count and again < set(table["run_id"])
    elif name == "head_depths":  # one weight of the losses with a prior at a time
        assert again < set(table["run_id"]) and len(again) == 5 * 4 * 2 * 2
    elif name == "uniformity_tolerance":
        assert again == set(table.loc[table["objective"] == "nt_xent", "run_id"])
    else:
        assert again == set(table["run_id"])


def test_settings_of_a_study_run_with_other_seeds_hold_those_seeds(tmp_path):
    """`sweep --seeds 0,1,2` writes the study with its seeds; a figure of two of them must not promise the third."""
    spec = fixtures.study("randbit-quick", seeds=(0, 1, 2))
    fixtures.fill(tmp_path, spec, embeddings=False)
    entry = catalogue(Store(tmp_path), Store(tmp_path / "none"), tmp_path)[0]
    table = entry.store.table(entry.name)
    assert study_behind(entry, table) == entry.definition
    two = table[table["seed"] < 2]
    again = StudySpec.from_text(study_behind(entry, two).to_toml())
    assert {run.run_id for run in again.expand()} == set(two["run_id"])


def test_settings_of_runs_without_a_definition(tmp_path):
    """Runs of `core train` are filed under a study without a definition; their settings come from the runs."""
    spec = fixtures.study("randbit-quick")
    fixtures.fill(tmp_path, spec, embeddings=False)
    (tmp_path / spec.name / "study.toml").unlink()
    entry = catalogue(Store(tmp_path), Store(tmp_path / "none"), tmp_path)[0]
    assert entry.definition is None
    table = entry.store.table(entry.name)
    assert {run.run_id for run in study_behind(entry, table).expand()} == set(table["run_id"])


def test_options_change_the_figure(draw):
    assert draw("suppression", LIGHT, metric="bits_known").figure.layout.yaxis.title.text == "Bits of the code known"
    assert draw("suppression", LIGHT, zoom=True).figure.layout.yaxis.range[0] > 0
    assert draw("tau_lambda", LIGHT, metric="knn_accuracy").figure.layout.title.text.startswith("<b>Best kNN")
    assert len(draw("curves", LIGHT, metrics=("loss",)).figure.layout.to_plotly_json()["xaxis"]["domain"]) == 2
    assert "CIFAR-10" in str(draw("temperature_metrics", LIGHT, beside="cifar10").figure.layout.title.text)
    bit = draw("embedding", LIGHT, color_by="bit 2").figure
    assert {trace.name for trace in bit.data} == {"0", "1"}


def test_cuts_are_worded_as_on_the_page(draw, tmp_path):
    assert "rings: best lambda" in draw("tau_lambda_slices", LIGHT).figure.layout.title.text
    assert "rings" not in draw("tau_lambda_slices", LIGHT, metric="uniformity").figure.layout.title.text  # it has none
    assert draw("tau_lambda_slices", LIGHT).figure.layout.xaxis.title.text == "Weight lambda (log)"
    fill_map(tmp_path, fixtures.study("tau-lambda-notebook-mnist-5k", seeds=(0,)))
    source = Source(catalogue(Store(tmp_path), Store(tmp_path / "none"), tmp_path)[0])
    kind = FIGURES["tau_lambda_slices"]
    figure = kind.build(source, kind.options(), LIGHT).figure
    assert figure.layout.xaxis.title.text == "Weight lambda, as the notebook writes it (log)"


def test_the_best_value_has_the_decimals_of_its_metric(draw):
    assert re.search(r"loss \d+\.\d{3,4} at", draw("tau_lambda", LIGHT, metric="loss").figure.layout.title.text)


def test_chosen_runs_are_the_ones_drawn(draw, entries):
    entry = find(entries, "randbit-mnist-5k")
    table = entry.store.table(entry.name)
    ids = tuple(table.loc[(table["bits"] == 5) & (table["objective"] == "nt_xent"), "run_id"].head(2))
    made = draw("curves", LIGHT, runs=ids)
    hovers = " ".join(trace.hovertemplate or "" for trace in made.figure.data)
    assert all(run_id in hovers for run_id in ids)
    assert {run.run_id for run in StudySpec.from_text(made.settings()).expand()} == set(ids)


@pytest.mark.parametrize(
    ("name", "study", "options", "why"),
    [
        ("suppression", "temperature-mnist-5k", {}, "varies none of bits, digits, digit_size"),
        ("tau_lambda", "randbit-mnist-5k", {}, "does not vary both tau and lam"),
        ("queue_size", "randbit-mnist-5k", {}, "no run of the study 'results/randbit-mnist-5k' with objective moco has finished"),
        ("curves", "randbit-mnist-5k", {"runs": ("0123456789ab",)}, "has no finished run 0123456789ab"),
        ("head_depths", "priors-heads-mnist-5k", {"lam": 3.0}, "lam: the study has 10, 20, got 3"),
        ("head_depths", "priors-heads-mnist-5k", {"gcl": 3.0}, "gcl: the study has 0.1, 6.4, got 3"),
    ],
)
def test_what_cannot_be_drawn_says_why(name, study, options, why, entries):
    kind = FIGURES[name]
    with pytest.raises(CannotDraw, match=why):
        kind.build(Source(find(entries, study), entries), kind.options(**options), LIGHT)


def test_a_study_without_results_cannot_be_drawn(entries, tmp_path):
    fixtures.fill(tmp_path, fixtures.study("randbit-quick"), runs=0)
    entry = catalogue(Store(tmp_path), Store(tmp_path / "none"), tmp_path)[0]
    with pytest.raises(CannotDraw, match="no run of the study 'results/randbit-quick' has finished"):
        FIGURES["suppression"].build(Source(entry), FIGURES["suppression"].options(), LIGHT)


def test_the_table_of_runs_holds_every_run_and_obeys_the_filter(entries):
    entry = find(entries, "randbit-mnist-5k")
    kind, stored = TABLES["runs"], entry.store.table("randbit-mnist-5k")
    frame = kind.build(Source(entry), kind.options())
    assert len(frame) == len(stored) and list(frame["run"]) == list(stored["run_id"])
    assert list(frame["linear probe"]) == [f"{value:.3f}" for value in stored["linear_accuracy"]]
    some = kind.build(Source(entry), kind.options(filter="bits=0 tau=0.1"))
    assert 0 < len(some) < len(frame) and set(some["bits"]) == {"0"}
    with pytest.raises(CannotDraw, match="the filter 'bits=99' keeps no run"):
        kind.build(Source(entry), kind.options(filter="bits=99"))


def test_the_table_of_means_agrees_with_the_runs(entries):
    entry = find(entries, "randbit-mnist-5k")
    frame = TABLES["cells"].build(Source(entry), TABLES["cells"].options())
    stored = entry.store.table(entry.name)
    cell = stored[(stored["objective"] == "nt_xent") & (stored["tau"] == 0.1) & (stored["bits"] == 0)]["linear_accuracy"]
    text = frame.loc[frame["bits"] == 0, "tau 0.1"].iloc[0]
    mean, _, spread = text.partition(" ± ")
    assert float(mean) == pytest.approx(cell.mean(), abs=5e-4)
    assert float(spread) == pytest.approx(cell.std(ddof=1), abs=5e-4)
    assert not frame.isna().any().any() and isinstance(frame, pd.DataFrame) and np.all(np.diff(frame["bits"]) > 0)


def test_a_study_of_digits_is_titled_by_its_own_features(tmp_path):
    fixtures.fill(tmp_path, fixtures.study("digits-cifar10", seeds=(0, 1)), embeddings=False)
    source = Source(catalogue(Store(tmp_path), Store(tmp_path / "none"), tmp_path)[0])
    kind = FIGURES["suppression"]
    own = kind.build(source, kind.options(), LIGHT).figure
    rival = kind.build(source, kind.options(metric="digit_accuracy"), LIGHT).figure
    assert "digit images cost" in own.layout.title.text and "What the encoder keeps of the digit" in rival.layout.title.text
    with pytest.raises(CannotDraw, match="did not measure large digit probe"):
        kind.build(source, kind.options(metric="large_digit_accuracy"), LIGHT)
