"""A tau-lambda grid as a picture: evenly spaced cells on two log dials, clickable, with every kind of missing cell visible.

Cells lie at whole numbers, so that a ridge or a diagonal between the tested values has a place; the ticks name the values.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.theme import Theme

HATCHES = 4  # lines through a cell whose runs all diverged
CLICK_SIZE = 8  # px; with hoverdistance -1 a click anywhere in a cell finds its marker


class Grid(NamedTuple):
    """The tested values of both dials, ascending."""

    taus: tuple[float, ...]
    lams: tuple[float, ...]

    @classmethod
    def of(cls, cells: pd.DataFrame) -> "Grid":
        """The grid that cells lie on."""
        return cls(tuple(sorted(cells["tau"].unique())), tuple(sorted(cells["lam"].unique())))

    def column(self, tau: float) -> float:
        """Place of a temperature on the x axis; between cells by its logarithm, beyond them by the outermost step."""
        return _place(tau, self.taus)

    def row(self, lam: float) -> float:
        """Place of a weight on the y axis."""
        return _place(lam, self.lams)

    def matrix(self, cells: pd.DataFrame, column: str = "mean") -> np.ndarray:
        """A column of the cells as (lams, taus) float32, NaN where there is no cell."""
        wide = cells.pivot(index="lam", columns="tau", values=column).reindex(index=self.lams, columns=self.taus)
        return wide.to_numpy(dtype=np.float32)


def cell_id(tau: float, lam: float) -> str:
    """What a click returns and an address holds: "0.1,0.5"."""
    return f"{tau:g},{lam:g}"


def read_cell_id(text: str | None) -> tuple[float, float] | None:
    """tau and lambda of a cell id; None if the text is not one."""
    parts = (text or "").split(",")
    try:
        tau, lam = (float(part) for part in parts)
    except ValueError:
        return None
    return (tau, lam) if np.isfinite([tau, lam]).all() and tau > 0 and lam >= 0 else None


def add_axes(fig: go.Figure, grid: Grid, *, lam_name: str = "lambda") -> None:
    """Ticks at the tested values, half a cell of margin, no grid lines."""
    shared = dict(showgrid=False, zeroline=False, ticks="", tickmode="array")
    fig.update_xaxes(
        title_text="Temperature tau (log steps)",
        range=[-0.5, len(grid.taus) - 0.5],
        tickvals=list(range(len(grid.taus))),
        ticktext=[f"{tau:g}" for tau in grid.taus],
        **shared,
    )
    fig.update_yaxes(
        title_text=f"Weight {lam_name} (log steps)",
        range=[-0.5, len(grid.lams) - 0.5],
        tickvals=list(range(len(grid.lams))),
        ticktext=[f"{lam:g}" for lam in grid.lams],
        **shared,
    )


def add_click_layer(fig: go.Figure, grid: Grid, cells: pd.DataFrame, hover: Sequence[str]) -> None:
    """One invisible marker per cell; its customdata is the cell's id. A heat map alone reports no clicks.

    Args:
        fig: The figure.
        grid: Where cells lie.
        cells: Rows with tau and lam.
        hover: Text for each row.
    """
    unseen = dict(marker=dict(opacity=0))
    fig.add_scatter(
        x=np.array([grid.column(tau) for tau in cells["tau"]], dtype=np.float32),
        y=np.array([grid.row(lam) for lam in cells["lam"]], dtype=np.float32),
        mode="markers",
        marker=dict(symbol="square", size=CLICK_SIZE, opacity=0),
        selected=unseen,
        unselected=unseen,
        showlegend=False,
        customdata=np.array([cell_id(tau, lam) for tau, lam in zip(cells["tau"], cells["lam"], strict=True)]),
        text=list(hover),
        hovertemplate="%{text}<extra></extra>",
    )
    fig.update_layout(hoverdistance=-1, clickmode="event+select", dragmode=False)


def mark_unmeasured(fig: go.Figure, grid: Grid, cells: pd.DataFrame, theme: Theme) -> None:
    """Hatch cells whose runs diverged, cross those that failed, dot those at work, and leave an outline where nothing was run."""
    for cell in cells[cells["n"] == 0].itertuples():
        x, y = grid.column(cell.tau), grid.row(cell.lam)
        box = dict(type="rect", x0=x - 0.46, x1=x + 0.46, y0=y - 0.46, y1=y + 0.46, layer="below")
        fig.add_shape(**box, line=dict(color=theme.grid, width=1, dash="dot" if cell.live else "solid"))
        if cell.diverged:
            fig.add_shape(type="path", path=_hatching(x, y), line=dict(color=theme.theory, width=1.5))
        elif cell.failed or cell.live:
            text = "✕" if cell.failed else "…"
            fig.add_annotation(x=x, y=y, text=text, showarrow=False, font=dict(color=theme.muted, size=16))


def outline(fig: go.Figure, grid: Grid, tau: float, lam: float, theme: Theme) -> None:
    """A dark frame with a light edge around the selected cell."""
    x, y = grid.column(tau), grid.row(lam)
    box = dict(type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5)
    fig.add_shape(**box, line=dict(color=theme.paper, width=6))
    fig.add_shape(**box, line=dict(color=theme.outline, width=3))


def counts(cells: pd.DataFrame) -> str:
    """How many cells and runs there are, and what became of the others: for subtitles."""
    measured = int((cells["n"] > 0).sum())
    words = [f"{measured} of {len(cells)} cells" if measured < len(cells) else f"{len(cells)} cells"]
    for column, name in (("diverged", "diverged"), ("failed", "failed"), ("live", "in progress")):
        if total := int(cells[column].sum()):
            words.append(f"{total} run{'s' if total > 1 else ''} {name}")
    return ", ".join(words)


def _place(value: float, tested: tuple[float, ...]) -> float:
    log = np.log(np.maximum(tested, 1e-12))
    at = np.log(max(value, 1e-12))
    if len(log) < 2:
        return 0.0
    if at < log[0]:
        return float((at - log[0]) / (log[1] - log[0]))
    if at > log[-1]:
        return float(len(log) - 1 + (at - log[-1]) / (log[-1] - log[-2]))
    return float(np.interp(at, log, np.arange(len(log))))


def _hatching(x: float, y: float) -> str:
    """Diagonals through a unit cell as an SVG path."""
    half, steps = 0.42, np.linspace(-1, 1, HATCHES + 2)[1:-1]
    lines = []
    for shift in steps * 2 * half:
        low, high = max(-half, -half - shift), min(half, half - shift)
        lines.append(f"M{x + low:.3f},{y + low + shift:.3f}L{x + high:.3f},{y + high + shift:.3f}")
    return "".join(lines)
