"""Runs: filter, choice of epoch, comparison from the address, deletion with undo, a selection that new runs leave alone."""

import json
import time

import pytest

from core.studies import Store
from tests import fixtures
from tests.pages.visit import RUNS, SUPPRESSION, charts, texts

STUDY, SHIPPED = "runs/randbit-quick", "results/randbit-mnist-5k"


@pytest.fixture
def ids(filled) -> list[str]:
    return Store(filled.runs).table("randbit-quick")["run_id"].tolist()


def table(app):
    return app.dataframe[0].value


def test_all_runs_with_their_differing_settings_first(filled, open_page):
    app = open_page(RUNS, study=SHIPPED)
    assert len(table(app)) == 150
    assert table(app).columns[:5].tolist() == ["status", "label", "bits", "tau", "seed"]
    assert "150 runs" in texts(app)


def test_the_study_started_last_comes_first_and_one_that_starts_meanwhile_does_not_push_it_aside(filled, open_page):
    first, second = fixtures.study("randbit-quick"), fixtures.study("official-randbits-mnist")
    fixtures.set_state(filled.runs, first, "finished")
    app = open_page(RUNS)
    assert app.selectbox(key="runs_study").value == f"runs/{first.name}"
    fixtures.fill(filled.runs, second, runs=1, embeddings=False)
    fixtures.set_state(filled.runs, second, "finished")
    assert app.run().selectbox(key="runs_study").value == f"runs/{first.name}"
    assert open_page(RUNS).selectbox(key="runs_study").options[:3] == [
        f"{second.title} (your runs)",
        f"{first.title} (your runs)",
        f"{fixtures.study().title} (shipped)",
    ]


def test_filter_and_its_mistakes(filled, open_page):
    app = open_page(RUNS, study=SHIPPED, runs_filter="tau=0.1 bits>=10 xent")
    assert len(table(app)) == 12  # 10, 12, 15, 20 bits by 3 seeds
    assert "12 of 150 runs" in texts(app)
    app.text_input(key="runs_filter").set_value("bitz=3").run()
    assert app.error[0].value == "filter: there is no column 'bitz'; did you mean bits?"
    assert len(table(app)) == 150


def columns(app) -> dict:
    return json.loads(app.dataframe[0].proto.columns)


def test_best_epoch_is_named_in_the_title_and_differs_from_the_last(filled, open_page):
    last = open_page(RUNS, study=STUDY)
    assert columns(last)["loss"]["label"] == "loss, last epoch"
    best = open_page(RUNS, study=STUDY, runs_pick="best epoch")
    assert columns(best)["loss"]["label"] == "loss, best epoch"


def test_selected_runs_are_compared_side_by_side(ids, open_page):
    app = open_page(RUNS, study=STUDY, compare=f"{ids[0]},{ids[1]}")
    assert "2 selected" in texts(app) and len(charts(app)) == 1
    assert app.dataframe[1].value.index[0] == "bits"
    assert {trace["name"] for trace in json.loads(charts(app)[0])["data"]} == {"0 bits", "15 bits"}


def test_unknown_ids_are_named_and_dropped(ids, open_page):
    app = open_page(RUNS, study=STUDY, compare=f"{ids[0]},000000000000")
    assert "runs that this study does not have: '000000000000'" in texts(app)
    assert "1 selected" in texts(app)


def test_a_filter_hides_selected_runs_and_says_so(ids, open_page):
    app = open_page(RUNS, study=STUDY, compare=ids[0], runs_filter="bits=15")
    assert "1 selected, 1 of them hidden by the filter" in texts(app)
    assert len(charts(app)) == 1


def test_delete_can_be_undone(ids, filled, open_page):
    app = open_page(RUNS, study=STUDY, compare=f"{ids[0]},{ids[1]}")
    app.button(key="runs_delete").click().run()
    assert not app.exception and len(Store(filled.runs).table("randbit-quick")) == 4
    assert len(table(app)) == 4 and "2 runs deleted." in texts(app) and "compare" not in app.query_params
    app.button(key="runs_undo").click().run()
    assert set(Store(filled.runs).table("randbit-quick")["run_id"]) == set(ids)
    assert len(table(app)) == 6 and "deleted" not in texts(app)


def test_all_runs_can_be_deleted_and_brought_back(ids, filled, open_page):
    """Undo stood below the table, and there was no table any more."""
    app = open_page(RUNS, study=STUDY, compare=",".join(ids))
    app.button(key="runs_delete").click().run()
    assert Store(filled.runs).table("randbit-quick").empty
    app.button(key="runs_undo").click().run()
    assert set(Store(filled.runs).table("randbit-quick")["run_id"]) == set(ids)


def test_a_deletion_can_be_undone_after_another_and_after_a_reload(ids, filled, open_page):
    """Only the last deletion could be undone, only until the page was loaded anew: the runs lay in the trash, out of reach."""
    app = open_page(RUNS, study=STUDY, compare=ids[0])
    app.button(key="runs_delete").click().run()
    assert "Deleted earlier" not in texts(app) and not [button for button in app.button if "bring back" in button.label]
    app.query_params["compare"] = f"{ids[1]},{ids[2]}"
    app.run()
    app.button(key="runs_delete").click().run()
    earlier = [button for button in app.button if "bring back" in button.label]
    assert [button.label.split(",")[0] for button in earlier] == ["1 run"]
    earlier[0].click().run()
    assert set(Store(filled.runs).table("randbit-quick")["run_id"]) == set(ids) - {ids[1], ids[2]}
    assert app.button(key="runs_undo")
    again = open_page(RUNS, study=STUDY)
    (button,) = [button for button in again.button if "bring back" in button.label]
    assert button.label.startswith("2 runs, 20")
    button.click().run()
    assert set(Store(filled.runs).table("randbit-quick")["run_id"]) == set(ids)
    assert not [button for button in again.button if "bring back" in button.label]


