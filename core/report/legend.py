"""A figure's legend outside Plotly: its entries, and how they are drawn in rows that fit any width."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from core.report.richtext import plain, svg_lines, text_width, words

SWATCH, GAP, BETWEEN = 18.0, 6.0, 18.0  # px: swatch, swatch to text, entry to entry
DASHES = {"dash": "6 3", "dot": "2 2.5", "dashdot": "6 3 2 3", "longdash": "9 3"}
SHAPES = {  # symbol -> SVG path around the origin, about 8 px wide
    "square": "M-3.6-3.6h7.2v7.2h-7.2z",
    "diamond": "M0-4.8L4.8 0L0 4.8L-4.8 0z",
    "triangle-up": "M0-4.6L4.4 3.4H-4.4z",
    "triangle-down": "M0 4.6L4.4-3.4H-4.4z",
    "cross": "M-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",
    "x": "M-4-2.4L-2.4-4L0-1.6L2.4-4L4-2.4L1.6 0L4 2.4L2.4 4L0 1.6L-2.4 4L-4 2.4L-1.6 0z",
}


class Entry(NamedTuple):
    """One name in a legend."""

    name: str
    color: str
    line: bool = True
    dash: str = "solid"
    symbol: str | None = None  # of the marker; None = no marker
    filled: bool = False  # an area or a bar


def entries(fig: go.Figure) -> list[Entry]:
    """The entries that Plotly would show, each name once."""
    found: dict[str, Entry] = {}
    shown = [trace for trace in fig.data if _in_legend(trace)]
    if fig.layout.showlegend is False or (fig.layout.showlegend is None and len(shown) < 2):
        return []
    for trace in shown:
        found.setdefault(plain(trace.name), entry_of(trace))
    return list(found.values())


def entry_of(trace: go.Scatter) -> Entry:
    """How a trace looks in small."""
    mode = getattr(trace, "mode", None) or ""
    if trace.type == "bar" or getattr(trace, "stackgroup", None) or (getattr(trace, "fill", None) and "markers" not in mode):
        color = _plain_color(getattr(trace, "fillcolor", None)) or _plain_color(_of(trace, "marker", "color"))
        return Entry(plain(trace.name or ""), color or _plain_color(_of(trace, "line", "color")) or "#808890", False, filled=True)
    line, marker = "lines" in mode, "markers" in mode
    color = _plain_color(_of(trace, "line", "color")) if line else None
    color = color or _plain_color(_of(trace, "marker", "color")) or "#808890"
    symbol = str(_of(trace, "marker", "symbol") or "circle") if marker else None
    return Entry(plain(trace.name or ""), color, line, str(_of(trace, "line", "dash") or "solid"), symbol)


def rows(shown: Sequence[Entry], width: float, size: float) -> list[list[Entry]]:
    """Entries in rows that fit into a width, at a font size, both in px."""
    placed: list[list[Entry]] = []
    left = 0.0
    for entry in shown:
        needed = _width(entry, size)
        if not placed or left + needed > width:
            placed.append([])
            left = 0.0
        placed[-1].append(entry)
        left += needed + BETWEEN
    return placed


def svg_rows(placed: Iterable[Sequence[Entry]], *, x: float, y: float, size: float, leading: float, color: str) -> Iterator[str]:
    """SVG elements of a legend whose top left corner is at x, y."""
    for number, row in enumerate(placed):
        left, top = x, y + number * leading
        for entry in row:
            yield _swatch(entry, left, top + leading / 2)
            place = dict(x=left + SWATCH + GAP, y=top, size=size, leading=leading, color=color)
            yield from svg_lines([words(entry.name)], **place)
            left += _width(entry, size) + BETWEEN


def _swatch(entry: Entry, x: float, y: float) -> str:
    if entry.filled:
        return f'<rect x="{x + 3:.1f}" y="{y - 5:.1f}" width="12" height="10" fill="{entry.color}"/>'
    parts = []
    if entry.line:
        dash = f' stroke-dasharray="{DASHES[entry.dash]}"' if entry.dash in DASHES else ""
        parts.append(f'<path d="M{x:.1f} {y:.1f}h{SWATCH}" stroke="{entry.color}" stroke-width="2" fill="none"{dash}/>')
    if entry.symbol is not None:
        shape, hollow = entry.symbol.removesuffix("-open"), entry.symbol.endswith("-open")
        paint = f'fill="none" stroke="{entry.color}" stroke-width="1.5"' if hollow else f'fill="{entry.color}"'
        drawn = f'<path d="{SHAPES[shape]}" {paint}/>' if shape in SHAPES else f'<circle r="4" {paint}/>'
        parts.append(f'<g transform="translate({x + SWATCH / 2:.1f} {y:.1f})">{drawn}</g>')
    return "".join(parts)


def _width(entry: Entry, size: float) -> float:
    return SWATCH + GAP + text_width(entry.name, size)


def _in_legend(trace: go.Scatter) -> bool:
    return bool(trace.name) and trace.showlegend is not False and trace.visible in (None, True)


def _of(trace: go.Scatter, part: str, name: str) -> object:
    holder = getattr(trace, part, None)
    return None if holder is None else getattr(holder, name, None)


def _plain_color(value: object) -> str | None:
    """A single colour; None for one per point."""
    return value if isinstance(value, str) and value else None
