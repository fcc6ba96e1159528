"""Accuracy of several losses against the depth of the projection head: grouped dots, one panel per length of training."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.metrics import METRICS, with_spread
from core.figures.theme import OBJECTIVE_COLORS, OBJECTIVE_NAMES, Theme, spread_labels, style
from core.studies.heads import HeadClaim

HEIGHT = 480
ORDER = ("nt_xent", "gcl", "swd_hypersphere", "swd_hypercube", "swd_normal")
GROUP = 0.62  # share of a depth's place that its dots take
VERDICTS = {
    "vanish": "A deeper head makes the losses equal",
    "shrink": "A deeper head brings the losses closer, but not together",
    "unclear": "A deeper head does not clearly bring the losses together",
    "grow": "A deeper head drives the losses apart",
}


def takeaway(claims: Sequence[HeadClaim]) -> str:
    """The verdict after the longest training; where the others differ, with its length. The question without any."""
    if not claims:
        return "Do the losses differ, and does a deeper head change that?"
    last, title = claims[-1], VERDICTS[claims[-1].verdict]
    if len({claim.verdict for claim in claims}) == 1:
        return title
    return f"After {last.epochs} epochs {title[0].lower()}{title[1:]}"


def head_depths(
    cells: pd.DataFrame,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    selected: str | None = None,
    zoom: bool = True,
    chance: float | None = None,
    title: str = "",
    subtitle: str = "",
) -> go.Figure:
    """Draw the dots.

    Args:
        cells: From `core.studies.heads.fold_heads`, one row per loss, depth and length of training.
        theme: Colours.
        metric: RunResult field that the cells hold.
        selected: Run id; its dot gets a ring.
        zoom: Fit the axis to the data instead of 0 to 1.
        chance: Accuracy of guessing, drawn when the axis reaches it.
        title: Takeaway.
        subtitle: Data set, encoder, seeds.

    Returns:
        The figure. Small dots are single seeds, large ones means with their standard deviation; the customdata of a dot is a
        run id.
    """
    measured = cells[cells["n"] > 0]
    lengths = sorted(measured["epochs"].unique()) or [0]
    depths = sorted(measured["depth"].unique()) or [1]
    losses = [loss for loss in ORDER if loss in set(measured["objective"])]
    losses += sorted(set(measured["objective"]) - set(losses))
    fig = make_subplots(
        rows=1,
        cols=len(lengths),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        subplot_titles=[f"{epochs} epochs" for epochs in lengths],
    )
    fig.update_annotations(font=dict(color=theme.muted, size=14))
    style(fig, theme, title=title, subtitle=subtitle, height=HEIGHT)
    shifts = (np.arange(len(losses)) - (len(losses) - 1) / 2) * GROUP / max(len(losses), 1)
    low, high = _range(measured, zoom)
    for column, epochs in enumerate(lengths, 1):
        ends = []
        for loss, shift in zip(losses, shifts, strict=True):
            line = measured[(measured["objective"] == loss) & (measured["epochs"] == epochs)].sort_values("depth")
            if line.empty:
                continue
            x = np.array([depths.index(depth) for depth in line["depth"]], dtype=np.float32) + np.float32(shift)
            for trace in _dots(line, x, loss, metric, theme):
                fig.add_trace(trace, row=1, col=column)
            if selected is not None:
                _ring(fig, line, x, selected, theme, column)
            ends.append((float(line["mean"].iloc[-1]), loss))
        if column == len(lengths):
            _name(fig, ends, len(depths), low, high, column)
        if chance is not None and low <= chance:
            fig.add_hline(y=chance, line=dict(color=theme.theory, width=1), row=1, col=column)
            if column == len(lengths):
                _name_chance(fig, chance, len(depths), theme, column)
    fig.update_xaxes(
        tickvals=list(range(len(depths))),
        ticktext=[f"{depth}" for depth in depths],
        range=[-0.55, len(depths) - 0.45],
        title_text="Layers of the projection head",
        showgrid=False,
    )
    fig.update_yaxes(range=[low, high])
    fig.update_yaxes(title_text=METRICS[metric].axis, col=1)
    return fig.update_layout(
        margin=dict(r=150, t=96), showlegend=False, hovermode="closest", clickmode="event+select", dragmode=False
    )


def _dots(line: pd.DataFrame, x: np.ndarray, loss: str, metric: str, theme: Theme) -> list[go.Scatter]:
    """A thin line from depth to depth, the single seeds, and the means with their spread."""
    color, name = OBJECTIVE_COLORS[loss], OBJECTIVE_NAMES[loss]
    hover = [
        f"<b>{name}</b>, {row.depth} layer{'s' if row.depth > 1 else ''}, {row.epochs} epochs<br>{METRICS[metric].name} "
        f"{with_spread(row.mean, metric, row.sd)}<br>n = {row.n}" + (f", {row.diverged} diverged" if row.diverged else "")
        for row in line.itertuples()
    ]
    counts = [len(values) for values in line["values"]]
    seeds = go.Scatter(
        x=np.repeat(x, counts),
        y=np.concatenate([np.asarray(values, dtype=np.float32) for values in line["values"]]),
        mode="markers",
        marker=dict(color=color, size=5, opacity=0.5),
        customdata=np.array([run_id for ids in line["run_ids"] for run_id in ids]),
        hovertemplate=f"{name}<br>one seed: %{{y:.4f}}<br>run %{{customdata}}<extra></extra>",
        selected=dict(marker=dict(size=9, opacity=1)),
        unselected=dict(marker=dict(opacity=0.4)),
    )
    means = go.Scatter(
        x=x,
        y=line["mean"].to_numpy(np.float32),
        mode="lines+markers",
        line=dict(color=color, width=1),
        marker=dict(color=color, size=11, line=dict(color=theme.paper, width=1)),
        error_y=dict(array=line["sd"].fillna(0).to_numpy(np.float32), color=color, thickness=1.5, width=4),
        customdata=np.array([ids[0] for ids in line["run_ids"]]),
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        unselected=dict(marker=dict(opacity=0.8)),
    )
    return [means, seeds]


def _ring(fig: go.Figure, line: pd.DataFrame, x: np.ndarray, selected: str, theme: Theme, column: int) -> None:
    for place, row in zip(x, line.itertuples(), strict=True):
        if selected in row.run_ids:
            value = row.values[row.run_ids.index(selected)]
            ring = dict(symbol="circle-open", size=16, color=theme.outline, line=dict(width=2.5))
            fig.add_scatter(x=[place], y=[value], mode="markers", marker=ring, hoverinfo="skip", row=1, col=column)


def _name(fig: go.Figure, ends: list[tuple[float, str]], depths: int, low: float, high: float, column: int) -> None:
    """The losses' names right of the last panel."""
    heights = spread_labels([y for y, _ in ends], (high - low) * 0.06, low, high)
    for (_, loss), y in zip(ends, heights, strict=True):
        fig.add_annotation(
            x=depths - 0.45,
            y=y,
            text=OBJECTIVE_NAMES[loss],
            showarrow=False,
            xanchor="left",
            xshift=6,
            font=dict(color=OBJECTIVE_COLORS[loss], size=13),
            row=1,
            col=column,
        )


def _name_chance(fig: go.Figure, chance: float, depths: int, theme: Theme, column: int) -> None:
    """What the line of guessing is, right of the last panel."""
    fig.add_annotation(
        x=depths - 0.45,
        y=chance,
        text="chance",
        showarrow=False,
        xanchor="left",
        xshift=6,
        font=dict(color=theme.muted, size=12),
        row=1,
        col=column,
    )


def _range(measured: pd.DataFrame, zoom: bool) -> tuple[float, float]:
    if not zoom or measured.empty:
        return 0.0, 1.02
    values = np.concatenate([np.asarray(values, dtype=float) for values in measured["values"]])
    pad = max((values.max() - values.min()) * 0.08, 0.005)
    return float(values.min() - pad), float(min(values.max() + pad, 1.02))
