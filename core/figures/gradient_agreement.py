"""Cosine between the gradients of the generalized loss and NT-Xent against lambda, one line per convention."""

from math import log10

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.text import NARROW, NARROW_SUBTITLE, make_room, signed, wrapped
from core.figures.theme import OKABE_ITO, Theme, end_label, spread_labels, style

NAMES = ("masked", "self kept", "notebook")  # rows of core.losses.agreement
COLORS = (OKABE_ITO[0], OKABE_ITO[1], OKABE_ITO[5])


def gradient_agreement(
    lams: NDArray[np.float64], cosines: NDArray[np.float64], tau: float, dim: int, theme: Theme, *, subtitle: str = ""
) -> go.Figure:
    """Draw the cosines, with lambda = tau and lambda = tau / d marked.

    Args:
        lams: Weights, shape (m,), ascending; the notebook's on its own scale.
        cosines: Shape (3, m), from core.losses.agreement.
        tau: Temperature.
        dim: Dimension d of the embeddings.
        theme: Colours.
        subtitle: How the embeddings were made.
    """
    fig = go.Figure()
    heights = spread_labels(cosines[:, -1].tolist(), 0.13, -0.95, 1.0)
    for name, color, row, height in zip(NAMES, COLORS, cosines, heights, strict=True):
        fig.add_scatter(
            x=lams.astype(np.float32),
            y=row.astype(np.float32),
            mode="lines",
            line=dict(color=color, width=2.5),
            hovertemplate=f"{name}<br>lambda %{{x:.3g}}<br>cosine %{{y:.4f}}<extra></extra>",
            showlegend=False,
        )
        end_label(fig, log10(lams[-1]), height, name, color)
    for value, text, anchor in ((tau, "tau", "left"), (tau / dim, "tau / d", "right")):
        fig.add_vline(x=value, line=dict(color=theme.theory, width=1))
        fig.add_annotation(
            x=log10(value),
            y=0,
            yref="paper",
            text=text,
            showarrow=False,
            xanchor=anchor,
            yanchor="bottom",
            xshift=4 if anchor == "left" else -4,
            font=dict(color=theme.theory, size=12),
        )
    style(fig, theme, title=wrapped(_title(lams, cosines, tau), NARROW), subtitle=wrapped(subtitle, NARROW_SUBTITLE))
    ticks = [10.0**k for k in range(round(log10(lams[0])), round(log10(lams[-1])) + 1)]
    fig.update_xaxes(
        type="log",
        title_text="lambda, each on its own convention's scale (log)",
        range=[log10(lams[0]), log10(lams[-1])],
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
    )
    fig.update_yaxes(title_text="Cosine with the gradient of NT-Xent", range=[-1.05, 1.08])
    return make_room(fig.update_layout(margin=dict(r=86)))


def _title(lams: NDArray[np.float64], cosines: NDArray[np.float64], tau: float) -> str:
    at_tau = float(np.interp(np.log(tau), np.log(lams), cosines[2]))
    if at_tau < 0:
        return f"Read as lambda = tau, the notebook's gradient points against NT-Xent's: cosine {signed(at_tau, 2)}"
    if at_tau < 0.99:
        return f"Read as lambda = tau, the notebook's gradient is not NT-Xent's: cosine {signed(at_tau, 2)}"
    return "At lambda = tau every convention follows NT-Xent closely"
