"""Feature suppression: study, metric and run in the address, drill-down, published values, unfinished and empty studies."""

import json
from types import SimpleNamespace

import pytest

from core.studies import Store
from pages.parts.suppression import charts as charts_part
from tests import fixtures
from tests.pages.visit import SUPPRESSION, charts, texts


@pytest.fixture
def run_id(filled) -> str:
    """The run at tau 0.1, 10 bits, seed 1."""
    runs = Store(filled.results).table("randbit-mnist-5k")
    hit = (runs["tau"] == 0.1) & (runs["bits"] == 10) & (runs["seed"] == 1) & (runs["objective"] == "nt_xent")
    return runs.loc[hit, "run_id"].iloc[0]


def titles(app) -> list[str]:
    return [json.loads(spec)["layout"]["title"]["text"] for spec in charts(app)]


def test_answer_first(filled, open_page):
    app = open_page(SUPPRESSION)
    assert app.selectbox(key="sup_study").value == "results/randbit-mnist-5k"
    assert "15 shared bits erase digit recognition" in titles(app)[0]
    assert "The bits alone satisfy the loss" in titles(app)[1]
    assert "With tau 0.05 (the best without bits), linear probe accuracy goes from" in texts(app)
    assert "randbit-mnist-5k · mnist-5k, 4,000 training and 1,000 test images · 150 runs, seeds 0, 1, 2" in texts(app)


def test_metrics_change_both_charts_and_stand_in_the_address(filled, open_page):
    app = open_page(SUPPRESSION, sup_metric="kNN", sup_kept="bits known")
    specs = [json.loads(spec) for spec in charts(app)]
    assert specs[0]["layout"]["yaxis"]["title"]["text"] == "kNN accuracy (test)"
    assert specs[1]["layout"]["yaxis"]["title"]["text"] == "Bits of the code known"


def test_a_link_opens_the_run_with_its_seeds(run_id, open_page):
    app = open_page(SUPPRESSION, study="results/randbit-mnist-5k", run=run_id)
    assert "tau 0.1, 10 bits" in texts(app)
    assert len(charts(app)) == 3  # no embedding: shipped results keep seed 0 only
    assert "Shipped results keep those of the first seed only." in texts(app)
    selected = [trace.get("selectedpoints") for trace in json.loads(charts(app)[0])["data"]]
    assert [6] in selected
    assert run_id in app.expander[0].label or any(run_id in expander.label for expander in app.expander)


def test_another_seed_is_one_click_away_and_has_an_embedding(run_id, open_page):
    app = open_page(SUPPRESSION, study="results/randbit-mnist-5k", run=run_id)
    seeds = app.get_by_key("sup_seed")
    seeds.set_value("seed 0").run()
    assert not app.exception and len(charts(app)) == 4
    assert app.query_params["run"] != run_id
    app.selectbox(key="sup_color").select("bit 3").run()
    assert "Does bit 3 order the embedding?" in titles(app)[-1]


def test_close_forgets_the_run(run_id, open_page):
    app = open_page(SUPPRESSION, study="results/randbit-mnist-5k", run=run_id)
    app.button(key="sup_close").click().run()
    assert len(charts(app)) == 2 and "run" not in app.query_params
    assert "Click a point to open its runs" in texts(app)


def test_unknown_values_in_the_address_are_named_and_ignored(filled, open_page):
    app = open_page(SUPPRESSION, study="results/gone", run="123456789abc", sup_metric="nonsense")
    said = texts(app)
    assert "The address names the study 'results/gone'" in said
    assert "The address names the run '123456789abc', which this study does not have." in said
    assert "The address asks for 'nonsense', which does not exist here; showing 'linear probe' instead." in said
    assert "sup_metric can be 'linear probe', 'kNN', 'online probe'." in said
    assert len(charts(app)) == 2


def test_published_values_stand_beside_ours_where_settings_agree(stores, open_page):
    fixtures.fill(stores.results, fixtures.study("official-randbits-mnist"), embeddings=False)
    app = open_page(SUPPRESSION, study="results/official-randbits-mnist")
    assert app.get_by_key("sup_metric").value == "online probe"  # the published metric is the usual one here
    assert "◇ Chen et al., notebook" in titles(app)[0]
    assert "the authors' own code or text" in texts(app)
    app.toggle(key="sup_published").set_value(False).run()
    assert "◇" not in titles(app)[0]


def test_our_own_study_has_no_published_counterpart(filled, open_page):
    app = open_page(SUPPRESSION, sup_metric="online probe")
    assert "◇" not in texts(app) and "sup_published" not in [toggle.key for toggle in app.toggle]


def test_an_unfinished_study_is_drawn_as_such(stores, open_page):
    fixtures.fill(stores.runs, fixtures.study(), runs=12)
    fixtures.set_state(stores.runs, fixtures.study(), "running", running=2)
    app = open_page(SUPPRESSION, study="runs/randbit-mnist-5k")
    assert "12 of 150 runs" in titles(app)[0] and app.progress
    lines = [trace for trace in json.loads(charts(app)[0])["data"] if trace.get("mode") == "lines+markers"]
    assert lines and all(trace["line"]["dash"] == "dot" for trace in lines)


