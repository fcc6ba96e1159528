"""Embeddings on the sphere: in three dimensions, turning slowly, and as two flat hemispheres that need no WebGL."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.circle import projected, with_notes
from core.figures.globe import from_eye, graticule
from core.figures.playback import SPACE, play_controls
from core.figures.points import POINTS, add_legend, drawing_order, groups, hover_lines, lasso, point_colors
from core.figures.text import make_room
from core.figures.theme import Theme, rgba, style
from core.geometry.planes import Projection, leading, on_sphere, sphere_density

SIZE = 600  # px
TURN = 72  # frames of a full turn
KAPPA = 40.0  # width of the kernel: one standard deviation is 9 degrees
MOST = 4.0  # times the uniform density at the dark end of the scale; higher peaks are cut and said
GRID = (37, 73)  # parallels and meridians that the density is evaluated on
PIXELS = 61  # the same on each flat hemisphere
LIFT = 1.012  # radius of the points, so that the surface does not swallow them
APART = 2.3  # radii between the centres of the hemispheres
FRONT, BACK = "front", "back"


def sphere(
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
    """Draw the sphere in three dimensions; its rotation plays in the browser. Needs WebGL there; `hemispheres` does not.

    Args:
        arrays: z [n, d], labels [n], index [n], and what the colouring needs; rows of z need not be normalised.
        theme: Colours.
        color_by: One of `points.colorings`.
        classes: Names of the classes; empty = their numbers.
        focus: Groups that stay in colour; empty = all.
        picked: Ids of points that stay in colour; empty = all.
        kappa: Concentration of the kernel of the density, > 0.
        title: What is shown.
        subtitle: Settings; the projection is added where d > 3, and what the shading means.
        height: Pixels of the picture; the controls are added below.
    """
    view = leading(arrays["z"], 3)
    points = on_sphere(view.points)
    found = groups(arrays, color_by, classes)
    index = np.asarray(arrays["index"]).astype(np.int32)
    colors = point_colors(found, index, theme, focus=focus, picked=picked)
    fig = go.Figure()
    polar, around = np.meshgrid(np.linspace(0, np.pi, GRID[0]), np.linspace(0, 2 * np.pi, GRID[1]), indexing="ij")
    ball = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    density = sphere_density(points, ball, kappa)
    ball = ball.astype(np.float32)
    fig.add_surface(
        x=ball[..., 0],
        y=ball[..., 1],
        z=ball[..., 2],
        surfacecolor=np.minimum(density, MOST).astype(np.float32),
        colorscale=_shades(theme),
        cmin=0,
        cmax=MOST,
        colorbar=_scale(theme),
        hoverinfo="skip",
        lighting=dict(ambient=0.85, diffuse=0.25, specular=0.02, roughness=1),
    )
    lifted = points * LIFT
    fig.add_scatter3d(
        x=lifted[:, 0],
        y=lifted[:, 1],
        z=lifted[:, 2],
        mode="markers",
        name=POINTS,
        showlegend=False,
        marker=dict(color=colors, size=4 if len(points) <= 1200 else 3, opacity=1, line=dict(color=theme.paper, width=0.5)),
        customdata=index,
        hovertext=hover_lines(found, arrays, classes),
        hovertemplate="%{hovertext}<extra></extra>",
    )
    _add_legend3d(fig, found, focus)
    bare = dict(visible=False, range=[-1.15, 1.15])
    scene = dict(xaxis=bare, yaxis=bare, zaxis=bare, aspectmode="cube", bgcolor=theme.paper, dragmode="orbit", camera=_camera(0))
    fig.frames = [dict(name=str(step), layout=dict(scene=dict(camera=_camera(step)))) for step in range(TURN)]
    controls = play_controls(theme, TURN, "turned by", redraw=True)
    for place, step in enumerate(controls["sliders"][0]["steps"]):
        step["label"] = f"{360 * place / TURN:.0f}°"
    layout = dict(scene=scene, **controls)
    style(fig, theme, title=title, subtitle=_about(subtitle, arrays, view, density), height=height + SPACE, layout=layout)
    top = 100 if title or subtitle else 40
    fig.update_layout(legend=dict(orientation="h", x=0, y=1, yanchor="bottom"), margin=dict(t=top, b=4))
    return make_room(fig)


def hemispheres(
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
    height: int = SIZE - 120,
) -> go.Figure:
    """Draw both halves of the sphere flat, side by side, as a map of the world; arguments as in `sphere`.

    Returns:
        The figure; the customdata of a point is its index, and points can be lassoed.
    """
    view = leading(arrays["z"], 3)
    points = on_sphere(view.points)
    found = groups(arrays, color_by, classes)
    index = np.asarray(arrays["index"]).astype(np.int32)
    seen = from_eye(points)
    at = _flat(seen)
    fig = go.Figure()
    density = 0.0
    for side, middle in ((FRONT, 0.0), (BACK, APART)):
        peak = _add_shading(fig, points, side, middle, kappa, theme)
        density = max(density, peak)
    colors = point_colors(found, index, theme, focus=focus, picked=picked)
    order = drawing_order(colors, theme)
    texts = hover_lines(found, arrays, classes)
    fig.add_scatter(
        x=at[order, 0],
        y=at[order, 1],
        mode="markers",
        name=POINTS,
        showlegend=False,
        marker=dict(
            color=colors[order],
            size=6 if len(points) <= 1200 else 4.5,
            opacity=0.9,
            line=dict(color=theme.paper, width=0.5),
        ),
        customdata=index[order],
        hovertext=[texts[place] for place in order],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    add_legend(fig, found, focus=focus)
    style(fig, theme, title=title, subtitle=_about(subtitle, arrays, view, np.array([density])), height=height)
    plain = dict(visible=False, constrain="domain")
    fig.update_layout(
        xaxis=dict(plain, range=[-1.1, APART + 1.1]),
        yaxis=dict(plain, range=[-1.2, 1.1], scaleanchor="x"),
        margin_t=(66 if title or subtitle else 12) + 26,
    )
    lasso(fig)
    return make_room(fig)


def _flat(seen: NDArray[np.float32]) -> NDArray[np.float32]:
    """Where points are drawn: the front half at the origin, the back half beside it, as seen from behind."""
    behind = seen[:, 2] < 0
    x = np.where(behind, APART - seen[:, 0], seen[:, 0])
    return np.stack([x, seen[:, 1]], axis=1).astype(np.float32)


def _add_shading(fig: go.Figure, points: NDArray, side: str, middle: float, kappa: float, theme: Theme) -> float:
    """Density on one half, its rim, its grid and its name. Returns the peak."""
    grid = np.linspace(-1, 1, PIXELS)
    x, y = np.meshgrid(grid, grid)
    inside = x**2 + y**2 <= 1
    depth = np.sqrt(np.clip(1 - x**2 - y**2, 0, None))
    turned = np.stack([x, y, depth], axis=-1) if side == FRONT else np.stack([-x, y, -depth], axis=-1)
    # `from_eye` is a rotation; its inverse takes what the eye sees back to the sphere.
    density = sphere_density(points, turned @ from_eye(np.eye(3)).astype(np.float64).T, kappa)
    shade = np.where(inside, np.minimum(density, MOST), np.nan).astype(np.float32)
    fig.add_heatmap(
        x=(grid + middle).astype(np.float32),
        y=grid.astype(np.float32),
        z=shade,
        zmin=0,
        zmax=MOST,
        colorscale=_shades(theme),
        colorbar=_scale(theme),
        showscale=side == BACK,
        zsmooth="best",
        hoverinfo="skip",
    )
    rim = dict(type="circle", x0=middle - 1, x1=middle + 1, y0=-1, y1=1)
    fig.add_shape(**rim, line=dict(color=theme.theory, width=1.5), layer="above")  # the shading would cover it in places
    if side == FRONT:
        fig.add_shape(type="path", path=graticule(), line=dict(color=rgba(theme.theory, 0.3), width=1), layer="above")
    fig.add_annotation(x=middle, y=-1.04, text=side, showarrow=False, yanchor="top", font=dict(color=theme.muted, size=13))
    return float(density[inside].max())


def _camera(step: int) -> dict:
    """Where the eye stands in a frame of the turn."""
    angle = 2 * np.pi * step / TURN + np.pi / 5
    return dict(eye=dict(x=round(1.25 * np.cos(angle), 4), y=round(1.25 * np.sin(angle), 4), z=0.48), up=dict(x=0, y=0, z=1))


def _shades(theme: Theme) -> list[list]:
    """From nearly the page's colour, where there is nothing, to a clear grey: points in any colour stay readable on it."""
    ends = ("#F4F6F8", "#8D98A5") if theme.name == "light" else ("#232C36", "#8494A4")
    return [[0, ends[0]], [1, ends[1]]]


