"""How much mutual information InfoNCE can report: log N - L against the number of candidates, under its cap."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.text import readable
from core.figures.theme import OKABE_ITO, Theme, end_label, style
from core.losses.mutual_information import Bound

COLORS = (OKABE_ITO[0], OKABE_ITO[1], OKABE_ITO[2], OKABE_ITO[3])


def information_bound(
    bounds: Mapping[int, Sequence[Bound]], truths: Mapping[int, float], candidates: Sequence[int], rho: float, theme: Theme
) -> go.Figure:
    """One measured line per dimension, its true information as a thin line, and the cap log N.

    Args:
        bounds: Dimension -> one bound per number of candidates.
        truths: Dimension -> true information in nats.
        candidates: N, the positive included.
        rho: Correlation, for the subtitle.
        theme: Colours.
    """
    fig = go.Figure()
    sizes = np.asarray(candidates, np.float32)
    cap = np.log(np.asarray(candidates, dtype=float))
    fig.add_scatter(
        x=sizes,
        y=cap.astype(np.float32),
        mode="lines",
        line=dict(color=theme.theory, width=1.5),
        showlegend=False,
        hovertemplate="cap log N<br>N = %{x}<br>%{y:.3f} nats<extra></extra>",
    )
    top = max(*truths.values(), cap[-1]) * 1.08
    for (dim, line), color in zip(bounds.items(), COLORS, strict=False):
        fig.add_scatter(
            x=sizes[[0, -1]],
            y=np.asarray([truths[dim]] * 2, np.float32),
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line=dict(color=color, width=1, dash="dot"),
        )
        fig.add_scatter(
            x=sizes,
            y=np.asarray([bound.estimate for bound in line], np.float32),
            mode="lines+markers",
            showlegend=False,
            line=dict(color=color, width=2.5),
            marker=dict(size=8, color=color),
            error_y=dict(array=np.asarray([2 * bound.spread for bound in line], np.float32), color=color, thickness=1, width=3),
            hovertemplate=f"{dim} dimensions, true {truths[dim]:.3f}<br>N = %{{x}}<br>log N − L = %{{y:.3f}} nats<extra></extra>",
        )
        end_label(fig, np.log10(sizes[-1]), truths[dim], f"I = {truths[dim]:.2f} ({dim} dim)", readable(color, theme))
    end_label(fig, np.log10(sizes[-1]), cap[-1], f"log {candidates[-1]:,}", theme.theory)
    most = max(truths, key=truths.get)
    reported = bounds[most][-1].estimate
    if truths[most] > cap[-1]:
        title = f"{truths[most]:.1f} nats are shared, {candidates[-1]:,} candidates report {reported:.1f}"
    else:
        title = f"With {candidates[-1]:,} candidates the bound reports {reported:.2f} of {truths[most]:.2f} nats"
    style(
        fig,
        theme,
        title=title,
        subtitle=(
            f"Gaussian pairs, correlation {rho:g}, optimal critic · points: log N − L, ±2 standard errors · dotted: true "
            "information"
        ),
    )
    fig.update_xaxes(
        type="log",
        title_text="Candidates N, the positive included (log scale)",
        tickvals=list(candidates),
        ticktext=[f"{size:,}" for size in candidates],
        range=[np.log10(candidates[0]) - 0.05, np.log10(candidates[-1]) + 0.05],
    )
    fig.update_yaxes(title_text="Information (nats)", range=[0, top])
    return fig.update_layout(margin=dict(r=130))
