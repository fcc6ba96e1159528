"""Three measured results in small, each leading to its page."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.figures.class_similarity import class_similarity_pair, within
from core.figures.lines import Progress
from core.figures.loss_floor import loss_floor
from core.figures.metrics import DATASET_NAMES
from core.figures.series import fold_seeds
from core.figures.story import loss_title, takeaway
from core.figures.suppression import suppression
from core.glossary import help_text
from core.studies.catalogue import Entry
from pages.parts import studies
from pages.parts.chart import STILL, current_theme, show
from pages.parts.kept import kept, version

FAVOURITE = "randbit-mnist-5k"  # shown when it is there; else any study with a bits dial
HEIGHT = 276  # px, the same for all three
PAGE = "pages/experiments/feature_suppression.py"


class Pair(NamedTuple):
    """Two embeddings of the same settings, without bits and with many."""

    before: dict[str, np.ndarray]
    after: dict[str, np.ndarray]
    run_id: str  # of the one with bits
    bits: int


def thumbnails(found: Sequence[Entry]) -> None:
    """Draw the row of cards; without a measured study it says what will be here.

    Args:
        found: Studies with a bits dial, shipped ones first.
    """
    measured = [(entry, runs) for entry in found if len(runs := _finished(entry))]
    if not measured:
        st.info(
            "Measured curves will be here: accuracy against shared bits, the loss against its floor, and the embedding before "
            "and after. No results are shipped with this copy, so run the small study below; it takes a few minutes.",
            icon=":material/insights:",
        )
        return
    entry, runs = next(((entry, runs) for entry, runs in measured if entry.name == FAVOURITE), measured[0])
    progress = Progress(len(runs), studies.planned(entry))
    with st.grid(3, min_column_width=300):
        _accuracy(entry, runs, progress)
        _loss(entry, runs, progress)
        _before_and_after(entry, runs)
    st.caption(_caption(entry, runs, progress))


def _accuracy(entry: Entry, runs: pd.DataFrame, progress: Progress) -> None:
    chance, theme = 1 / max(int(runs["classes"].max()), 1), current_theme()

    def make() -> tuple[str, go.Figure]:
        cells = fold_seeds(runs, "linear_accuracy", "bits")
        said = takeaway(cells, "linear_accuracy", runs["dataset"].iloc[0], chance)
        return said, suppression(cells, theme, chance=chance, progress=progress, compact=True, height=HEIGHT)

    title, figure = kept(make, "home_accuracy", version(entry), *progress, theme.name)
    with st.container(border=True, height="stretch"):
        st.markdown(f"**{title}**", help=help_text("randbit", "untrained", "chance"))
        show(
            figure,
            key="home_accuracy",
            alt="Linear accuracy against the number of shared bits, one line per temperature.",
            config=STILL,
            save=None,
        )
        _link("Accuracy against shared bits", entry)


def _loss(entry: Entry, runs: pd.DataFrame, progress: Progress) -> None:
    theme = current_theme()

    def make() -> tuple[str, go.Figure]:
        losses = fold_seeds(runs, "loss", "bits")
        return loss_title(losses), loss_floor(losses, theme, progress=progress, compact=True, height=HEIGHT)

    title, figure = kept(make, "home_loss", version(entry), *progress, theme.name)
    with st.container(border=True, height="stretch"):
        st.markdown(f"**{title}**", help=help_text("loss", "floor"))
        show(
            figure,
            key="home_loss",
            alt="Final loss against the number of shared bits, with the exact floor of an encoder that keeps the bits only.",
            config=STILL,
            save=None,
        )
        _link("Loss and its floor", entry)


def _before_and_after(entry: Entry, runs: pd.DataFrame) -> None:
    with st.container(border=True, height="stretch"):
        pair, theme = kept(lambda: _pair(entry, runs), "home_pair", version(entry)), current_theme()
        if pair is None:
            st.markdown("**Similarity of the classes**")
            with st.container(height=HEIGHT, border=False):  # as tall as the charts beside it
                st.info("No embeddings are stored for this study.", icon=":material/scatter_plot:")
            return
        start, end = (within(arrays["z"], arrays["labels"]) for arrays in (pair.before, pair.after))
        st.markdown(f"**Similarity within a class: {start:.2f} → {abs(end):.2f}**", help=help_text("tolerance"))
        names = ("no bits", f"{pair.bits} bits")
        figure = kept(
            lambda: class_similarity_pair(pair.before, pair.after, names, theme, height=HEIGHT),
            "home_similarity",
            version(entry),
            theme.name,
        )
        show(
            figure,
            key="home_similarity",
            alt="Mean cosine similarity between the classes in the embedding, without bits and with many.",
            config=STILL,
            save=None,
        )
        _link("Embedding of that run", entry, run=pair.run_id)


def _pair(entry: Entry, runs: pd.DataFrame) -> Pair | None:
    """The first contrastive line that has an embedding without bits and one with many; the more bits the better."""
    kept = runs[(runs["seed"] == runs["seed"].min()) & runs["objective"].isin(["nt_xent", "cross_view"])]
    for _, line in kept.groupby(["objective", "tau"], sort=True):
        first, last = line[line["bits"] == 0], line[line["bits"] > 0].sort_values("bits")
        if first.empty or last.empty:
            continue
        before = entry.store.embedding(entry.name, first["run_id"].iloc[0])
        after = entry.store.embedding(entry.name, last["run_id"].iloc[-1])
        if before is not None and after is not None:
            end = last.iloc[-1]
            return Pair(before, after, end["run_id"], int(end["bits"]))
    return None


def _link(text: str, entry: Entry, **more: str) -> None:
    address = {"study": entry.id, **more}
    st.page_link(PAGE, label=text, icon=":material/arrow_forward:", icon_position="right", query_params=address)


def _finished(entry: Entry) -> pd.DataFrame:
    runs = studies.table(entry)
    return runs[runs["status"] == "finished"]


def _caption(entry: Entry, runs: pd.DataFrame, progress: Progress) -> str:
    counted = f"{progress.done} of {progress.total} runs" if progress.live else f"{len(runs)} runs"
    data = DATASET_NAMES.get(runs["dataset"].iloc[0], runs["dataset"].iloc[0])
    versions = (runs["versions"].iloc[-1] or {}) if len(runs) else {}
    code = versions.get("contrastive_lens", "")
    day = str(runs["finished_at"].max())[:10]
    where = "measured by this code" if entry.origin == "results" else "your own runs"
    return " · ".join(part for part in (f"{entry.title}: {where}", data, counted, code and f"version {code}", day) if part)
