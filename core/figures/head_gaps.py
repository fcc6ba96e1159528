"""The gap between the best and the worst loss at each depth of the head, with intervals."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.figures.text import NARROW_SUBTITLE, make_room, wrapped
from core.figures.theme import OBJECTIVE_NAMES, OKABE_ITO, Theme, end_label, spread_labels, style
from core.studies.heads import NEGLIGIBLE, HeadClaim

HEIGHT = 380


def head_gaps(claims: Sequence[HeadClaim], theme: Theme, *, title: str = "") -> go.Figure:
    """Draw the gaps, one line per length of training.

    Args:
        claims: From `core.studies.heads.judge_heads`.
        theme: Colours.
        title: Takeaway.
    """
    fig = go.Figure()
    subtitle = (
        "Highest minus lowest mean over losses · 95% bootstrap interval over seeds · ○ losses cannot be told apart (p > 0.05)"
    )
    style(fig, theme, title=title, subtitle=wrapped(subtitle, NARROW_SUBTITLE), height=HEIGHT)
    depths = sorted({gap.depth for claim in claims for gap in claim.gaps})
    top = NEGLIGIBLE
    ends = []
    for claim, color in zip(claims, OKABE_ITO, strict=False):
        x = np.array([depths.index(gap.depth) for gap in claim.gaps], dtype=np.float32)
        y = np.array([gap.gap for gap in claim.gaps], dtype=np.float32)
        up = np.nan_to_num([gap.high - gap.gap for gap in claim.gaps]).clip(0).astype(np.float32)
        down = np.nan_to_num([gap.gap - gap.low for gap in claim.gaps]).clip(0).astype(np.float32)
        hover = [
            f"{gap.depth} layer{'s' if gap.depth > 1 else ''}, {claim.epochs} epochs<br>gap {gap.gap:.4f} [{gap.low:.4f}, "
            f"{gap.high:.4f}]<br>best {OBJECTIVE_NAMES[gap.best]}, worst {OBJECTIVE_NAMES[gap.worst]}<br>analysis of "
            f"variance p = {gap.p:.2g}"
            for gap in claim.gaps
        ]
        symbols = ["circle-open" if gap.p > 0.05 else "circle" for gap in claim.gaps]
        fig.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            line=dict(color=color, width=2.5),
            marker=dict(color=color, size=11, symbol=symbols, line=dict(width=2)),
            error_y=dict(array=up, arrayminus=down, symmetric=False, color=color, thickness=1.5, width=5),
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
        ends.append((float(x[-1]), float(y[-1]), f"{claim.epochs} epochs", color))
        top = max(top, float((y + up).max()))
    heights = spread_labels([y for _, y, _, _ in ends], top * 0.08)
    for (place, _, name, color), height in zip(ends, heights, strict=True):
        end_label(fig, place, height, name, color)
    fig.add_hline(y=NEGLIGIBLE, line=dict(color=theme.theory, width=1, dash="dot"))
    fig.add_annotation(
        x=0,
        xref="x domain",
        y=NEGLIGIBLE,
        text="one percentage point",
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font=dict(color=theme.theory, size=12),
    )
    fig.update_xaxes(
        tickvals=list(range(len(depths))),
        ticktext=[str(depth) for depth in depths],
        range=[-0.3, len(depths) - 0.7],
        title_text="Layers of the projection head",
        showgrid=False,
    )
    fig.update_yaxes(title_text="Gap (accuracy)", range=[0, top * 1.1])
    return make_room(fig.update_layout(margin=dict(r=90)))
