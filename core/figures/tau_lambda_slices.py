"""Cuts through a tau-lambda map: a metric against one dial, one line per value of the other, with bands over seeds."""

from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from core.figures.grid import cell_id
from core.figures.lines import band
from core.figures.metrics import METRICS
from core.figures.tau_lambda import color_range, hover_texts
from core.figures.theme import ACCURACY_SCALE, HEIGHT, Theme, end_label, spread_labels, style, temperature_colors
from core.studies.ridge import Ridge

Along = Literal["lam", "tau"]
WARMEST, PURPLE = 10.0, (150, 60, 170)
NAMES = {"lam": "lambda", "tau": "tau"}


def tau_lambda_slices(
    cells: pd.DataFrame,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    along: Along = "lam",
    ridge: Ridge | None = None,
    full_scale: bool = False,
    title: str = "",
    subtitle: str = "",
    lam_name: str = "lambda",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw the cuts.

    Args:
        cells: From `core.studies.cells.fold_cells`.
        theme: Colours.
        metric: RunResult field that the cells hold.
        along: Dial on the x axis; the other one tells the lines apart.
        ridge: Best weights; marked on the lines of cuts along lambda.
        full_scale: Accuracy axis from 0 to 1.
        title: Takeaway.
        subtitle: Data set, encoder, seeds.
        lam_name: How the weight is written, for its axis.
        height: Pixels.

    Returns:
        The figure; the customdata of a point is its cell's id.
    """
    other = "tau" if along == "lam" else "lam"
    measured = cells[cells["n"] > 0]
    values = sorted(measured[other].unique())
    colors = _warm(values) if other == "tau" else _ramp(values, theme)
    fig = go.Figure()
    ends = []
    for value in values:
        line = measured[measured[other] == value].sort_values(along)
        _add_line(fig, line, along, other, colors[value], metric)
        ends.append((float(line[along].iloc[-1]), float(line["mean"].iloc[-1]), f"{NAMES[other]} {value:g}", colors[value]))
    if ridge is not None and along == "lam":
        _mark_best(fig, ridge, colors)
    span = color_range(measured["mean"], metric, full_scale)
    pad = 0.0 if full_scale else 0.06 * (span.high - span.low)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    ticks = sorted(cells[along].unique())
    fig.update_xaxes(
        type="log",
        title_text=f"{f'Weight {lam_name}' if along == 'lam' else 'Temperature tau'} (log)",
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
        range=[np.log10(ticks[0]) - 0.05, np.log10(ticks[-1]) + 0.05],
    )
    low, high = span.low - pad, span.high + pad
    fig.update_yaxes(title_text=METRICS[metric].axis, range=[low, high])
    heights = spread_labels([y for _, y, _, _ in ends], (high - low) * 0.055, low, high)
    for (x, _, text, color), y in zip(ends, heights, strict=True):
        end_label(fig, np.log10(x), y, text, color)
    return fig.update_layout(margin=dict(r=96), hovermode="closest", showlegend=False, clickmode="event+select", dragmode="zoom")


def _warm(taus: list[float]) -> dict[float, str]:
    """Colours of the temperatures as everywhere, which end at 1; beyond it the warm end goes on towards purple."""
    colors = temperature_colors(taus)
    end = np.array([int(temperature_colors([1.0])[1.0][i : i + 2], 16) for i in (1, 3, 5)])
    for tau in taus:
        if tau > 1:
            share = min(np.log10(tau) / np.log10(WARMEST), 1)
            mixed = (1 - share) * end + share * np.array(PURPLE)
            colors[tau] = "#" + "".join(f"{round(part):02x}" for part in mixed)
    return colors


def _ramp(values: list[float], theme: Theme) -> dict[float, str]:
    """From dark to bright; what stands out from the paper by less than 3 to 1 is left out, so that names can be read."""
    low, high = (0.36, 1.0) if theme.name == "dark" else (0.0, 0.58)
    shares = np.linspace(low, high, len(values)) if len(values) > 1 else [(low + high) / 2]
    colors = sample_colorscale(ACCURACY_SCALE, list(shares), colortype="tuple")
    return {
        value: "#" + "".join(f"{round(255 * part):02x}" for part in color) for value, color in zip(values, colors, strict=True)
    }


def _add_line(fig: go.Figure, line: pd.DataFrame, along: str, other: str, color: str, metric: str) -> None:
    x, mean = line[along].to_numpy(np.float32), line["mean"].to_numpy(np.float32)
    spread = line["sd"].fillna(0).to_numpy(np.float32)
    if spread.any():
        band(fig, x, mean - spread, mean + spread, color)
    hover = hover_texts(line, metric)
    ids = np.array([cell_id(cell.tau, cell.lam) for cell in line.itertuples()])
    fig.add_scatter(
        x=x,
        y=mean,
        mode="lines+markers",
        line=dict(color=color, width=2.5),
        marker=dict(color=color, size=7),
        customdata=ids,
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
        selected=dict(marker=dict(size=13)),
        unselected=dict(marker=dict(opacity=0.6)),
    )


def _mark_best(fig: go.Figure, ridge: Ridge, colors: dict[float, str]) -> None:
    """A ring in the colour of its line at each interpolated best weight."""
    points = [point for point in ridge.points if point.tau in colors and not point.flat]
    fig.add_scatter(
        x=np.array([point.lam for point in points], dtype=np.float32),
        y=np.array([point.value for point in points], dtype=np.float32),
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        marker=dict(symbol="circle-open", size=15, color=[colors[point.tau] for point in points], line=dict(width=3)),
    )
