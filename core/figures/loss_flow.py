"""Points moving under a loss, beside the loss and its parts: one figure whose frames play in the browser."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from core.figures.globe import from_eye, graticule
from core.figures.playback import ENDS
from core.figures.text import signed
from core.figures.theme import OKABE_ITO, Theme, style
from core.losses.trajectory import Reference, Trajectory

KEY_EVERY = 5  # kept positions between two frames: to set up a frame costs Plotly tens of ms, to move points on does not
KEY_MS = 200  # from one frame to the next, drawn by the browser as often as its screen allows
HELD = 86_400_000  # ms; a frame that is shown until something else is asked for
SCALE = 10_000  # positions travel as whole numbers of 1/10,000, half the bytes of float32
INNER_RING = 0.92  # where second views are drawn on the circle, so that a pair shows as a spoke
MET = 0.02  # share of its start to which the alignment must fall for pairs to have met
CLOSE = 0.1  # share of its start below which they have come close
EVEN = 0.02  # share of the way to the closed form that may be missing
PLANE_REACH = 3.2  # half the side of the drawn part of the plane
PART_COLORS = {"total": OKABE_ITO[0], "alignment": OKABE_ITO[2], "distribution": OKABE_ITO[5]}
NOW = dict(transition=dict(duration=0), mode="immediate", frame=dict(duration=0, redraw=False))
GLIDE = dict(duration=KEY_MS, easing="linear")


class Part(NamedTuple):
    """One curve beside the points."""

    key: str  # "total", "alignment" or "distribution"
    name: str  # axis title
    values: NDArray[np.float64]  # (frames + 1,)
    theory: float | None = None  # value of the perfect arrangement
    theory_name: str = ""


def loss_flow(
    flow: Trajectory, parts: Sequence[Part], theme: Theme, *, title: str = "", subtitle: str = "", height: int = 540
) -> go.Figure:
    """Draw the start and attach every fifth kept position as a frame; the browser moves the points straight from one to the next.

    Args:
        flow: From core.losses.flow.
        parts: Curves of the right column, top first.
        theme: Colours.
        title: What moves.
        subtitle: Settings.
        height: Pixels.

    Returns:
        A figure with play, pause, step and restart buttons and a slider; nothing moves until it is asked to.
    """
    screen = _on_screen(flow.positions)
    last = len(screen) - 1
    fig = make_subplots(
        rows=len(parts),
        cols=2,
        column_widths=[0.55, 0.45],
        horizontal_spacing=0.1,
        vertical_spacing=0.06,
        specs=[[{"rowspan": len(parts)}, {}], *([[None, {}]] * (len(parts) - 1))],
    )
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    for trace in _points(screen[0]):
        fig.add_trace(trace, row=1, col=1)
    for row, part in enumerate(parts, 1):
        _add_curve(fig, part, row, theme)
    for row, part in enumerate(parts, 1):
        marker = dict(color=PART_COLORS[part.key], size=10, line=dict(color=theme.paper, width=1.5))
        dot = go.Scatter(x=[0], y=[part.values[0]], mode="markers", marker=marker, hoverinfo="skip", showlegend=False)
        fig.add_trace(dot, row=row, col=2)
    _ground(fig, flow, theme)
    keys = [*range(0, last, KEY_EVERY), last]
    moving = [0, 1, *range(2 + len(parts), 2 + 2 * len(parts))]
    fig.frames = [
        go.Frame(name=str(k), traces=moving, data=[*_places(screen[k]), *({"x": [k], "y": [part.values[k]]} for part in parts)])
        for k in keys
    ]
    fig.update_xaxes(range=[0, last], showticklabels=False, col=2)
    fig.update_layout(showlegend=False, dragmode=False, hovermode="closest", margin=dict(b=78), meta=ENDS)
    return fig.update_layout(updatemenus=[_buttons(keys, theme)], sliders=[_slider(keys, theme, fig.layout.xaxis2.domain)])


def image_colors(n: int) -> list[str]:
    """One colour per image, around a colour circle; both views share it."""
    return sample_colorscale("Phase", np.linspace(0, 1, n, endpoint=False).tolist())


def _on_screen(positions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Positions (frames, 2n, d) to what is drawn, (frames, 2n, 2 or 3): two coordinates, and depth for the sphere."""
    if positions.shape[2] == 3:
        return from_eye(positions)
    if not np.allclose(np.linalg.norm(positions, axis=2), 1, atol=1e-3):
        return positions  # free in the plane
    n = positions.shape[1] // 2
    return positions * np.repeat([1.0, INNER_RING], n)[None, :, None].astype(np.float32)


