"""Alignment against uniformity, one point per cell of a map, coloured by accuracy, a few of them named."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.metrics import METRICS
from core.figures.theme import ACCURACY_SCALE, HEIGHT, Theme, style
from core.geometry.closed_forms import uniform_optimum


class Named(NamedTuple):
    """A point to be told apart."""

    run_ids: tuple[str, ...]
    name: str
    color: str


def align_uniform_plane(
    points: pd.DataFrame,
    named: Sequence[Named],
    dim: int,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw the plane.

    Args:
        points: One row per cell: tau, lam, alignment, uniformity, the metric, run_ids. Rows without a value are left out.
        named: Cells with a ring and a name.
        dim: Dimension d of the embedding, for the bound on the uniformity.
        theme: Colours.
        metric: Colour of the points, an accuracy.
        title: Takeaway.
        subtitle: Settings.
        height: Pixels.

    Returns:
        The figure; the customdata of a point is its cell's id.
    """
    points = points.dropna(subset=["alignment", "uniformity", metric])
    fig = go.Figure()
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    hover = [
        f"<b>tau {row.tau:g}, lambda {row.lam:g}</b><br>alignment {row.alignment:.3f}<br>uniformity {row.uniformity:.3f}<br>"
        f"{METRICS[metric].name} {value:.3f}".replace("-", "−")
        for row, value in zip(points.itertuples(), points[metric], strict=True)
    ]
    fig.add_scatter(
        x=points["uniformity"].to_numpy(np.float32),
        y=points["alignment"].to_numpy(np.float32),
        mode="markers",
        marker=dict(
            color=points[metric].to_numpy(np.float32),
            colorscale=ACCURACY_SCALE,
            size=9,
            opacity=0.85,
            colorbar=dict(
                title=dict(text=METRICS[metric].name, side="right", font=dict(color=theme.muted, size=13)),
                thickness=12,
                outlinewidth=0,
                tickfont=dict(color=theme.muted, size=12),
            ),
        ),
        customdata=np.array([f"{row.tau:g},{row.lam:g}" for row in points.itertuples()]),
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    for mark in named:
        row = points[[bool(set(ids) & set(mark.run_ids)) for ids in points["run_ids"]]]
        if row.empty:
            continue
        fig.add_scatter(
            x=row["uniformity"].to_numpy(np.float32),
            y=row["alignment"].to_numpy(np.float32),
            mode="markers+text",
            marker=dict(symbol="circle-open", size=17, color=mark.color, line=dict(width=3)),
            text=[mark.name],
            textposition="top center",
            textfont=dict(color=mark.color, size=12),
            hoverinfo="skip",
            showlegend=False,
        )
    bound = uniform_optimum(dim)
    fig.add_vline(x=bound, line=dict(color=theme.theory, width=1))
    fig.add_annotation(
        x=bound,
        y=1,
        yref="paper",
        text=f"uniform, d = {dim}",
        showarrow=False,
        xanchor="left",
        yanchor="top",
        xshift=4,
        font=dict(color=theme.theory, size=12),
    )
    fig.update_xaxes(title_text="Uniformity (lower = more uniform)")
    fig.update_yaxes(title_text="Alignment (lower = views closer)", rangemode="tozero")
    return fig.update_layout(hovermode="closest")
