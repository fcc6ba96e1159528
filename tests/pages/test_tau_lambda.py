"""Tau-lambda map: ridge sentence, address, open cell, comparison, more cells, unfinished and empty maps."""

import json

import pytest

from core.studies.study import StudySpec
from tests import fixtures
from tests.map_runs import fill_map
from tests.pages.visit import charts, texts

PAGE = "pages/experiments/tau_lambda.py"
SMALL = """
name = "tau-lambda-mnist-5k"
title = "The tau-lambda map"
seeds = [0, 1, 2]
[base]
objective = "gcl"
epochs = 10
{more}
[[block]]
label = "GCL"
[block.grid]
tau = [0.05, 0.2, 1.0, 5.0]
lam = [0.01, 0.02, 0.1, 0.5, 2.0, 10.0, 20.0]
"""


@pytest.fixture
def small() -> StudySpec:
    return StudySpec.from_text(SMALL.format(more=""))


@pytest.fixture
def kept() -> StudySpec:
    text = SMALL.format(more="mask_self = false").replace('"tau-lambda-mnist-5k"', '"kept"').replace('map"', 'map, kept"')
    return StudySpec.from_text(text)


def titles(app) -> list[str]:
    return [json.loads(spec)["layout"]["title"].get("text", "") for spec in charts(app)]


def test_the_ridge_is_said_for_each_convention_and_follows_the_data(small, kept, stores, open_page):
    fill_map(stores.results, small, slope=0.8)
    fill_map(stores.results, kept, slope=-0.5)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k")
    said = texts(app)
    assert "Self-similarity masked: the best lambda rises with tau: slope 0." in said
    assert "Self-similarity kept: the best lambda falls with tau: slope −0." in said
    assert "Best linear probe 0.9" in titles(app)[0] and "One line per temperature" in titles(app)[1]
    assert "28 cells" in titles(app)[0] or "27 of 28 cells" in titles(app)[0]
    assert "tau-lambda-mnist-5k · mnist-5k, 4,000 training and 1,000 test images" in said


def test_a_toggle_shows_the_same_map_in_the_other_convention(small, kept, stores, open_page):
    fill_map(stores.results, small)
    fill_map(stores.results, kept)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k")
    control = app.get_by_key("map_convention")
    assert control.value == "Masked"
    control.set_value("Kept").run()
    assert not app.exception and app.query_params["study"] == "results/kept"
    assert app.get_by_key("map_convention").value == "Kept" and app.selectbox(key="map_study").value == "results/kept"


def test_a_link_opens_a_cell_beside_its_neighbours(small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_cell="0.2,0.1")
    said = texts(app)
    assert "**tau 0.2, lambda 0.1**" in said
    drawn = charts(app)
    assert len(drawn) == 5  # map, curves, pictures, cosines, plane
    assert {trace["name"] for trace in json.loads(drawn[1])["data"] if trace.get("name")} == {
        "this cell",
        "τ 0.05, λ 0.1",
        "τ 1, λ 0.1",
        "τ 0.2, λ 0.02",
        "τ 0.2, λ 0.5",
    }
    frames = [
        shape for shape in json.loads(drawn[0])["layout"]["shapes"] if shape["type"] == "rect" and shape["line"]["width"] == 3
    ]
    assert frames == [frames[0]] and (frames[0]["x0"], frames[0]["y0"]) == (0.5, 1.5)
    app.button(key="map_close").click().run()
    assert "map_cell" not in app.query_params and len(charts(app)) == 2


def test_a_cell_at_the_edge_and_a_diverged_one_open_too(small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_cell="0.05,20")
    assert "This run is diverged." in texts(app)
    assert "beyond the grid" in charts(app)[2]


def test_unknown_values_in_the_address_are_named(small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_cell="7,7", map_metric="nonsense")
    said = texts(app)
    assert "The address names the cell '7,7', which this map does not have." in said
    assert "The address asks for 'nonsense', which does not exist here; showing 'linear probe' instead." in said
    assert len(charts(app)) == 2


@pytest.mark.parametrize(("view", "count"), [("Cuts", 2), ("Surface", 1)])
def test_other_views(view, count, small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view=view, map_metric="uniformity")
    assert len(charts(app)) == count


def test_the_sentence_names_the_accuracy_of_the_ridge_where_the_metric_is_none(small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_metric="uniformity")
    assert "Self-similarity masked, by linear probe accuracy: the best lambda rises with tau" in texts(app)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_metric="kNN")
    assert "Self-similarity masked: the best lambda rises with tau" in texts(app)


