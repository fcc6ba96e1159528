"""The visual language: what each colour, line and mark means, in the light and the dark theme."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

FONT = "'Source Sans', 'Source Sans 3', 'Segoe UI', Helvetica, Arial, sans-serif"  # quoted: a bare 3 would void the whole list
HEIGHT = 440  # px; charts that share a row share it

# Okabe-Ito in a fixed order; an objective keeps its colour on every page.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6BB1", "#B8A800")
OBJECTIVE_COLORS = {
    "nt_xent": "#0072B2",
    "cross_view": "#56B4E9",
    "gcl": "#E69F00",
    "swd_hypersphere": "#009E73",
    "swd_hypercube": "#B8A800",
    "swd_normal": "#CC79A7",
    "align_uniform": "#8C6BB1",
    "alignment": "#7A6A53",
    "uniformity": "#4FA3A5",
    "moco": "#D55E00",
    "supervised": "#2E8B57",
    "autoencoder": "#A0522D",
    "untrained": "#8A9099",
}
OBJECTIVE_NAMES = {
    "nt_xent": "NT-Xent",
    "cross_view": "Cross-view InfoNCE",
    "gcl": "GCL (tau, lambda)",
    "swd_hypersphere": "SWD, hypersphere",
    "swd_hypercube": "SWD, hypercube",
    "swd_normal": "SWD, normal",
    "align_uniform": "Align + uniform",
    "alignment": "Alignment only",
    "uniformity": "Uniformity only",
    "moco": "MoCo queue",
    "supervised": "Supervised",
    "autoencoder": "Autoencoder",
    "untrained": "Untrained",
}
# Temperatures: cold blue (small tau) to warm orange (large tau), dark enough to read on white and on near-black.
TEMPERATURE_SCALE = [[0.0, "#2256C7"], [0.33, "#1A9DB5"], [0.54, "#C69B22"], [0.78, "#E8811C"], [1.0, "#D6451F"]]
ACCURACY_SCALE = "Viridis"
OTHER_SCALE = "Cividis"
WHITE_INK, BLACK_INK = "#FFFFFF", "#000000"  # of numbers on coloured cells


class Theme(NamedTuple):
    """Colours that depend on the background."""

    name: str  # "light" or "dark"
    paper: str
    text: str
    muted: str  # subtitles, axis titles, provenance
    theory: str  # bounds, chance and floor lines
    grid: str
    outline: str  # around the selected mark
    faded: str  # points that are not selected


LIGHT = Theme("light", "#FFFFFF", "#1B1F24", "#57606A", "#7D858E", "#E4E8EC", "#1B1F24", "#C9D0D6")
DARK = Theme("dark", "#12161C", "#E6EAEF", "#A3ADB8", "#8E98A3", "#2A323C", "#F5F7FA", "#454F5B")
THEMES = {"light": LIGHT, "dark": DARK}


def rgba(color: str, alpha: float) -> str:
    """A hex colour with an opacity, for bands."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def cell_colors(scale: str, shares: Sequence[float]) -> np.ndarray:
    """Colours of cells at these shares of a Plotly colour scale: red, green and blue from 0 to 1, shape (k, 3)."""
    places = np.nan_to_num(np.asarray(shares, float)).clip(0, 1)
    return np.array(sample_colorscale(scale, places, colortype="tuple")).reshape(-1, 3)


def halos(scale: str, shares: Sequence[float]) -> list[str]:
    """Text shadows in the colour of the cell below: they part a number from a line that runs under it."""
    colors = ["rgb({},{},{})".format(*(round(255 * part) for part in color)) for color in cell_colors(scale, shares)]
    around = [(x, y) for x in (-2, 0, 2) for y in (-2, 0, 2)]
    return [", ".join(f"{x}px {y}px 1px {color}" for x, y in around) for color in colors]


def ink_on(scale: str, shares: Sequence[float]) -> list[str]:
    """For numbers written on coloured cells: black or white, whichever stands out more (relative luminance, WCAG 2).

    Args:
        scale: Name of a Plotly colour scale.
        shares: Where on the scale the cells are, 0 to 1; NaN for cells without colour, which get a colour as well.
    """
    colors = cell_colors(scale, shares)
    linear = np.where(colors <= 0.03928, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)
    return np.where(1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05, WHITE_INK, BLACK_INK).tolist()


def temperature_colors(taus: Sequence[float]) -> dict[float, str]:
    """One hex colour per temperature, by its place on a fixed log scale from 0.03 to 1, the same on every page."""
    low, high = np.log(0.03), np.log(1.0)
    shares = [float(np.clip((np.log(tau) - low) / (high - low), 0, 1)) for tau in taus]
    colors = sample_colorscale(TEMPERATURE_SCALE, shares, colortype="tuple")
    return {tau: "#" + "".join(f"{round(255 * part):02x}" for part in color) for tau, color in zip(taus, colors, strict=True)}


