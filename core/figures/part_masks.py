"""Local features as pictures: groups of places laid over grey images, a column for each feature map, a row for each image."""

import numpy as np
import plotly.graph_objects as go

from core.figures.pictures import png
from core.figures.theme import OKABE_ITO, Theme, style
from core.inspections.local import LocalFeatures

TILE, GAP = 104, 8  # px
OPACITY = 0.6  # of the masks
MARGIN_TOP, MARGIN_BOTTOM = 118, 12
CHARACTERS = TILE / 7  # of a source's name that fit over one column


def part_masks(found: LocalFeatures, theme: Theme, *, title: str = "", subtitle: str = "") -> go.Figure:
    """Draw the images and their masks.

    Args:
        found: From `core.inspections.local.local_features`.
        theme: Colours.
        title: Takeaway or question.
        subtitle: Data and number of groups.

    Returns:
        The figure; a group has one colour within a column, not across columns.
    """
    picture, centres = compose(found, theme)
    height, width = picture.shape[:2]
    names = ["image", *(mask.stage for mask in found.masks)]
    plain = dict(showgrid=False, zeroline=False, showline=False, fixedrange=True, ticks="", constrain="domain")
    layout = dict(
        xaxis=plain | dict(side="top", tickvals=centres, ticktext=names, tickangle=0, range=[0, width]),
        yaxis=plain | dict(showticklabels=False, range=[height, 0], scaleanchor="x"),
        margin=dict(t=MARGIN_TOP, b=MARGIN_BOTTOM),
        dragmode=False,
    )
    fig = go.Figure(go.Image(source=png(picture), hoverinfo="skip"))
    for source, middles in _columns(found, centres).items():
        most = int(CHARACTERS * len(middles))  # that fit over the columns of one source
        text = source if len(source) <= most else source[: most - 1] + "…"
        font = dict(color=theme.text, size=13)
        fig.add_annotation(x=sum(middles) / len(middles), y=0, yshift=24, yanchor="bottom", text=text, showarrow=False, font=font)
    return style(fig, theme, title=title, subtitle=subtitle, height=height + MARGIN_TOP + MARGIN_BOTTOM, layout=layout)


def _columns(found: LocalFeatures, centres: list[float]) -> dict[str, list[float]]:
    """Middles of the columns of each source."""
    columns: dict[str, list[float]] = {}
    for mask, middle in zip(found.masks, centres[1:], strict=True):
        columns.setdefault(mask.source, []).append(middle)
    return columns


def compose(found: LocalFeatures, theme: Theme) -> tuple[np.ndarray, list[float]]:
    """Everything in one picture: uint8 [height, width, 3], and the middle of each column in pixels."""
    rows, columns = len(found.images), 1 + len(found.masks)
    step = TILE + GAP
    canvas = np.empty((rows * step - GAP, columns * step - GAP, 3), np.uint8)
    canvas[:] = [int(theme.paper[place : place + 2], 16) for place in (1, 3, 5)]
    for row, image in enumerate(found.images):
        large = enlarged(image)
        grey = np.repeat(large.mean(2, keepdims=True), 3, axis=2)
        tiles = [large, *(overlaid(grey, mask.groups[row]) for mask in found.masks)]
        for column, tile in enumerate(tiles):
            canvas[row * step : row * step + TILE, column * step : column * step + TILE] = tile
    return canvas, [column * step + TILE / 2 for column in range(columns)]


def enlarged(pixels: np.ndarray) -> np.ndarray:
    """An image or a mask [h, w, ...] as TILE x TILE, every pixel of it the nearest one."""
    rows, columns = (np.arange(TILE) * size // TILE for size in pixels.shape[:2])
    return pixels[rows][:, columns]


def overlaid(grey: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """A grey picture [TILE, TILE, 3] under the colours of its groups."""
    palette = np.array([[int(color[place : place + 2], 16) for place in (1, 3, 5)] for color in OKABE_ITO], np.float32)
    return (grey * (1 - OPACITY) + palette[enlarged(groups)] * OPACITY).round().astype(np.uint8)
