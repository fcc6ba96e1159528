"""A row of small embeddings: the circle or the globe itself in two or three dimensions, else the first two components."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from core.figures.circle import INNER, OUTER
from core.figures.globe import from_eye, graticule
from core.figures.points import CLASS_COLORS
from core.figures.theme import Theme, style

HEIGHT = 250
SPACING = 0.015  # between pictures, share of the row


class Preview(NamedTuple):
    """One small picture."""

    name: str  # under the picture
    arrays: dict[str, NDArray] | None  # of embedding.npz: z, pca, labels; None when nothing is stored
    focus: bool = False
    missing: str = ""  # said in place of the picture


def previews(shown: Sequence[Preview], theme: Theme, *, height: int = HEIGHT) -> go.Figure:
    """Draw the row.

    Args:
        shown: Pictures from left to right.
        theme: Colours.
        height: Pixels.

    Returns:
        The figure; points are coloured by class.
    """
    columns = max(len(shown), 1)
    fig = make_subplots(rows=1, cols=columns, horizontal_spacing=SPACING)
    style(fig, theme, height=height)
    width = (1 - SPACING * (columns - 1)) / columns
    for column, preview in enumerate(shown, 1):
        axis = "" if column == 1 else column
        middle = (column - 1) * (width + SPACING) + width / 2
        plain = dict(visible=False, fixedrange=True, constrain="domain")
        fig.update_layout({f"xaxis{axis}": plain, f"yaxis{axis}": plain | dict(scaleanchor=f"x{axis}")})
        if preview.arrays is None:
            fig.add_trace(go.Scatter(x=[-1, 1], y=[-1, 1], mode="none", hoverinfo="skip"), row=1, col=column)
            _say(fig, preview.missing, middle, 0.5, theme.muted, size=12)
        else:
            _draw(fig, preview.arrays, column, theme)
        name = f"<b>{preview.name}</b>" if preview.focus else preview.name
        _say(fig, name, middle, -0.02, theme.text if preview.focus else theme.muted, size=12, yanchor="top")
    return fig.update_layout(margin=dict(l=4, r=4, t=6, b=62), dragmode=False, showlegend=False)


def _draw(fig: go.Figure, arrays: dict[str, NDArray], column: int, theme: Theme) -> None:
    z = np.asarray(arrays["z"], dtype=np.float32)
    dim = z.shape[1]
    labels = np.asarray(arrays["labels"]).astype(int)
    points = _places(z, arrays, labels)
    order = np.argsort(points[:, 2]) if dim == 3 else np.arange(len(points))  # the back of the globe first
    colors = np.array(CLASS_COLORS)[labels[order] % len(CLASS_COLORS)]
    size = 3 + 1.5 * points[order, 2] if dim == 3 else 3.5
    fig.add_scatter(
        x=points[order, 0],
        y=points[order, 1],
        mode="markers",
        marker=dict(color=colors, size=size, opacity=0.8),
        hoverinfo="skip",
        row=1,
        col=column,
    )
    if dim in (2, 3):
        edge = dict(type="circle", x0=-1, x1=1, y0=-1, y1=1, line=dict(color=theme.theory, width=1), layer="below")
        fig.add_shape(**edge, row=1, col=column)
        fig.update_xaxes(range=[-1.08, 1.08], row=1, col=column)
        fig.update_yaxes(range=[-1.08, 1.08], row=1, col=column)
    if dim == 3:
        fig.add_shape(type="path", path=graticule(), line=dict(color=theme.grid, width=1), layer="below", row=1, col=column)


def _places(z: NDArray, arrays: dict[str, NDArray], labels: NDArray) -> NDArray[np.float32]:
    """Where points are drawn: on rings, on the globe with their depth, or by their first two components."""
    if z.shape[1] == 2:
        return z * _rings(labels)
    return from_eye(z) if z.shape[1] == 3 else np.asarray(arrays["pca"], dtype=np.float32)[:, :2]


def _rings(labels: NDArray) -> NDArray[np.float32]:
    """Radius of each point on the circle, a ring for each class: on one line they would cover one another."""
    classes, place = np.unique(labels, return_inverse=True)
    return np.linspace(OUTER, INNER, len(classes), dtype=np.float32)[place][:, None]


def _say(fig: go.Figure, text: str, x: float, y: float, color: str, size: int, **place) -> None:
    """A text in paper coordinates: an axis without points has no place of its own."""
    font = dict(color=color, size=size)
    fig.add_annotation(x=x, y=y, xref="paper", yref="paper", text=text, showarrow=False, font=font, xanchor="center", **place)
