"""Feature suppression: a metric against the amount of an easy shared feature, one line per temperature or objective."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures import lines
from core.figures.dials import DIAL_AXES, places
from core.figures.lines import COMPACT_HEIGHT, Label, Progress, Spread
from core.figures.metrics import METRICS
from core.figures.theme import HEIGHT, Theme, style


def suppression(
    cells: pd.DataFrame,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    dial: str = "bits",
    title: str = "",
    subtitle: str = "",
    spread: Spread = "sd",
    chance: float | None = None,
    published: pd.DataFrame | None = None,
    in_progress: pd.DataFrame | None = None,
    progress: Progress | None = None,
    selected: str | None = None,
    zoom: bool = False,
    compact: bool = False,
    height: int | None = None,
) -> go.Figure:
    """Draw a metric against a dial, seeds folded.

    Args:
        cells: From `series.fold_seeds`.
        theme: Colours.
        metric: RunResult field that the cells hold.
        dial: RunSpec field on the x axis; its tested values become the ticks.
        title: Takeaway or question.
        subtitle: Data set, encoder, sizes, seeds.
        spread: Band of one standard deviation, band from lowest to highest, or every run as a small point.
        chance: Accuracy of guessing; drawn when given.
        published: Rows of `core.published` with the dial, tau or objective, value and label; drawn as hollow diamonds on dashed
            lines.
        in_progress: Rows of `Store.table`; runs that are still training are drawn as rings.
        progress: Runs done and planned; an unfinished study is drawn half opaque and dotted.
        selected: A run id; its point is drawn as selected.
        zoom: Fit the y axis to the data instead of 0 to 1, and say so.
        compact: A thumbnail: no titles, small marks.
        height: Pixels; None = as usual for its kind.

    Returns:
        The figure. Each point's `customdata` is the run id of its first seed, or of the run itself.
    """
    fig = go.Figure()
    shown = None if published is None or published.empty or compact else published
    marks = dict(spread=spread, progress=progress, selected=selected, compact=compact)
    labels = lines.add_lines(fig, cells, theme, metric, dial, **marks)
    if shown is not None:
        lines.add_published(fig, shown, metric, dial)
    if in_progress is not None:
        lines.add_in_progress(fig, in_progress, cells, metric, dial)
    tested = [*cells["x"], *(() if shown is None else shown[dial])]
    details = " · ".join(filter(None, (subtitle, "zoomed to the data" if zoom else "")))
    style(
        fig,
        theme,
        title="" if compact else title,
        subtitle="" if compact else lines.notes(cells, details, progress, shown),
        height=height or (COMPACT_HEIGHT if compact else HEIGHT),
    )
    lines.dial_axis(fig, tested, DIAL_AXES.get(dial, dial), compact, dial)
    _value_axis(fig, metric, zoom, compact)
    if labels and metric == "bits_known":
        labels.append(_add_all_bits(fig, theme, max(tested)))
    elif labels and chance is not None and METRICS[metric].is_accuracy and _within(fig, chance):
        fig.add_hline(y=chance, line=dict(color=theme.theory, width=1), layer="below")
        labels.append(Label(chance, "chance", theme.theory))
    lines.end_labels(fig, labels, float(places(dial, [max(tested, default=1.0)])[0]), compact)
    lines.place_ring_names(fig)
    return fig.update_layout(hovermode="closest", dragmode=False if compact else "zoom")


def _within(fig: go.Figure, value: float) -> bool:
    """Whether the y axis shows a value: zoomed to the data, it may not, and a name at its end would stand for another height."""
    low, high = fig.layout.yaxis.range
    return low <= value <= high


def _value_axis(fig: go.Figure, metric: str, zoom: bool, compact: bool) -> None:
    fig.update_yaxes(title_text="" if compact else METRICS[metric].axis)
    values = lines.finite(fig)
    if METRICS[metric].is_accuracy and not zoom:
        fig.update_yaxes(range=[0, 1.02], tickvals=[0, 0.5, 1] if compact else [0, 0.2, 0.4, 0.6, 0.8, 1], tickformat=".1f")
    elif zoom and len(values):
        margin = (values.max() - values.min()) * 0.06 or 0.01
        fig.update_yaxes(range=[float(values.min() - margin), float(values.max() + margin)])
        if METRICS[metric].is_accuracy:
            fig.update_yaxes(tickformat=".2f")
    else:
        top = float(values.max()) if len(values) else 1.0
        fig.update_yaxes(range=[min(0.0, float(values.min()) if len(values) else 0.0), top * 1.06 or 1.0])


def _add_all_bits(fig: go.Figure, theme: Theme, top: float) -> Label:
    """Theory for bits known: all of them."""
    fig.add_scatter(
        x=np.asarray([0, top], np.float32),
        y=np.asarray([0, top], np.float32),
        mode="lines",
        line=dict(color=theme.theory, width=1),
        hoverinfo="skip",
        showlegend=False,
    )
    fig.update_yaxes(range=[0, top * 1.04])
    return Label(top, "all bits", theme.theory)
