"""Accuracy by loss and depth, and the verdict on the claim."""

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core import provenance
from core.figures.events import point_ids
from core.figures.head_depths import head_depths, takeaway
from core.figures.head_gaps import head_gaps
from core.figures.metrics import METRICS
from core.figures.series import describe
from core.figures.theme import OBJECTIVE_NAMES
from core.losses.conversion import convert
from core.studies.catalogue import Entry
from core.studies.heads import HeadClaim, claim_sentence, claims_of
from pages.parts import address
from pages.parts.chart import current_theme, footer, show
from pages.parts.kept import kept
from pages.parts.save import Save, of_runs
from pages.parts.slip import slip

DOTS = "pri_dots"
LEFT = {  # what is said of the verdict without the worst loss
    "vanish": "the differences vanish",
    "shrink": "they shrink but do not vanish",
    "unclear": "the interval includes no change",
    "grow": "they grow",
}


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
        lam_text: Which weights the losses have.
        stamp: Changes with the runs.
    """
    finished = runs[runs["status"] == "finished"]
    classes = finished["classes"].max() if len(finished) else 0
    title = takeaway(claims)
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


def verdicts(cells: pd.DataFrame, claims: Sequence[HeadClaim], metric: str) -> str:
    """One sentence per length of training, and what is left without a loss that is worst throughout."""
    if not claims:
        return "The claim cannot be judged yet: it needs at least two losses at two depths."
    lines = [claim_sentence(claim, METRICS[metric].name + " accuracy", OBJECTIVE_NAMES) for claim in claims]
    lines.append(without_worst(cells, claims))
    return "\n".join(f"- {line}" for line in lines if line)


def without_worst(cells: pd.DataFrame, claims: Sequence[HeadClaim]) -> str:
    """What is left of the gaps without the loss that is worst throughout, so that one bad setting is not taken for a rule.

    Args:
        cells: The cells that the claims were judged from.
        claims: From `claims_of`.

    Returns:
        One sentence; empty unless at least three losses were measured and one of them is worst at the shallowest and the
        deepest head after every length of training.
    """
    ends = [gap for claim in claims for gap in (claim.gaps[0], claim.gaps[-1])]
    worst = {gap.worst for gap in ends}
    if len(worst) != 1 or min(gap.losses for gap in ends) < 3:
        return ""
    (name,) = worst
    rest = claims_of(cells[cells["objective"] != name])
    gaps = "; ".join(
        f"after {claim.epochs} epochs from {100 * claim.gaps[0].gap:.1f} to {100 * claim.gaps[-1].gap:.1f} points"
        + (f" ({LEFT[claim.verdict]})" if pd.notna(claim.low) else "")
        for claim in rest
    )
    return f"Without {OBJECTIVE_NAMES[name]}, worst in all of these, the gap goes {gaps}."


def gcl_reading(runs: pd.DataFrame) -> str:
    """What the least measured weight of GCL would be if the authors' notebook was meant; empty where that cannot be said."""
    gcl = runs[(runs["objective"] == "gcl") & (runs["convention"] == "standard")]
    if gcl.empty or gcl["tau"].nunique() > 1 or gcl["head_dim"].nunique() > 1:
        return ""
    measured = sorted(float(lam) for lam in gcl["lam"].unique())
    dim = int(gcl["head_dim"].iloc[0])
    read = convert(measured[0], "log_sum_exp", "notebook", "standard", dim=dim, rows=2).lam  # rows do not matter here
    said = (
        f"GCL has tau {gcl['tau'].iloc[0]:g}. Its published lambda is {measured[0]:g} on our scale if the paper's formula was "
        f"run, and {read:g} if the authors' notebook was; which is not known."
    )
    if not any(math.isclose(read, lam, rel_tol=1e-6) for lam in measured):
        return f"{said} Only {measured[0]:g} is measured; the *Tau-lambda map* shows how much the weight matters."
    return f"{said} Both are measured: choose above."


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
