"""The tau-lambda map as a surface to be turned, with the ridge on it."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.grid import Grid
from core.figures.metrics import METRICS
from core.figures.tau_lambda import HEIGHT, color_range
from core.figures.theme import ACCURACY_SCALE, OTHER_SCALE, Theme, style
from core.studies.ridge import Ridge


def tau_lambda_surface(
    cells: pd.DataFrame,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    ridge: Ridge | None = None,
    full_scale: bool = False,
    title: str = "",
    subtitle: str = "",
) -> go.Figure:
    """Draw the surface over log tau and log lambda; missing cells are holes.

    Args:
        cells: From `core.studies.cells.fold_cells`.
        theme: Colours.
        metric: RunResult field that the cells hold.
        ridge: Best weights, drawn as a line on the surface when the ridge is that of this metric.
        full_scale: Height of an accuracy from 0 to 1.
        title: Takeaway.
        subtitle: Data set, encoder, seeds.
    """
    grid, info = Grid.of(cells), METRICS[metric]
    x, y = (np.log10(np.asarray(values, dtype=float)).astype(np.float32) for values in grid)
    z = grid.matrix(cells)
    span = color_range(cells["mean"], metric, full_scale)
    fig = go.Figure(
        go.Surface(
            x=x,
            y=y,
            z=z,
            cmin=span.low,
            cmax=span.high,
            colorscale=ACCURACY_SCALE if info.is_accuracy else OTHER_SCALE,
            reversescale=not info.higher_is_better,
            colorbar=dict(
                title=dict(text=info.axis, side="right", font=dict(color=theme.muted, size=13)),
                thickness=12,
                outlinewidth=0,
                tickfont=dict(color=theme.muted),
            ),
            customdata=np.array([[f"tau {tau:g}, lambda {lam:g}" for tau in grid.taus] for lam in grid.lams]),
            hovertemplate=f"%{{customdata}}<br>{info.name} %{{z:.4g}}<extra></extra>",
        )
    )
    if ridge is not None and ridge.points:
        fig.add_scatter3d(
            x=np.log10([point.tau for point in ridge.points]).astype(np.float32),
            y=np.log10([point.lam for point in ridge.points]).astype(np.float32),
            z=np.array([point.value for point in ridge.points], dtype=np.float32),
            mode="lines+markers",
            line=dict(color=theme.outline, width=6),
            marker=dict(color=theme.outline, size=4),
            hoverinfo="skip",
            showlegend=False,
        )
    style(fig, theme, title=title, subtitle=subtitle, height=HEIGHT)
    plain = dict(gridcolor=theme.grid, zerolinecolor=theme.grid, color=theme.muted, backgroundcolor=theme.paper)
    return fig.update_layout(
        scene=dict(
            xaxis=dict(title="tau", tickvals=x, ticktext=[f"{tau:g}" for tau in grid.taus], **plain),
            yaxis=dict(title="lambda", tickvals=y, ticktext=[f"{lam:g}" for lam in grid.lams], **plain),
            zaxis=dict(title=info.name, range=[span.low, span.high], **plain),
            camera=dict(eye=dict(x=-1.7, y=-1.8, z=0.95), center=dict(x=0, y=0, z=-0.12)),
            aspectratio=dict(x=1.2, y=1.2, z=0.7),
        )
    )
