"""Cosines of positive pairs, of one class and of different classes, over the exact density for uniform points on the sphere."""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from core.figures.text import readable
from core.figures.theme import HEIGHT, OKABE_ITO, Theme, rgba, style
from core.geometry.closed_forms import cosine_distribution

POSITIVE, SAME, DIFFERENT = OKABE_ITO[2], OKABE_ITO[0], OKABE_ITO[5]
ROOM = 1.15  # height of a row over its highest peak


class Pairs(NamedTuple):
    """One kind of pairs."""

    name: str
    counts: NDArray  # (bins,) pairs per bin
    color: str


def kinds(same: NDArray, different: NDArray, positive: NDArray | None = None) -> list[Pairs]:
    """The usual three kinds, most alike first; those without a pair are left out.

    Args:
        same: Counts of pairs of one class.
        different: Counts of pairs of two classes.
        positive: Counts of two views of one image, or None.
    """
    found = [Pairs("Two views of an image", positive, POSITIVE)] if positive is not None else []
    found += [Pairs("Same class", same, SAME), Pairs("Different classes", different, DIFFERENT)]
    return [entry for entry in found if np.sum(entry.counts)]


def mean_cosine(counts: NDArray, edges: NDArray) -> float:
    """Mean of a histogram, NaN without a pair."""
    counts, edges = np.asarray(counts, dtype=np.float64), np.asarray(edges, dtype=np.float64)
    return float((counts * (edges[1:] + edges[:-1]) / 2).sum() / counts.sum()) if counts.sum() else float("nan")


def uniform_shares(edges: NDArray, dim: int) -> NDArray[np.float64]:
    """Share of the pairs of uniform points in each bin, exact also where the density is infinite (two dimensions).

    Args:
        edges: (bins + 1,), ascending.
        dim: Dimension of the embedding, >= 2.
    """
    return np.diff(cosine_distribution(edges, dim))


def gap(counts: NDArray, edges: NDArray, dim: int) -> float:
    """Largest difference of the cumulative shares from those of uniform points, 0 to 1."""
    counts = np.asarray(counts, dtype=np.float64)
    return float(np.abs(np.cumsum(counts / counts.sum()) - np.cumsum(uniform_shares(edges, dim))).max())


def cosine_histograms(
    edges: NDArray,
    pairs: list[Pairs],
    dim: int,
    theme: Theme,
    *,
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw one row per kind of pairs; all share the axis of the cosine, each has its own height.

    Args:
        edges: Of the bins, (bins + 1,), from -1 to 1.
        pairs: From `kinds`.
        dim: Dimension of the embedding, for the exact density.
        theme: Colours.
        title: Takeaway; empty = made from the data.
        subtitle: Settings.
        height: Pixels.

    Raises:
        ValueError: If there is no pair, or counts and edges do not fit.
    """
    edges = np.asarray(edges, dtype=np.float64)
    if not pairs:
        raise ValueError("cosine_histograms needs at least one kind of pairs, got none.")
    for entry in pairs:
        if len(entry.counts) != len(edges) - 1:
            raise ValueError(f"{entry.name}: {len(edges)} edges need {len(edges) - 1} counts, got {len(entry.counts)}.")
    fig = make_subplots(rows=len(pairs), cols=1, shared_xaxes=True, vertical_spacing=0.05)
    style(fig, theme, title=title or takeaway(edges, pairs), subtitle=subtitle, height=height)
    widths, centres = np.diff(edges), ((edges[1:] + edges[:-1]) / 2).astype(np.float32)
    uniform = (uniform_shares(edges, dim) / widths).astype(np.float32) if dim >= 2 else None
    for row, entry in enumerate(pairs, 1):
        counts = np.asarray(entry.counts, dtype=np.float64)
        density = (counts / counts.sum() / widths).astype(np.float32)
        fig.add_scatter(
            x=centres,
            y=density,
            mode="lines",
            line=dict(color=entry.color, width=2, shape="hvh"),
            fill="tozeroy",
            fillcolor=rgba(entry.color, 0.2),
            customdata=counts.astype(np.int64),
            hovertemplate=f"<b>{entry.name}</b>, cosine %{{x:.3f}}<br>density %{{y:.3g}}, %{{customdata:,}} pairs<extra></extra>",
            showlegend=False,
            row=row,
            col=1,
        )
        top = float(density.max())
        if uniform is not None:
            fig.add_scatter(
                x=centres, y=uniform, mode="lines", line=dict(color=theme.theory, width=1.5), hoverinfo="skip", showlegend=False,
                row=row, col=1,
            )  # fmt: skip
            middle = uniform[len(uniform) // 4 : -len(uniform) // 4] if dim == 2 else uniform  # its ends are infinite in two
            top = max(top, float(middle.max()))
        fig.update_yaxes(range=[0, top * ROOM], nticks=4, row=row, col=1)
        axis = "" if row == 1 else row
        mean = f"mean {_two(mean_cosine(counts, edges))}"
        fig.add_annotation(
            x=-0.99, xref=f"x{axis}", y=1, yref=f"y{axis} domain", xanchor="left", yanchor="top", showarrow=False, align="left",
            text=f"<b>{entry.name}</b><br>{int(counts.sum()):,} pairs, {mean}",
            font=dict(color=readable(entry.color, theme), size=13),
        )  # fmt: skip
    if uniform is not None:
        peak = int(np.argmax(uniform)) if dim > 3 else len(uniform) // 2
        fig.add_annotation(
            x=float(centres[peak]), y=min(float(uniform[peak]), top), xref=f"x{len(pairs) if len(pairs) > 1 else ''}",
            yref=f"y{len(pairs) if len(pairs) > 1 else ''}", text=f"uniform, d = {dim:,}", showarrow=False, xanchor="left",
            xshift=10, yshift=8, font=dict(color=theme.theory, size=12),
        )  # fmt: skip
    fig.update_xaxes(range=[-1.02, 1.02])
    fig.update_xaxes(title_text="Cosine similarity of two test images", row=len(pairs), col=1)
    fig.update_yaxes(title_text="Density", row=(len(pairs) + 1) // 2, col=1)
    return fig


def takeaway(edges: NDArray, pairs: list[Pairs]) -> str:
    """What the means say in one sentence."""
    means = {entry.name: mean_cosine(entry.counts, edges) for entry in pairs}
    same, other = means.get("Same class"), means.get("Different classes")
    if same is None or other is None:
        return f"{pairs[0].name}: cosine {_two(means[pairs[0].name])} on average"
    if same - other < 0.01:
        return f"A shared class does not bring images closer: {_two(same)} against {_two(other)}"
    return f"Images of one class have cosine {_two(same)} on average, of different classes {_two(other)}"


def _two(value: float) -> str:
    """Two decimals with a real minus sign, and no minus zero."""
    return f"{value + 0:.2f}".replace("-0.00", "0.00").replace("-", "−")
