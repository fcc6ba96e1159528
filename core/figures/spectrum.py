"""Spectra of representations: singular values on a log scale, with the effective rank and where dimensions have died.

The values are eigenvalues of the covariance of unit rows. Centred, n rows span at most n - 1 dimensions, so that with few
images the last values are zero whatever the encoder does; they are neither drawn nor counted.

The rank of this figure is called effective rank everywhere. RankMe is another quantity: it takes the square roots of such
values, of rows that are neither centred nor normalised.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from core.figures.text import WIDE, WIDE_SUBTITLE, make_room, readable, wrapped
from core.figures.theme import HEIGHT, Theme, end_label, spread_labels, style
from core.geometry.limits import most_dimensions, of_most

COLLAPSED = 1e-6  # share of the largest singular value below which a dimension counts as collapsed
POINT = 0.05  # total variance of unit rows, at most 1, below which an embedding counts as a point
FLOOR = 1e-9  # share drawn for smaller values and zeros
LABEL = 0.11  # height of the two lines at the end of a line, as a share of the axis


class Spectrum(NamedTuple):
    """Singular values of one representation."""

    name: str  # at the end of the line, such as "z" or "NT-Xent, h"
    values: NDArray  # (d,) >= 0, largest first
    color: str
    dash: str = "solid"
    images: int | None = None  # rows behind the covariance; None: more than d, or not known

    @property
    def most(self) -> int:
        """How many values can differ from zero: d, or n - 1 with fewer images than that."""
        return most_dimensions(len(self.values), self.images)

    @property
    def possible(self) -> NDArray:
        """The values that can differ from zero, float64, shape (most,)."""
        return np.asarray(self.values, dtype=np.float64)[: self.most]

    @property
    def of(self) -> str:
        """What a number of dimensions is compared with: "of 64", or "of at most 299 with 300 images"."""
        return of_most(self.most, len(self.values), self.images)


def images_of(arrays: Mapping[str, NDArray], space: str) -> int | None:
    """How many images are behind the spectrum of a space; None if its embeddings, shape (n, d), are not there."""
    return len(arrays[space]) if space in arrays else None


def effective_rank(values: NDArray) -> float:
    """exp of the entropy of the values, scaled to sum 1: k for k equal values; NaN if all are zero.

    For eigenvalues of a covariance, as `Spectrum` holds them, that is the effective rank of Roy & Vetterli, 2007.
    """
    values = np.asarray(values, dtype=np.float64)
    if not values.sum() > 0:
        return float("nan")
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def collapsed(values: NDArray) -> int:
    """How many values are below `COLLAPSED` of the largest: dimensions that the embedding does not use."""
    values = np.asarray(values, dtype=np.float64)
    return int((values <= COLLAPSED * values.max(initial=0.0)).sum())


def spectrum_figure(
    spectra: Sequence[Spectrum],
    theme: Theme,
    *,
    what: str = "Singular value of the covariance / largest",
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw the spectra, each relative to its largest value.

    Args:
        spectra: What is compared, such as h and z of one encoder; empty ones are left out.
        theme: Colours.
        what: Axis title.
        title: Takeaway; empty = made from the data.
        subtitle: Settings.
        height: Pixels.

    Returns:
        The figure, each line cut where the number of images ends it. A diamond marks the effective rank, a cross the first
        collapsed dimension.
    """
    spectra = [entry for entry in spectra if len(entry.values)]
    fig = go.Figure()
    style(fig, theme, title=wrapped(title or takeaway(spectra), WIDE), subtitle=wrapped(subtitle, WIDE_SUBTITLE), height=height)
    ends = []
    for entry in spectra:
        values = entry.possible
        top = values.max() or 1.0
        relative = np.maximum(values / top, FLOOR)
        at = np.arange(1, len(values) + 1)
        dead, rank = collapsed(values), effective_rank(values)
        fig.add_scatter(
            x=at.astype(np.int32),
            y=relative.astype(np.float32),
            mode="lines+markers" if len(values) <= 12 else "lines",
            name=entry.name,
            line=dict(color=entry.color, width=2.5, dash=entry.dash),
            marker=dict(size=7),
            customdata=values.astype(np.float32),
            hovertemplate=f"<b>{entry.name}</b>, dimension %{{x}}<br>%{{customdata:.3g}}, %{{y:.2g}} of the top<extra></extra>",
            showlegend=False,
        )
        if np.isfinite(rank):
            height_there = float(np.exp(np.interp(rank, at, np.log(relative))))
            _mark(fig, rank, height_there, entry, "diamond", f"effective rank {rank:.1f} {entry.of}", theme)
        if 0 < dead < len(values):
            first = len(values) - dead
            text = f"{dead} of {len(values)} values below {COLLAPSED:g} of the largest"
            _mark(fig, first + 1, float(relative[first]), entry, "x", text, theme)
        note = f"effective rank {rank:.1f} {entry.of.partition(' with')[0]}" if np.isfinite(rank) else "all zero"
        ends.append((len(values), float(relative[-1]), f"{entry.name}<br>{note}", readable(entry.color, theme)))
    low = min((float(np.log10(end[1])) for end in ends), default=-1.0)
    low = min(low, -1.0) - 0.15
    longest = max((end[0] for end in ends), default=1)
    two_lines = (0.15 - low) * LABEL
    heights = spread_labels([np.log10(end[1]) for end in ends], two_lines, low + 0.5 * two_lines, 0.15 - 0.5 * two_lines)
    for (x, _, text, color), y in zip(ends, heights, strict=True):
        end_label(fig, x, y, text, color, align="left")
    every = dict(dtick=1) if longest <= 12 else {}
    fig.update_xaxes(title_text="Dimension, strongest first", range=[0.5, longest + 0.5], **every)
    step = 1 if low > -6 else 2
    fig.update_yaxes(title_text=what, type="log", range=[low, 0.15], exponentformat="power", dtick=step)
    widest = max((len(line) for end in ends for line in end[2].split("<br>")), default=0)
    return make_room(fig.update_layout(margin_r=min(26 + 6.6 * widest, 260)))