def _places(screen: NDArray[np.float32]) -> list[dict]:
    """x and y of both views as whole numbers; on the sphere also sizes, smaller towards the back."""
    whole = np.clip(np.rint(screen[:, :2] * SCALE), -32767, 32767).astype(np.int16)
    n = len(screen) // 2
    places = [{"x": whole[rows, 0], "y": whole[rows, 1]} for rows in (slice(0, n), slice(n, None))]
    if screen.shape[1] == 3:
        sizes = np.rint(7 + 4 * screen[:, 2]).astype(np.uint8)  # 3 at the back to 11 in front
        for place, rows in zip(places, (slice(0, n), slice(n, None)), strict=True):
            place["marker"] = {"size": sizes[rows]}
    return places


def _points(screen: NDArray[np.float32]) -> list[go.Scatter]:
    n = len(screen) // 2
    traces = []
    for view, place, symbol in zip(("first", "second"), _places(screen), ("circle", "diamond"), strict=True):
        marker = dict(color=image_colors(n), symbol=symbol, size=8, line=dict(width=0)) | place.pop("marker", {})
        points = go.Scatter(
            **place,
            mode="markers",
            marker=marker,
            showlegend=False,
            cliponaxis=False,
            customdata=np.arange(1, n + 1, dtype=np.int32),
            hovertemplate=f"image %{{customdata}}, {view} view<extra></extra>",
        )
        traces.append(points)
    return traces


def _add_curve(fig: go.Figure, part: Part, row: int, theme: Theme) -> None:
    values = part.values.astype(np.float32)
    fig.add_scatter(
        x=np.arange(len(values), dtype=np.int32),
        y=values,
        mode="lines",
        line=dict(color=PART_COLORS[part.key], width=2.5),
        hovertemplate=f"{part.name}<br>frame %{{x}}: %{{y:.5g}}<extra></extra>",
        showlegend=False,
        row=row,
        col=2,
    )
    if part.theory is not None:
        fig.add_hline(y=part.theory, line=dict(color=theme.theory, width=1), row=row, col=2)
        fig.add_annotation(
            x=1,
            xref="x domain",
            y=part.theory,
            text=part.theory_name,
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
            font=dict(color=theme.theory, size=12),
            row=row,
            col=2,
        )
    shown = [*values, *([part.theory] if part.theory is not None else [])]
    low, high = min(shown), max(shown)
    pad = (high - low) * 0.12 or abs(high) * 0.1 or 0.1
    fig.update_yaxes(title_text=part.name, range=[low - pad, high + pad], nticks=5, row=row, col=2)


def _ground(fig: go.Figure, flow: Trajectory, theme: Theme) -> None:
    """The circle, the globe, or the axes of the plane, and equal scales."""
    if flow.identity is None:
        reach, ticks = PLANE_REACH * SCALE, np.arange(-3, 4)
        axis = dict(range=[-reach, reach], tickvals=ticks * SCALE, ticktext=[str(tick) for tick in ticks])
        fig.update_xaxes(**axis, constrain="domain", row=1, col=1)
        fig.update_yaxes(**axis, constrain="domain", scaleanchor="x", row=1, col=1)
        return
    reach = 1.08 * SCALE
    outline = dict(type="circle", x0=-SCALE, x1=SCALE, y0=-SCALE, y1=SCALE, line=dict(color=theme.theory, width=1), layer="below")
    fig.add_shape(**outline, row=1, col=1)
    if flow.positions.shape[2] == 3:
        fig.add_shape(type="path", path=graticule(SCALE), line=dict(color=theme.grid, width=1), layer="below", row=1, col=1)
    fig.update_xaxes(visible=False, range=[-reach, reach], row=1, col=1)
    fig.update_yaxes(visible=False, range=[-reach, reach], scaleanchor="x", row=1, col=1)


