"""What the scores mean once each loss is minimal: a posterior, a density, a ratio."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.roles import ANCHOR
from core.figures.theme import Theme, style
from core.losses.optima import Learned, World


def learned_optimum(
    world: World, posterior: Learned, density: Learned, ratio: Learned, theme: Theme, *, offset: bool = True
) -> go.Figure:
    """Fitted scores as dots on the closed form as a grey line, one panel per loss.

    Args:
        world: The densities.
        posterior: From optima.learn_posterior.
        density: From optima.learn_density.
        ratio: From optima.learn_ratio.
        theme: Colours.
        offset: Whether NCE subtracted the log noise ratio; without it the middle panel shows a ratio, too.
    """
    panels = (
        ("Cross entropy: class posterior", "P(context 1 | x)", posterior),
        (
            "NCE: density" if offset else "Negative sampling: ratio to the noise",
            "p(x | context 1)" if offset else "p(x | c) / (k p_noise)",
            density,
        ),
        ("InfoNCE: ratio", "p(x | context 1) / p(x)", ratio),
    )
    fig = make_subplots(cols=3, horizontal_spacing=0.09, subplot_titles=[name for name, _, _ in panels])
    for column, (_, axis, learned) in enumerate(panels, start=1):
        fig.add_scatter(
            x=world.x.astype(np.float32),
            y=learned.theory.astype(np.float32),
            mode="lines",
            line=dict(color=theme.theory, width=2.5),
            row=1,
            col=column,
            showlegend=False,
            hovertemplate="closed form<br>x %{x:.2f}<br>%{y:.4f}<extra></extra>",
        )
        fig.add_scatter(
            x=world.x.astype(np.float32),
            y=learned.fitted.astype(np.float32),
            mode="markers",
            marker=dict(color=ANCHOR, size=6),
            row=1,
            col=column,
            showlegend=False,
            hovertemplate="learned<br>x %{x:.2f}<br>%{y:.4f}<extra></extra>",
        )
        fig.update_yaxes(title_text=axis, rangemode="tozero", row=1, col=column)
        fig.update_xaxes(title_text="x", nticks=5, row=1, col=column)
    total = density.fitted.sum()
    title = (
        f"NCE's scores sum to {total:.3f} by themselves; InfoNCE's have no scale"
        if offset
        else "Without the noise offset NCE learns a ratio, too"
    )
    style(fig, theme, title=title, subtitle="Dots: scores after minimising each expected loss · grey: closed form", height=400)
    fig.update_annotations(font=dict(size=14, color=theme.text))
    return fig.update_layout(margin=dict(t=100))
