"""How hard a negative at a given similarity is pushed, for several temperatures."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.text import readable
from core.figures.theme import Theme, end_label, spread_labels, style, temperature_colors
from core.losses.softmax import effective_number_uniform, penalty_uniform

SIMILARITY = np.linspace(-1, 1, 161)
STEP = 0.5  # similarity; the title says what it does to the push
LOWEST = 1e-3  # multiples of the average push; below it lines leave the chart


def penalty_curve(taus: Sequence[float], theme: Theme) -> go.Figure:
    """Push on a negative in multiples of the average, against its similarity; the scores of all fill (-1, 1) evenly.

    Args:
        taus: Temperatures, one line each, at most six.
        theme: Colours.
    """
    taus = sorted(taus)
    colors = temperature_colors(taus)
    fig = go.Figure()
    for tau in taus:
        values = np.maximum(penalty_uniform(SIMILARITY, tau), LOWEST / 10)
        fig.add_scatter(
            x=SIMILARITY.astype(np.float32),
            y=values.astype(np.float32),
            mode="lines",
            line=dict(color=colors[tau], width=2.5),
            showlegend=False,
            hovertemplate=f"tau {tau:g}<br>similarity %{{x:.2f}}<br>%{{y:.3g}} times the average<extra></extra>",
        )
    top = float(max(penalty_uniform(1.0, tau) for tau in taus))
    heights = np.log10([float(penalty_uniform(1.0, tau)) for tau in taus])
    span = np.log10(top * 2) - np.log10(LOWEST)
    for tau, height in zip(taus, spread_labels(heights, span * 0.06), strict=True):
        end_label(fig, 1.0, height, f"tau {tau:g}", readable(colors[tau], theme))
    fig.add_hline(y=1, line=dict(color=theme.theory, width=1))
    fig.add_annotation(  # log axes take the exponent, here of 1
        x=-1,
        y=0,
        text="average push",
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        xshift=6,
        font=dict(color=theme.theory, size=12),
    )
    cold, hot = (
        f"{np.exp(STEP / tau):,.3g}" if np.exp(STEP / tau) < 1000 else f"{np.exp(STEP / tau):,.0f}" for tau in (taus[0], taus[-1])
    )
    title = f"Half a unit of similarity multiplies the push by {cold} at tau {taus[0]:g}"
    title += f", by {hot} at tau {taus[-1]:g}" if len(taus) > 1 else ""
    share = effective_number_uniform(1, taus[0])
    subtitle = (
        f"Scores fill −1 to 1 evenly · closed form exp(s/tau) / (tau sinh(1/tau)) · at tau {taus[0]:g}, {share:.1%} of them do "
        "the work"
    )
    style(fig, theme, title=title, subtitle=subtitle)
    fig.update_xaxes(title_text="Similarity s of the negative to the anchor", range=[-1, 1], tickvals=[-1, -0.5, 0, 0.5, 1])
    fig.update_yaxes(
        type="log",
        title_text="Push, in multiples of the average",
        range=[np.log10(LOWEST), np.log10(top * 2)],
        tickvals=[1e-3, 1e-2, 0.1, 1, 10, 100],
        ticktext=["0.001", "0.01", "0.1", "1", "10", "100"],
    )
    fig.update_layout(margin=dict(r=90))
    return fig
