"""Embeddings on the circle: every group on a ring of its own, the arc that holds most of it, and the density of all around.

After figure 3 of Wang & Isola 2020, "Alignment and Uniformity on the Hypersphere", who draw one circle per class.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.points import POINTS, Groups, add_legend, drawing_order, groups, hover_lines, lasso, point_colors
from core.figures.text import make_room, percent
from core.figures.theme import Theme, rgba, style
from core.geometry.closed_forms import von_mises_density
from core.geometry.planes import Projection, angles, leading, shortest_arc

SIZE = 560  # px
INNER, OUTER = 0.42, 0.94  # radii of the innermost and the outermost ring
TALLEST = 0.6  # radii; the density's highest peak beyond the circle
MOST, LEAST = 8.0, 3.0  # times the uniform density at full height: the peak itself between these; higher peaks are cut and said
KAPPA = 60.0  # width of the kernel: one standard deviation is 7 degrees
ARC = 0.8  # share of a group that its arc holds
STEPS = 361


def circle(
    arrays: Mapping[str, NDArray],
    theme: Theme,
    *,
    color_by: str = "class",
    classes: Sequence[str] = (),
    focus: Collection[int] = (),
    picked: Collection[int] = (),
    kappa: float = KAPPA,
    title: str = "",
    subtitle: str = "",
    height: int = SIZE,
) -> go.Figure:
    """Draw the circle.

    Args:
        arrays: z [n, d], labels [n], index [n], and what the colouring needs; rows of z need not be normalised.
        theme: Colours.
        color_by: One of `points.colorings`.
        classes: Names of the classes; empty = their numbers.
        focus: Groups that stay in colour; empty = all.
        picked: Ids of points that stay in colour; empty = all.
        kappa: Concentration of the kernel of the density, > 0.
        title: What is shown.
        subtitle: Settings; the projection is added where d > 2, and peaks that were cut.
        height: Pixels.

    Returns:
        The figure; the customdata of a point is its index, and points can be lassoed.
    """
    view = leading(arrays["z"], 2)
    angle = angles(view.points)
    found = groups(arrays, color_by, classes)
    index = np.asarray(arrays["index"]).astype(np.int32)
    fig = go.Figure()
    peak, reach = _add_density(fig, angle, kappa, theme)
    _add_arcs(fig, angle, found, focus, theme)
    rings = _rings(found)
    radius = np.array([rings[value] for value in found.of.tolist()])
    colors = point_colors(found, index, theme, focus=focus, picked=picked)
    order = drawing_order(colors, theme)
    texts = np.array(hover_lines(found, arrays, classes), dtype=object)
    degrees = [f"<br>{value:.0f}°" for value in np.rad2deg(angle)]
    fig.add_scatter(
        x=(radius * np.cos(angle))[order].astype(np.float32),
        y=(radius * np.sin(angle))[order].astype(np.float32),
        mode="markers",
        name=POINTS,
        showlegend=False,
        marker=dict(color=colors[order], size=_size(len(angle)), opacity=0.75),
        customdata=index[order],
        hovertext=[texts[place] + degrees[place] for place in order],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    add_legend(fig, found, focus=focus)
    subtitle = with_notes(subtitle, projected(view, np.shape(arrays["z"])[1], 2), _cut(peak))
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    hidden = dict(visible=False, range=[-reach, reach])
    fig.update_layout(xaxis=dict(hidden, constrain="domain"), yaxis=dict(hidden, scaleanchor="x"))
    fig.update_layout(margin_t=(66 if title or subtitle else 12) + 26)
    lasso(fig)
    return make_room(fig)


def with_notes(subtitle: str, *notes: str) -> str:
    """Settings, and on a line of their own what must be known about the picture; empty notes are left out."""
    return "<br>".join(filter(None, (subtitle, " · ".join(filter(None, notes)))))


def projected(view: Projection, dim: int, k: int) -> str:
    """What the picture leaves out, for subtitles; empty where it leaves out nothing."""
    if view.exact:
        return ""
    what = "angle in the plane" if k == 2 else "direction in the space"
    return f"{what} of the {k} strongest directions of d = {dim:,}, {percent(view.share)} of the squared length"


def _rings(found: Groups) -> dict[int, float]:
    """Radius of each group's ring, the first group outermost."""
    radii = np.linspace(OUTER, INNER, len(found.names)) if len(found.names) > 1 else np.array([OUTER])
    return dict(zip(found.names, radii.tolist(), strict=True))


