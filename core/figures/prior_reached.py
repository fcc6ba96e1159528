"""The distribution that embeddings reached beside the prior: norms, coordinates, angles, one line per depth of the head."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from core.figures.lines import band
from core.figures.theme import Theme, style
from core.geometry.priors import Prior, Reached, coordinate_density, norm_density, pair_cosine_density

HEIGHT = 400
FINE = 200  # points of a theory curve
PANELS = ("Norm of z", "One coordinate of z", "Cosine of two images")


class Shown(NamedTuple):
    """One embedding."""

    name: str  # "2 layers"
    reached: Reached


def prior_reached(
    shown: Sequence[Shown], prior: Prior, dim: int, theme: Theme, *, title: str = "", subtitle: str = "", height: int = HEIGHT
) -> go.Figure:
    """Draw the three panels.

    Args:
        shown: Embeddings, shallow heads first.
        prior: What they are compared with; grey lines.
        dim: Dimension d.
        theme: Colours.
        title: Takeaway.
        subtitle: Settings.
        height: Pixels.

    Returns:
        The figure. Bands around coordinates hold the middle 80 % of the dimensions.
    """
    fig = make_subplots(rows=1, cols=3, horizontal_spacing=0.055)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    colors = depth_colors(len(shown))
    for run, color in zip(shown, colors, strict=True):
        here = run.reached
        band(fig, here.coordinates.centers, here.low, here.high, color, row=1, col=2)
        for column, histogram in enumerate((here.norms, here.coordinates, here.cosines), 1):
            fig.add_scatter(
                x=histogram.centers.astype(np.float32),
                y=histogram.density.astype(np.float32),
                mode="lines",
                line=dict(color=color, width=2),
                name=run.name,
                legendgroup=run.name,
                showlegend=column == 1,
                hovertemplate=f"{run.name}<br>%{{x:.3g}}: density %{{y:.3g}}<extra></extra>",
                row=1,
                col=column,
            )
    _theory(fig, shown, prior, dim, theme)
    free = prior == "hypersphere"
    for column, name in enumerate(PANELS, 1):
        # The prior of the hypersphere leaves the norm free. A note inside the panel would cross its curves.
        note = f"<br><span style='color:{theme.theory}'>free: rows are normalised</span>" if free and column == 1 else ""
        fig.update_xaxes(title_text=name + note, row=1, col=column)
    fig.update_yaxes(rangemode="tozero", showticklabels=False, ticks="", showgrid=False)
    fig.update_yaxes(title_text="Density", row=1, col=1)
    return fig.update_layout(legend=dict(orientation="h", y=-0.32 if free else -0.24, x=0), hovermode="closest")


def depth_colors(count: int) -> list[str]:
    """From light to dark with depth."""
    shares = np.linspace(0.85, 0.1, count) if count > 1 else [0.4]
    colors = sample_colorscale("Viridis", list(shares), colortype="tuple")
    return ["#" + "".join(f"{round(255 * part):02x}" for part in color) for color in colors]


def _theory(fig: go.Figure, shown: Sequence[Shown], prior: Prior, dim: int, theme: Theme) -> None:
    """The prior's own densities in grey, the name once."""
    line = dict(color=theme.theory, width=2, dash="dash")
    if prior != "hypersphere":
        reach = max(float(run.reached.norms.centers[-1]) for run in shown) if shown else 2 * dim**0.5
        _add(fig, np.linspace(1e-3, reach, FINE), lambda r: norm_density(prior, dim, r), line, 1)
    limit = max((float(run.reached.coordinates.centers[-1]) for run in shown), default=1.0)
    _add(fig, np.linspace(-limit, limit, FINE), lambda x: coordinate_density(prior, dim, x), line, 2)
    _add(fig, np.linspace(-1, 1, 61 if prior == "hypercube" else FINE), lambda c: pair_cosine_density(prior, dim, c), line, 3)


def _add(fig: go.Figure, x: np.ndarray, density, line: dict, column: int) -> None:
    fig.add_scatter(
        x=x.astype(np.float32),
        y=density(x).astype(np.float32),
        mode="lines",
        line=line,
        name="the prior",
        showlegend=column == 3,
        hoverinfo="skip",
        row=1,
        col=column,
    )
