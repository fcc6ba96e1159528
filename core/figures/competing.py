"""What an encoder uses: accuracy of a probe, fitted on plain images, when a feature is taken away or exchanged."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.figures.text import wrapped
from core.figures.theme import HEIGHT, OKABE_ITO, Theme, style
from core.inspections.alterations import ALTERATIONS
from core.inspections.findings import NEAR_CHANCE, costliest, follows

COLORS = {"h": OKABE_ITO[0], "z": OKABE_ITO[1]}
NARROWEST = 12  # characters of a line under a bar
TEXT_HEIGHT = 0.075  # of the accuracy axis
PULLS = {"same_image": "same image, other bits", "same_feature": "other image, same bits", "neither": "neither in common"}


def competing(summary: dict[str, Any], theme: Theme, *, title: str = "", subtitle: str = "", height: int = HEIGHT) -> go.Figure:
    """Draw the accuracies, plain images first.

    Args:
        summary: Of an inspection: chance, competing, h and z.
        theme: Colours.
        title: Takeaway; empty = made from the numbers.
        subtitle: Settings.
        height: Pixels.
    """
    fig = go.Figure()
    entries = [entry for entry in summary.get("competing") or () if entry["name"] in ALTERATIONS]
    names = ["plain images", *(ALTERATIONS[entry["name"]].title for entry in entries)]
    for space in ("h", "z"):
        plain = (summary.get(space) or {}).get("linear_accuracy")
        if plain is None:
            continue
        values = np.array([plain, *(entry[space]["accuracy"] for entry in entries)], dtype=np.float32)
        fig.add_bar(
            x=names, y=values, name=f"probe on {space}", marker=dict(color=COLORS[space]),
            text=[_above(value, summary.get("chance")) for value in values],
            textposition="outside", textfont=dict(color=theme.text, size=13), cliponaxis=False,
            hovertemplate=f"%{{x}}<br>linear probe on {space}: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    layout = dict(
        yaxis=dict(range=[0, 1.08], title=dict(text="Linear accuracy (test)"), tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1]),
        xaxis=dict(showgrid=False, tickfont=dict(color=theme.text)), barmode="group", bargap=0.35, bargroupgap=0.08,
        dragmode=False, legend=dict(orientation="h", x=1, xanchor="right", y=1.0, yanchor="bottom"),
    )  # fmt: skip
    style(fig, theme, title=title or takeaway(summary), subtitle=subtitle, height=height, layout=layout)
    ticks = dict(tickmode="array", tickvals=names, ticktext=[wrapped(name, NARROWEST) for name in names])
    fig.update_layout(margin=dict(r=96, t=92), xaxis=ticks)
    if summary.get("chance") is not None:
        fig.add_hline(y=summary["chance"], line=dict(color=theme.theory, width=1))
        fig.add_annotation(
            x=1, xref="paper", xanchor="left", y=summary["chance"], text=f" guessing {summary['chance']:.2f}", showarrow=False,
            font=dict(color=theme.theory, size=12),
        )  # fmt: skip
    return fig


def _above(value: float, chance: float | None) -> str:
    """The number over a bar, a line higher where the line of guessing would run through it."""
    crossed = chance is not None and chance - TEXT_HEIGHT < value < chance - 0.015
    return f"{value:.2f}<br> " if crossed else f"{value:.2f}"


def takeaway(summary: dict[str, Any]) -> str:
    """Which change costs the class, as a title."""
    plain, chance = (summary.get("h") or {}).get("linear_accuracy"), summary.get("chance") or 0.0
    if plain is not None and plain < chance + NEAR_CHANCE:
        return "No change of the image costs the class: it is not known to begin with"
    text = costliest(summary).removeprefix("Of the alterations, ").rstrip(".")
    return text[:1].upper() + text[1:] if text else "No change of the image costs much of the class"


def bit_takeaway(summary: dict[str, Any]) -> str:
    """What the embedding follows, as a title."""
    text = follows(summary).partition(" (")[0]
    return f"When image and bits disagree, {text}" if text else "What does the embedding follow?"


def bit_pull(summary: dict[str, Any], theme: Theme, *, title: str = "", subtitle: str = "", height: int = HEIGHT) -> go.Figure:
    """Draw what the embedding follows when image and bits disagree: mean cosines around the mean embedding.

    Args:
        summary: Of an inspection whose encoder has RandBit channels.
        theme: Colours.
        title: Takeaway; empty = made from the numbers.
        subtitle: Settings.
        height: Pixels.
    """
    fig = go.Figure()
    entry = next((entry for entry in summary.get("competing") or () if entry["name"] == "other_bits"), None)
    for space in ("h", "z"):
        if entry is None or space not in entry:
            continue
        values = np.array([entry[space].get(key, np.nan) for key in PULLS], dtype=np.float32)
        fig.add_bar(
            x=list(PULLS.values()), y=values, name=space, marker=dict(color=COLORS[space]),
            text=[f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−") for value in values], textposition="outside",
            textfont=dict(color=theme.text, size=13), cliponaxis=False, hovertemplate="%{x}: %{y:.3f}<extra></extra>",
        )  # fmt: skip
    layout = dict(
        yaxis=dict(range=[-0.25, 1.1], title=dict(text="Mean cosine, centred")),
        xaxis=dict(showgrid=False, tickfont=dict(color=theme.text)), barmode="group", bargap=0.4, bargroupgap=0.08,
        dragmode=False, legend=dict(orientation="h", x=1, xanchor="right", y=1.0, yanchor="bottom"),
    )  # fmt: skip
    style(fig, theme, title=title or bit_takeaway(summary), subtitle=subtitle, height=height, layout=layout)
    fig.update_layout(margin_t=92)
    fig.add_hline(y=0, line=dict(color=theme.theory, width=1))
    return fig
