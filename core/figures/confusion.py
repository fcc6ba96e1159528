"""Which classes a probe takes for which: counts in cells, coloured by the share of the true class, one click per cell."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.text import WIDE, WIDE_SUBTITLE, make_room, percent, wrapped
from core.figures.theme import OTHER_SCALE, Theme, ink_on, style

SIZE = 520  # px
NUMBERED = 20  # classes; above it the cells are too small for numbers
CLICK_SIZE = 8  # px, see core.figures.grid
TOP = 0.3  # share of a class at the bright end of the scale: errors matter here, and they are rare


def confusion(
    counts: NDArray,
    theme: Theme,
    *,
    classes: Sequence[str] = (),
    title: str = "",
    subtitle: str = "",
    height: int = SIZE,
) -> go.Figure:
    """Draw the matrix.

    Args:
        counts: Shape (k, k), integers: rows are true classes, columns the probe's answers.
        theme: Colours.
        classes: Names of the classes; empty = their numbers.
        title: Takeaway; empty = made from the data.
        subtitle: Settings; how many images are wrong is added.
        height: Pixels.

    Returns:
        The figure; the customdata of a cell is "true,predicted", read by `read_cell`. The diagonal is left without colour, so
        that the errors set the scale.

    Raises:
        ValueError: If counts is not a square matrix of numbers >= 0.
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise ValueError(f"counts must be a square matrix of numbers >= 0, got shape {counts.shape}.")
    k = len(counts)
    names = [classes[value] if value < len(classes) else str(value) for value in range(k)]
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.where(totals > 0, counts / np.maximum(totals, 1), np.nan)
    errors = np.where(np.eye(k, dtype=bool), np.nan, shares)
    top = float(max(np.nanmax(errors, initial=0.0), 0.02)) if np.isfinite(errors).any() else TOP
    fig = go.Figure()
    fig.add_heatmap(
        z=errors.astype(np.float32),
        zmin=0,
        zmax=min(top, 1.0),
        colorscale=OTHER_SCALE,
        showscale=k > NUMBERED,  # small matrices write every count out
        colorbar=dict(
            title=dict(text="Share of the true class", side="right", font=dict(color=theme.muted, size=13)),
            tickformat=".1%",
            nticks=6,
            tickfont=dict(color=theme.muted, size=12),
            thickness=12,
            outlinewidth=0,
        ),
        hoverinfo="skip",
        xgap=1,
        ygap=1,
    )
    row, column = np.divmod(np.arange(k * k), k)
    flat = counts.ravel()
    inks = ink_on(OTHER_SCALE, errors.ravel() / top)
    unseen = dict(marker=dict(opacity=0))
    fig.add_scatter(
        x=column.astype(np.float32),
        y=row.astype(np.float32),
        mode="markers+text" if k <= NUMBERED else "markers",
        marker=dict(symbol="square", size=CLICK_SIZE, opacity=0),
        selected=unseen,
        unselected=unseen,
        text=[str(value) if value else "" for value in flat.tolist()],
        textfont=dict(
            size=13 if k <= 12 else 10,
            color=[theme.text if i == j else ink for i, j, ink in zip(row, column, inks, strict=True)],
        ),
        customdata=np.array([f"{i},{j}" for i, j in zip(row, column, strict=True)]),
        hovertext=[
            f"<b>{names[i]}</b> taken for <b>{names[j]}</b><br>{value} of {totals[i, 0]} images"
            if i != j
            else f"<b>{names[i]}</b> recognised<br>{value} of {totals[i, 0]} images"
            for i, j, value in zip(row, column, flat, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    total, wrong = int(counts.sum()), int(counts.sum() - np.trace(counts))
    said = f"{wrong:,} of {total:,} test images wrong ({percent(wrong / total)})" if total else "no test images"
    title = wrapped(title or takeaway(counts, names), WIDE)
    subtitle = wrapped(" · ".join(filter(None, (subtitle, said))), WIDE_SUBTITLE)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    shared = dict(showgrid=False, ticks="", tickmode="array", tickvals=list(range(k)), ticktext=names, constrain="domain")
    fig.update_xaxes(title_text="The linear probe's answer", range=[-0.5, k - 0.5], constraintoward="left", **shared)
    fig.update_yaxes(title_text="True class", range=[k - 0.5, -0.5], scaleanchor="x", **shared)
    return make_room(fig.update_layout(hoverdistance=-1, clickmode="event+select", dragmode=False))


def takeaway(counts: NDArray, names: Sequence[str]) -> str:
    """The commonest error in one sentence."""
    wrong = np.array(counts, copy=True)
    np.fill_diagonal(wrong, 0)
    if not wrong.sum():
        return "The probe gets every test image right" if np.sum(counts) else "No test image was classified"
    i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return f"The commonest error: {names[i]} taken for {names[j]}, {wrong[i, j]} of {counts[i].sum()} images"


def read_cell(text: str | None) -> tuple[int, int] | None:
    """True and predicted class of a clicked cell; None if the text is not one."""
    parts = (text or "").split(",")
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 and all(part.isdecimal() for part in parts) else None
