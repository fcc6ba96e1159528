"""The other experiments on competing features: each tab empty and filled, claims, strips, and a folder of one's own."""

import json

import numpy as np
import pytest
import streamlit as st
from PIL import Image

from core.datasets.strips import Strip
from core.inspections.local import LocalFeatures, Masks
from core.studies import Store
from pages.parts.text import literal
from tests import fixtures
from tests.pages.visit import SUPPRESSION, charts, texts

STUDIES = {
    "Digit on image": ("digits-cifar10", "Digits on CIFAR-10", "object"),
    "Digit size": ("digit-size-mnist", "A growing digit", "fixed digit"),
    "Colour": ("color-cifar10", "Colour as an easy feature", "class"),
}
ASKED: list[tuple[str, dict]] = []


def answer(target: str, **arguments):
    """Stands in for the analysis process, so that no test waits for torch."""
    ASKED.append((target, arguments))
    if target == "core.datasets.strips:strip":
        positions = arguments["settings"]
        bits = [np.ones((2, fields.get("bits", 0)), np.uint8) for fields in positions]
        return Strip(np.zeros((len(positions), 2, 2, 32, 32, 3), np.uint8), tuple(bits), ("cat", "dog"))
    return (10.0, 2.0)  # core.training.pace: training, evaluation


@pytest.fixture(autouse=True)
def analysis(monkeypatch):
    ASKED.clear()
    monkeypatch.setattr("core.analysis.call", answer)


def titles(app) -> list[str]:
    return [json.loads(spec)["layout"]["title"]["text"] for spec in charts(app)]


@pytest.mark.parametrize("tab", STUDIES)
def test_a_tab_without_results_says_what_it_is_and_how_to_run_it(tab, stores, open_page):
    name, *_ = STUDIES[tab]
    app = open_page(SUPPRESSION, sup_tab=tab)
    assert app.selectbox(key="sup_study").value == f"defined/{name}"
    said = texts(app)
    assert "The study asks:" in said and "Nothing was run yet" in said
    assert app.button(key="sup_run").label == "Run this study"
    assert len(charts(app)) == 1 and "The same images along the dial" in titles(app)[0]  # the strip needs no run
    settings = ASKED[0][1]["settings"]
    dial = {"Digit on image": "digits", "Digit size": "digit_size", "Colour": "color_strength"}[tab]
    values = [fields.get(dial, 0 if dial != "color_strength" else 0.5) for fields in settings]
    assert values == sorted(values) and len(values) > 3


@pytest.mark.parametrize("tab", STUDIES)
def test_a_tab_with_results_draws_both_features_their_trade_off_and_the_sentence(tab, stores, open_page):
    name, _, feature = STUDIES[tab]
    fixtures.fill(stores.results, fixtures.study(name, seeds=(0, 1)), embeddings=False)
    app = open_page(SUPPRESSION, sup_tab=tab)
    assert app.selectbox(key="sup_study").value == f"results/{name}"
    assert len(charts(app)) == 3
    plane = json.loads(charts(app)[2])
    question = "<b>Do the colours" if tab == "Colour" else "<b>Does the"
    assert plane["layout"]["title"]["text"].startswith(question) and len(plane["data"]) >= 3
    assert f"the accuracy on the {feature} goes from" in texts(app)
    assert "Offsets" in texts(app) or "k-means" in texts(app) or "without overlap" in texts(app)


def test_claims_are_judged_when_they_are_opened(stores, open_page):
    fixtures.fill(stores.results, fixtures.study("digits-cifar10", seeds=(0, 1)), embeddings=False)
    app = open_page(SUPPRESSION, sup_tab="Digit on image")
    assert "holds here" not in texts(app)
    app.session_state["sup_claims"] = True
    app.run()
    assert not app.exception
    said = texts(app)
    assert "More different digits: the object is learned less" in said and "holds here" in said
    assert "A comparison decides only where both sides have at least two seeds" in said


def test_colours_say_what_the_histogram_alone_gives_away(stores, open_page):
    fixtures.fill(stores.results, fixtures.study("color-cifar10", seeds=(0, 1)), embeddings=False)
    assert "the class of a test image is read with accuracy 0.250" in texts(open_page(SUPPRESSION, sup_tab="Colour"))


def test_published_colour_strengths_are_drawn_with_their_source(stores, open_page):
    fixtures.fill(stores.results, fixtures.study("color-cifar10", seeds=(0, 1)), embeddings=False)
    app = open_page(SUPPRESSION, sup_tab="Colour")
    drawn = json.loads(charts(app)[0])["data"]
    diamonds = [trace for trace in drawn if trace.get("marker", {}).get("symbol") == "diamond-open"]
    assert len(diamonds) == 4 and "SimCLR 2020" in diamonds[0]["hovertext"][0] and "(published)" in diamonds[0]["hovertext"][0]
    assert "Chen, Kornblith, Norouzi, Hinton" in texts(app) and "other images and another encoder" in texts(app)
    app.toggle(key="sup_published").set_value(False).run()
    assert "diamond-open" not in charts(app)[0] and "Kornblith" not in texts(app)