def _buttons(keys: list[int], theme: Theme) -> dict:
    """Play, pause, a step back, a step on, restart.

    A step shows two frames, the first for no time and the second for a day: Plotly's `animate` has no word for "the next one",
    but it can start after the current frame and be slow. It does so only where the current frame is not the first of its list,
    which is then shown again; so every frame but the first stands twice, and the first of the two shown is the current one.
    """
    play = dict(mode="immediate", fromcurrent=True, transition=GLIDE, frame=dict(duration=KEY_MS, redraw=False))
    step = NOW | dict(fromcurrent=True, frame=[dict(duration=0, redraw=False), dict(duration=HELD, redraw=False)])
    entries = [
        ("▶ Play", [None, play]),
        ("❚❚ Pause", [[None], NOW]),
        ("◀ Step", [_one_by_one(keys[::-1])[::-1], step | dict(direction="reverse")]),
        ("Step ▶", [_one_by_one(keys), step]),
        ("↺ Restart", [["0"], NOW]),
    ]
    return dict(
        type="buttons",
        direction="right",
        showactive=False,
        x=0,
        xanchor="left",
        y=0,
        yanchor="top",
        pad=dict(t=28, r=8),
        bgcolor=theme.paper,
        bordercolor=theme.theory,
        font=dict(color=theme.text, size=13),
        buttons=[dict(label=label, method="animate", args=arguments) for label, arguments in entries],
    )


def _one_by_one(keys: list[int]) -> list[str]:
    """Names of the frames, every one but the first twice."""
    return [str(key) for k, key in enumerate(keys) for _ in range(2 if k else 1)]


def _slider(keys: list[int], theme: Theme, domain: tuple[float, float]) -> dict:
    """Under the curves and as wide as they are, so that its handle stands below their dots."""
    return dict(
        active=0,
        x=domain[0],
        len=domain[1] - domain[0],
        y=0,
        yanchor="top",
        pad=dict(t=12, b=0, l=0, r=0),
        minorticklen=0,
        ticklen=0,
        bgcolor=theme.theory,
        bordercolor=theme.grid,
        activebgcolor=theme.outline,
        font=dict(color=theme.paper, size=1),
        transition=GLIDE,
        currentvalue=dict(prefix="Frame ", font=dict(color=theme.muted, size=13), xanchor="right"),
        steps=[dict(label=str(k), method="animate", args=[[str(k)], NOW]) for k in keys],
    )


def takeaway(flow: Trajectory, reference: Reference | None, push: bool = True) -> str:
    """Where the points ended, in one sentence made from the numbers.

    Args:
        flow: From core.losses.flow.
        reference: The perfect arrangement, where its value is known.
        push: Whether the distribution term took part.
    """
    left = flow.alignment[-1] / max(flow.alignment[0], MET)
    pairs = "Views meet" if left < MET else "Views come close" if left < CLOSE else "Views stay apart"
    fallen = flow.distribution[0] - flow.distribution[-1]
    if reference is None or not push:
        if fallen <= 0 or not push:
            return f"{pairs}; nothing spreads the images"
        start, end = signed(flow.distribution[0], 3), signed(flow.distribution[-1], 3)
        return f"{pairs}; the distribution term falls from {start} to {end}"
    gap = flow.distribution[-1] - reference.distribution
    if abs(gap) < EVEN * max(flow.distribution[0] - reference.distribution, EVEN):
        return f"{pairs} and images spread evenly, {signed(abs(gap), 1)} from the closed form"
    if gap < 0:
        return f"{pairs}; the push ends {signed(-gap, 2)} below that of even pairs"
    return f"{pairs}; images are not even, the push ends {signed(gap, 2)} above its optimum"
