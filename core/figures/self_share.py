"""How much of a row's log-sum-exp is the row itself, against the temperature: what keeping the self-similarity does."""

import numpy as np
import plotly.graph_objects as go

from core.figures.roles import tau_axis
from core.figures.text import NARROW, NARROW_SUBTITLE, make_room, percent, wrapped
from core.figures.theme import OKABE_ITO, Theme, style
from core.geometry.closed_forms import log_mean_exp_uniform

TAUS = np.geomspace(0.02, 5, 60)


def self_share(rows: int, dim: int, tau: float) -> float:
    """Share of exp(1/tau) in a row's sum when the other rows are spread uniformly.

    Args:
        rows: Embeddings in the batch, 2n, >= 2.
        dim: Dimension d.
        tau: Temperature, > 0.

    Source: theory.md, sections 3.4 and 7.4.
    """
    if rows < 2:
        raise ValueError(f"rows must be >= 2, got {rows}.")
    others = np.log(rows - 1) + log_mean_exp_uniform(dim, tau)
    return float(1 / (1 + np.exp(others - 1 / tau)))


def self_share_curve(rows: int, dim: int, tau: float, theme: Theme) -> go.Figure:
    """Draw the share over all temperatures, the chosen one marked.

    Args:
        rows: Embeddings in the batch.
        dim: Dimension d.
        tau: Chosen temperature.
        theme: Colours.
    """
    color = OKABE_ITO[1]
    shares = np.array([self_share(rows, dim, value) for value in TAUS], dtype=np.float32)
    chosen = self_share(rows, dim, tau)
    fig = go.Figure()
    fig.add_scatter(
        x=TAUS.astype(np.float32),
        y=shares,
        mode="lines",
        line=dict(color=color, width=2.5),
        showlegend=False,
        hovertemplate="tau %{x:.3g}<br>%{y:.1%} of the sum is the row itself<extra></extra>",
    )
    fig.add_scatter(
        x=[tau],
        y=[chosen],
        mode="markers",
        showlegend=False,
        hoverinfo="skip",
        marker=dict(color=color, size=12, line=dict(color=theme.outline, width=2)),
    )
    title = f"With the self-similarity kept, {percent(chosen)} of each row's sum is the row itself at tau {tau:g}"
    subtitle = f"{rows} embeddings spread uniformly in d = {dim}, closed form; the repulsion lacks this share"
    style(fig, theme, title=wrapped(title, NARROW), subtitle=wrapped(subtitle, NARROW_SUBTITLE))
    tau_axis(fig, TAUS[0], TAUS[-1])
    fig.update_yaxes(title_text="Share of the self term", range=[-0.02, 1.04], tickformat=".0%")
    return make_room(fig)
