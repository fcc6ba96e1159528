"""What the weights cannot tell, as widgets, and the images the encoder is shown: together the settings of an inspection."""

from typing import Any

import streamlit as st
from pydantic import ValidationError

from core.checkpoints.normalise import PRESETS
from core.checkpoints.plans import ViTPlan
from core.checkpoints.report import CheckpointError, CheckpointReport, Question
from core.glossary import help_text
from core.inspections.spec import InspectionSpec
from core.inspections.suggest import DATA, Choice, Suggestion, bits_options, check_channels, check_size, choices, fields, suggest
from core.validation import explain
from pages.parts.inspect import pictures
from pages.parts.inspect.report import card, read, show_error
from pages.parts.inspect.source import Source
from pages.parts.text import literal

LABELS = {
    "branch": "Weights", "channels": "Input channels", "stem": "Stem", "padding": "Padding of the first convolution",
    "max_pool": "Max-pool after the stem", "normalisation": "Normalisation of the images", "heads": "Attention heads",
}  # fmt: skip
RECIPES = {"crop": "crops only", "simclr": "SimCLR: crops, flips, colours"}
N_TEST_MOST = 10_000


def ask(source: Source) -> InspectionSpec | None:
    """Show the report of a file, ask what it leaves open, and choose images.

    Args:
        source: The checkpoint.

    Returns:
        The settings; None while the file cannot be used or an answer is missing.
    """
    first = read(source)
    if isinstance(first, CheckpointError):
        show_error(first, source.name)
        return None
    key = f"ins_{first.sha256[:12]}"
    prefix = _prefix(first, key)
    branch = next((_answer(question, key) for question in first.questions if question.name == "branch"), None)
    report = _read_as_answered(source, first, key, branch=branch, prefix=prefix)
    if isinstance(report, CheckpointError):
        show_error(report, source.name)
        return None
    card(report, source.name)
    if report.refusal is not None and report.refusal_problem != "choice":
        return None
    decided, bits = _questions(report, key, branch)
    settings = _images(report, key, bits)
    weights = fields(decided) | ({"prefix": prefix} if prefix else {})
    if isinstance(report.plan, ViTPlan) and "heads" not in weights:
        st.info("Choose the number of attention heads: the weights fit any, the features only one.", icon=":material/help:")
        return None
    return _spec(source, report, weights, bits, settings)


def _read_as_answered(
    source: Source, first: CheckpointReport, key: str, **asked: str | None
) -> CheckpointReport | CheckpointError:
    """The report with the answers that further questions depend on: padding and max-pool go with the stem."""
    report = read(source, **asked) if any(asked.values()) else first
    stem = st.session_state.get(f"{key}_stem")
    if isinstance(report, CheckpointReport) and any(q.name == "stem" and stem not in (None, q.chosen) for q in report.questions):
        return read(source, **asked, stem=stem)
    return report


def _prefix(report: CheckpointReport, key: str) -> str | None:
    """Where the encoder lies, asked only when it was not found."""
    if report.branch is not None:
        return None
    return st.selectbox(
        "Where does the encoder lie?", report.left_prefixes, index=None, key=f"{key}_prefix", accept_new_options=True,
        placeholder="Choose or type a prefix, such as model.visual.",
        help="No known prefix fits. These are the longest ones of tensors that nothing used.",
    )  # fmt: skip


def _answer(question: Question, key: str) -> str | None:
    """One question as a widget; what is usual is filled in."""
    options = list(question.options)
    return st.selectbox(
        LABELS[question.name], options, index=options.index(question.usual) if question.usual in options else None,
        key=f"{key}_{question.name}", persist_state="session", help=question.text,
        format_func=lambda value: PRESETS[value].title if question.name == "normalisation" else value,
        placeholder="To be chosen",
    )  # fmt: skip


