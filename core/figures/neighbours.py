"""An image and its nearest neighbours as a strip of thumbnails; neighbours of another class are marked."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.points import RIGHT, WRONG
from core.figures.text import readable
from core.figures.theme import Theme, style

HEIGHT = 170  # px
GAP = 0.14  # share of a thumbnail between two of them
APART = 0.5  # the same between the image itself and its neighbours


class Thumbnail(NamedTuple):
    """One image of the strip."""

    pixels: NDArray[np.uint8]  # (h, w, 1 or 3)
    index: int  # row in the test split
    label: str
    cosine: float | None = None  # to the image asked about; None for that image itself


def neighbours(
    asked: Thumbnail, nearest: Sequence[Thumbnail], theme: Theme, *, title: str = "", height: int = HEIGHT
) -> go.Figure:
    """Draw the strip.

    Args:
        asked: The image whose neighbours are shown, at the left.
        nearest: Its neighbours, most alike first.
        theme: Colours.
        title: Takeaway; empty = how many neighbours share its class.
        height: Pixels, without the title.

    Returns:
        The figure; the customdata of a thumbnail is its index.
    """
    fig = go.Figure()
    places = [0.0] + [1 + APART + place * (1 + GAP) for place in range(len(nearest))]
    shapes, notes = [], []
    for x, thumbnail in zip(places, (asked, *nearest), strict=True):
        same = thumbnail.label == asked.label
        color = theme.outline if thumbnail.cosine is None else RIGHT if same else WRONG
        fig.add_layout_image(
            source=_uri(thumbnail.pixels), x=x, y=1, sizex=1, sizey=1, xref="x", yref="y", sizing="contain", layer="below"
        )
        shapes.append(dict(type="rect", x0=x, x1=x + 1, y0=0, y1=1, line=dict(color=color, width=2 if same else 4)))
        word = thumbnail.label if thumbnail.cosine is None or same else f"✕ {thumbnail.label}"
        below = "" if thumbnail.cosine is None else f"<br>{thumbnail.cosine:.2f}".replace("-", "−")
        text = f"<b>{word}</b>{below}"
        shown = theme.text if same else readable(WRONG, theme)
        at = dict(x=x + 0.5, y=-0.04, xref="x", yref="y", yanchor="top", showarrow=False)
        notes.append(dict(at, text=text, font=dict(color=shown, size=13)))
    unseen = dict(marker=dict(opacity=0))
    fig.add_scatter(
        x=np.array(places, dtype=np.float32) + 0.5,
        y=np.full(len(places), 0.5, dtype=np.float32),
        mode="markers",
        marker=dict(symbol="square", size=40, opacity=0),
        selected=unseen,
        unselected=unseen,
        customdata=np.array([thumbnail.index for thumbnail in (asked, *nearest)], dtype=np.int32),
        hovertext=[
            f"<b>{t.label}</b> · test image {t.index}" + ("" if t.cosine is None else f"<br>cosine {t.cosine:.3f}")
            for t in (asked, *nearest)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    agree = sum(thumbnail.label == asked.label for thumbnail in nearest)
    title = title or f"{agree} of the {len(nearest)} nearest images are of its class, {asked.label}"
    style(fig, theme, title=title, height=height + 40, layout=dict(shapes=shapes, annotations=notes))
    hidden = dict(visible=False, fixedrange=True)
    fig.update_layout(
        xaxis=dict(hidden, range=[-0.05, places[-1] + 1.05], constrain="domain"),
        yaxis=dict(hidden, range=[-0.55, 1.05], scaleanchor="x", constrain="domain"),
        hoverdistance=-1,
        clickmode="event+select",
        dragmode=False,
    )
    return fig


def _uri(pixels: NDArray[np.uint8]) -> str:
    """Pixels as a PNG in a data address, not smoothed by us."""
    import base64
    import io

    from PIL import Image

    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3) or pixels.dtype != np.uint8:
        raise ValueError(f"pixels must be uint8 of shape (h, w, 1 or 3), got {pixels.dtype} of shape {pixels.shape}.")
    buffer = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else np.ascontiguousarray(pixels)).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
