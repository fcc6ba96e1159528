"""Accuracy by loss and depth, and the verdict on the claim."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core import provenance
from core.figures.events import point_ids
from core.figures.head_depths import head_depths
from core.figures.head_gaps import head_gaps
from core.figures.metrics import METRICS
from core.figures.series import describe
from core.figures.theme import OBJECTIVE_NAMES
from core.studies.catalogue import Entry
from core.studies.heads import HeadClaim, claim_sentence, judge_heads
from pages.parts import address
from pages.parts.chart import current_theme, footer, show
from pages.parts.kept import kept
from pages.parts.save import Save, of_runs
from pages.parts.slip import slip

DOTS = "pri_dots"
TITLES = {
    "vanish": "A deeper head makes the losses equal",
    "shrink": "A deeper head brings the losses closer, but not together",
    "unclear": "A deeper head does not clearly bring the losses together",
    "grow": "A deeper head drives the losses apart",
}


def claims_of(cells: pd.DataFrame) -> list[HeadClaim]:
    """The verdict at each length of training that can be judged."""
    found = (judge_heads(cells, int(epochs)) for epochs in sorted(cells["epochs"].unique()))
    return [claim for claim in found if claim is not None]


def dots(
    entry: Entry,
    runs: pd.DataFrame,
    cells: pd.DataFrame,
    claims: Sequence[HeadClaim],
    metric: str,
    *,
    zoom: bool,
    lam_text: str,
    stamp: str,
) -> None:
    """The grouped dots; a click on a dot shows the distribution that its loss reached.

    Args:
        entry: The study.
        runs: The runs that are shown.
        cells: The same, folded.
        claims: From `claims_of`.
        metric: RunResult field.
        zoom: Fit the axis to the data.
        lam_text: Which weight the sliced Wasserstein losses have.
        stamp: Changes with the runs.
    """
    finished = runs[runs["status"] == "finished"]
    classes = finished["classes"].max() if len(finished) else 0
    title = TITLES[claims[-1].verdict] if claims else "Do the losses differ, and does a deeper head change that?"
    theme, chosen = current_theme(), address.recall("run")
    figure = kept(
        lambda: head_depths(
            cells,
            theme,
            metric=metric,
            selected=chosen,
            zoom=zoom,
            chance=1 / classes if classes else None,
            title=title,
            subtitle=" · ".join(
                filter(None, [describe(finished, "mean ± sd"), lam_text, "axis fitted to the data" if zoom else "", _lost(cells)])
            ),
        ),
        "head depths",
        stamp,
        metric,
        zoom,
        lam_text,
        chosen,
        theme.name,
    )
    alt = "Accuracy against the layers of the projection head, grouped dots for five losses, a panel per length of training."
    save = Save(
        name=entry.name,
        provenance=provenance.line(finished, entry.name),
        data=lambda: cells.drop(columns=["values"]),
        settings=entry.definition.to_toml,
        study=entry.id,
    )
    show(figure, key=DOTS, alt=alt, save=save, on_select=_clicked, selection_mode="points")
    slip("linear_heads", "the first place in each group is the linear head, the others are not.")


def verdicts(claims: Sequence[HeadClaim], metric: str) -> str:
    """One sentence per length of training."""
    if not claims:
        return "The claim cannot be judged yet: it needs at least two losses at two depths."
    return "\n".join(f"- {claim_sentence(claim, METRICS[metric].name + ' accuracy', OBJECTIVE_NAMES)}" for claim in claims)


def gaps(entry: Entry, runs: pd.DataFrame, claims: Sequence[HeadClaim], metric: str, lam_text: str, stamp: str) -> None:
    """The gap at each depth."""
    if claims:
        theme = current_theme()
        title = "How far the best and the worst loss lie apart"
        show(
            kept(lambda: head_gaps(claims, theme, title=title), "head gaps", stamp, metric, lam_text, theme.name),
            key="pri_gaps",
            alt="Gap between the best and the worst loss against the layers of the head, with intervals.",
            save=of_runs(entry, runs),
        )


def heads_footer(entry: Entry, runs: pd.DataFrame) -> None:
    """Provenance, data and settings."""
    finished = runs[runs["status"] == "finished"]
    footer(
        provenance.line(finished, entry.name),
        name=entry.name,
        key="pri",
        data=lambda: runs,
        settings=entry.definition.to_toml if entry.definition else None,
        entry=entry,
    )


def _clicked() -> None:
    ids = point_ids(st.session_state[DOTS])
    if ids:
        address.remember("run", ids[0])


def _lost(cells: pd.DataFrame) -> str:
    words = [f"{int(cells[kind].sum())} runs {kind}" for kind in ("diverged", "failed") if cells[kind].sum()]
    return ", ".join(words)
