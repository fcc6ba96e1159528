"""Cosines of pairs of test images for a few runs: within a class and between classes, one line per run."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.theme import HEIGHT, Theme, style
from core.geometry.closed_forms import cosine_density
from core.geometry.samples import CosineDensities


class Similarity(NamedTuple):
    """One run's cosines, and how to draw them."""

    name: str
    color: str
    densities: CosineDensities
    faint: bool = False  # a neighbour of the run in focus


def similarity_lines(
    shown: Sequence[Similarity], dim: int, theme: Theme, *, title: str = "", subtitle: str = "", height: int = HEIGHT
) -> go.Figure:
    """Draw both kinds of pairs, one above the other, over the density of uniform points.

    Args:
        shown: Runs to draw; the one in focus is drawn on top.
        dim: Dimension d of the embeddings, for the theory line.
        theme: Colours.
        title: Takeaway.
        subtitle: Settings.
        height: Pixels.
    """
    fig = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    centers = shown[0].densities.centers if shown else np.linspace(-1, 1, 80, dtype=np.float32)
    uniform = cosine_density(centers.astype(float), dim).astype(np.float32)
    for row, (field, name) in enumerate((("same_class", "Same class"), ("other_class", "Other classes")), 1):
        fig.add_scatter(
            x=centers,
            y=uniform,
            mode="lines",
            line=dict(color=theme.theory, width=1),
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=1,
        )
        for run in sorted(shown, key=lambda run: not run.faint):
            fig.add_scatter(
                x=run.densities.centers,
                y=getattr(run.densities, field),
                mode="lines",
                line=dict(color=run.color, width=1.5 if run.faint else 3),
                name=run.name,
                showlegend=False,
                hovertemplate=f"{run.name}<br>cosine %{{x:.2f}}: density %{{y:.2f}}<extra></extra>",
                row=row,
                col=1,
            )
        fig.update_yaxes(title_text=name, rangemode="tozero", nticks=4, row=row, col=1)
    fig.add_annotation(
        x=float(centers[np.argmax(uniform)]),
        y=float(uniform.max()),
        text="uniform points",
        showarrow=False,
        xanchor="left",
        xshift=8,
        yanchor="top",
        font=dict(color=theme.theory, size=12),
        row=2,
        col=1,
    )
    fig.update_xaxes(title_text="Cosine of two test images", range=[-1, 1], row=2, col=1)
    return fig.update_layout(hovermode="closest")