def test_a_run_in_progress_is_kept_and_said_to_be(stores, open_page):
    """It was said to be deleted, while the supervisor leaves it alone."""
    study = fixtures.study("randbit-quick")
    ended = fixtures.fill(stores.runs, study, runs=3, folders=True)
    fixtures.set_state(stores.runs, study, "running", running=1)
    runs = Store(stores.runs).table("randbit-quick")
    (running,) = runs.loc[runs["status"] == "running", "run_id"]
    app = open_page(RUNS, study=STUDY, compare=running)
    app.button(key="runs_delete").click().run()
    assert "1 of 1 selected runs are in progress and were kept. Stop the study to delete them." in texts(app)
    assert "deleted." not in texts(app) and not list((stores.runs / ".requests").glob("*.delete.*"))
    app.query_params["compare"] = f"{running},{ended[0].run_id}"
    app.run()
    app.button(key="runs_delete").click().run()
    assert "1 run deleted." in texts(app) and "1 of 2 selected runs are in progress" in texts(app)


@pytest.mark.parametrize(
    ("text", "said"),
    [("zork = 3\n", "zork: unknown field (value 3); remove it or check its spelling"), ("[[[\n", "not valid TOML")],
)
def test_a_definition_that_cannot_be_used_is_told_with_its_mistake(ids, filled, open_page, text, said):
    """The study lost its title, its plots and the button to go on, without a word."""
    path = filled.runs / "randbit-quick" / "study.toml"
    path.write_text(text + path.read_text())
    app = open_page(RUNS, study=STUDY)
    assert any("definition cannot be used" in box.value and said in box.value for box in app.warning)
    assert len(table(app)) == 6
    (notice,) = [box.value for box in open_page(SUPPRESSION, study=STUDY).info if "The address names the study" in box.value]
    assert "'runs/randbit-quick', whose definition cannot be read, see Runs; showing" in notice


def test_shipped_results_cannot_be_deleted(filled, open_page):
    run_id = Store(filled.results).table("randbit-mnist-5k")["run_id"].iloc[0]
    app = open_page(RUNS, study=SHIPPED, compare=run_id)
    assert "runs_delete" not in [button.key for button in app.button]


def test_deleting_from_a_study_at_work_is_a_request(stores, open_page):
    study = fixtures.study("randbit-quick")
    ended = fixtures.fill(stores.runs, study, runs=3, folders=True)
    fixtures.set_state(stores.runs, study, "running", running=1)
    open_page(RUNS, study=STUDY, compare=ended[0].run_id).button(key="runs_delete").click().run()
    assert len(Store(stores.runs).table("randbit-quick")) == 4
    assert list((stores.runs / ".requests").glob("randbit-quick.delete.*.json"))


def test_a_new_run_never_changes_the_selection(stores, open_page):
    study = fixtures.study("randbit-quick")
    ended = fixtures.fill(stores.runs, study, runs=2, folders=True)
    app = open_page(RUNS, study=STUDY, compare=ended[1].run_id)
    before = table(app)["run_id"].tolist()
    (stores.runs / study.name / "results.jsonl").unlink()
    fixtures.fill(stores.runs, study, runs=5, folders=True)
    app.run()
    assert table(app)["run_id"].tolist()[:2] == before and len(table(app)) == 5
    assert app.query_params["compare"] == ended[1].run_id and "1 selected" in texts(app)


def test_why_a_run_failed_is_shown_with_its_log(stores, open_page):
    study = fixtures.study("randbit-quick")
    run_id = study.expand()[0].run_id
    broken = {run_id: {"status": "failed", "error": "RuntimeError: no memory", "linear_accuracy": None}}
    fixtures.fill(stores.runs, study, folders=True, results=broken)
    (stores.runs / study.name / run_id / "log.txt").write_text("Traceback (most recent call last): ...")
    app = open_page(RUNS, study=STUDY, compare=run_id)
    assert f"Run {run_id} failed: RuntimeError: no memory" in texts(app)
    assert app.code[0].value.startswith("Traceback")


def test_runs_without_epochs_draw_no_empty_chart(stores, open_page):
    """A run that failed before its first epoch was drawn as axes with nothing in them."""
    study = fixtures.study("randbit-quick")
    run_id = study.expand()[0].run_id
    broken = {run_id: {"status": "failed", "error": "RuntimeError: no memory", "linear_accuracy": None}}
    fixtures.fill(stores.runs, study, folders=True, results=broken)
    (stores.runs / study.name / run_id / "metrics.jsonl").unlink()
    app = open_page(RUNS, study=STUDY, compare=run_id)
    assert not charts(app) and "None of the selected runs has values per epoch" in texts(app)


def test_ten_thousand_runs_warm(stores, open_page):
    """Budget 1 s on two idle cores; five times that here, because test machines are shared."""
    seeds = tuple(range(200))
    fixtures.fill(stores.results, fixtures.study(seeds=seeds), embeddings=False)
    app = open_page(RUNS)
    assert len(table(app)) == 10_000
    start = time.perf_counter()
    app.run()
    assert time.perf_counter() - start < 5


def test_a_tiny_negative_value_is_written_as_zero(stores, open_page):
    study = fixtures.study("randbit-quick")
    first = study.expand()[0].run_id
    fixtures.fill(stores.runs, study, folders=True, results={first: {"tolerance": -0.0002}})
    shown = table(open_page(RUNS, study=STUDY))["tolerance"]
    assert f"{shown.iloc[0]:.3f}" == "0.000"