def test_a_study_that_nobody_has_run_offers_to_run_it(stores, open_page):
    app = open_page(SUPPRESSION, study="defined/randbit-quick")
    assert "Nothing was run yet" in texts(app) and not charts(app)
    assert app.button(key="sup_run").label == "Run this study"


def test_diverged_and_failed_runs_are_counted_and_explained(stores, open_page):
    study = fixtures.study()
    ids = [run.run_id for run in study.expand() if run.bits == 20 and run.tau == 0.2 and run.objective == "nt_xent"]
    broken = {ids[0]: {"status": "failed", "linear_accuracy": None, "error": "RuntimeError: out of memory"}}
    broken |= {run_id: {"status": "diverged", "linear_accuracy": None, "loss": None} for run_id in ids[1:]}
    fixtures.fill(stores.results, study, results=broken, embeddings=False)
    app = open_page(SUPPRESSION, run=ids[0])
    assert "2 diverged · 1 failed" in titles(app)[0]
    assert "This run is failed. RuntimeError: out of memory" in texts(app)
    assert "3 runs did not finish and are not in any mean" in texts(app)
    app = open_page(SUPPRESSION, run=ids[1])  # one of another kind, without a reason
    assert [box.value for box in app.warning if "This run is" in box.value] == ["This run is diverged."]


def test_choices_survive_a_page_switch(run_id, open_page):
    app = open_page(SUPPRESSION, study="results/randbit-mnist-5k", run=run_id)
    app.switch_page("pages/home/home.py").run()
    app.switch_page(SUPPRESSION).run()
    assert "tau 0.1, 10 bits" in texts(app)


def test_the_curve_grows_before_any_run_has_ended(stores, open_page):
    study = fixtures.study("randbit-quick")
    fixtures.fill(stores.runs, study, runs=0, folders=True)
    fixtures.set_state(stores.runs, study, "running", running=2)
    drawn = charts(open_page(SUPPRESSION, study="runs/randbit-quick"))
    assert f"epoch 6 of {study.expand()[0].epochs}" in drawn[0] and "circle-open" in drawn[0]


def test_a_chart_that_is_replaced_does_not_close_the_open_run(monkeypatch):
    """A run that ended while the browser looked for progress closed the panel: a click on the old chart read as taken back."""
    told, drawn = [], {}
    state = {f"{charts_part.LEFT}_settled": ("four runs", None)}
    monkeypatch.setattr(charts_part.st, "session_state", state)
    monkeypatch.setattr(charts_part.address, "remember", lambda name, value: told.append(value))
    monkeypatch.setattr(charts_part.address, "forget", told.append)
    monkeypatch.setattr(charts_part, "show", lambda figure, **options: drawn.update(options))
    charts_part.clickable(SimpleNamespace(save=lambda key: None), None, charts_part.LEFT, charts_part.RIGHT, "")
    select = {"selection": {"points": [{"customdata": "926875ea9cda"}]}}
    nothing = {"selection": {"points": []}}

    state[charts_part.LEFT] = select
    drawn["on_select"]()
    state |= {charts_part.LEFT: nothing, f"{charts_part.LEFT}_settled": ("five runs", "926875ea9cda")}
    drawn["on_select"]()
    assert told == ["926875ea9cda"]

    state[charts_part.LEFT] = select
    drawn["on_select"]()
    state[charts_part.LEFT] = nothing
    drawn["on_select"]()
    assert told == ["926875ea9cda", "926875ea9cda", "run"]  # taken back by hand: closed


def test_lost_files_of_a_run_are_not_taken_for_an_untrained_or_unfinished_one(stores, open_page):
    """A trained run whose epochs were lost was called untrained, and its lost embedding was to appear when it ends."""
    study = fixtures.study("randbit-quick")
    fixtures.fill(stores.runs, study, folders=True)
    run = next(run for run in study.expand() if run.objective == "nt_xent" and run.bits)
    for name in ("metrics.jsonl", "embedding.npz"):
        (stores.runs / study.name / run.run_id / name).write_bytes(b"broken")
    said = texts(open_page(SUPPRESSION, study="runs/randbit-quick", run=run.run_id))
    assert "This run has no epochs: their file is missing or cannot be read." in said
    assert "Its embedding.npz is missing or cannot be read; delete the run" in said


def test_failed_runs_of_a_stopped_study_are_told(stores, open_page):
    """Only a finished study said that runs had failed; a stopped one had no curve, and no reason."""
    study = fixtures.study("randbit-quick")
    ids = [run.run_id for run in study.expand()]
    broken = {run_id: {"status": "failed", "error": "RuntimeError: no memory", "linear_accuracy": None} for run_id in ids}
    fixtures.fill(stores.runs, study, runs=3, folders=True, results=broken)
    assert "3 of 6 runs failed" in texts(open_page(SUPPRESSION, study="runs/randbit-quick"))