def test_a_link_to_a_study_opens_its_tab_and_its_run(stores, open_page):
    fixtures.fill(stores.results, fixtures.study("digits-cifar10", seeds=(0, 1)), embeddings=False)
    run = Store(stores.results).table("digits-cifar10").iloc[0]["run_id"]
    app = open_page(SUPPRESSION, study="results/digits-cifar10", run=run)
    assert app.get_by_key("sup_tab").value == "Digit on image"
    assert app.button(key="sup_close") and len(charts(app)) >= 4


def test_a_missing_data_set_costs_the_strip_only(stores, open_page, monkeypatch):
    def refuse(target, **arguments):
        raise ValueError("data_root: the folder /x does not exist.")

    st.cache_resource.clear()  # other tests have kept the pictures
    monkeypatch.setattr("core.analysis.call", refuse)
    app = open_page(SUPPRESSION, sup_tab="Digit on image")
    assert "The pictures cannot be shown: data_root: the folder /x does not exist." in texts(app)


@pytest.fixture
def folder(tmp_path):
    """Two hundred JPEGs in four classes, of mixed sizes and modes."""
    root = tmp_path / "flowers"
    for label in range(4):
        (root / f"kind {label}").mkdir(parents=True)
        for number in range(50):
            size, mode = (20 + number, 30), "L" if number % 7 == 0 else "RGB"
            image = Image.new(mode, size, 40 * label if mode == "L" else (40 * label, number, 9))
            image.save(root / f"kind {label}" / f"{number}.jpg")
    return root


def type_folder(app, text: str):
    app.text_input(key="sup_folder").set_value(text).run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def test_the_home_of_an_unknown_user_is_told_as_a_missing_folder(stores, open_page):
    app = type_folder(open_page(SUPPRESSION, sup_tab="Your own data"), "~nobody-of-this-name/pictures")
    assert "does not exist" in app.error[0].value


def test_a_folder_of_jpegs_becomes_a_study_with_an_honest_time(folder, stores, open_page, monkeypatch):
    started = []
    monkeypatch.setattr("pages.parts.live.start", lambda definition, root: started.append((definition, root)))
    app = type_folder(open_page(SUPPRESSION, sup_tab="Your own data"), str(folder))
    said = texts(app)
    assert "**4 classes** (kind 0, kind 1, kind 2, kind 3), **160 training** and **40 test images**" in said
    assert "There are no test images: a fixed 20% of every class serves as such." in said
    assert "21 runs" in said and "from training steps timed just now" in said
    app.button(key="sup_own_start").click().run()
    (definition, root), *_ = started
    assert str(root) == str(stores.runs) and definition.name.startswith("own-flowers-")
    runs = definition.expand()
    assert {run.bits for run in runs} == {0, 2, 4, 6, 8, 12, 16} and runs[0].data_root == str(folder) and runs[0].batch_size == 40
    assert app.query_params["study"] == f"runs/{definition.name}"
    assert "Starting" in texts(app) or "Nothing was run yet" in texts(app)  # it has written nothing yet


def test_a_started_study_of_ones_own_is_drawn_as_its_runs_end(folder, stores, open_page):
    from core.studies.own import OwnImages, own_study

    study = own_study(OwnImages(folder, 4, 160, 40), 32)
    fixtures.fill(stores.runs, study, folders=True, embeddings=False)
    app = open_page(SUPPRESSION, study=f"runs/{study.name}")
    assert app.get_by_key("sup_tab").value == "Your own data"
    assert len(charts(app)) == 2 and "bits" in titles(app)[0]
    assert "an accuracy is known to about" not in texts(app)  # of 1,000 test images


def test_few_test_images_and_unreadable_files_are_told_beside_the_curve(folder, stores, open_page):
    from core.studies.own import OwnImages, own_study

    study, left_out = own_study(OwnImages(folder, 4, 160, 40), 32), "3 of 203 files could not be read and were left out: a.jpg."
    few = {run.run_id: {"n_train": 160, "n_test": 40, "notes": (left_out, "another note")} for run in study.expand()}
    fixtures.fill(stores.runs, study, folders=True, embeddings=False, results=few)
    said = texts(open_page(SUPPRESSION, study=f"runs/{study.name}"))
    assert "With 40 test images an accuracy is known to about ± 0.16" in said  # 2 * sqrt(0.5 * 0.5 / 40)
    assert said.count(left_out) == 1 and "another note" not in said


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda root: None, "The folder {root} does not exist."),
        (lambda root: (root / "a").mkdir(parents=True), "There are no class folders with images in {root}."),
        (
            lambda root: [picture(root, label, number) for label in "ab" for number in range(1)],
            "Each class needs at least 2 images; there is only 1 in a, b.",
        ),
        (
            lambda root: [picture(root, label, number) for label in "ab" for number in range(2)],
            "has 2 training images; at least 32 are needed to contrast them.",
        ),
        (lambda root: [picture(root, "a", number) for number in range(9)], "{root} holds one class only (a)"),
        (lambda root: [picture(root, ".", number) for number in range(9)], "There are no class folders with images in {root}."),
    ],
)
def test_folders_that_cannot_be_studied_are_refused_with_advice(make, text, tmp_path, stores, open_page):
    root = tmp_path / "images"
    make(root)
    app = type_folder(open_page(SUPPRESSION, sup_tab="Your own data"), str(root))
    assert text.format(root=root).lower() in " ".join(error.value for error in app.error).lower()
    assert "sup_own_start" not in [button.key for button in app.button]


