"""The page on InfoNCE and its relatives: its numbers, its proof, its states."""

import json
import math
import re

import pytest

from core.losses.softmax import info_nce
from pages.parts.infonce import full_softmax
from tests import fixtures
from tests.pages.visit import charts, texts

PAGE = "pages/understand/infonce.py"
STUDY = "moco-queue-mnist-5k"


def title(chart: str) -> str:
    return json.loads(chart)["layout"]["title"]["text"]


def metric(app, label: str) -> str:
    return next(card.value for card in app.metric if card.label == label)


def test_the_proof_is_on_the_visitors_numbers(stores, open_page):
    app = open_page(PAGE)
    for place, score in enumerate((0.9, -0.2, 0.45, 0.1)):
        app.slider(key=f"nce_s{place}").set_value(score)
    app.select_slider(key="nce_tau").set_value(0.2).run()
    proof = next(element.value for element in app.markdown if "On these numbers" in element.value)
    one, other = map(float, re.findall(r"is (\d+\.\d{12})", proof))
    assert one == pytest.approx(info_nce(0.9, [-0.2, 0.45, 0.1], 0.2), abs=1e-11)
    assert other == pytest.approx(one, abs=1e-11)
    assert float(re.search(r"difference is ([\d.e+-]+)\.", proof.replace("−", "-"))[1]) < 1e-12


def test_another_class_is_right_for_cross_entropy_only(stores, open_page):
    app = open_page(PAGE)
    app.selectbox(key="nce_target").set_value(2).run()
    assert "With class 2 as the answer" in title(charts(app)[0])


def test_a_constant_moves_nce_only(stores, open_page):
    app = open_page(PAGE)
    losses = [note["text"] for note in json.loads(charts(app)[0])["layout"]["annotations"]]
    app.slider(key="nce_shift").set_value(2.0).run()
    moved = [note["text"] for note in json.loads(charts(app)[0])["layout"]["annotations"]]
    assert [before == after for before, after in zip(losses, moved, strict=True)] == [True, False, True]


@pytest.mark.parametrize(("view", "slips"), [
    ("Three losses", ("K-way choice", "only the number of classes differs", "too expensive, hence NCE")),
    ("Reference lines", ("compared across tau or K",)),
    ("Information bound", ("counts the negatives", "is a lower bound of the mutual information")),
])  # fmt: skip
def test_misconceptions_stand_beside_their_pictures(stores, open_page, view, slips):
    app = open_page(PAGE, nce_view=view)
    for words in slips:
        assert words in texts(app)
    assert charts(app)


def test_learned_scores_and_negative_sampling(stores, open_page):
    app = open_page(PAGE, nce_view="What is learned")
    assert metric(app, "Sum of the learned density") == "1.0000"
    assert "sum to 1.000" in title(charts(app)[0])
    app.toggle(key="nce_subtract").set_value(False).run()
    assert "Without the noise offset NCE learns a ratio" in title(charts(app)[0])


def test_reference_lines_are_the_closed_forms(stores, open_page):
    app = open_page(PAGE, nce_view="Reference lines")
    formula = app.latex[0].value
    assert f"{math.log(256):.4f}" in formula
    assert f"{math.log1p(255 * math.exp(-0.8 / 0.2)):.4f}" in formula
    assert f"{math.log1p(255 * math.exp(-256 / (255 * 0.2))):.4f}" in formula


def test_the_bound_reports_less_than_it_should(stores, open_page):
    app = open_page(PAGE, nce_view="Information bound")
    assert "8.3 nats are shared, 1,024 candidates report 6.4" in title(charts(app)[0])


def test_the_cost_names_its_making(stores, open_page):
    app = open_page(PAGE, nce_view="Full softmax")
    assert "1,281,167 instances" in title(charts(app)[0])
    assert "fastest of" in texts(app) and "torch" in texts(app)


def test_a_missing_measurement_says_how_to_make_it(stores, open_page, monkeypatch, tmp_path):
    monkeypatch.setattr(full_softmax, "FILE", tmp_path / "none.json")
    app = open_page(PAGE, nce_view="Full softmax")
    assert "tests.benchmarks.full_softmax --write" in app.warning[0].value
    assert not charts(app)


def test_the_queue_at_a_step(stores, open_page):
    app = open_page(PAGE, nce_view="Queue")
    app.slider(key="nce_step").set_value(5).run()
    assert metric(app, "Slots filled") == "6 of 16" and metric(app, "Oldest key") == "5 steps"
    assert metric(app, "Negatives, K") == "4,096"
    chart = json.loads(charts(app)[0])
    assert len(chart["frames"]) == 80 and chart["layout"]["sliders"][0]["active"] == 5


def test_without_momentum_nothing_trails(stores, open_page):
    app = open_page(PAGE, nce_view="Queue")
    app.select_slider(key="nce_m").set_value(0.0).run()
    assert metric(app, "Key encoder trails by") == "0.0°"


def test_the_queue_study_measured(stores, open_page):
    fixtures.fill(stores.results, fixtures.study(STUDY), embeddings=False)
    app = open_page(PAGE, nce_view="Queue study")
    assert "More negatives are always better" in texts(app)
    assert "in this study accuracy is highest at K =" in texts(app)
    assert "A queue 15 times as long" in title(charts(app)[0])


def test_the_queue_study_not_run(stores, open_page):
    app = open_page(PAGE, nce_view="Queue study")
    assert app.button(key="nce_run").label == "Run this study"
    assert not charts(app)
