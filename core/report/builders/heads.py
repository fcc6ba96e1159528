"""Priors and heads in reports: accuracy of several losses against the depth of the projection head."""

from typing import Literal

import pandas as pd
from pydantic import Field

from core.figures.head_depths import head_depths as draw_depths
from core.figures.series import describe
from core.figures.theme import Theme
from core.report.drawing import CannotDraw, Drawing, Options, Source, chance_of, drawing, finished
from core.studies.catalogue import Entry
from core.studies.heads import fold_heads, judge_heads

TITLES = {
    "vanish": "A deeper head makes the losses equal",
    "shrink": "A deeper head brings the losses closer, but not together",
    "unclear": "A deeper head does not clearly bring the losses together",
    "grow": "A deeper head drives the losses apart",
}
QUESTION = "Do the losses differ, and does a deeper head change that?"
PRIORS = ("swd_hypersphere", "swd_hypercube", "swd_normal")  # losses that are run at several weights


class HeadsOptions(Options):
    """Choices of `head_depths`."""

    metric: Literal["linear_accuracy", "knn_accuracy", "online_accuracy"] = Field("linear_accuracy", title="Metric")
    lam: float = Field(0.0, title="Lambda of the SWD losses; 0 = the smallest", ge=0)
    gcl: float = Field(0.0, title="Lambda of GCL; 0 = the largest", ge=0)
    zoom: bool = Field(True, title="Zoom to data")


def compares_heads(entry: Entry) -> bool:
    """Whether a study varies the depth of the head over several losses."""
    return entry.varies("head_layers") and len({run.objective for run in entry.definition.expand()}) > 1


def head_depths(source: Source, options: HeadsOptions, theme: Theme) -> Drawing:
    """Grouped dots: one group per depth, one dot per loss, one panel per length of training."""
    done = finished(source.entry)
    swd, swd_lam = _at_weight(done, PRIORS, "lam", options.lam, usual=0)
    wanted, gcl_lam = _at_weight(swd, ("gcl",), "gcl", options.gcl, usual=-1)
    cells = fold_heads(wanted, options.metric)
    claims = [judge_heads(cells, int(epochs)) for epochs in sorted(cells["epochs"].unique())]
    claims = [claim for claim in claims if claim is not None]
    parts = [describe(wanted, "mean ± sd")]
    parts += [", ".join(f"{name} at lambda {lam:g}" for name, lam in (("SWD", swd_lam), ("GCL", gcl_lam)) if lam is not None)]
    parts += ["axis fitted to the data" if options.zoom else ""]
    figure = draw_depths(
        cells,
        theme,
        metric=options.metric,
        zoom=options.zoom,
        chance=chance_of(done),
        title=TITLES[claims[-1].verdict] if claims else QUESTION,
        subtitle=" · ".join(filter(None, parts)),
    )
    alt = "Accuracy against the layers of the projection head, grouped dots for the losses, a panel per length of training."
    return drawing(source, figure, wanted, alt, cells.drop(columns=["values", "seeds", "run_ids"]))


def _at_weight(
    runs: pd.DataFrame, losses: tuple[str, ...], option: str, asked: float, usual: int
) -> tuple[pd.DataFrame, float | None]:
    """Runs at one weight of some losses, and that weight; None where there are no such losses."""
    these = runs["objective"].isin(losses)
    weights = sorted(float(weight) for weight in pd.to_numeric(runs.loc[these, "lam"]).dropna().unique())
    if not weights:
        return runs, None
    weight = asked or weights[usual]
    if weight not in weights:
        raise CannotDraw(f"{option}: the study has {', '.join(f'{known:g}' for known in weights)}, got {weight:g}")
    return runs[~these | (pd.to_numeric(runs["lam"]) == weight)], weight