def test_a_folder_of_which_nothing_can_be_read_cannot_be_started(tmp_path, stores, open_page, monkeypatch):
    """All its runs would have failed; the page named the reason in small print, as one of an unknown time."""

    def refuse(target, **arguments):
        raise ValueError("data_root: none of the 48 training images in /x can be read: a/0.png (not an image).")

    st.cache_resource.clear()
    monkeypatch.setattr("core.analysis.call", refuse)
    for label in "ab":
        for number in range(30):
            picture(tmp_path, label, number)
    app = type_folder(open_page(SUPPRESSION, sup_tab="Your own data"), str(tmp_path))
    assert [box.value for box in app.error] == ["None of the 48 training images in /x can be read: a/0.png (not an image)."]
    assert "sup_own_start" not in [button.key for button in app.button]


def test_a_refused_path_keeps_its_capital_letters(tmp_path, stores, open_page):
    """The path was told in small letters, which is another folder."""
    root = tmp_path / "My Own Photos"
    app = type_folder(open_page(SUPPRESSION, sup_tab="Your own data"), str(root))
    assert app.error[0].value == literal(
        f"The folder {root} does not exist. Expected: one folder for each class with its image files inside, or train/<class>/ "
        "and test/<class>/."
    )


def test_a_class_of_very_few_images_is_pointed_out(folder, stores, open_page):
    (folder / "rare").mkdir()
    for number in range(2):
        Image.new("RGB", (9, 9)).save(folder / "rare" / f"{number}.jpg")
    app = type_folder(open_page(SUPPRESSION, sup_tab="Your own data"), str(folder))
    assert "rare has 1 training image only: too few to tell what is learned of this class." in texts(app)
    assert not any("kind 0 has" in caption.value for caption in app.caption)


def picture(root, label, number):
    (root / label).mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (1, 1)).save(root / label / f"{number}.png")


def test_an_unknown_tab_is_named_and_ignored(filled, open_page):
    app = open_page(SUPPRESSION, sup_tab="Nonsense")
    assert "The address asks for 'Nonsense'" in texts(app) and len(charts(app)) == 2


def test_local_features_show_what_samples_treat_alike(stores, open_page, monkeypatch):
    masks = (Masks("pixels", "13 x 13", np.zeros((5, 13, 13), np.uint8)),)
    found = LocalFeatures(np.zeros((5, 28, 28, 3), np.uint8), masks, ("odd: has no spatial feature maps.",))
    monkeypatch.setattr("core.analysis.call", lambda target, **arguments: ASKED.append((target, arguments)) or found)
    app = open_page(SUPPRESSION, sup_tab="Local features")
    if not app.multiselect:
        assert "No checkpoint is on this machine" in texts(app)
        return
    assert "What the encoder treats alike" in titles(app)[0] and "odd: has no spatial feature maps." in texts(app)
    assert ASKED[-1][1]["k"] == 4 and ASKED[-1][1]["data"] == "mnist-5k"
    app.slider(key="loc_k").set_value(6).run()
    assert ASKED[-1][1]["k"] == 6 and not app.exception


def test_checkpoints_of_runs_are_named_by_their_settings(stores, monkeypatch):
    """They were listed as bare numbers behind the title: "supervised, 0.1, 0, conv, 0"."""
    from pages.parts.suppression.local import checkpoints

    fixtures.fill(stores.runs, fixtures.study("randbit-quick"), folders=True, embeddings=False)
    for run in Store(stores.runs).table("randbit-quick").itertuples():
        (stores.runs / "randbit-quick" / run.run_id / "checkpoint.safetensors").touch()
    names = [name for name in checkpoints() if "·" in name]
    assert any(name.startswith("NT-Xent, tau 0.1, 10 bits, ConvN, seed 0 · ") for name in names), names


def test_changing_the_tab_leaves_study_and_run_behind(stores, open_page):
    fixtures.fill(stores.results, fixtures.study("digits-cifar10", seeds=(0, 1)), embeddings=False)
    app = open_page(SUPPRESSION, study="results/digits-cifar10")
    app.get_by_key("sup_tab").set_value("Colour").run()
    assert not app.exception and app.get_by_key("sup_tab").value == "Colour"
    assert app.selectbox(key="sup_study").value == "defined/color-cifar10" and "The address names" not in texts(app)
    app.get_by_key("sup_tab").set_value("Digit on image").run()
    assert app.selectbox(key="sup_study").value == "results/digits-cifar10" and len(charts(app)) == 3
