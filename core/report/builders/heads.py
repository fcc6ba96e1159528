"""Priors and heads in reports: accuracy of several losses against the depth of the projection head."""

from collections.abc import Collection
from typing import Literal

import pandas as pd
from pydantic import Field

from core.figures.head_depths import head_depths as draw_depths
from core.figures.head_depths import takeaway
from core.figures.series import describe
from core.figures.theme import Theme
from core.geometry.priors import PRIOR_OF
from core.report.drawing import CannotDraw, Drawing, Options, Source, chance_of, drawing, finished
from core.studies.catalogue import Entry
from core.studies.heads import at_weight, claims_of, fold_heads, measured_weights, weights_text

GCL = ("gcl",)


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
    swd = _weight(done, PRIOR_OF, "lam", options.lam, usual=0)
    gcl = _weight(done, GCL, "gcl", options.gcl, usual=-1)
    wanted = at_weight(at_weight(done, PRIOR_OF, swd), GCL, gcl)
    cells = fold_heads(wanted, options.metric)
    parts = [describe(wanted, "mean ± sd"), weights_text(swd, gcl)]
    parts += ["axis fitted to the data" if options.zoom else ""]
    figure = draw_depths(
        cells,
        theme,
        metric=options.metric,
        zoom=options.zoom,
        chance=chance_of(done),
        title=takeaway(claims_of(cells)),
        subtitle=" · ".join(filter(None, parts)),
    )
    alt = "Accuracy against the layers of the projection head, grouped dots for the losses, a panel per length of training."
    return drawing(source, figure, wanted, alt, cells.drop(columns=["values", "seeds", "run_ids"]))


def _weight(runs: pd.DataFrame, losses: Collection[str], option: str, asked: float, usual: int) -> float | None:
    """The weight that was asked for, or the usual one; None where there are no such losses."""
    weights = measured_weights(runs, losses)
    if not weights:
        return None
    weight = asked or weights[usual]
    if weight not in weights:
        raise CannotDraw(f"{option}: the study has {', '.join(f'{known:g}' for known in weights)}, got {weight:g}")
    return weight
