"""One experiment on two features that compete: an accuracy for each, their trade-off, what the encoder saw, the claims."""

from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core import provenance, published
from core.figures.contest_story import contest_story, contest_title, rival_title
from core.figures.contests import CONTESTS, Contest, chances
from core.figures.dials import DIAL_AXES
from core.figures.lines import Progress
from core.figures.metrics import METRICS
from core.figures.suppression import suppression
from core.figures.tradeoff import tradeoff
from core.glossary import help_text
from core.studies import StudyState
from core.studies.catalogue import Entry
from pages.parts import address, live, studies
from pages.parts.chart import current_theme, footer, show
from pages.parts.kept import kept, version
from pages.parts.suppression.charts import LEFT, RIGHT, View, citations, clickable, published_control, spread_control
from pages.parts.suppression.claims import claims
from pages.parts.suppression.details import cells_table, making
from pages.parts.suppression.run import run_panel
from pages.parts.suppression.so_far import so_far
from pages.parts.suppression.strip import strip


class Experiment(NamedTuple):
    """What a tab says about its experiment."""

    dial: str
    term: str  # of the glossary
    what: str  # what is varied and why, in two sentences
    method: str
    favourite: str  # study that comes first


EXPERIMENTS = {
    "digits": Experiment(
        "digits",
        "digit_on_image",
        "Nine copies of one MNIST digit lie over each picture, the same in both views. With a single digit image for all "
        "pictures it says nothing; with thousands it nearly names the picture. **Which of the two does the encoder learn?**",
        "A digit is drawn for each picture in every epoch, before the two views are made, from the first N training digits. "
        "The object is probed on pictures with these digits, the digit on test digits that no training picture carried, so its "
        "chance is a tenth for every N. Where the setting 'grey probability' is 1, all views are grey, as colours would be "
        "a third and easier feature. Offsets and pixelwise maximum as in the digits notebook of Chen, Luo, Li 2021.",
        "digits-cifar10",
    ),
    "digit_size": Experiment(
        "digit_size",
        "multi_digits",
        "Two digits share a canvas: one keeps its size, the other grows from run to run. Both views hold both digits. "
        "**Does the encoder still learn the small one?**",
        "Digit tiles are resized to their nominal size and cut to their ink, then placed at random without overlap, anew in "
        'every epoch. Where the setting "digits drawn" is views, each view has places of its own, so that the digits alone '
        "tell canvases apart, not their layout. The class of a canvas is the fixed digit's; a second probe reads the "
        "growing one. After Chen, Luo, Li 2021, whose construction is not public in full.",
        "digit-size-mnist",
    ),
    "color_strength": Experiment(
        "color_strength",
        "augmentation",
        "Two crops of one picture have the same colours, so colours alone can tell pictures apart. Colour jitter takes that "
        "away. **What does the encoder learn instead?**",
        "Colour groups are clusters (k-means, 10) of colour histograms with 4 levels per channel; a linear probe on the frozen "
        "encoder names the group of a test image. What the histogram alone says about the class is measured with every run. "
        "After the study of colour distortion in Chen et al. 2020, SimCLR.",
        "color-cifar10",
    ),
}


def pair(dial: str) -> None:
    """Draw the tab of an experiment.

    Args:
        dial: Key of EXPERIMENTS.
    """
    experiment, contest = EXPERIMENTS[dial], CONTESTS[dial]
    st.markdown(experiment.what, help=help_text(experiment.term))
    found = studies.entries(lambda entry: entry.varies(dial))
    if not found:
        st.warning("No study of this experiment was found. The definitions lie in data/studies.", icon=":material/search_off:")
        return
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        options = dict(help=studies.ORIGIN_HELP, width=studies.TITLE_WIDTH)
        entry = studies.choose(found, "sup_study", favourite=experiment.favourite, **options)
    runs = studies.table(entry)
    address.show_notices()
    state = live.watch(entry, "sup")
    finished = bool((runs["status"] == "finished").any())
    if finished:
        _charts(entry, runs, state, contest, controls)
        run_panel(entry, runs, dial)
        if entry.origin == "results":
            with st.expander("Run this study here", icon=":material/play_arrow:"):
                live.run_button(entry, "sup_again", "Run here", help="Runs in its own process, also when this page is closed.")
        claims(entry, runs, dial)
    else:
        if entry.definition is not None and entry.definition.question:
            st.markdown(f"**The study asks:** {entry.definition.question}")
        so_far(entry, state, dial, "sup")
    strip(entry, dial, folded=finished)
    if finished:
        cells_table(entry, runs, contest.first, dial)
    making(entry, runs, experiment.method)


