"""The temperature page: what its controls do, and that its numbers are the closed forms."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from core.losses.hardness import push_shares as push_shares_over
from core.losses.softmax import effective_number, info_nce, push_shares
from core.studies import Store
from pages.parts.temperature.across_runs import more_uniform_less_accurate
from pages.parts.temperature.circle import clicked_point
from pages.parts.temperature.one_anchor import number
from pages.parts.temperature.presets import PRESETS
from pages.parts.temperature.sources import INSPECTED, MADE_UP, TAUS, choices, embedding, titles
from tests import fixtures
from tests.pages.visit import charts, texts

PAGE = "pages/understand/temperature.py"
HARD = PRESETS["hard"]
NEGATIVES = [*HARD.negatives, *[HARD.crowd_score] * HARD.crowd]
STUDY = "temperature-mnist-5k"


def metric(app, label: str) -> str:
    """The value of a metric card."""
    return next(card.value for card in app.metric if card.label == label)


def title(chart: str) -> str:
    return json.loads(chart)["layout"]["title"]["text"]


@pytest.fixture
def measured(stores):
    """The temperature study as shipped results, with embeddings of the first seed."""
    fixtures.fill(stores.results, fixtures.study(STUDY))
    return stores


def test_numbers_of_one_anchor(stores, open_page):
    app = open_page(PAGE)
    assert metric(app, "Loss") == f"{info_nce(HARD.positive, NEGATIVES, 0.1):.3f}"
    assert metric(app, "Collapsed loss") == f"{math.log(257):.3f}"
    assert metric(app, "Effective negatives") == f"{effective_number(NEGATIVES, 0.1):.1f} of 256"
    assert len(charts(app)) == 3


def test_moving_the_temperature_moves_every_number(stores, open_page):
    app = open_page(PAGE)
    app.select_slider(key="tmp_tau").set_value(0.5).run()
    assert metric(app, "Loss") == f"{info_nce(HARD.positive, NEGATIVES, 0.5):.3f}"
    assert f"takes {push_shares(NEGATIVES, 0.5).max():.0%} of the push" in title(charts(app)[0])


def test_formulas_near_certainty_are_true_and_in_powers_of_ten(stores, open_page):
    app = open_page(PAGE)
    app.select_slider(key="tmp_tau").set_value(0.005).run()
    loss = info_nce(HARD.positive, NEGATIVES, 0.005)
    digits, power = f"{loss:.4g}".split("e")
    written = rf"{digits}\times 10^{{{int(power)}}}"
    assert rf"= \log(1 + {written}) = {written}" in app.latex[0].value
    assert not [formula.value for formula in app.latex if re.search(r"\d\s*e[-+]?\d", formula.value)]


def test_small_numbers_are_written_as_in_the_charts():
    assert (number(4.54e-5), number(math.inf), number(0.0), number(0.6119)) == ("4.5e−5", "∞", "0.000", "0.612")


def test_limit_buttons(stores, open_page):
    app = open_page(PAGE)
    app.button(key="tmp_tau_cold").click().run()
    assert metric(app, "P⁺, positive") == "1.000" and metric(app, "Effective negatives") == "1.0 of 256"
    assert r"\lim_{\tau\to 0}" in app.latex[0].value
    app.button(key="tmp_tau_hot").click().run()
    assert metric(app, "Loss") == metric(app, "Collapsed loss")
    assert metric(app, "Effective negatives") == "256.0 of 256"
    assert "N = K + 1 = 257" in app.latex[0].value


@pytest.mark.parametrize("name", PRESETS)
def test_presets_set_every_slider(stores, open_page, name):
    app = open_page(PAGE)
    app.button(key=f"tmp_preset_{name}").click().run()
    preset = PRESETS[name]
    assert app.slider(key="tmp_pos").value == preset.positive
    assert [app.slider(key=f"tmp_n{i}").value for i in range(1, 5)] == list(preset.negatives)
    assert app.number_input(key="tmp_crowd").value == preset.crowd
    negatives = [*preset.negatives, *[preset.crowd_score] * preset.crowd]
    assert metric(app, "Loss") == number(info_nce(preset.positive, negatives, 0.1))


def test_the_collapsed_preset_has_the_collapsed_loss_at_any_temperature(stores, open_page):
    app = open_page(PAGE)
    app.button(key="tmp_preset_collapsed").click().run()
    for tau in (0.02, 1.0):
        app.select_slider(key="tmp_tau").set_value(tau).run()
        assert metric(app, "Loss") == metric(app, "Collapsed loss")


def test_formulas_carry_the_numbers(stores, open_page):
    app = open_page(PAGE)
    formulas = " ".join(element.value for element in app.latex)
    assert f"{info_nce(HARD.positive, NEGATIVES, 0.1):.4g}" in formulas
    assert f"{effective_number(NEGATIVES, 0.1):.4g}" in formulas


@pytest.mark.parametrize(("view", "slips"), [
    ("One anchor", ("K-way choice", "exponentials become even smaller", "only smooths the softmax")),
    ("Hard and false", ("mistaken for negatives",)),
    ("Across runs", ("higher contrastive accuracy", "more uniform, the better")),
])  # fmt: skip
def test_misconceptions_stand_beside_their_pictures(stores, open_page, view, slips):
    app = open_page(PAGE, tmp_view=view)
    for words in slips:
        assert words in texts(app)
    assert "**Look:**" in texts(app) and charts(app)


def test_the_penalty_curve_says_when_nothing_is_picked(stores, open_page):
    app = open_page(PAGE, tmp_view="Penalty curve")
    assert "multiplies the push by 22,026 at tau 0.05" in title(charts(app)[0])
    app.get("button_group")[1].set_value([]).run()
    assert "Pick at least one temperature" in texts(app)


def test_made_up_clouds_stand_in_until_there_are_runs(stores, open_page, monkeypatch, tmp_path):
    monkeypatch.setenv("CONTRASTIVE_LENS_SAMPLES", str(tmp_path / "none"))
    app = open_page(PAGE, tmp_view="Real embedding")
    assert app.selectbox(key="tmp_run").options == [MADE_UP]
    assert "ten made-up clouds stand in" in texts(app)
    assert "made-up clouds, not measured" in title(charts(app)[0])


def test_a_runs_embedding_and_its_own_temperature(measured, open_page):
    app = open_page(PAGE, tmp_view="Real embedding")
    options = app.selectbox(key="tmp_run").options
    runs = [option for option in options if not option.startswith("Checkpoint: ")]
    assert len(runs) == 13 and options[-1] == MADE_UP  # twelve temperatures of the first seed
    chosen = next(option for option in options if "tau 0.1," in option)
    app.selectbox(key="tmp_run").set_value(chosen).run()
    assert "trained at tau 0.1" in charts(app)[0]
    assert metric(app, "Hardest 1% of negatives") == "2 of 199"
    assert metric(app, "tau → ∞: share of its class") == f"{19 / 199:.1%}"


@pytest.mark.parametrize(("study", "words"), [
    ("moco-queue-mnist-5k", "queue 500, momentum 0.99"),
    ("hypersphere-mnist-5k", "embedding dimensions 3"),
    ("priors-heads-mnist-5k", "head layers 2"),
    ("tau-lambda-mnist-5k", "lambda 0.05"),
    ("randbit-mnist-5k", "1 bit,"),
])  # fmt: skip
def test_every_embedding_can_be_chosen(stores, study, words):
    """Runs that shared a title hid each other in the selector: of 229 shipped embeddings it offered 89."""
    fixtures.fill(stores.results, fixtures.study(study, seeds=(0,)), embeddings=False)
    table = Store(stores.results).table(study)
    named = titles(table[table["status"] == "finished"], study)
    assert len({title for _, title in named}) == len({run_id for run_id, _ in named}) > 1
    assert any(words in title for _, title in named)
    assert not any("auto" in title or title.endswith(run_id) for run_id, title in named)


def test_runs_that_differ_in_nothing_named_keep_their_ids():
    runs = pd.DataFrame([dict(run_id=name, dataset="mnist-5k", objective="nt_xent", tau=0.1, bits=0, seed=0) for name in "ab"])
    start = "MNIST-5k, NT-Xent, tau 0.1, seed 0 (mine)"
    assert titles(runs, "mine") == [("a", f"{start} a"), ("b", f"{start} b")]
    assert titles(runs[:0], "mine") == []


def test_the_temperature_study_is_shown_first_at_a_usual_temperature(measured, open_page):
    fixtures.fill(measured.results, fixtures.study("hypersphere-mnist-5k", seeds=(0,)))
    app = open_page(PAGE, tmp_view="Real embedding")
    assert app.selectbox(key="tmp_run").value == f"MNIST-5k, NT-Xent, tau 0.1, seed 0 ({STUDY})"


def test_a_more_uniform_and_less_accurate_pair_stands_beyond_the_spread():
    """That the most uniform encoder is not the best was told with a difference that was smaller than the spread over seeds."""
    rows = [
        dict(tau=tau, seed=seed, status="finished", uniformity=uniformity, linear_accuracy=accuracy + 0.002 * seed)
        for tau, uniformity, accuracy in ((0.03, -2.5, 0.95), (0.1, -3.5, 0.951), (1.0, -2.7, 0.94))
        for seed in (-1, 0, 1)
    ]
    runs = pd.DataFrame(rows)
    means = runs.groupby("tau")[["linear_accuracy", "uniformity"]].mean()
    told = more_uniform_less_accurate(runs, means)
    assert told == " But tau 1 is more uniform than tau 0.03 (−2.7 against −2.5) and less accurate, 0.940 against 0.950."
    assert more_uniform_less_accurate(runs, means.drop(index=1.0)) == ""


def test_across_runs_shows_ours_beside_theirs(measured, open_page):
    app = open_page(PAGE, tmp_view="Across runs")
    chart = json.loads(charts(app)[0])
    assert "◇ Wang & Liu 2021, CIFAR-10" in title(charts(app)[0])
    assert len([trace for trace in chart["data"] if trace.get("marker", {}).get("symbol") == "diamond-open"]) == 3
    assert "39 runs, seeds 0, 1, 2" in texts(app)


def test_without_results_the_published_table_stands_alone_with_a_button(stores, open_page):
    app = open_page(PAGE, tmp_view="Across runs")
    assert "has not been run here" in texts(app) and app.button(key="tmp_run").label == "Run this study"
    assert "accuracy peaks at tau 0.3" in title(charts(app)[0])


def test_circle_controls_and_animation(stores, open_page):
    app = open_page(PAGE, tmp_view="Circle")
    assert len(charts(app)) == 1
    app.selectbox(key="tmp_circle_anchor").set_value("B′").run()
    assert "of the push from anchor B′" in title(charts(app)[0])
    app.toggle(key="tmp_circle_follow").set_value(True).run()
    frames = json.loads(charts(app)[1])["frames"]
    assert len(frames) == 31


def test_a_click_names_a_point():
    assert clicked_point({"selection": {"points": [{"customdata": 7}]}}) == 7
    assert clicked_point({"selection": {"points": []}}) is None
    assert clicked_point({"selection": {"points": [{"x": 1.0}]}}) is None
    assert clicked_point(None) is None


def test_an_address_restores_the_sliders(stores, open_page):
    app = open_page(PAGE, tmp_tau="0.5", tmp_pos="0.4")
    assert app.select_slider(key="tmp_tau").value == 0.5
    assert app.slider(key="tmp_pos").value == pytest.approx(0.4)
    assert np.isfinite(float(metric(app, "Loss")))


def test_an_inspected_checkpoint_is_an_embedding_like_any_other(stores, open_page):
    """The shipped samples are there without a run of one's own."""
    title_of = next(choice.title for choice in choices() if choice.study == INSPECTED and "Suppressed" in choice.title)
    app = open_page(PAGE, tmp_view="Real embedding", tmp_run=title_of)
    assert not app.exception and app.selectbox(key="tmp_run").value == title_of
    z, labels = embedding(*next(choice for choice in choices() if choice.title == title_of)[:3])
    shares = push_shares_over(z, labels, TAUS, top=0.01)
    assert metric(app, "tau → ∞: share of its class") == f"{shares.same_class:.1%}"
    assert np.linalg.norm(z, axis=1) == pytest.approx(np.ones(len(z)), abs=1e-4)
