"""The loss family: every view and preset, the identity in numbers, and a loss that cannot be computed."""

import json

import pytest

from core import analysis
from pages.parts.loss_family.presets import PRESETS
from tests.pages.visit import charts, texts

PAGE = "pages/understand/loss_family.py"


@pytest.fixture(autouse=True, scope="module")
def no_process_left():
    yield
    analysis.stop()


def titles(app) -> list[str]:
    return [json.loads(spec)["layout"]["title"].get("text", "") for spec in charts(app)]


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_loss_moves_its_points(name, stores, open_page):
    app = open_page(PAGE, fam_loss=name)
    (spec,) = charts(app)
    figure = json.loads(spec)
    assert len(figure["frames"]) == 31 and len(figure["layout"]["updatemenus"][0]["buttons"]) == 5
    assert "100 images, two views each" in titles(app)[0]


def test_the_end_is_compared_with_the_closed_form(stores, open_page):
    app = open_page(PAGE)
    assert "Views meet and images spread evenly" in titles(app)[0]
    rows = app.table[0].value
    assert abs(float(rows["Difference"].iloc[1].replace("−", "-"))) < 1e-4


def test_one_term_alone_is_told_apart(stores, open_page):
    app = open_page(PAGE, fam_terms="Alignment")
    assert "nothing spreads the images" in titles(app)[0]


def test_a_loss_without_a_push_is_not_said_to_push(stores, open_page):
    title = titles(open_page(PAGE, fam_loss="Alignment only"))[0]
    assert "nothing spreads the images" in title and "push" not in title


def test_the_identity_is_shown_in_numbers(stores, open_page):
    app = open_page(PAGE, fam_view="NT-Xent inside")
    values = app.table[0].value.iloc[:, 1]
    assert abs(float(values.iloc[2].replace("−", "-"))) < 1e-12
    assert values.iloc[3].endswith("(tau = 0.1)") and float(values.iloc[3].split()[0]) == pytest.approx(0.1)
    assert "cosine −0.88" in titles(app)[0]


def test_conventions_are_converted(stores, open_page):
    app = open_page(PAGE, fam_view="Conventions")
    assert list(app.table[0].value["lambda"]) == ["64", "1", "64"]
    published = app.table[1].value
    assert list(published["if the formula was run"]) == ["20", "80", "0.1", "0.1"]
    assert list(published["if the notebook was run"]) == ["10", "10", "6.4", "12.8"]


def test_the_bound_on_information_is_drawn(stores, open_page):
    app = open_page(PAGE, fam_view="Information")
    assert "8.3 nats are shared" in titles(app)[0]


def test_a_process_that_does_not_answer_is_explained(stores, open_page, monkeypatch):
    def silent(target, **_):
        raise analysis.AnalysisError(f"{target}: no answer after 120 s.")

    monkeypatch.setattr(analysis, "call", silent)
    app = open_page(PAGE, fam_seed="4711")
    assert "The points could not be moved. core.losses.flow:trajectory: no answer after 120 s." in texts(app)
    assert app.button(key="fam_again").label == "Try again"
