"""How one number of an anchor changes with the temperature: the effective number of negatives, the size of the gradient."""

import numpy as np
import plotly.graph_objects as go

from core.figures.anchor_softmax import Candidates
from core.figures.roles import ANCHOR, log_tau, tau_text
from core.figures.theme import Theme, style
from core.losses.softmax import effective_number, effective_number_uniform, gradient, sweep

LOW, HIGH = 0.005, 100.0
TAUS = np.geomspace(LOW, HIGH, 90)
HEIGHT = 340
COUNTS = tuple(10**power for power in range(6))  # ticks of the number of negatives
TICKS = (0.005, 0.02, 0.1, 0.5, 2, 10, 50)


def effective_negatives(candidates: Candidates, tau: float, theme: Theme) -> go.Figure:
    """Effective number of negatives against tau, with its ends 1 and K and the curve of evenly spread scores.

    Args:
        candidates: Similarities; only the negatives matter.
        tau: Marked on the curve; the limits 0 and infinity are marked at the ends.
        theme: Colours.
    """
    negatives = candidates.all_negatives
    count = len(negatives)
    values = sweep(candidates.positive, *candidates.counted, TAUS).effective
    now = effective_number(negatives, tau)
    fig = go.Figure()
    even = np.clip(effective_number_uniform(count, TAUS), 1, count)
    _line(fig, even, theme.theory, 1, "evenly spread scores, closed form")
    _line(fig, values, ANCHOR, 2.5, "effective number")
    _marker(fig, tau, now, theme)
    layout = dict(
        xaxis=log_tau(LOW, HIGH, ticks=TICKS),
        yaxis=dict(
            type="log",
            title=dict(text="Effective negatives"),
            tickvals=COUNTS,
            ticktext=[f"{tick:,}" for tick in COUNTS],
            range=[-0.08, np.log10(max(count, 2)) * 1.08 + 0.12],
        ),
        shapes=[
            dict(type="line", xref="x domain", x0=0, x1=1, y0=count, y1=count, line=dict(color=theme.theory, width=1, dash="dot"))
        ],
        annotations=[
            dict(
                x=np.log10(LOW),
                y=np.log10(count),
                text=f"all K = {count:,}",
                xanchor="left",
                yanchor="bottom",
                showarrow=False,
                xshift=6,
                font=dict(color=theme.theory, size=12),
            )
        ],
    )
    title = f"{_count(now)} of {count:,} negatives do the work"
    subtitle = "exp(entropy of the push) · grey: evenly spread scores, closed form"
    return style(fig, theme, height=HEIGHT, title=title, subtitle=subtitle, layout=layout)


def gradient_size(candidates: Candidates, tau: float, theme: Theme) -> go.Figure:
    """Size of the pull on the positive, (1 - P+)/tau, against tau: the temperature also scales the gradient.

    Args:
        candidates: Similarities of the positive and the negatives.
        tau: Marked on the curve; not marked in the limits.
        theme: Colours.
    """
    negatives = candidates.all_negatives
    values = np.maximum(sweep(candidates.positive, *candidates.counted, TAUS).pull, 1e-12)
    fig = go.Figure()
    _line(fig, 1 / TAUS, theme.theory, 1, "1/tau")
    _line(fig, values, ANCHOR, 2.5, "(1 − P⁺)/tau")
    at = np.clip(tau, LOW, HIGH)
    now = -gradient(candidates.positive, negatives, at).positive
    if 0 < tau < np.inf:
        _marker(fig, tau, max(now, 1e-12), theme)
        double = -gradient(candidates.positive, negatives, 2 * tau).positive
        title = f"Doubling tau from {tau_text(tau)} multiplies the pull by {_factor(double, now)}"
    else:
        title = "The pull grows without bound" if tau == 0 and now > 1 else "The pull on the positive dies out"
    low = max(float(values.min()), 1e-4)
    layout = dict(
        xaxis=log_tau(LOW, HIGH, ticks=TICKS),
        yaxis=dict(
            type="log",
            title=dict(text="Pull (nats per unit of s)"),
            range=[np.log10(low) - 0.2, np.log10(1 / LOW) + 0.15],
            tickvals=[1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100],
            ticktext=["0.0001", "0.001", "0.01", "0.1", "1", "10", "100"],
        ),
    )
    subtitle = "Pull on the positive, (1 − P⁺)/tau · grey: the factor 1/tau alone"
    return style(fig, theme, height=HEIGHT, title=title, subtitle=subtitle, layout=layout)


def _line(fig: go.Figure, values: np.ndarray, color: str, width: float, name: str) -> None:
    fig.add_scatter(
        x=TAUS.astype(np.float32),
        y=values.astype(np.float32),
        mode="lines",
        line=dict(color=color, width=width),
        showlegend=False,
        hovertemplate=f"tau %{{x:.3g}}<br>{name} %{{y:.4g}}<extra></extra>",
    )


def _marker(fig: go.Figure, tau: float, value: float, theme: Theme) -> None:
    """The value of now, outlined as the selected one."""
    fig.add_scatter(
        x=np.asarray([np.clip(tau, LOW, HIGH)], np.float32),
        y=np.asarray([value], np.float32),
        mode="markers",
        showlegend=False,
        marker=dict(color=ANCHOR, size=13, line=dict(color=theme.outline, width=2)),
        cliponaxis=False,
        hovertemplate=f"tau {tau_text(tau)}: {value:.4g}<extra></extra>",
    )


def _count(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _factor(after: float, before: float) -> str:
    return f"{after / before:.2f}" if before > 0 and after / before < 100 else "over 100"