def style(
    fig: go.Figure,
    theme: Theme,
    *,
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
    layout: dict[str, Any] | None = None,
) -> go.Figure:
    """Apply the house layout in place: title with a subtitle line, fonts, grid, hover.

    Args:
        fig: The figure with its traces and axes.
        theme: Colours.
        title: Takeaway or question.
        subtitle: Settings; stands under the title.
        height: Pixels.
        layout: More settings, such as {"xaxis": {"range": [0, 1]}}, applied last. One pass over the layout takes milliseconds,
            so charts that follow a slider hand in everything here instead of updating the figure piece by piece.

    Returns:
        The figure.
    """
    text = f"<b>{title}</b>" if title else ""
    if subtitle:
        text += f"<br><span style='font-size:13px;color:{theme.muted}'>{subtitle}</span>"
    axis = dict(
        gridcolor=theme.grid, zeroline=False, linecolor=theme.theory, tickcolor=theme.theory,
        tickfont=dict(color=theme.muted, size=13), title=dict(font=dict(color=theme.muted, size=14)), automargin=True,
    )
    house = dict(
        height=height,
        title=dict(
            text=text, x=0, xref="container", xanchor="left", y=1 - 20 / height, yref="container", yanchor="top", pad=dict(l=4),
            font=dict(size=17, color=theme.text),
        ),
        font=dict(family=FONT, size=14, color=theme.text),
        paper_bgcolor=theme.paper, plot_bgcolor=theme.paper,
        margin=dict(l=10, r=20, t=68 if subtitle else 46 if title else 12, b=10),
        hoverlabel=dict(bgcolor=theme.paper, bordercolor=theme.theory, font=dict(color=theme.text, family=FONT)),
        legend=dict(font=dict(color=theme.text), bgcolor="rgba(0,0,0,0)"),
        colorway=list(OKABE_ITO),
    )
    before = fig.layout.to_plotly_json()
    before.pop("template", None)  # checking it again would cost more than all the rest
    axes = ["xaxis", "yaxis", *(name for name in before if name.startswith(("xaxis", "yaxis")))]
    styled = _merged(before, house | dict.fromkeys(axes, axis))
    fig.layout = _merged(styled, layout or {})  # ten times faster than update_layout
    fig._initialize_layout_template()  # as every new figure does, without checking it
    return fig


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Both dictionaries in one, inner ones too; where both have a value, that of the changes."""
    result = dict(base)
    for key, value in changes.items():
        inner = result.get(key)
        result[key] = _merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return result


def end_label(fig: go.Figure, x: float | str, y: float, text: str, color: str, **place) -> None:
    """Write a line's name at its right end, in the line's colour, instead of a legend entry."""
    fig.add_annotation(
        x=x, y=y, text=text, showarrow=False, xanchor="left", yanchor="middle", xshift=8,
        font=dict(color=color, size=13), **place,
    )


def spread_labels(values: Sequence[float], gap: float, low: float = -np.inf, high: float = np.inf) -> list[float]:
    """Move label heights apart so that neighbours are at least `gap` away from each other; order is kept.

    Args:
        values: Wanted heights.
        gap: Least distance, in the same unit.
        low: No label goes below.
        high: No label goes above, unless there are too many between `low` and `high`.
    """
    if not len(values):
        return []
    order = np.argsort(values, kind="stable")
    placed = np.clip(np.asarray(values, dtype=float)[order], low, high)
    for _ in range(100):
        overlap = gap - np.diff(placed)
        pushed = np.where(overlap > 1e-9, overlap / 2, 0.0)
        if not pushed.any():
            break
        placed[:-1] -= pushed
        placed[1:] += pushed
    steps = gap * np.arange(len(placed))
    placed = np.minimum(placed, high - steps[::-1])  # down from the top
    placed = np.maximum.accumulate(np.maximum(placed, low + steps) - steps) + steps  # up from the bottom
    result = np.empty_like(placed)
    result[order] = placed
    return result.tolist()


def theory_line(fig: go.Figure, theme: Theme, y: float, label: str, **place) -> None:
    """A thin grey horizontal line for a bound, an optimum or chance, named at its right end."""
    fig.add_hline(
        y=y, line=dict(color=theme.theory, width=1), annotation_text=label, annotation_position="top right",
        annotation_font=dict(color=theme.theory, size=12), **place,
    )
