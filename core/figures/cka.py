"""How alike encoders see the same images: a matrix of centred kernel alignments."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.text import NARROW, NARROW_SUBTITLE, make_room, wrapped
from core.figures.theme import OTHER_SCALE, Theme, ink_on, style

SIZE = 440  # px
LONGEST = 22  # characters of a name at an axis


def cka_matrix(
    values: NDArray,
    names: Sequence[str],
    theme: Theme,
    *,
    title: str = "",
    subtitle: str = "",
    height: int = SIZE,
) -> go.Figure:
    """Draw the matrix.

    Args:
        values: Shape (k, k), symmetric, from 0 to 1; NaN where two encoders have no images in common or one does not vary.
        names: Of the encoders, (k,).
        theme: Colours.
        title: Takeaway; empty = made from the data.
        subtitle: Settings.
        height: Pixels.

    Raises:
        ValueError: If values and names do not fit.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(names), len(names)):
        raise ValueError(f"values must have shape ({len(names)}, {len(names)}), one row per name, got {values.shape}.")
    short = [_short(name) for name in names]
    text = [["–" if np.isnan(value) else f"{value:.2f}" for value in row] for row in values]
    hover = [
        [f"{first}<br>{second}<br>CKA {cell}" for second, cell in zip(names, row, strict=True)]
        for first, row in zip(names, text, strict=True)
    ]
    at, flat = list(range(len(names))), values.ravel()
    fig = go.Figure()
    fig.add_heatmap(
        z=values.astype(np.float32),
        x=at,
        y=at,
        zmin=0,
        zmax=1,
        colorscale=OTHER_SCALE,
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        showscale=False,  # every value is written out
        xgap=2,
        ygap=2,
    )
    fig.add_scatter(
        x=at * len(names),
        y=np.repeat(at, len(names)),
        mode="text",
        text=np.ravel(text).tolist(),
        textfont=dict(size=14, color=np.where(np.isnan(flat), theme.muted, ink_on(OTHER_SCALE, flat)).tolist()),
        hoverinfo="skip",
        showlegend=False,
    )
    title, subtitle = wrapped(title or takeaway(values, names), NARROW), wrapped(subtitle, NARROW_SUBTITLE)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    shared = dict(showgrid=False, ticks="", tickmode="array", tickvals=at, ticktext=short, constrain="domain")
    fig.update_xaxes(**shared, constraintoward="left", tickangle=-35 if max(map(len, short), default=0) > 6 else 0)
    fig.update_yaxes(**shared, autorange="reversed", scaleanchor="x")
    return make_room(fig.update_layout(dragmode=False))


def takeaway(values: NDArray, names: Sequence[str]) -> str:
    """The two most alike in one sentence; of two alone, how alike they are."""
    apart = np.where(np.triu(np.ones_like(values, dtype=bool), 1), values, np.nan)
    if not np.isfinite(apart).any():
        return "No two encoders can be compared"
    i, j = np.unravel_index(int(np.nanargmax(apart)), apart.shape)
    said = "are most alike, CKA" if len(names) > 2 else "have a CKA of"
    return f"{names[i]} and {names[j]} {said} {apart[i, j]:.2f}"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"
