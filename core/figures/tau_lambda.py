"""The tau-lambda map: a metric for every temperature and weight, with the ridge of best weights on it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.grid import Grid, add_axes, add_click_layer, counts, mark_unmeasured, outline
from core.figures.metrics import METRICS, Metric, number, with_spread
from core.figures.text import make_room, wrapped
from core.figures.theme import ACCURACY_SCALE, OTHER_SCALE, Theme, halos, ink_on, style
from core.studies.ridge import Ridge

HEIGHT = 480  # px with one line of subtitle
MARGIN_TOP = 68
FENCES = 1.5  # quartile distances beyond the quartiles at which the colours stop (Tukey)
RIDGE_LINE, RIDGE_HALO = "#111111", "#FFFFFF"  # both, because the map runs from dark to light


class Diagonal(NamedTuple):
    """The line on which the loss is NT-Xent: lambda = factor * tau."""

    factor: float  # 1 in our convention, 1 / d in the notebook's
    name: str


class ColorRange(NamedTuple):
    """Where the colours begin and end, and how many cells lie outside."""

    low: float
    high: float
    below: int
    above: int


def tau_lambda(
    cells: pd.DataFrame,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    ridge: Ridge | None = None,
    diagonal: Diagonal | None = None,
    selected: tuple[float, float] | None = None,
    expand_seeds: bool = False,
    full_scale: bool = False,
    title: str = "",
    subtitle: str = "",
    lam_name: str = "lambda",
    width: int | None = None,
) -> go.Figure:
    """Draw the map.

    Args:
        cells: From `core.studies.cells.fold_cells`.
        theme: Colours.
        metric: RunResult field that the cells hold.
        ridge: Best weights, drawn with their intervals; arrowheads stand where the best cell is at the grid's edge.
        diagonal: Line on which the loss is NT-Xent.
        selected: tau and lambda of the framed cell.
        expand_seeds: Split each cell into one strip per seed instead of their mean.
        full_scale: Colours of an accuracy from 0 to 1 instead of the measured range.
        title: Takeaway.
        subtitle: Data set, encoder, seeds; counts are added.
        lam_name: Name of the weight, for other conventions.
        width: Characters of a title line; None leaves titles whole.

    Returns:
        The figure; the customdata of a click is the cell's id "tau,lambda".
    """
    grid, info = Grid.of(cells), METRICS[metric]
    colors = color_range(cells["mean"], metric, full_scale)
    fig = go.Figure()
    subtitle = " · ".join(filter(None, [subtitle, counts(cells), _clipped(colors)]))
    style(fig, theme, title=wrapped(title, width), subtitle=wrapped(subtitle, width and round(width * 1.36)), height=HEIGHT)
    scale = dict(
        colorscale=_scale(info),
        reversescale=not info.higher_is_better,
        zmin=colors.low,
        zmax=colors.high,
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        colorbar=dict(
            title=dict(text=info.axis, side="right", font=dict(color=theme.muted, size=13)),
            thickness=12,
            outlinewidth=0,
            tickfont=dict(color=theme.muted, size=12),
        ),
    )
    if expand_seeds:
        fig.add_trace(_strips(cells, grid, scale))
        for border in range(1, len(grid.taus)):
            fig.add_vline(x=border - 0.5, line=dict(color=theme.paper, width=2))
    else:
        fig.add_heatmap(z=grid.matrix(cells), x=np.arange(len(grid.taus)), y=np.arange(len(grid.lams)), **scale)
    mark_unmeasured(fig, grid, cells, theme)
    _mark_partial(fig, grid, cells)
    if diagonal is not None:
        _add_diagonal(fig, grid, diagonal, theme)
    if ridge is not None:
        _add_ridge(fig, grid, ridge)
    if not expand_seeds:
        _write_numbers(fig, cells, grid, metric, colors)
    add_click_layer(fig, grid, cells, hover_texts(cells, metric))
    if selected is not None:
        outline(fig, grid, *selected, theme)
    add_axes(fig, grid, lam_name=lam_name)
    make_room(fig)
    return fig.update_layout(height=HEIGHT + fig.layout.margin.t - MARGIN_TOP)


def color_range(values: Sequence[float], metric: str, full_scale: bool = False) -> ColorRange:
    """Robust ends of the colour scale: one bad cell must not flatten the map.

    Args:
        values: Means of the cells; NaN are left out.
        metric: RunResult field. The good end is never cut.
        full_scale: 0 to 1 for an accuracy.
    """
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    if full_scale and METRICS[metric].is_accuracy:
        return ColorRange(0.0, 1.0, 0, 0)
    if not len(known):
        return ColorRange(0.0, 1.0, 0, 0)
    low, high = float(known.min()), float(known.max())
    first, third = np.percentile(known, [25, 75])
    reach = FENCES * (third - first)
    if METRICS[metric].higher_is_better:
        low = max(low, float(first - reach))
    else:
        high = min(high, float(third + reach))
    if low >= high:
        low, high = low - 0.5, high + 0.5
    return ColorRange(low, high, int((known < low).sum()), int((known > high).sum()))


def hover_texts(cells: pd.DataFrame, metric: str) -> list[str]:
    """What hovering over each cell says."""
    texts = []
    for cell in cells.itertuples():
        lines = [f"<b>tau {cell.tau:g}, lambda {cell.lam:g}</b>"]
        if cell.n:
            lines.append(f"{METRICS[metric].name} {with_spread(cell.mean, metric, cell.sd)}")
            lines.append(f"{cell.n} of {cell.expected} run{'s' if cell.expected != 1 else ''}")
        for count, word in ((cell.diverged, "diverged"), (cell.failed, "failed"), (cell.live, "in progress")):
            if count:
                lines.append(f"{count} {word}")
        if not (cell.n or cell.diverged or cell.failed or cell.live):
            lines.append("not run")
        texts.append("<br>".join(lines))
    return texts


def _scale(info: Metric) -> str:
    return ACCURACY_SCALE if info.is_accuracy else OTHER_SCALE


def _write_numbers(fig: go.Figure, cells: pd.DataFrame, grid: Grid, metric: str, colors: ColorRange) -> None:
    """Each mean in the lower right corner of its cell, over the ridge, white on dark and black on light."""
    measured = cells[cells["n"] > 0]
    share = (measured["mean"].clip(colors.low, colors.high) - colors.low) / (colors.high - colors.low)
    info = METRICS[metric]
    about = _scale(info), share if info.higher_is_better else 1 - share
    fig.add_scatter(
        x=np.array([grid.column(tau) + 0.47 for tau in measured["tau"]], dtype=np.float32),
        y=np.array([grid.row(lam) - 0.47 for lam in measured["lam"]], dtype=np.float32),
        mode="text",
        text=[number(value, metric) for value in measured["mean"]],
        textposition="top left",
        textfont=dict(size=12, color=ink_on(*about), shadow=halos(*about)),
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )


def _strips(cells: pd.DataFrame, grid: Grid, scale: dict) -> go.Heatmap:
    """Each cell as vertical strips, one per seed in the order of the seeds."""
    most = max(int(cells["n"].max()), 1)
    z = np.full((len(grid.lams), len(grid.taus) * most), np.nan, dtype=np.float32)
    for cell in cells.itertuples():
        column, row = round(grid.column(cell.tau)) * most, round(grid.row(cell.lam))
        z[row, column : column + len(cell.values)] = cell.values
    x = (np.arange(z.shape[1]) + 0.5) / most - 0.5
    return go.Heatmap(z=z, x=x.astype(np.float32), y=np.arange(len(grid.lams)), **scale | dict(xgap=0))


def _mark_partial(fig: go.Figure, grid: Grid, cells: pd.DataFrame) -> None:
    """A dark corner on cells whose mean lacks diverged or failed runs; the subtitle and the hover text have their number."""
    partial = cells[(cells["n"] > 0) & (cells["diverged"] + cells["failed"] > 0)]
    if partial.empty:
        return
    fig.add_scatter(
        name="partial",
        x=np.array([grid.column(tau) + 0.36 for tau in partial["tau"]], dtype=np.float32),
        y=np.array([grid.row(lam) + 0.36 for lam in partial["lam"]], dtype=np.float32),
        mode="markers",
        marker=dict(symbol="triangle-ne", size=10, color="#1B1F24", line=dict(color="#FFFFFF", width=1.5)),
        hoverinfo="skip",
        showlegend=False,
    )


def _add_diagonal(fig: go.Figure, grid: Grid, diagonal: Diagonal, theme: Theme) -> None:
    """The line lambda = factor * tau, cut at the edges of the map, named above the map."""
    taus = np.geomspace(grid.taus[0] / 3, grid.taus[-1] * 3, 200)
    x = np.array([grid.column(tau) for tau in taus])
    y = np.array([grid.row(diagonal.factor * tau) for tau in taus])
    inside = (x >= -0.5) & (x <= len(grid.taus) - 0.5) & (y >= -0.5) & (y <= len(grid.lams) - 0.5)
    if not inside.any():
        return
    x, y = x[inside].astype(np.float32), y[inside].astype(np.float32)
    for color, width in (("#FFFFFF", 3.5), ("#555C63", 1.5)):
        fig.add_scatter(
            x=x, y=y, mode="lines", line=dict(color=color, width=width, dash="dash"), hoverinfo="skip", showlegend=False
        )
    fig.add_annotation(  # above the map, where no number lies under it
        x=1,
        y=1,
        xref="paper",
        yref="paper",
        text=f"╌ {diagonal.name}",
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
        font=dict(color=theme.muted, size=12),
    )


def _add_ridge(fig: go.Figure, grid: Grid, ridge: Ridge) -> None:
    """Best weights as a line with intervals; open triangles where the grid ends, open circles where lambda does not matter."""
    points = ridge.points
    if not points:
        return
    x = np.array([grid.column(point.tau) for point in points], dtype=np.float32)
    y = np.array([grid.row(point.lam) for point in points], dtype=np.float32)
    low = np.array([grid.row(point.low) if np.isfinite(point.low) else np.nan for point in points], dtype=np.float32)
    high = np.array([grid.row(point.high) if np.isfinite(point.high) else np.nan for point in points], dtype=np.float32)
    symbols = [_symbol(point) for point in points]
    for color, extra in ((RIDGE_HALO, 3), (RIDGE_LINE, 0)):
        fig.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            hoverinfo="skip",
            showlegend=False,
            line=dict(color=color, width=2 + extra),
            cliponaxis=False,
            marker=dict(symbol=symbols, size=9 + extra, color=color, line=dict(color=color, width=2)),
            error_y=dict(
                type="data",
                symmetric=False,
                array=np.maximum(high - y, 0),
                arrayminus=np.maximum(y - low, 0),
                color=color,
                thickness=1.5 + extra,
                width=5,
            ),
        )


def _symbol(point) -> str:
    if point.edge:
        return "triangle-up-open" if point.edge == "high" else "triangle-down-open"
    return "circle-open" if point.flat else "circle"


def _clipped(colors: ColorRange) -> str:
    if not colors.below and not colors.above:
        return ""
    count, side, end = (colors.below, "below", colors.low) if colors.below else (colors.above, "above", colors.high)
    return f"{count} cell{'s' if count > 1 else ''} {side} the colour scale ({end:.2g})".replace("-", "−")
