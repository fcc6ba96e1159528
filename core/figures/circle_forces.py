"""Points on the circle and the forces of one anchor's loss on them; and the path on which all forces together carry them."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray
from plotly.subplots import make_subplots

from core.figures.playback import ENDS, PLAY, SPACE, play_controls
from core.figures.roles import ANCHOR, NEGATIVE, POSITIVE
from core.figures.text import make_room, marks, percent
from core.figures.theme import OKABE_ITO, Theme, style
from core.losses.forces import anchor_forces, flow, partner, unit

SIZE = 520  # px; the circle must stay a circle
HIDDEN = dict(
    showgrid=False, showticklabels=False, ticks="", showline=False, zeroline=False, range=[-1.24, 1.24], fixedrange=True
)
SQUARE = dict(HIDDEN, scaleanchor="x", scaleratio=1)
EVERY = 2  # steps a frame: the eye does not miss the others, and a slider that makes the animation anew stays quick
LONGEST = 0.42  # radii; length of the strongest arrow
ARROWS = 1.11  # radii; arrows start outside the circle, so that none covers a point
LETTERS = (0.85, 0.72, 0.59, 0.46, 0.33)  # radii; letters stand inside it, on the outermost of these rings that is free there
ROOM = 0.115  # radii; letters closer than this would touch
ON_COLOR = "#12161C"  # letters on coloured points: dark is readable on every colour of the palette


def circle_forces(angles: ArrayLike, anchor: int, tau: float, theme: Theme) -> go.Figure:
    """The circle with an arrow on every point: how one anchor's loss moves it.

    Arrow lengths are relative to the strongest force, whose value the subtitle gives.

    Args:
        angles: Radians, shape (n,); points 2k and 2k + 1 are two views of image k.
        anchor: Index of the anchor.
        tau: Temperature, > 0 and finite.
        theme: Colours.
    """
    angles = np.asarray(angles, dtype=float)
    forces = anchor_forces(angles, anchor, tau)
    points = unit(angles)
    positive = partner(anchor, len(angles))
    roles = np.full(len(angles), "negative", dtype=object)
    roles[anchor], roles[positive] = "anchor", "positive"
    fig = go.Figure()
    _circle(fig, theme)
    strongest = np.abs(forces.on_points).max()
    arrows = [
        _arrow(angles[place], force / strongest, {"anchor": ANCHOR, "positive": POSITIVE}.get(roles[place], NEGATIVE))
        for place, force in enumerate(forces.on_points)
        if abs(force) > 0.02 * strongest
    ]
    sizes = np.where(roles == "negative", 10 + 22 * np.sqrt(forces.shares), 18)
    fig.add_scatter(
        x=points[:, 0].astype(np.float32),
        y=points[:, 1].astype(np.float32),
        mode="markers",
        showlegend=False,
        marker=dict(
            color=[{"anchor": ANCHOR, "positive": POSITIVE, "negative": NEGATIVE}[role] for role in roles],
            size=sizes.astype(np.float32),
            opacity=1,
            line=dict(color=[theme.outline if role == "anchor" else theme.paper for role in roles], width=2),
        ),
        text=[_name(place) for place in range(len(angles))],
        customdata=np.arange(len(angles), dtype=np.int32),
        selected=dict(marker=dict(opacity=1)),
        unselected=dict(marker=dict(opacity=1)),
        hovertext=[
            f"<b>{_name(place)}</b>, {roles[place]}<br>similarity to the anchor {np.cos(angles[place] - angles[anchor]):.3f}"
            + (f"<br>probability {forces.shares[place]:.3f}" if place != anchor else "")
            + f"<br>force {forces.on_points[place]:+.3f} nats per radian"
            for place in range(len(angles))
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    _letters(fig, angles, theme)
    negatives = forces.shares.copy()
    negatives[positive] = 0
    hardest = int(negatives.argmax())
    share = percent(negatives[hardest] / negatives.sum())
    title = f"{_name(hardest)} takes {share} of the push from anchor {_name(anchor)}"
    names = (("●", ANCHOR, "anchor"), ("●", POSITIVE, "positive"), ("●", NEGATIVE, "negatives, larger with their share"))
    legend = marks(theme, *names)
    subtitle = f"tau {tau:g}, loss {forces.loss:.3f} nats · longest arrow {strongest:.3g} nats per radian<br>{legend}"
    layout = dict(xaxis=HIDDEN, yaxis=SQUARE, annotations=arrows, hoverdistance=-1, clickmode="event+select", dragmode=False)
    return make_room(style(fig, theme, title=title, subtitle=subtitle, height=SIZE, layout=layout))


def circle_flow(angles: ArrayLike, tau: float, theme: Theme, steps: int = 60) -> go.Figure:
    """The points following all forces at once, as an animation that plays in the browser, with the loss beside it.

    Args:
        angles: Start, radians, shape (n,); points 2k and 2k + 1 are two views of image k.
        tau: Temperature, > 0 and finite.
        theme: Colours.
        steps: Steps of gradient descent; one frame for each second one, and one for the start.
    """
    path, losses = flow(angles, tau, steps)
    count = path.shape[1]
    colors = [OKABE_ITO[(place // 2) % len(OKABE_ITO)] for place in range(count)]
    fig = make_subplots(cols=2, column_widths=[0.52, 0.48], horizontal_spacing=0.12)
    _circle(fig, theme, row=1, col=1)
    fig.add_scatter(
        **_points(path[0]),
        mode="markers+text",
        text=[_name(place) for place in range(count)],
        row=1,
        col=1,
        showlegend=False,
        marker=dict(color=colors, size=25, opacity=0.9, line=dict(color=theme.paper, width=1)),
        textfont=dict(color=ON_COLOR, size=12),
        hovertemplate="%{text}<extra></extra>",
    )
    at = np.arange(steps + 1, dtype=np.int32)
    fig.add_scatter(
        x=at,
        y=losses.astype(np.float32),
        mode="lines",
        line=dict(color=theme.theory, width=1.5),
        row=1,
        col=2,
        showlegend=False,
        hovertemplate="step %{x}<br>loss %{y:.3f}<extra></extra>",
    )
    fig.add_scatter(
        x=at[:1],
        y=losses[:1].astype(np.float32),
        mode="markers",
        row=1,
        col=2,
        showlegend=False,
        hoverinfo="skip",
        marker=dict(color=ANCHOR, size=11, line=dict(color=theme.outline, width=2)),
    )
    fig.frames = [
        dict(
            name=str(step),
            traces=[1, 3],
            data=[
                dict(type="scatter", **_points(path[step])),
                dict(type="scatter", x=at[step : step + 1], y=losses[step : step + 1].astype(np.float32)),
            ],
        )
        for step in range(0, steps + 1, EVERY)
    ]
    layout = dict(
        xaxis=HIDDEN,
        yaxis=SQUARE,
        xaxis2=dict(title=dict(text="Step"), range=[-2, steps + 2]),
        yaxis2=dict(title=dict(text="Loss (nats)"), rangemode="tozero"),
        meta=ENDS,
        **play_controls(theme, steps + 1, "step", every=EVERY),
    )
    title = f"At tau {tau:g} the forces take the loss from {losses[0]:.2f} to {losses[-1]:.2f}"
    subtitle = f"All points are anchors in turn · views of one image share a colour{PLAY}"
    return style(fig, theme, height=SIZE + SPACE, title=title, subtitle=subtitle, layout=layout)


def _name(place: int) -> str:
    """Image and view: A and A′ are two views of image A."""
    return chr(ord("A") + place // 2) + ("′" if place % 2 else "")


def _points(angles: NDArray) -> dict[str, NDArray]:
    points = unit(angles).astype(np.float32)
    return {"x": points[:, 0], "y": points[:, 1]}


def _letters(fig: go.Figure, angles: NDArray, theme: Theme) -> None:
    """The name of each point inside the circle, where no arrow runs."""
    places = letter_places(angles).astype(np.float32)
    fig.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="text",
        text=[_name(place) for place in range(len(angles))],
        textfont=dict(color=theme.text, size=13),
        hoverinfo="skip",
        showlegend=False,
    )


def letter_places(angles: ArrayLike) -> NDArray[np.float64]:
    """Where the letters stand: towards the centre from their points, the nearer to it the more crowded the circle is there.

    Args:
        angles: Radians, shape (n,).

    Returns:
        Shape (n, 2), in radii.
    """
    toward = unit(angles)
    placed: list[NDArray] = []
    result = np.empty_like(toward)
    for place in np.argsort(np.mod(angles, 2 * np.pi), kind="stable"):
        free = (radius for radius in LETTERS if all(np.hypot(*(radius * toward[place] - other)) > ROOM for other in placed))
        result[place] = next(free, LETTERS[-1]) * toward[place]
        placed.append(result[place])
    return result


def _circle(fig: go.Figure, theme: Theme, **place) -> None:
    around = unit(np.linspace(0, 2 * np.pi, 181)).astype(np.float32)
    fig.add_scatter(
        x=around[:, 0],
        y=around[:, 1],
        mode="lines",
        line=dict(color=theme.theory, width=1),
        hoverinfo="skip",
        showlegend=False,
        **place,
    )


def _arrow(angle: float, length: float, color: str) -> dict:
    """A tangent arrow just outside a point, as an annotation; length from -1 to 1, counter-clockwise positive."""
    size = length * LONGEST
    tail = ARROWS * np.array([np.cos(angle), np.sin(angle)])
    head = tail + size * np.array([-np.sin(angle), np.cos(angle)])
    shape = dict(showarrow=True, arrowhead=2, arrowsize=1.1, arrowwidth=2.5, arrowcolor=color, text="")
    return dict(x=head[0], y=head[1], ax=tail[0], ay=tail[1], xref="x", yref="y", axref="x", ayref="y", **shape)
