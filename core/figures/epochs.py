"""The embedding of one run from epoch to epoch, playing in the browser, beside its path in the alignment-uniformity plane."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from core.figures.circle import INNER, OUTER
from core.figures.globe import from_eye, graticule
from core.figures.playback import SPACE, play_controls
from core.figures.points import POINTS, add_legend, groups, hover_lines
from core.figures.text import WIDE, WIDE_SUBTITLE, make_room, wrapped
from core.figures.theme import OKABE_ITO, Theme, style
from core.geometry.closed_forms import uniform_optimum
from core.geometry.planes import leading

SIZE = 480  # px, without the controls


def epochs_figure(
    z_epochs: NDArray,
    epochs: Sequence[int],
    arrays: Mapping[str, NDArray],
    theme: Theme,
    *,
    path: Mapping[str, NDArray] | None = None,
    color_by: str = "class",
    classes: Sequence[str] = (),
    title: str = "",
    subtitle: str = "",
    height: int = SIZE,
) -> go.Figure:
    """Draw one frame per kept epoch; the last one is shown first.

    Args:
        z_epochs: Unit rows, shape (e, n, d), turned onto each other where the axes shall be still.
        epochs: Their numbers, (e,), ascending.
        arrays: labels [n], index [n], and what the colouring needs.
        theme: Colours.
        path: epoch, alignment and uniformity of each trained epoch, equally long; None or empty leaves the second picture out.
        color_by: One of `points.colorings`.
        classes: Names of the classes; empty = their numbers.
        title: What is shown.
        subtitle: Settings; how the points are drawn is added.
        height: Pixels of the pictures; the controls are added below.

    Raises:
        ValueError: If the epochs do not fit.
    """
    z_epochs = np.asarray(z_epochs, dtype=np.float32)
    if z_epochs.ndim != 3 or len(z_epochs) != len(epochs) or not len(epochs):
        raise ValueError(f"z_epochs must have shape ({len(epochs)}, n, d), one embedding per epoch, got {z_epochs.shape}.")
    found = groups(arrays, color_by, classes)
    frames, how, shapes = _frames(z_epochs, found.of, theme)
    known = path is not None and len(path.get("epoch", ())) > 0
    fig = make_subplots(cols=2, column_widths=[0.56, 0.44], horizontal_spacing=0.1) if known else make_subplots()
    colors = np.array([found.colors[value] for value in found.of.tolist()])
    last = len(epochs) - 1
    fig.add_scatter(
        **_at(frames[last]),
        mode="markers",
        name=POINTS,
        showlegend=False,
        marker=dict(color=colors, size=5, opacity=0.8),
        customdata=np.asarray(arrays["index"]).astype(np.int32),
        hovertext=hover_lines(found, arrays, classes),
        hovertemplate="%{hovertext}<extra></extra>",
    )
    moving = [0]
    dots = _path(fig, path, epochs, z_epochs.shape[2], theme) if known else None
    if dots is not None:
        moving.append(len(fig.data) - 1)
    add_legend(fig, found)
    fig.frames = [
        dict(
            name=str(place),
            traces=moving,
            data=[dict(type="scatter", **_at(frame)), *([dict(type="scatter", **_at(dots[place : place + 1]))] if known else [])],
        )
        for place, frame in enumerate(frames)
    ]
    reach = 1.03 if z_epochs.shape[2] <= 3 else float(np.abs(np.stack(frames)).max()) * 1.06
    hidden = dict(visible=False, range=[-reach, reach], fixedrange=True, constrain="domain")
    controls = play_controls(theme, len(epochs), "epoch", active=last)
    for step, epoch in zip(controls["sliders"][0]["steps"], epochs, strict=True):
        step["label"] = str(epoch)
    shapes = [*fig.layout.shapes, *shapes]
    layout = dict(xaxis=hidden, yaxis=dict(hidden, scaleanchor="x"), shapes=shapes, dragmode=False, **controls)
    title, subtitle = wrapped(title, WIDE), wrapped(" · ".join(filter(None, (subtitle, how))), WIDE_SUBTITLE)
    style(fig, theme, title=title, subtitle=subtitle, height=height + SPACE, layout=layout)
    fig.update_layout(margin_t=(66 if title or subtitle else 12) + 26, hovermode="closest")
    return make_room(fig)


def _frames(z_epochs: NDArray, group: NDArray, theme: Theme) -> tuple[list[NDArray], str, list[dict]]:
    """Points of each frame [n, 2], how they are drawn, and what lies below them."""
    dim = z_epochs.shape[2]
    line = dict(color=theme.theory, width=1)
    rim = dict(type="circle", x0=-1, x1=1, y0=-1, y1=1, line=line, layer="below", xref="x", yref="y")
    if dim == 2:
        values, place = np.unique(group, return_inverse=True)
        radius = np.linspace(OUTER, INNER, len(values))[place][:, None].astype(np.float32)
        return [frame * radius for frame in z_epochs], "the circle, each group on a ring of its own", [rim]
    if dim == 3:
        grid = dict(type="path", path=graticule(), line=dict(color=theme.grid, width=1), layer="below", xref="x", yref="y")
        return [from_eye(frame)[:, :2] for frame in z_epochs], "the sphere from one side, its back shining through", [rim, grid]
    view = leading(z_epochs.reshape(-1, dim), 2)
    points = view.points.reshape(len(z_epochs), -1, 2)
    return list(points), f"two directions of d = {dim} for all epochs, {view.share:.0%} of the squared length", []


def _path(
    fig: go.Figure, path: Mapping[str, NDArray], epochs: Sequence[int], dim: int, theme: Theme
) -> NDArray[np.float32]:
    """Alignment against uniformity of all epochs, with a dot on the one that is shown. Returns where the dot is in each frame."""
    at = np.asarray(path["epoch"]).astype(int)
    places = np.stack([np.asarray(path["uniformity"]), np.asarray(path["alignment"])], axis=1).astype(np.float32)
    fig.add_scatter(
        **_at(places),
        mode="lines+markers",
        line=dict(color=theme.theory, width=1.5),
        marker=dict(size=5, color=theme.theory),
        customdata=at.astype(np.int32),
        hovertemplate="epoch %{customdata}<br>uniformity %{x:.3f}<br>alignment %{y:.3f}<extra></extra>",
        showlegend=False,
        row=1,
        col=2,
    )
    fig.add_annotation(
        x=float(places[0, 0]), y=float(places[0, 1]), xref="x2", yref="y2", text=f"epoch {at[0]}", showarrow=False,
        yshift=15, font=dict(color=theme.muted, size=12),
    )  # fmt: skip
    by_epoch = dict(zip(at.tolist(), places, strict=True))
    nowhere = np.full(2, np.nan, dtype=np.float32)
    dots = np.stack([by_epoch.get(int(epoch), nowhere) for epoch in epochs])
    fig.add_scatter(
        **_at(dots[-1:]),
        mode="markers",
        marker=dict(color=OKABE_ITO[0], size=13, line=dict(color=theme.outline, width=2)),
        hoverinfo="skip",
        showlegend=False,
        row=1,
        col=2,
    )
    optimum = uniform_optimum(dim)
    fig.add_shape(
        type="line", x0=optimum, x1=optimum, y0=0, y1=1, xref="x2", yref="y2 domain", line=dict(color=theme.theory, width=1)
    )
    fig.add_annotation(
        x=optimum, xref="x2", y=1, yref="y2 domain", xanchor="left", xshift=4, yanchor="top", showarrow=False,
        text=f"optimum, d = {dim}", font=dict(color=theme.theory, size=12),
    )  # fmt: skip
    fig.update_xaxes(title_text="Uniformity (lower: more even)", row=1, col=2)
    fig.update_yaxes(title_text="Alignment (lower: views agree)", rangemode="tozero", row=1, col=2)
    return dots


def _at(points: NDArray) -> dict[str, NDArray]:
    return {"x": np.asarray(points[:, 0], dtype=np.float32), "y": np.asarray(points[:, 1], dtype=np.float32)}