def _charts(entry: Entry, runs: pd.DataFrame, state: StudyState, contest: Contest, controls) -> None:
    """Both accuracies side by side, the sentence, and the trade-off plane."""
    with controls:
        spread = spread_control()
        zoom = st.toggle("Zoom to data", key="sup_zoom", bind="query-params", help="Accuracy axes show 0 to 1 otherwise.")
    progress = Progress(state.ended, max(state.total, studies.planned(entry)))
    finished = runs[runs["status"] == "finished"]
    view = View(entry, runs, finished, contest.dial, spread, progress, f"{version(entry)} {len(runs)}")
    chance = chances(contest, finished)
    theirs = published.beside(contest.dial, contest.first)
    if len(theirs):
        with controls:
            theirs = theirs if published_control() else theirs.iloc[:0]
    said = st.container()
    grid = st.grid(2, min_column_width=460)
    with grid.cell():
        title = contest_title(contest, view.cells(contest.first), chance[0])
        _curve(view, contest.first, title, chance[0], zoom, LEFT, RIGHT, theirs)
    with grid.cell():
        _curve(view, contest.second, rival_title(contest), chance[1], zoom, RIGHT, LEFT)
    first, second = view.cells(contest.first), view.cells(contest.second)
    said.markdown(contest_story(contest, first, second) or "Not enough has been measured yet to say what suppressed what.")
    if contest.dial == "color_strength":
        _class_from_colors(finished)
    _plane(view, contest, chance, zoom)
    footer(
        kept(lambda: provenance.line(finished, entry.name), "provenance", view.stamp),
        name=entry.name,
        key="sup",
        data=lambda: runs,
        settings=entry.definition.to_toml if entry.definition else None,
        entry=entry,
    )
    citations(theirs)


def _curve(
    view: View,
    metric: str,
    title: str,
    chance: float | None,
    zoom: bool,
    key: str,
    twin: str,
    theirs: pd.DataFrame | None = None,
) -> None:
    def make(**how) -> go.Figure:
        what = dict(metric=metric, dial=view.dial, title=title, chance=chance, zoom=zoom, published=theirs)
        return suppression(view.cells(metric), **what, **how)

    alt = f"{METRICS[metric].axis} against {DIAL_AXES[view.dial].lower()}, one line per temperature or objective."
    clickable(view, view.chart(key, make, metric, zoom, theirs is not None and len(theirs) > 0), key, twin, alt)


def _plane(view: View, contest: Contest, chance: tuple[float | None, float | None], zoom: bool) -> None:
    theme = current_theme()
    verb = "Do" if contest.second_name.endswith("s") else "Does"
    title = f"{verb} the {contest.second_name} win what the {contest.first_name} loses?"

    def make() -> go.Figure:
        cells = (view.cells(contest.first), view.cells(contest.second))
        marks = dict(metrics=(contest.first, contest.second), dial=contest.dial, chance=chance, progress=view.progress, zoom=zoom)
        return tradeoff(*cells, theme, title=title, subtitle=view.subtitle, **marks)

    figure = kept(make, "tradeoff", view.stamp, contest.dial, *view.progress, view.spread, zoom, theme.name)
    alt = f"{METRICS[contest.first].axis} against {METRICS[contest.second].axis}, a path along the dial for each line."
    show(figure, key="sup_plane", alt=alt, save=view.save("sup_plane"))


def _class_from_colors(finished: pd.DataFrame) -> None:
    alone = pd.to_numeric(finished["color_class_accuracy"], errors="coerce").mean()
    if pd.notna(alone):
        st.caption(f"From its colour histogram alone, the class of a test image is read with accuracy {alone:.3f}.")
