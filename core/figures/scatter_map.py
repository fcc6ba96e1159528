"""Test images on a flat map of the embedding, principal components or t-SNE: to be lassoed, greyed but never hidden."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.points import POINTS, SVG_LIMIT, add_legend, drawing_order, groups, hover_lines, lasso, point_colors
from core.figures.text import make_room
from core.figures.theme import Theme, style

SIZE = 560  # px
Kind = str  # "pca" or "tsne"


def scatter_map(
    points: NDArray,
    arrays: Mapping[str, NDArray],
    theme: Theme,
    *,
    kind: Kind = "pca",
    color_by: str = "class",
    classes: Sequence[str] = (),
    focus: Collection[int] = (),
    picked: Collection[int] = (),
    title: str = "",
    subtitle: str = "",
    height: int = SIZE,
) -> go.Figure:
    """Draw the map.

    Args:
        points: Coordinates [n, >= 2]; the first two are drawn.
        arrays: labels [n], index [n], and what the colouring needs.
        theme: Colours.
        kind: "pca", whose axes share one scale, or "tsne", whose axes mean nothing.
        color_by: One of `points.colorings`.
        classes: Names of the classes; empty = their numbers.
        focus: Groups that stay in colour; empty = all.
        picked: Ids of points that stay in colour; empty = all.
        title: What is shown.
        subtitle: Settings, with how many points of how many.
        height: Pixels.

    Returns:
        The figure; the customdata of a point is its index.

    Raises:
        ValueError: If points and labels differ in length, or the kind is unknown.
    """
    if kind not in ("pca", "tsne"):
        raise ValueError(f"kind must be pca or tsne, got {kind!r}.")
    points = np.asarray(points, dtype=np.float32)
    index = np.asarray(arrays["index"]).astype(np.int32)
    if points.ndim != 2 or points.shape[1] < 2 or len(points) != len(index):
        raise ValueError(f"points must have shape ({len(index)}, 2) or wider, one row per image, got {points.shape}.")
    found = groups(arrays, color_by, classes)
    colors = point_colors(found, index, theme, focus=focus, picked=picked)
    order = drawing_order(colors, theme)
    texts = hover_lines(found, arrays, classes)
    fig = go.Figure()
    trace = go.Scatter if len(points) <= SVG_LIMIT else go.Scattergl
    fig.add_trace(
        trace(
            x=points[order, 0],
            y=points[order, 1],
            mode="markers",
            name=POINTS,
            showlegend=False,
            marker=dict(color=colors[order], size=6 if len(points) <= 1200 else 4.5, opacity=0.85),
            customdata=index[order],
            hovertext=[texts[place] for place in order],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    add_legend(fig, found, focus=focus)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    names = ("PC 1", "PC 2") if kind == "pca" else ("t-SNE 1, no unit", "t-SNE 2, no unit")
    plain = dict(showticklabels=False, ticks="", showgrid=False)
    fig.update_xaxes(title_text=names[0], **plain)
    fig.update_yaxes(title_text=names[1], **plain, **(dict(scaleanchor="x") if kind == "pca" else {}))
    fig.update_layout(margin_t=(66 if title or subtitle else 12) + 26)
    lasso(fig)
    return make_room(fig)
