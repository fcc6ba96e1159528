"""One anchor's negatives on an embedding: how similar, how hard pushed, and whether of the anchor's own class."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.roles import EASY, FALSE_NEGATIVE
from core.figures.text import NARROW, make_room, marks, percent, wrapped
from core.figures.theme import Theme, style
from core.losses.hardness import unit_rows
from core.losses.softmax import push_shares

DEPTH = 1e-6  # the axis ends at this share of the largest push
BELOW = "triangle-down-open"


def hard_and_false(
    z: NDArray, labels: NDArray, anchor: int, tau: float, theme: Theme, top: float = 0.05, names: tuple[str, ...] | None = None
) -> go.Figure:
    """Push on each negative of one anchor against its similarity, coloured by class.

    Args:
        z: Embeddings, shape (n, d); normalised here.
        labels: Class of each row, shape (n,).
        anchor: Row of the anchor; all other rows are its negatives.
        tau: Temperature, > 0 and finite.
        theme: Colours.
        top: Fraction of the negatives that count as hard.
        names: Class names; None: the labels themselves.
    """
    z = unit_rows(z)
    others = np.flatnonzero(np.arange(len(z)) != anchor)
    scores = (z[others] @ z[anchor]).astype(np.float64)
    shares = push_shares(scores, tau)
    false = labels[others] == labels[anchor]
    hard = np.zeros(len(others), dtype=bool)
    hard[np.argsort(-scores, kind="stable")[: max(1, round(top * len(others)))]] = True
    own = names[int(labels[anchor])] if names else str(labels[anchor])
    border = scores[hard].min()
    floor = float(shares.max()) * DEPTH
    below = shares < floor
    fig = go.Figure()
    fig.add_vrect(x0=border, x1=1.02, fillcolor=theme.grid, opacity=0.55, layer="below", line_width=0)
    fig.add_annotation(
        x=1.02,
        y=0,
        yref="y domain",
        text=f"hard: the closest {hard.sum()}",
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
        yshift=20,  # above the row of shares below the axis
        font=dict(color=theme.muted, size=12),
    )
    for mask, color, name, symbol in (
        (~false, EASY, "other classes", "circle"),
        (false, FALSE_NEGATIVE, f"class {own}: false", "diamond"),
    ):
        fig.add_scatter(
            x=scores[mask].astype(np.float32),
            y=np.maximum(shares[mask], floor).astype(np.float32),
            mode="markers",
            name=name,
            marker=dict(color=color, size=8, symbol=np.where(below[mask], BELOW, symbol), opacity=0.85),
            customdata=others[mask].astype(np.int32),
            hovertext=[
                f"row {i}, class {names[int(labels[i])] if names else labels[i]}<br>similarity {s:.3f}<br>share {r:.2g}"
                for i, s, r in zip(others[mask], scores[mask], shares[mask], strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    both = shares[hard & false].sum() / shares[hard].sum()
    title = (
        f"The {hard.sum()} hardest take {percent(shares[hard].sum())} of the push, {percent(both)} of it on the anchor's own "
        "class"
    )
    legend = marks(theme, ("◆", FALSE_NEGATIVE, f"class {own}, false"), ("●", EASY, "other classes"))
    if below.any():
        legend += f" · ▽ {below.sum()} below the axis"
    subtitle = f"tau {tau:g} · {false.sum()} of {len(others)} negatives are false, {(hard & false).sum()} also hard<br>{legend}"
    style(fig, theme, title=wrapped(title, NARROW), subtitle=subtitle, height=480)
    left = min(-0.2, float(scores.min()) - 0.05)
    fig.update_xaxes(title_text="Similarity s to the anchor", range=[left, 1.02])
    fig.update_yaxes(
        type="log",
        title_text="Share of the push (log scale)",
        range=[np.log10(floor) - 0.2, np.log10(float(shares.max())) + 0.4],
        tickvals=[10.0**-power for power in range(13)],
        ticktext=["1", "0.1", "0.01", "0.001", *(f"1e−{power}" for power in range(4, 13))],
    )
    fig.update_layout(showlegend=False)
    return make_room(fig)