def test_one_seed_is_no_mean(small, stores, open_page):
    single = small.model_copy(update=dict(seeds=(0,)))
    fill_map(stores.results, single)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_cell="0.2,0.1")
    plane = next(title for title in titles(app) if "Where these cells lie among all" in title)
    assert "1 seed, test images" in plane and "mean over seeds" not in plane


def test_two_maps_are_compared_with_significance(small, kept, stores, open_page):
    fill_map(stores.results, small, slope=0.8)
    fill_map(stores.results, kept, slope=-0.5)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view="Compare")
    said = texts(app)
    assert "shared cells, linear probe accuracy is" in said and "Welch with Holm at 0.05, 3 and 3 seeds" in said
    assert "★" in titles(app)[0]


def test_the_compared_map_is_chosen_without_a_complaint_about_the_address(small, kept, stores, open_page):
    fill_map(stores.results, small)
    fill_map(stores.results, kept)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view="Compare", map_other="The tau-lambda map, kept (shipped)")
    assert "shared cells" in texts(app) and "does not exist" not in texts(app)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view="Compare", map_other="nothing")
    assert "'nothing', which does not exist here; showing 'The tau-lambda map, kept (shipped)'" in texts(app)


def test_a_map_on_another_scale_of_lambda_is_read_between_its_weights(small, stores, open_page):
    notebook = SMALL.format(more='convention = "notebook"').replace('"tau-lambda-mnist-5k"', '"notebook"')
    notebook = notebook.replace("lam = [0.01, 0.02, 0.1, 0.5, 2.0, 10.0, 20.0]", "lam = [0.001, 0.01, 0.1, 1.0]")
    fill_map(stores.results, small)
    fill_map(stores.results, StudySpec.from_text(notebook))
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view="Compare")
    said = texts(app)
    assert "read between its two nearest weights" in said
    assert "Over 17 shared cells" in said  # of 20: at tau 0.05 some weights lie beside cells with diverged seeds


def test_one_seed_is_not_called_a_spread(small, stores, open_page):
    fill_map(stores.results, small.model_copy(update={"seeds": [0]}), diverge=False)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view="Cuts")
    assert "1 seed, so no spread" in titles(app)[0] and not any("over seeds" in title for title in titles(app))


def test_nothing_to_compare_is_said(small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_view="Compare")
    assert "There is no second map with results yet." in texts(app)


def test_missing_cells_of_shipped_results_are_launched_as_a_study_of_their_own(small, stores, open_page, monkeypatch):
    started = []
    monkeypatch.setattr("pages.parts.tau_lambda.actions.start", lambda study, root: started.append((study, root)))
    ended = fill_map(stores.results, small, runs=60)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k")
    app.button(key="map_fill_run").click().run()
    ((study, root),) = started
    assert root == stores.runs and study.name == "tau-lambda-mnist-5k-rest"
    assert {run.run_id for run in study.expand()} == {run.run_id for run in small.expand()} - {run.run_id for run in ended}


def test_cells_around_the_ridge_are_launched_and_appear_on_the_map(small, stores, open_page, monkeypatch):
    started = []
    monkeypatch.setattr("pages.parts.tau_lambda.actions.start", lambda study, root: started.append(study))
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k")
    app.button(key="map_refine_run").click().run()
    (study,) = started
    assert study.name == "tau-lambda-mnist-5k-ridge"
    fill_map(stores.runs, study, diverge=False)
    app.run()
    assert "Further cells and seeds come from The tau-lambda map: around the ridge" in texts(app)
    ticks = json.loads(charts(app)[0])["layout"]["yaxis"]["ticktext"]
    assert len(ticks) > 7


def test_an_unfinished_map_says_how_far_it_is(small, stores, open_page):
    fill_map(stores.runs, small, runs=20)
    fixtures.set_state(stores.runs, small, "running", running=2)
    app = open_page(PAGE, study="runs/tau-lambda-mnist-5k")
    assert app.progress and "20 of 84 runs" in titles(app)[0].replace("<br>", " ")


def test_a_map_that_nobody_has_run_offers_to_run_it(stores, open_page):
    app = open_page(PAGE)
    assert "Nothing was run yet" in texts(app) and not charts(app)
    assert app.button(key="map_run").label == "Run this study"


def test_seeds_can_be_expanded(small, stores, open_page):
    fill_map(stores.results, small)
    app = open_page(PAGE, study="results/tau-lambda-mnist-5k", map_expand="true")
    heat = next(trace for trace in json.loads(charts(app)[0])["data"] if trace["type"] == "heatmap")
    assert heat["z"]["shape"] == "7, 12"
