"""Who receives the push on an embedding, against the temperature: the hardest negatives, and those of the anchor's own class."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.roles import EASY, FALSE_NEGATIVE, NEGATIVE, tau_axis
from core.figures.text import NARROW, NARROW_SUBTITLE, WIDE, WIDE_SUBTITLE, make_room, percent, readable, wrapped
from core.figures.theme import Theme, end_label, rgba, style
from core.losses.hardness import GROUPS, PushShares

GROUP_COLORS = {"hard and false": FALSE_NEGATIVE, "hard, not false": NEGATIVE, "false, not hard": "#E7B7D2", "neither": EASY}
LETTER = 0.018  # of the axis; width of a letter where the chart takes half the page at 1024 px
LEAST_ROOM = 0.05  # of the axis; height of a name


def gradient_share(shares: PushShares, theme: Theme, *, tau: float | None = None, source: str = "") -> go.Figure:
    """Share of the push on the hardest negatives, and on same-class negatives, each with its limit.

    Args:
        shares: From core.losses.hardness.push_shares.
        theme: Colours.
        tau: The temperature of the run, marked by a vertical line; None where there is none.
        source: Where the embedding comes from, for the subtitle.
    """
    fig = go.Figure()
    low, high = float(shares.taus[0]), float(shares.taus[-1])
    lines = (
        (shares.hard_share, NEGATIVE, f"hardest {shares.hard}", shares.hard / shares.negatives),
        (shares.false_share, FALSE_NEGATIVE, "same class", shares.same_class),
    )
    for values, color, name, even in lines:
        fig.add_scatter(
            x=shares.taus.astype(np.float32),
            y=values.astype(np.float32),
            mode="lines+markers",
            marker=dict(size=5),
            showlegend=False,
            line=dict(color=color, width=2.5),
            hovertemplate=f"{name}<br>tau %{{x:.3g}}<br>%{{y:.1%}} of the push<extra></extra>",
        )
        fig.add_scatter(
            x=np.asarray([low, high], np.float32),
            y=np.asarray([even, even], np.float32),
            mode="lines",
            hoverinfo="skip",
            line=dict(color=theme.theory, width=1),
            showlegend=False,
        )
        fig.add_annotation(
            x=np.log10(low),
            y=even,
            text=f"{even:.0%} if all weighed the same",
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            xshift=6,
            font=dict(color=theme.theory, size=12),
        )
    ends = sorted(((values[-1], color, name) for values, color, name, _ in lines), key=lambda end: end[0])
    gap = max(0.0, 0.07 - (ends[1][0] - ends[0][0])) / 2
    for (value, color, name), shift in zip(ends, (-gap, gap), strict=True):
        end_label(fig, np.log10(high), value + shift, name, readable(color, theme))
    if tau is not None and low <= tau <= high:
        fig.add_vline(x=tau, line=dict(color=theme.theory, width=1, dash="dot"))
        fig.add_annotation(  # log axes take the exponent
            x=np.log10(tau),
            y=1.02,
            text=f"trained at tau {tau:g}",
            showarrow=False,
            yanchor="bottom",
            font=dict(color=theme.theory, size=12),
        )
    subtitle = wrapped(_subtitle(shares, source), WIDE_SUBTITLE)
    style(fig, theme, title=wrapped(gradient_title(shares), WIDE), subtitle=subtitle)
    tau_axis(fig, low, high, title="Temperature tau at which the push is computed (log scale)")
    fig.update_yaxes(title_text="Share of the push", range=[0, 1.02], tickformat=".0%")
    fig.update_layout(margin=dict(r=110))
    return make_room(fig)


def push_groups(shares: PushShares, theme: Theme, *, source: str = "") -> go.Figure:
    """The push split into hard and false, hard only, false only and neither, stacked, against the temperature."""
    fig = go.Figure()
    low, high = float(shares.taus[0]), float(shares.taus[-1])
    below = np.zeros(len(shares.taus))
    for place, name in enumerate(GROUPS):
        values = shares.groups[:, place]
        fig.add_scatter(
            x=shares.taus.astype(np.float32),
            y=values.astype(np.float32),
            mode="lines",
            stackgroup="push",
            name=name,
            line=dict(width=0.5, color=GROUP_COLORS[name]),
            fillcolor=rgba(GROUP_COLORS[name], 0.75),
            hovertemplate=f"{name}<br>tau %{{x:.3g}}<br>%{{y:.1%}} of the push<extra></extra>",
        )
        spot = room_in_band(np.log10(shares.taus), below, below + values, len(name) * LETTER)
        if spot is not None:
            fig.add_annotation(x=spot[0], y=spot[1], text=name, showarrow=False, font=dict(color=theme.text, size=13))
        else:
            end_label(fig, np.log10(high), below[-1] + values[-1] / 2, name.replace(", ", ",<br>"), theme.muted, align="left")
        below = below + values
    cold = shares.groups[0]
    title = f"At tau {low:g}, {percent(cold[0])} of the push is on negatives that are hard and false at once"
    style(fig, theme, title=wrapped(title, NARROW), subtitle=wrapped(_subtitle(shares, source), NARROW_SUBTITLE), height=480)
    tau_axis(fig, low, high)
    fig.update_yaxes(title_text="Share of the push", range=[0, 1], tickformat=".0%", showgrid=False)
    outside = any(note.xanchor == "left" for note in fig.layout.annotations)
    fig.update_layout(showlegend=False, margin=dict(r=76 if outside else 30))
    return make_room(fig)


def room_in_band(x: NDArray, bottom: NDArray, top: NDArray, width: float) -> tuple[float, float] | None:
    """Where a name fits between two curves without touching either: in the middle of the highest free rectangle.

    Args:
        x: Rising positions, shape (n,).
        bottom: Lower curve, shape (n,), as shares of the axis.
        top: Upper curve, shape (n,).
        width: Of the name, as a share of the axis.

    Returns:
        (x, y) of its centre; None where it fits nowhere.
    """
    fine = np.linspace(x[0], x[-1], 81)
    low, high = np.interp(fine, x, bottom), np.interp(fine, x, top)
    span = int(np.ceil(width * (len(fine) - 1))) + 1
    if span > len(fine):
        return None
    floor = np.lib.stride_tricks.sliding_window_view(low, span).max(axis=1)
    ceiling = np.lib.stride_tricks.sliding_window_view(high, span).min(axis=1)
    best = int((ceiling - floor).argmax())
    if ceiling[best] - floor[best] < LEAST_ROOM:
        return None
    return float(fine[best] + (fine[span - 1] - fine[0]) / 2), float((floor[best] + ceiling[best]) / 2)


def gradient_title(shares: PushShares) -> str:
    """The two ends of the range, in one sentence."""
    low, high = shares.taus[0], shares.taus[-1]
    return (
        f"From tau {high:g} to {low:g} the share on the anchor's own class goes from {percent(shares.false_share[-1])} to "
        f"{percent(shares.false_share[0])}"
    )


def _subtitle(shares: PushShares, source: str) -> str:
    parts = [source] if source else []
    parts.append(
        f"mean over {shares.anchors} anchors, {shares.negatives} negatives each, the hardest {shares.hard} count as hard"
    )
    return " · ".join(parts)
