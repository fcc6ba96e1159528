"""Pictures in a grid that can be clicked, each with a line under it and a frame that says something about it."""

import base64
import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from PIL import Image

from core.figures.text import LINE, WIDE, WIDE_SUBTITLE, make_room, wrapped
from core.figures.theme import Theme, style

TITLE_ROOM = 0.34  # height of the line under a picture, as a share of its side
GAP = 0.12  # between pictures, as a share of their side
SHARPEST = 96  # px a side at which pictures are drawn; smaller ones are enlarged without smoothing


class Picture(NamedTuple):
    """One picture of the grid."""

    id: int  # comes back when it is clicked
    pixels: np.ndarray  # uint8 [h, w, c] with c = 1 or 3
    line: str  # under it; short
    hover: str
    frame: str | None = None  # colour of its frame


def thumbnails(
    pictures: Sequence[Picture],
    theme: Theme,
    *,
    per_row: int,
    title: str = "",
    subtitle: str = "",
    side: int = 84,
    selected: int | None = None,
) -> go.Figure:
    """Draw pictures in rows.

    Args:
        pictures: In reading order.
        theme: Colours.
        per_row: Pictures in a row.
        title: What is shown.
        subtitle: How they were chosen.
        side: Pixels a side of a picture, about; the grid takes the width it is given.
        selected: Id of the picture with the outline of the selected.

    Returns:
        The figure; `customdata` is the id of a picture.
    """
    rows = max(1, -(-len(pictures) // per_row))
    height = round(rows * side * (1 + TITLE_ROOM + GAP)) + (68 if subtitle else 46 if title else 12) + 8
    step = 1 + TITLE_ROOM + GAP
    x = np.array([place % per_row for place in range(len(pictures))], dtype=np.float32) * (1 + GAP)
    y = -np.array([place // per_row for place in range(len(pictures))], dtype=np.float32) * step
    fig = go.Figure(
        go.Scatter(
            x=x, y=y, mode="markers", customdata=np.array([picture.id for picture in pictures], dtype=np.int32),
            marker=dict(symbol="square", size=side * 0.8, color=theme.paper, opacity=0),
            selected=dict(marker=dict(opacity=0)), unselected=dict(marker=dict(opacity=0)),
            hovertext=[picture.hover for picture in pictures], hovertemplate="%{hovertext}<extra></extra>", showlegend=False,
        )
    )  # fmt: skip
    fig.add_scatter(
        x=x, y=y - 0.5 - TITLE_ROOM / 2, mode="text", text=[picture.line for picture in pictures], hoverinfo="skip",
        textfont=dict(size=12, color=theme.muted), showlegend=False,
    )  # fmt: skip
    images = [
        dict(
            source=data_uri(picture.pixels), xref="x", yref="y", x=float(left) - 0.5, y=float(top) + 0.5, sizex=1, sizey=1,
            sizing="contain", layer="below", xanchor="left", yanchor="top",
        )
        for picture, left, top in zip(pictures, x, y, strict=True)
    ]  # fmt: skip
    frames = [
        dict(
            type="rect", x0=float(left) - 0.5, x1=float(left) + 0.5, y0=float(top) - 0.5, y1=float(top) + 0.5,
            line=dict(color=theme.outline if picture.id == selected else picture.frame, width=3),
        )
        for picture, left, top in zip(pictures, x, y, strict=True)
        if picture.frame or picture.id == selected
    ]  # fmt: skip
    plain = dict(visible=False, fixedrange=True)
    layout = dict(
        xaxis=dict(**plain, range=[-0.55, (per_row - 1) * (1 + GAP) + 0.55]),
        yaxis=dict(**plain, range=[-(rows - 1) * step - 0.5 - TITLE_ROOM, 0.55], scaleanchor="x", constrain="domain",
                   constraintoward="top"),
        images=images, shapes=frames, hovermode="closest", hoverdistance=-1, dragmode=False, margin=dict(l=4, r=4, b=4),
    )  # fmt: skip
    title, subtitle = wrapped(title, WIDE), wrapped(subtitle, WIDE_SUBTITLE)
    height += LINE * (title.count("<br>") + subtitle.count("<br>"))
    return make_room(style(fig, theme, title=title, subtitle=subtitle, height=height, layout=layout))


def data_uri(pixels: np.ndarray) -> str:
    """A picture as PNG inside an address; small pictures are enlarged by whole factors, so that their pixels stay sharp.

    Args:
        pixels: uint8 [h, w, c] with c = 1 or 3.
    """
    times = max(1, SHARPEST // max(pixels.shape[:2]))
    pixels = np.repeat(np.repeat(pixels, times, axis=0), times, axis=1)
    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=False)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
