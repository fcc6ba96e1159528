"""Home: three results, the small study in every state."""

import time

import pytest

from core.figures.suppression import suppression
from core.studies import StudyError
from pages.parts import live
from pages.parts.suppression import so_far
from tests import fixtures
from tests.pages.visit import HOME, charts, texts

QUICK = "randbit-quick"


def test_three_results_lead_to_their_page(filled, open_page):
    app = open_page()
    assert len(charts(app)) == 3
    assert "15 shared bits erase digit recognition" in texts(app)
    links = [link for link in app.page_link if link.proto.page.endswith("feature_suppression")]
    assert len(links) == 4  # three results and the own curve
    assert "study=results" in links[0].proto.query_string and "run=" in links[2].proto.query_string


def test_numbers_name_their_making(filled, open_page):
    assert "measured by this code · MNIST-5k · 150 runs · version 0.1.0 · 2026-11-29" in texts(open_page())


def test_the_estimate_comes_from_measured_runs(stores, open_page, monkeypatch):
    """Six runs of 21 to 24 s on three cores: about 45 s."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    fixtures.fill(stores.results, fixtures.study(), embeddings=False)
    said = texts(open_page())
    assert "6 runs, about 40 s on 3 cores" in said or "6 runs, about 50 s on 3 cores" in said
    assert "judging by 150 timed runs" in said


def test_without_measured_runs_there_is_no_estimate(stores, open_page):
    assert "no comparable run was timed yet, so there is no estimate" in texts(open_page())


def test_run_it_here_starts_the_small_study_in_the_own_folder(stores, open_page, monkeypatch):
    started = []
    monkeypatch.setattr(live, "start", lambda definition, root: started.append((definition.name, root)))
    open_page().button(key="home_run").click().run()
    assert started == [(QUICK, stores.runs)]


def test_a_start_that_fails_says_why_and_offers_it_again(stores, open_page, monkeypatch):
    def refuse(definition, root):
        raise StudyError(f"{root}: cannot be written (No space left on device)")

    monkeypatch.setattr(live, "start", refuse)
    app = open_page().button(key="home_run").click().run()
    assert "No space left on device" in app.error[0].value
    assert app.button(key="home_run")
    assert not app.run().error  # said once


def progress(app) -> str:
    return app.progress[0].text if app.progress else ""


def test_at_work_it_shows_progress_rate_time_left_and_stop(stores, open_page):
    fixtures.fill(stores.runs, fixtures.study(QUICK), runs=2, folders=True)
    fixtures.set_state(stores.runs, fixtures.study(QUICK), "running", running=2)
    app = open_page()
    assert progress(app) == "**2 of 6 runs** · 2 in progress · 8,800 images/s · about 1.5 min left"
    assert app.progress[0].value == 43  # (2 + 2 * 0.3) / 6
    app.button(key="home_stop").click().run()
    assert (stores.runs / ".requests" / f"{QUICK}.stop.json").is_file()
    assert app.button(key="home_stop").disabled


@pytest.mark.parametrize(
    ("status", "more", "kind", "said", "offered"),
    [
        ("queued", {}, "progress", "Starting", "Stop"),
        ("running", {"heartbeat": time.time() - 90, "alive": False}, "warning", "**Stalled** after 2 of 6 runs", "Resume"),
        ("stopped", {}, "info", "**Stopped** after 2 of 6 runs", "Resume"),
        ("failed", {"message": "The scheduler does not answer."}, "error", "The scheduler does not answer.", "Try again"),
    ],
)
def test_states_look_different_and_offer_what_helps(stores, open_page, status, more, kind, said, offered):
    if status != "queued":
        fixtures.fill(stores.runs, fixtures.study(QUICK), runs=2, folders=True)
    fixtures.set_state(stores.runs, fixtures.study(QUICK), status, **more)
    app = open_page()
    assert said in (progress(app) if kind == "progress" else getattr(app, kind)[0].value)
    assert offered in [button.label for button in app.button]


def test_finished_leads_to_the_own_curve(filled, open_page):
    app = open_page(HOME)
    assert "Your curve" in [link.proto.label for link in app.page_link]
    assert not app.progress and "home_run" not in [button.key for button in app.button]


def test_a_thumbnail_without_embeddings_says_so(stores, open_page):
    fixtures.fill(stores.results, fixtures.study(), embeddings=False)
    app = open_page()
    assert len(charts(app)) == 2 and "No embeddings are stored for this study." in texts(app)


def test_a_run_that_still_trains_is_a_ring_before_any_run_has_ended(stores, open_page):
    study = fixtures.study(QUICK)
    fixtures.fill(stores.runs, study, runs=0, folders=True)
    fixtures.set_state(stores.runs, study, "running", running=2)
    (drawn,) = charts(open_page())
    assert f"epoch 6 of {study.expand()[0].epochs}" in drawn and "circle-open" in drawn and "still training" in drawn


def test_the_growing_curve_is_gone_once_the_study_is_done(filled, open_page):
    assert len(charts(open_page(HOME))) == 3  # the three results; the own curve has its page


def test_the_growing_curve_is_built_once_for_each_epoch(stores, open_page, monkeypatch):
    """It was built anew on every look, every two seconds, which took so long beside the training that it faded each time."""
    fixtures.fill(stores.runs, fixtures.study(QUICK), runs=0, folders=True)
    fixtures.set_state(stores.runs, fixtures.study(QUICK), "running", running=2)
    app, built = open_page(), []
    monkeypatch.setattr(so_far, "suppression", lambda *tables, **options: built.append(1) or suppression(*tables, **options))
    (before,) = charts(app)
    (after,) = charts(app.run())
    assert after == before and not built