def _scale(theme: Theme) -> dict:
    ticks = [0, 1, 2, 3, 4]
    return dict(
        title=dict(text="Density, times uniform", side="right", font=dict(color=theme.muted, size=13)),
        tickvals=ticks,
        ticktext=[*map(str, ticks[:-1]), f"{MOST:g} or more"],
        tickfont=dict(color=theme.muted, size=12),
        thickness=10,
        len=0.6,
        outlinewidth=0,
    )


def _about(subtitle: str, arrays: Mapping[str, NDArray], view: Projection, density: NDArray) -> str:
    peak = float(np.max(density))
    cut = f"shading cut at {MOST:g} times uniform, its peak is {peak:.0f} times" if peak > MOST else ""
    return with_notes(subtitle, projected(view, np.shape(arrays["z"])[1], 3), cut)


def _add_legend3d(fig: go.Figure, found, focus: Collection[int]) -> None:
    """Entries of a scene: an entry of a flat trace would bring flat axes with it."""
    nowhere = np.array([np.nan], dtype=np.float32)
    for value, name in found.names.items():
        if not len(focus) or value in focus:
            fig.add_scatter3d(
                x=nowhere, y=nowhere, z=nowhere, mode="markers", name=name, marker=dict(color=found.colors[value], size=9),
                showlegend=True, hoverinfo="skip",
            )  # fmt: skip
    fig.update_layout(legend=dict(itemclick=False, itemdoubleclick=False, itemsizing="constant"))