def _size(count: int) -> float:
    return 6.0 if count <= 300 else 5.0 if count <= 1200 else 4.0


def _add_density(fig: go.Figure, angle: NDArray, kappa: float, theme: Theme) -> tuple[float, float]:
    """The density of all points outside the circle, and the uniform one. Returns the peak, times uniform, and its radius."""
    at = np.linspace(-np.pi, np.pi, STEPS)
    times = von_mises_density(angle, at, kappa) * 2 * np.pi
    full = float(np.clip(times.max(), LEAST, MOST))
    outer = 1 + TALLEST * np.minimum(times, full) / full
    ring = np.stack([np.cos(at), np.sin(at)])
    fig.add_scatter(
        x=np.concatenate([outer * ring[0], ring[0][::-1]]).astype(np.float32),
        y=np.concatenate([outer * ring[1], ring[1][::-1]]).astype(np.float32),
        mode="lines",
        line=dict(width=0),
        fill="toself",
        fillcolor=rgba(theme.theory, 0.35),
        hoverinfo="skip",
        showlegend=False,
    )
    fig.add_scatter(
        x=(outer * ring[0]).astype(np.float32),
        y=(outer * ring[1]).astype(np.float32),
        mode="lines",
        line=dict(color=theme.text, width=1.5),
        customdata=times.astype(np.float32),
        hovertemplate="density %{customdata:.2f} times that of uniform points<extra></extra>",
        showlegend=False,
    )
    thin = dict(type="circle", layer="below")
    fig.add_shape(x0=-1, x1=1, y0=-1, y1=1, line=dict(color=theme.theory, width=1), **thin)
    even = 1 + TALLEST / full
    fig.add_shape(x0=-even, x1=even, y0=-even, y1=even, line=dict(color=theme.theory, width=1, dash="dot"), **thin)
    free = at[int(times.argmin())]  # where the density's own line is far from the dotted one
    fig.add_annotation(
        x=even * np.cos(free), y=even * np.sin(free), text="uniform", showarrow=False, font=dict(color=theme.theory, size=12),
        xshift=34 * np.cos(free), yshift=12 * np.sin(free),
    )  # fmt: skip
    return float(times.max()), float(outer.max()) + 0.04


def _cut(peak: float) -> str:
    return f"density cut at {MOST:g} times uniform, its peak is {peak:.0f} times" if peak > MOST else ""


def _add_arcs(fig: go.Figure, angle: NDArray, found: Groups, focus: Collection[int], theme: Theme) -> None:
    """On each group's ring the shortest arc that holds most of it."""
    rings = _rings(found)
    for value, name in found.names.items():
        members = angle[found.of == value]
        if not len(members):
            continue
        begin, length = shortest_arc(members, ARC)
        at = begin + np.linspace(0, max(length, 0.01), max(3, int(np.ceil(length * 40))))
        color = found.colors[value] if not len(focus) or value in focus else theme.faded
        fig.add_scatter(
            x=(rings[value] * np.cos(at)).astype(np.float32),
            y=(rings[value] * np.sin(at)).astype(np.float32),
            mode="lines",
            line=dict(color=rgba(color, 0.3), width=9),
            hovertemplate=f"<b>{name}</b>: {ARC:.0%} of {len(members):,} points within {np.rad2deg(length):.0f}°<extra></extra>",
            showlegend=False,
        )