def takeaway(spectra: Sequence[Spectrum]) -> str:
    """What the spectra say in one sentence."""
    spectra = [entry for entry in spectra if len(entry.values)]
    dying = [(entry, collapsed(entry.possible)) for entry in spectra if 0 < collapsed(entry.possible) < entry.most]
    if dying:
        entry, dead = max(dying, key=lambda pair: pair[1] / pair[0].most)
        if entry.most < len(entry.values):
            return f"{entry.name} varies in {entry.most - dead:,} dimensions only, {entry.of}: the rest has collapsed"
        return f"{dead:,} of the {entry.most:,} dimensions of {entry.name} have collapsed"
    if not spectra:
        return ""
    shares = [effective_rank(entry.possible) / entry.most for entry in spectra]
    if not np.isfinite(shares).all():
        return "An embedding without any variation: complete collapse"
    point = next((entry for entry in spectra if entry.possible.sum() < POINT), None)
    if point is not None:
        return f"{point.name} has collapsed to nearly one point: the lines show the little that is left"
    least = spectra[int(np.argmin(shares))]
    says = "has" if len(spectra) == 1 else "uses its space least:"
    return f"No dimension has collapsed; {least.name} {says} effective rank {min(shares) * least.most:.1f} {least.of}"


def _mark(fig: go.Figure, x: float, y: float, entry: Spectrum, symbol: str, text: str, theme: Theme) -> None:
    fig.add_scatter(
        x=np.array([x], dtype=np.float32),
        y=np.array([y], dtype=np.float32),
        mode="markers",
        marker=dict(symbol=symbol, size=12, color=entry.color, line=dict(color=theme.outline, width=1.5)),
        hovertemplate=f"<b>{entry.name}</b>: {text}<extra></extra>",
        showlegend=False,
    )
