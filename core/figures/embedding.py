"""Test images in the embedding: the circle itself for two dimensions, else the first two principal components."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.lines import COMPACT_HEIGHT
from core.figures.points import CLASS_COLORS, SVG_LIMIT, groups
from core.figures.theme import HEIGHT, Theme, style


def embedding(
    arrays: dict[str, np.ndarray],
    theme: Theme,
    *,
    color_by: str = "class",
    classes: Sequence[str] = (),
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw one embedding.

    Args:
        arrays: As in embedding.npz: z [n, d] unit rows, pca [n, 3], labels [n], code [n], index [n], predicted [n].
        theme: Colours.
        color_by: "class", "predicted", or "bit 3" for bit 3 of the code, counted from 1.
        classes: Names of the classes; empty = their numbers.
        title: What is shown.
        subtitle: Settings; the share of variance and the number of points are added.
        height: Pixels.

    Returns:
        The figure; `customdata` is the image's row in the test set.
    """
    fig = go.Figure()
    points, axes, shown = _coordinates(arrays)
    names, colors, group = groups(arrays, color_by, classes)
    for value in np.unique(group):
        members = group == value
        fig.add_trace(_cloud(points[members], arrays["index"][members], names[value], colors[value], len(points), size=6))
    if arrays["z"].shape[1] == 2:
        _add_circle(fig, theme)
    details = " · ".join(filter(None, (subtitle, shown, f"{len(points):,} test images")))
    style(fig, theme, title=title, subtitle=details, height=height)
    _plain_axes(fig, axes)
    return fig.update_layout(
        hovermode="closest",
        dragmode="pan",
        legend=dict(orientation="h", yanchor="bottom", y=1.0, x=0, itemsizing="constant", font=dict(size=13), **_entries(names)),
        margin_t=(92 if title or details else 30),
        showlegend=True,
    )


def embedding_pair(
    before: dict[str, np.ndarray],
    after: dict[str, np.ndarray],
    names: tuple[str, str],
    theme: Theme,
    *,
    height: int = COMPACT_HEIGHT,
) -> go.Figure:
    """Two embeddings side by side, coloured by class: with and without the easy feature."""
    fig = make_subplots(rows=1, cols=2, horizontal_spacing=0.04)
    for column, arrays in enumerate((before, after), 1):
        points, _, _ = _coordinates(arrays)
        for value in np.unique(arrays["labels"]):
            members = arrays["labels"] == value
            color = CLASS_COLORS[int(value) % len(CLASS_COLORS)]
            cloud = _cloud(points[members], arrays["index"][members], str(value), color, len(points), size=3.5)
            fig.add_trace(cloud.update(showlegend=False, hoverinfo="skip", hovertemplate=None), row=1, col=column)
    style(fig, theme, height=height)
    for column, name in enumerate(names, 1):
        axis = "" if column == 1 else column
        fig.update_layout({f"yaxis{axis}": dict(scaleanchor=f"x{axis}", visible=False), f"xaxis{axis}": dict(visible=False)})
        fig.add_annotation(
            x=0.5, xref=f"x{axis} domain", y=0, yref="paper", text=name, showarrow=False, yanchor="top", yshift=-2,
            font=dict(color=theme.muted, size=13),
        )
    return fig.update_layout(margin=dict(l=6, r=6, t=6, b=26), dragmode=False)


def _coordinates(arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, tuple[str, str], str]:
    """Points [n, 2] float32, axis titles, and how much of the embedding the picture shows."""
    z = arrays["z"].astype(np.float32)
    if z.shape[1] == 2:
        return z, ("z, first dimension", "z, second dimension"), "the whole embedding, d = 2"
    plane = arrays["pca"][:, :2].astype(np.float32)
    total = float(z.var(axis=0).sum())
    if total == 0:
        return plane, ("PC 1", "PC 2"), f"no variance: all points are equal, d = {z.shape[1]}"
    share = plane.var(axis=0) / total
    return plane, (f"PC 1 ({share[0]:.0%})", f"PC 2 ({share[1]:.0%})"), f"{share.sum():.0%} of the variance of d = {z.shape[1]}"


def _cloud(points: np.ndarray, index: np.ndarray, name: str, color: str, total: int, size: float) -> go.Scatter | go.Scattergl:
    trace = go.Scatter if total <= SVG_LIMIT else go.Scattergl
    return trace(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        name=name,
        marker=dict(color=color, size=size, opacity=0.8),
        customdata=index.astype(np.int32),
        hovertemplate=f"{name}<br>test image %{{customdata}}<extra></extra>",
    )


def _entries(names: dict) -> dict:
    """Short names fit into one row; long ones take the width they need."""
    if len(names) > len(CLASS_COLORS) or max(map(len, names.values()), default=0) > 2:
        return {}
    return dict(entrywidth=0.095, entrywidthmode="fraction")


def _add_circle(fig: go.Figure, theme: Theme) -> None:
    fig.add_shape(type="circle", x0=-1, x1=1, y0=-1, y1=1, line=dict(color=theme.theory, width=1), layer="below")


def _plain_axes(fig: go.Figure, titles: tuple[str, str]) -> None:
    """Equal scales; ticks say nothing about principal components."""
    plain = dict(showticklabels=False, ticks="", showgrid=False)
    fig.update_xaxes(title_text=titles[0], **plain)
    fig.update_yaxes(title_text=titles[1], scaleanchor="x", **plain)
