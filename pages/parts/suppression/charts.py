"""The two charts of the suppression page: what is suppressed, and what is kept."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import provenance, published
from core.figures.events import point_ids
from core.figures.lines import SPREAD_CHOICES, SPREAD_NAMES, Progress, Spread
from core.figures.loss_floor import loss_floor
from core.figures.metrics import METRICS
from core.figures.series import describe, fold_seeds
from core.figures.story import loss_title, story, takeaway
from core.figures.suppression import suppression
from core.glossary import help_text
from core.studies import StudyState
from core.studies.catalogue import Entry
from pages.parts import address, studies
from pages.parts.chart import current_theme, footer, show
from pages.parts.kept import kept, version
from pages.parts.save import Save, of_runs

ACCURACIES = {METRICS[key].name: key for key in ("linear_accuracy", "knn_accuracy", "online_accuracy")}
KEPT = {"loss and floor": "loss", "bits known": "bits_known", "accuracy per bit": "bit_accuracy"}
SPREADS = {name: key for key, name in SPREAD_CHOICES.items()}
LEFT, RIGHT = "sup_left", "sup_right"  # keys of the charts
SAVED = {LEFT: "suppressed", RIGHT: "kept", "sup_plane": "trade-off"}  # in file names
COIN = 0.5  # accuracy of guessing one bit


class View(NamedTuple):
    """What both charts show."""

    entry: Entry
    runs: pd.DataFrame
    finished: pd.DataFrame
    dial: str
    spread: Spread
    progress: Progress
    stamp: str  # changes with the study's results

    def cells(self, metric: str) -> pd.DataFrame:
        """The points of a metric, seeds folded."""
        return kept(lambda: fold_seeds(self.runs, metric, self.dial), "cells", self.stamp, metric, self.dial)

    def published(self, metric: str) -> pd.DataFrame:
        """Numbers of others for the same settings."""
        return kept(lambda: published.counterparts(self.finished, metric), "published", self.stamp, metric)

    @property
    def chance(self) -> float:
        """Accuracy of guessing the class."""
        return 1 / max(int(self.finished["classes"].max()), 1)

    @property
    def subtitle(self) -> str:
        """Data set, encoder, sizes and seeds, and what the bands are."""
        return describe(self.finished, SPREAD_NAMES[self.spread] if self.spread != "seeds" else "")

    def save(self, key: str) -> Save:
        """What the menu under one of the charts saves."""
        return of_runs(self.entry, self.finished, f"{self.entry.name}-{SAVED[key]}")

    def chart(self, key: str, make: Callable[..., go.Figure], *choices: str | float | bool) -> go.Figure:
        """A chart, built again only when the study, the choices, the theme or the drawn selection change."""
        theme = current_theme()
        about = (self.stamp, self.dial, self.spread, *self.progress, theme.name, *choices)
        selected = _settled(key, about)
        marks = dict(spread=self.spread, progress=self.progress, selected=selected)
        return kept(lambda: make(theme=theme, subtitle=self.subtitle, **marks), key, *about, selected)


def charts(entry: Entry, runs: pd.DataFrame, state: StudyState, dial: str, controls: DeltaGenerator) -> None:
    """Draw both charts with their selectors, the sentence that says what suppressed what, and the footer.

    Args:
        entry: The study.
        runs: Its runs.
        state: How it is doing; an unfinished study is drawn as such.
        dial: RunSpec field on the x axis.
        controls: Row of controls above the charts.
    """
    with controls:
        spread = spread_control()
        zoom = st.toggle("Zoom to data", key="sup_zoom", bind="query-params", help="The accuracy axis shows 0 to 1 otherwise.")
    progress = Progress(state.ended, max(state.total, studies.planned(entry)))
    finished = runs[runs["status"] == "finished"]
    view = View(entry, runs, finished, dial, spread, progress, f"{version(entry)} {len(runs)}")
    theirs = {metric: view.published(metric) for metric in ACCURACIES.values()}
    beside = False
    if any(len(rows) for rows in theirs.values()):
        with controls:
            beside = published_control()
    said = st.container()
    grid = st.grid(2, min_column_width=460)
    with grid.cell():
        metric = _suppressed(view, theirs, zoom, beside)
    with grid.cell():
        _kept_bits(view)
    cells, known = view.cells(metric), view.cells("bits_known")
    told = kept(lambda: story(cells, metric, view.chance, known), "story", view.stamp, metric, dial)
    said.markdown(told or "Not enough has been measured yet to say what suppressed what.")
    footer(
        kept(lambda: provenance.line(finished, entry.name), "provenance", view.stamp),
        name=entry.name,
        key="sup",
        data=lambda: runs,
        settings=entry.definition.to_toml if entry.definition else None,
        entry=entry,
    )
    if beside:
        citations(theirs[metric])


def _suppressed(view: View, theirs: dict[str, pd.DataFrame], zoom: bool, beside: bool) -> str:
    """The left chart: an accuracy. Returns which."""
    usual = next((name for name, key in ACCURACIES.items() if len(theirs[key])), "linear probe")
    terms = (*ACCURACIES.values(), "chance")
    metric = ACCURACIES[_choice("sup_metric", "What is suppressed: the class", list(ACCURACIES), usual, *terms)]
    diamonds = theirs[metric] if beside else None

    def make(**how) -> go.Figure:
        cells, dataset = view.cells(metric), view.finished["dataset"].iloc[0]
        title = takeaway(cells, metric, dataset, view.chance, view.dial)
        what = dict(metric=metric, dial=view.dial, title=title, chance=view.chance, published=diamonds, zoom=zoom)
        return suppression(cells, **what, **how)

    alt = "Test accuracy against the number of added bits, one line per temperature, with supervised and untrained lines."
    clickable(view, view.chart(LEFT, make, metric, zoom, beside), LEFT, RIGHT, alt)
    return metric


def _kept_bits(view: View) -> None:
    """The right chart: the loss beside its floor, or how much of the code the encoder keeps."""
    terms = ("floor", "saturation", "bits_known", "bit_accuracy")
    metric = KEPT[_choice("sup_kept", "What is kept: the bits", list(KEPT), "loss and floor", *terms)]

    def make(**how) -> go.Figure:
        cells = view.cells(metric)
        if metric == "loss":
            return loss_floor(cells, title=loss_title(cells), **how)
        title = "How much of the code the encoder keeps"
        return suppression(cells, metric=metric, dial=view.dial, title=title, chance=COIN, **how)

    alt = "Loss with its exact floor, or how many of the added bits the encoder keeps, against the number of added bits."
    clickable(view, view.chart(RIGHT, make, metric), RIGHT, LEFT, alt)


def published_control() -> bool:
    """Whether numbers of others are drawn; the choice stands in the address."""
    return st.toggle(
        "Published values", value=True, key="sup_published", bind="query-params", help="Hollow diamonds: numbers of others."
    )


def citations(rows: pd.DataFrame) -> None:
    """Say whose numbers are drawn, how far they can be trusted, and what is not the same in our runs."""
    if rows.empty:
        return
    named, known = rows.drop_duplicates("source"), published.sources()
    st.caption("◇ " + " · ".join(f"{row.citation} ({_trust(row)})" for row in named.itertuples()))
    for name in named["source"]:
        if known[name].differs:
            st.caption(known[name].differs)


def _trust(row) -> str:
    runs = "" if pd.isna(row.seeds) else "one run a value" if row.seeds == 1 else f"{row.seeds:g} runs a value"
    return ", ".join(filter(None, (runs, published.GRADES[row.grade])))


def spread_control() -> Spread:
    """How seeds are shown; the choice stands in the address."""
    address.check("sup_spread", list(SPREADS), SPREAD_CHOICES["sd"])
    names = list(SPREADS)
    chosen = st.segmented_control(
        "Seeds", names, default=names[0], required=True, key="sup_spread", bind="query-params", help=help_text("spread")
    )
    return SPREADS.get(chosen, "sd")


def _choice(key: str, label: str, names: list[str], usual: str, *terms: str) -> str:
    """A segmented control in the address; an unknown value there falls back to the usual one, with a notice."""
    address.check(key, names, usual)
    address.show_notices()
    help_mark = help_text(*terms)
    return st.segmented_control(label, names, default=usual, required=True, key=key, bind="query-params", help=help_mark)


def _settled(chart: str, signature: tuple) -> str | None:
    """The run to draw as selected.

    Plotly shows a click by itself. Drawing it into the figure as well would make another chart of it, without zoom, so a
    figure keeps the selection it was born with until something else changes it.
    """
    kept = st.session_state.get(f"{chart}_settled")
    if kept is None or kept[0] != signature:
        st.session_state[f"{chart}_settled"] = kept = (signature, address.recall("run"))
    return kept[1]


def clickable(view: View, figure: go.Figure, key: str, twin: str, alt: str) -> None:
    """A chart whose points open their run; its twin is drawn anew so that it shows the same selection."""

    def clicked() -> None:
        ids, drawn = point_ids(st.session_state[key]), st.session_state.get(f"{key}_settled")
        if ids:
            address.remember("run", ids[0])
            st.session_state[f"{key}_clicked"] = drawn
        elif st.session_state.get(f"{key}_clicked") == drawn:
            address.forget("run")
        else:  # nobody took the selection back: the chart that had it was replaced, as when a run ended
            return
        st.session_state.pop(f"{twin}_settled", None)

    show(figure, key=key, alt=alt, save=view.save(key), on_select=clicked, selection_mode="points")
