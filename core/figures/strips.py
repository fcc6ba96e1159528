"""Image strips: what the encoder saw at each value of the dial, both views of each image, appended bits as squares below."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from core.datasets.strips import Strip
from core.figures.pictures import png
from core.figures.theme import Theme, style

TILE, GAP, BAR = 84, 8, 10  # px of the drawing: a picture, the space between pictures, the squares of the bits
MARGIN_TOP, MARGIN_BOTTOM = 74, 46  # px for title and labels
ON, OFF = (255, 255, 255), (0, 0, 0)  # what a bit's plane holds: one or zero
EDGE = (128, 134, 142)  # around the squares, so that they are seen on white and on black


def strips(shown: Strip, positions: Sequence[str], theme: Theme, *, axis: str, title: str = "", subtitle: str = "") -> go.Figure:
    """Draw the views, one column per position.

    Args:
        shown: From `core.datasets.strips.strip`.
        positions: Text under each column.
        theme: Colours.
        axis: What the positions are, under all of them.
        title: What to look for.
        subtitle: Data set and augmentation.

    Returns:
        The figure; pictures are enlarged without smoothing.
    """
    picture, centres, rows = compose(shown, theme)
    height, width = picture.shape[:2]
    fig = go.Figure(go.Image(source=png(picture), hoverinfo="skip"))
    names = [name for image in shown.names for name in (f"{image}, view 1", "view 2")]
    plain = dict(showgrid=False, zeroline=False, ticks="", showline=False, fixedrange=True)
    layout = dict(
        xaxis=plain
        | dict(tickvals=centres, ticktext=list(positions), range=[0, width], title=dict(text=axis), constrain="domain"),
        yaxis=plain | dict(tickvals=rows, ticktext=names, range=[height, 0], scaleanchor="x", constrain="domain"),
        dragmode=False,
    )
    return style(fig, theme, title=title, subtitle=subtitle, height=height + MARGIN_TOP + MARGIN_BOTTOM, layout=layout)


def compose(shown: Strip, theme: Theme) -> tuple[np.ndarray, list[float], list[float]]:
    """All views in one picture.

    Returns:
        uint8 [height, width, 3], the middle of each column and of each row, in pixels.
    """
    positions, images, _, side, _, _ = shown.views.shape
    tile = max(1, TILE // side) * side  # a whole multiple keeps pixels sharp and even
    bar = BAR if any(bits.shape[1] for bits in shown.bits) else 0
    block = 2 * tile + GAP // 2 + (bar + GAP // 2 if bar else 0)  # two views and the bits they share
    height, width = images * block + (images - 1) * GAP, positions * tile + (positions - 1) * GAP
    canvas = np.full((height, width, 3), _rgb(theme.paper), np.uint8)
    rows = []
    for image in range(images):
        for view in range(2):
            top = image * (block + GAP) + view * (tile + GAP // 2)
            rows.append(top + tile / 2)
            for position in range(positions):
                left = position * (tile + GAP)
                enlarged = shown.views[position, image, view].repeat(tile // side, 0).repeat(tile // side, 1)
                canvas[top : top + tile, left : left + tile] = enlarged
        for position in range(positions):
            top, left = image * (block + GAP) + block - bar, position * (tile + GAP)
            _squares(canvas[top : top + bar, left : left + tile], shown.bits[position][image])
    return canvas, [position * (tile + GAP) + tile / 2 for position in range(positions)], rows


def _squares(area: np.ndarray, bits: np.ndarray) -> None:
    """The bits from left to right, as many squares as there are bits; nothing where there are none."""
    if not len(bits) or not len(area):
        return
    edges = np.linspace(0, area.shape[1], len(bits) + 1).astype(int)
    area[:] = EDGE
    for start, stop, bit in zip(edges[:-1], edges[1:], bits, strict=True):
        area[1:-1, start + 1 : max(stop - 1, start + 2)] = ON if bit else OFF


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(int(color[place : place + 2], 16) for place in (1, 3, 5))