def _questions(report: CheckpointReport, key: str, branch: str | None) -> tuple[list[Choice], int]:
    """What is decided about the weights, and the number of RandBit channels."""
    asked = [question for question in report.questions if question.name != "branch"]
    answers = {"branch": branch}
    if asked:
        st.markdown("**What the weights cannot tell**", help="The likely answer is filled in; a wrong one changes the features.")
        with st.grid("auto", min_column_width=220):
            for question in asked:
                follows = f"_{answers.get('stem')}" if question.name in ("padding", "max_pool") else ""
                answers[question.name] = _answer(question, f"{key}{follows}")
    changed = {question.name: answers[question.name] for question in report.questions if answers[question.name] != question.usual}
    decided = choices(report, changed)
    if reasons := [f"{LABELS[name].lower()}: {why}" for name, value, why in decided if value and name not in changed]:
        st.caption(f"Filled in: {'; '.join(reasons)}.")
    readings = bits_options(report)
    return decided, readings.get(answers.get("channels") or "", next(iter(readings.values()), 0))


def _images(report: CheckpointReport, key: str, bits: int) -> dict[str, Any]:
    """The data set and how much of it."""
    fitting = suggest(report)
    names = list(DATA)
    st.markdown("**Which images?**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = st.selectbox(
            "Data set", names, index=names.index(fitting.dataset), format_func=lambda name: _data_label(name), key=f"{key}_data",
            persist_state="session", width=330,
        )  # fmt: skip
        n_test = st.number_input(
            "Test images", 20, N_TEST_MOST, 1000, 500, key=f"{key}_test", persist_state="session", width=150,
            help="Everything is measured on them: a stratified choice.",
        )  # fmt: skip
        n_train = st.number_input(
            "Training images", 20, 60_000, 4000, 1000, key=f"{key}_train", persist_state="session", width=150,
            help="The probes are fitted on them; the encoder is not changed.",
        )  # fmt: skip
    folder = None
    if dataset == "folder":
        folder = st.text_input(
            "Folder with train/<class>/ and test/<class>/",
            key=f"{key}_folder",
            persist_state="session",
            placeholder="/data/birds",
        )
    fitting = suggest(report, dataset, folder)
    return {"dataset": dataset, "data_root": folder or None, "n_train": n_train, "n_test": n_test, **_more(fitting, key, dataset)}


def _more(fitting: Suggestion, key: str, dataset: str) -> dict[str, Any]:
    """Settings that hardly anybody changes, folded."""
    with st.expander("Size, views and seed", icon=":material/tune:"), st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input(
            "Image size, pixels", 8, 512, fitting.image_size, 1, key=f"{key}_{dataset}_{fitting.image_size}_size",
            persist_state="session", width=170, placeholder="as they are",
            help="Empty leaves the images as the data set has them.",
        )  # fmt: skip
        recipe = st.selectbox(
            "Views for alignment", list(RECIPES), index=list(RECIPES).index(fitting.augment), format_func=RECIPES.get,
            key=f"{key}_{dataset}_views", persist_state="session", width=270, help=help_text("augmentation", "alignment"),
        )  # fmt: skip
        seed = st.number_input("Seed", 0, 2**31 - 1, 0, 1, key=f"{key}_seed", persist_state="session", width=120)
    return {"image_size": size, "augment": recipe, "color_strength": fitting.color_strength, "seed": seed}


def _data_label(name: str) -> str:
    here = name in ("mnist-5k", "folder") or pictures.is_here(name)
    return DATA[name].title + ("" if here else " (will be downloaded)")


def _spec(
    source: Source, report: CheckpointReport, weights: dict[str, Any], bits: int, settings: dict[str, Any]
) -> InspectionSpec | None:
    """The settings, checked once more here: limits of widgets are kept by the browser only."""
    try:
        check_channels(report.in_channels, bits)
        side = settings["image_size"] or DATA[settings["dataset"]].side
        if side is not None:
            check_size(report.plan, int(side))
        return InspectionSpec(
            source=source.digest or str(source.path), sha256=report.sha256, name=source.name, bits=bits, **weights, **settings
        )
    except ValidationError as error:
        st.error(literal(explain(error)), icon=":material/error:")
    except ValueError as error:
        st.error(literal(str(error)), icon=":material/error:")
    return None
