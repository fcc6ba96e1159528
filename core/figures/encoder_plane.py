"""Alignment against uniformity for a few encoders, named and coloured by accuracy, with the optimum of each dimension."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from core.figures.labels import Room
from core.figures.text import signed
from core.figures.theme import ACCURACY_SCALE, HEIGHT, Theme, style
from core.geometry.closed_forms import uniform_optimum
from core.geometry.verdicts import COLLAPSED

SIZE = (370, 290)  # px; plotting area at half a page, without the scale of colours


class Placed(NamedTuple):
    """One encoder."""

    name: str
    alignment: float  # E||x - y||^2 of two views
    uniformity: float
    accuracy: float | None  # 0 to 1; None where it was not measured
    dim: int  # of the embedding


def encoder_plane(
    placed: Sequence[Placed],
    theme: Theme,
    *,
    accuracy_name: str = "linear probe",
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw the plane; lower left is better on both axes.

    Args:
        placed: Encoders; those without finite coordinates are left out and counted in the subtitle.
        theme: Colours.
        accuracy_name: What the colour is.
        title: Takeaway; empty = made from the data.
        subtitle: Settings.
        height: Pixels.
    """
    shown = [entry for entry in placed if np.isfinite([entry.alignment, entry.uniformity]).all()]
    fig = go.Figure()
    missing = len(placed) - len(shown)
    left_out = f"{missing} without alignment left out" if missing else ""
    style(fig, theme, title=title or takeaway(shown), subtitle=" · ".join(filter(None, (subtitle, left_out))), height=height)
    low = min((uniform_optimum(entry.dim) for entry in shown), default=-4.0)
    top = max((entry.alignment for entry in shown), default=1.0)
    x_range, y_range = [low - 0.3, 0.35], [-0.15 * top - 0.02, top * 1.18 + 0.05]
    places = _places(shown, x_range, y_range)
    for known in (True, False):
        part = [i for i, entry in enumerate(shown) if (entry.accuracy is not None and np.isfinite(entry.accuracy)) == known]
        if part:
            fig.add_trace(_cloud([shown[i] for i in part], [places[i] for i in part], known, accuracy_name, theme))
    for place, dim in enumerate(sorted({entry.dim for entry in shown})):
        optimum = uniform_optimum(dim)
        fig.add_vline(x=optimum, line=dict(color=theme.theory, width=1))
        fig.add_annotation(
            x=optimum, xref="x", y=1, yref="y domain", yanchor="top", yshift=-16 * place, xanchor="left", xshift=3,
            text=f"optimum, d = {dim:,}", showarrow=False, font=dict(color=theme.theory, size=12),
        )  # fmt: skip
    fig.update_xaxes(title_text="Uniformity, log E exp(−2‖x − y‖²) (lower: more even)", range=x_range)
    fig.update_yaxes(title_text="Alignment, E‖x − y‖² (lower: views agree)", range=y_range)
    return fig.update_layout(hovermode="closest", dragmode=False)


def takeaway(shown: Sequence[Placed]) -> str:
    """Who comes closest to its optimum, in one sentence."""
    if not shown:
        return ""
    closest = min(shown, key=lambda entry: entry.uniformity - uniform_optimum(entry.dim))
    if len(shown) == 1:
        return f"{closest.name}: {signed(closest.uniformity - uniform_optimum(closest.dim), 2)} nats from the uniform optimum"
    if all(entry.uniformity / uniform_optimum(entry.dim) < COLLAPSED for entry in shown):
        return "None covers its sphere: all have collapsed to nearly one point"
    return f"{closest.name} covers its sphere most evenly"


def _places(shown: Sequence[Placed], x_range: Sequence[float], y_range: Sequence[float]) -> list[str | None]:
    """Where each name stands, inside the axes and free of points and other names; None where there is no such place."""
    points = [(entry.uniformity, entry.alignment) for entry in shown]
    room = Room([[point] for point in points], SIZE, list(zip(x_range, y_range, strict=True)))
    return [room.beside(point, entry.name) for point, entry in zip(points, shown, strict=True)]


def _cloud(part: Sequence[Placed], places: Sequence[str | None], known: bool, accuracy_name: str, theme: Theme) -> go.Scatter:
    """Encoders with a measured accuracy in its colour, the others hollow. The scale spans their accuracies, in steps of 0.1."""
    accuracies = [entry.accuracy for entry in part] if known else [0.0]
    low, high = np.floor(min(accuracies) * 10) / 10, np.ceil(max(accuracies) * 10) / 10
    high = max(high, low + 0.1)
    scale = dict(
        color=np.array([entry.accuracy for entry in part], dtype=np.float32),
        colorscale=ACCURACY_SCALE,
        cmin=low,
        cmax=high,
        colorbar=dict(
            title=dict(text=f"Accuracy, {accuracy_name}", side="right", font=dict(color=theme.muted, size=13)),
            tickfont=dict(color=theme.muted, size=12),
            thickness=12,
            outlinewidth=0,
        ),
    )
    hollow = dict(color=theme.muted, symbol="circle-open")
    return go.Scatter(
        x=np.array([entry.uniformity for entry in part], dtype=np.float32),
        y=np.array([entry.alignment for entry in part], dtype=np.float32),
        mode="markers+text",
        marker=dict(size=15, line=dict(color=theme.outline, width=1.5), **(scale if known else hollow)),
        text=[entry.name if place else "" for entry, place in zip(part, places, strict=True)],  # the pointer tells it, too
        textposition=[place or "top center" for place in places],
        textfont=dict(color=theme.text, size=13),
        cliponaxis=False,
        hovertext=[
            f"<b>{entry.name}</b>, d = {entry.dim}<br>alignment {entry.alignment:.3f}<br>"
            f"uniformity {signed(entry.uniformity, 4)}, optimum {signed(uniform_optimum(entry.dim), 4)}"
            + (f"<br>{accuracy_name} {entry.accuracy:.3f}" if known else "<br>accuracy not measured")
            for entry in part
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
