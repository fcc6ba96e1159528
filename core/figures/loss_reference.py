"""One anchor's loss against the temperature, between the collapsed value and the best that a simplex allows."""

import numpy as np
import plotly.graph_objects as go
from scipy.special import logsumexp

from core.figures.anchor_softmax import Candidates
from core.figures.roles import ANCHOR, tau_axis
from core.figures.text import percent, readable
from core.figures.theme import Theme, end_label, spread_labels, style
from core.losses.reference import chance, simplex
from core.losses.softmax import info_nce

LOW, HIGH = 0.02, 10.0
TAUS = np.geomspace(LOW, HIGH, 80)


def loss_reference(candidates: Candidates, tau: float, theme: Theme) -> go.Figure:
    """The loss of these scores over tau, with log(K + 1) and the simplex optimum for as many candidates.

    Args:
        candidates: Similarities of one anchor.
        tau: Marked on the curve.
        theme: Colours.
    """
    negatives = candidates.all_negatives
    count = len(negatives) + 1
    scores, counts = candidates.counted
    below = (np.array(scores) - candidates.positive)[None, :] / TAUS[:, None] + np.log(counts)
    losses = np.logaddexp(0, logsumexp(below, axis=1))  # log(1 + sum of count * exp((s - s+)/tau))
    best = np.array([simplex(count, t, kind="cross_view") for t in TAUS])
    guess = chance(count)
    fig = go.Figure()
    for values, color, width, name in (
        (np.full(len(TAUS), guess), theme.theory, 1, "collapsed"),
        (best, theme.theory, 1, "simplex optimum"),
        (losses, ANCHOR, 2.5, "these scores"),
    ):
        fig.add_scatter(
            x=TAUS.astype(np.float32),
            y=values.astype(np.float32),
            mode="lines",
            line=dict(color=color, width=width),
            showlegend=False,
            hovertemplate=f"{name}<br>tau %{{x:.3g}}<br>%{{y:.4f}} nats<extra></extra>",
        )
    at = float(np.clip(tau, LOW, HIGH))
    now = info_nce(candidates.positive, negatives, at)
    fig.add_scatter(
        x=np.asarray([at], np.float32),
        y=np.asarray([now], np.float32),
        mode="markers",
        showlegend=False,
        cliponaxis=False,
        hoverinfo="skip",
        marker=dict(color=ANCHOR, size=13, line=dict(color=theme.outline, width=2)),
    )
    top = max(guess, float(losses[TAUS > 0.05].max())) * 1.12
    ends = (
        (guess, theme.theory, f"collapsed, log {count:,}"),
        (best[-1], theme.theory, "simplex optimum"),
        (losses[-1], ANCHOR, "these scores"),
    )
    for (_, color, name), height in zip(ends, spread_labels([value for value, *_ in ends], top * 0.07, 0, top), strict=True):
        end_label(fig, np.log10(HIGH), height, name, readable(color, theme))
    share = now / guess
    style(
        fig,
        theme,
        title=f"At tau {at:g} the loss is {now:.2f}, {percent(share)} of its own collapsed value",
        subtitle=f"{count:,} candidates · lines move with tau and K, so losses of different tau or K cannot be compared",
    )
    tau_axis(fig, LOW, HIGH, ticks=(0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10))
    fig.update_yaxes(title_text="Loss (nats)", range=[0, top])
    return fig.update_layout(margin=dict(r=150))
