"""Lay a finished figure out again for another size, so that nothing overlaps: pure, the original stays as it is."""

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from core.figures.theme import HEIGHT, spread_labels
from core.report.legend import Entry, entries, entry_of
from core.report.presets import Preset
from core.report.richtext import markup_width, plain, text_width, words, wrap

TITLE_END = "<br><span style='font-size:13px"  # how core.figures.theme.style begins a subtitle
NAMES_SHARE = 0.36  # names at line ends may take this share of the width; else they become a legend
LEFT, RIGHT, BELOW = 62.0, 20.0, 58.0  # px around a plot: left and below with ticks and axis title, right without; estimates
NAME_SHIFTS = (6, 8)  # px between a line's end and its name
TOP, TOP_WITH_NOTES = 12, 30  # px above a plot whose title stands outside
TICK_GAP = 5.0  # px between tick labels
LINE = 1.15  # height of a line of text as a share of its size, for labels that must not touch
TICK_SIZE, AXIS_SIZE = 13.0, 14.0  # px, as in core.figures.theme.style
MARKS = 8  # on a line that has a point at every epoch
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x")  # tell lines apart without colour


class Plot(NamedTuple):
    """A figure without what stands around it, and what stood there."""

    figure: go.Figure  # without title, legend and menus
    title: str  # Plotly markup
    subtitle: str  # Plotly markup
    legend: list[Entry]
    rows: int  # panels above each other
    columns: int  # and beside each other


def title_parts(fig: go.Figure) -> tuple[str, str]:
    """Title and subtitle of a figure, as Plotly markup; empty where there is none."""
    text = fig.layout.title.text or ""
    title, _, rest = text.partition(TITLE_END)
    return title, rest.partition(">")[2].removesuffix("</span>") if rest else ""


def without_title(fig: go.Figure) -> go.Figure:
    """A figure whose title stands outside it: without the title, and lower by the room that it took."""
    fig = go.Figure(fig)
    above = TOP_WITH_NOTES if any(_beside(note, "bottom", 1) for note in fig.layout.annotations) else TOP
    before = fig.layout.margin.t if fig.layout.margin.t is not None else above
    height = (fig.layout.height or HEIGHT) - before + above
    return fig.update_layout(title_text="", margin_t=above, height=height, autosize=True)


def relay(fig: go.Figure, preset: Preset, width: float) -> Plot:
    """Take a figure apart and fit its inner part to a width.

    Args:
        fig: From a builder of core.figures.
        preset: Decides the smallest text, and whether lines get symbols of their own.
        width: Of the picture in px of the figure.

    Returns:
        The parts. Names at line ends stay where they fit; else they become legend entries.
    """
    title, subtitle = title_parts(fig)
    inner = go.Figure(fig.to_dict() | {"frames": []})
    rows, columns = panels(inner)
    if preset.on_paper:
        _give_symbols(inner)
    legend = entries(inner)
    _raise_text(inner, preset.smallest_px)
    if _names_width(inner) > NAMES_SHARE * width:
        legend = _names_as_legend(inner) + legend
        _notes_inside(inner)
    right = max(_names_width(inner), _last_tick(inner), 14)
    inside = width - LEFT - max(right, RIGHT)
    _wrap_notes(inner, inside / columns)
    inner.update_layout(title_text="", showlegend=False, autosize=False)
    inner.layout.updatemenus, inner.layout.sliders = (), ()  # on paper nothing plays; an update with an empty list keeps them
    inner.update_layout(margin=dict(l=8, r=right, t=10 + _notes_height(inner, "bottom", 1), b=8 + _notes_height(inner, "top", 0)))
    for name in _axes(inner, "x"):
        length = inside * _share(inner.layout[name])
        _thin_ticks(inner.layout[name], _range_of(inner, name), length, across=True)
        _wrap_title(inner.layout[name], length)
    for trace in inner.data:
        if "text" in (getattr(trace, "mode", None) or ""):
            trace.cliponaxis = False  # a label at the edge of the plot is not cut
    return Plot(inner, title, subtitle, legend, rows, columns)


def fit_height(plot: Plot, width: float, height: float) -> go.Figure:
    """Give the inner figure its final size, and fit what depends on the height: y ticks and y titles."""
    fig = plot.figure
    fig.update_layout(width=round(width), height=round(height))
    inside = height - BELOW - fig.layout.margin.t
    for name in _axes(fig, "y"):
        length = inside * _share(fig.layout[name])
        _thin_ticks(fig.layout[name], _range_of(fig, name), length, across=False)
        _wrap_title(fig.layout[name], length)
        _spread_names(fig, name, length)
    return fig


def panels(fig: go.Figure) -> tuple[int, int]:
    """How many panels stand above and beside each other: rows, columns."""
    counts = []
    for letter in "yx":
        starts = {round((fig.layout[name].domain or (0, 1))[0], 3) for name in _axes(fig, letter)}
        counts.append(max(len(starts), 1))
    return counts[0], counts[1]


def is_line_name(note: go.layout.Annotation) -> bool:
    """Whether an annotation names a line at its right end."""
    beside = note.xanchor == "left" and note.yanchor in ("middle", None) and (note.xshift or 0) in NAME_SHIFTS
    return beside and not note.showarrow and not str(note.yref).endswith(("paper", "domain"))


def _axes(fig: go.Figure, letter: str) -> list[str]:
    """Names of the axes that are drawn, such as xaxis and xaxis2."""
    names = [key for key in fig.layout.to_plotly_json() if key.startswith(f"{letter}axis")]
    return [name for name in names if fig.layout[name].visible is not False] or [f"{letter}axis"]


def _share(axis: go.layout.XAxis) -> float:
    """Share of the plot that the axis spans."""
    low, high = axis.domain or (0, 1)
    return high - low


def _is_outside(note: go.layout.Annotation) -> bool:
    """Whether an annotation stands to the right of the plot."""
    return str(note.xref).endswith(("paper", "domain")) and note.x is not None and note.x >= 0.999 and note.xanchor == "left"


def _names_width(fig: go.Figure) -> float:
    """Px that the names of lines take to the right of the plot."""
    names = [note for note in fig.layout.annotations if is_line_name(note) or _is_outside(note)]
    return max((14 + markup_width(note.text, note.font.size or TICK_SIZE) for note in names), default=0.0)


def _last_tick(fig: go.Figure) -> float:
    """Px that the last tick label may reach beyond the plot."""
    texts = [fig.layout[name].ticktext for name in _axes(fig, "x")]
    return max((text_width(plain(str(text[-1])), TICK_SIZE) / 2 for text in texts if text is not None and len(text)), default=0.0)


def _notes_inside(fig: go.Figure) -> None:
    """Move what stands to the right of the plot to its inner edge."""
    for note in fig.layout.annotations:
        if _is_outside(note):
            note.update(xanchor="right", yanchor="bottom", xshift=-4)


def _spread_names(fig: go.Figure, axis: str, length: float) -> None:
    """Move the names of lines apart again, as the panel has another height now."""
    span = fig.layout[axis].range
    ref = axis.replace("axis", "")
    names = [note for note in fig.layout.annotations if is_line_name(note) and note.yref in (ref, None)]
    if span is None or len(names) < 2 or any(isinstance(note.y, str) for note in names):
        return
    low, high = sorted(map(float, span))
    tallest = max((note.font.size or TICK_SIZE) * LINE * ((note.text or "").count("<br>") + 1) for note in names)  # px
    gap = (high - low) * tallest / max(length, 1.0)
    heights = spread_labels([float(note.y) for note in names], gap, low + gap / 3, high)
    for note, height in zip(names, heights, strict=True):
        note.y = height


def _names_as_legend(fig: go.Figure) -> list[Entry]:
    """Take the names from the line ends and return them as legend entries, looking like the lines in their colour."""
    names = [note for note in fig.layout.annotations if is_line_name(note)]
    fig.layout.annotations = [note for note in fig.layout.annotations if not is_line_name(note)]
    lines: dict[str, go.Scatter] = {}
    for trace in fig.data:
        color = getattr(getattr(trace, "line", None), "color", None)
        if isinstance(color, str) and "lines" in (getattr(trace, "mode", None) or ""):
            lines.setdefault(color.lower(), trace)
    found: dict[str, Entry] = {}
    for note in names:
        name, color = plain(note.text), note.font.color or "#57606A"
        trace = lines.get(color.lower())
        found.setdefault(name, entry_of(trace)._replace(name=name, color=color) if trace else Entry(name, color))
    return list(found.values())


def _give_symbols(fig: go.Figure) -> None:
    """A symbol of its own for each named line, so that the lines stay apart in grey print; long lines get a few marks."""
    symbols, given = cycle(SYMBOLS), {}
    for trace in fig.data:
        if trace.type != "scatter" or trace.fill is not None or trace.stackgroup or trace.marker.symbol is not None:
            continue
        key = trace.name or trace.line.color
        if trace.mode == "lines" and trace.name and trace.x is not None and len(trace.x) > 2:
            trace.update(mode="lines+markers", marker=dict(color=trace.line.color, size=7, maxdisplayed=MARKS))
        elif trace.mode != "lines+markers":
            continue
        if key not in given:
            given[key] = next(symbols)
        trace.marker.symbol = given[key]
        if not isinstance(trace.marker.size, np.ndarray):
            trace.marker.size = min(trace.marker.size or 7, 8)


def _raise_text(fig: go.Figure, smallest: int) -> None:
    """Enlarge every text that is smaller than the preset allows."""
    for note in fig.layout.annotations:
        if note.font.size is not None and note.font.size < smallest:
            note.font.size = smallest
    for letter in "xy":
        for name in _axes(fig, letter):
            axis = fig.layout[name]
            if axis.tickfont.size is not None and axis.tickfont.size < smallest:
                axis.tickfont.size = smallest
    for trace in fig.data:
        font = getattr(trace, "textfont", None)
        if font is not None and isinstance(font.size, int | float) and font.size < smallest:
            font.size = smallest


def _beside(note: go.layout.Annotation, anchor: str, edge: float) -> bool:
    """Whether an annotation stands above (edge 1) or below (edge 0) the plot, as the titles of panels do."""
    outside = note.y is not None and (note.y >= 0.98 if edge else note.y <= 0.02)
    return str(note.yref).endswith(("paper", "domain")) and outside and note.yanchor == anchor


def _notes_height(fig: go.Figure, anchor: str, edge: float) -> float:
    """Px that annotations above or below the plot need."""
    notes = [note for note in fig.layout.annotations if _beside(note, anchor, edge)]
    return max(((note.text or "").count("<br>") + 1) * (note.font.size or 16) * 1.3 for note in notes) if notes else 0.0


def _wrap_notes(fig: go.Figure, width: float) -> None:
    """Break annotations that are wider than a panel."""
    for note in fig.layout.annotations:
        size = note.font.size or TICK_SIZE
        if note.text and markup_width(note.text, size) > width * 0.9:
            note.text = _broken(note.text, width * 0.9, size)


def _range_of(fig: go.Figure, name: str) -> tuple[float, float] | None:
    """Range of an axis in its own unit (decades on log axes); None where Plotly decides it."""
    axis = fig.layout[name]
    return tuple(map(float, axis.range)) if axis.range is not None and axis.type != "category" else None


def _thin_ticks(axis: go.layout.XAxis, span: tuple[float, float] | None, length: float, *, across: bool) -> None:
    """Leave out tick labels that would touch; the last one stays. Slanted ones are names, which all stay as they are."""
    values = axis.tickvals
    if values is None or len(values) < 2 or axis.showticklabels is False or axis.tickangle:
        return
    texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    texts = texts if axis.ticktext is None else list(axis.ticktext)
    places = _places(values, axis.type, span, length)
    if places is None:
        return
    size = axis.tickfont.size or TICK_SIZE
    half = [(text_width(plain(str(text)), size) if across else size * 1.1) / 2 for text in texts]
    order = sorted(range(len(values)), key=lambda place: places[place])
    kept = _without_overlap(order, places, half)
    axis.tickvals = [values[place] for place in kept]
    axis.ticktext = [texts[place] for place in kept]
    if across:
        axis.tickangle = 0


def _places(values: Sequence, kind: str | None, span: tuple[float, float] | None, length: float) -> list[float] | None:
    """Where the ticks are along the axis, in px; None if that cannot be told."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return [length * (place + 0.5) / len(values) for place in range(len(values))]
    if kind == "log":
        numbers = np.log10(np.maximum(numbers, 1e-300))
    low, high = span or (float(numbers.min()), float(numbers.max()))
    return None if low == high else (length * (numbers - low) / (high - low)).tolist()


def _without_overlap(order: Sequence[int], places: Sequence[float], half: Sequence[float]) -> list[int]:
    kept: list[int] = []
    for place in order:
        while kept and places[place] - half[place] - places[kept[-1]] - half[kept[-1]] < TICK_GAP:
            if place != order[-1] or len(kept) == 1:
                break
            kept.pop()  # the last tick pushes out those before it
        if not kept or places[place] - half[place] - places[kept[-1]] - half[kept[-1]] >= TICK_GAP:
            kept.append(place)
    return kept


def _wrap_title(axis: go.layout.XAxis, length: float) -> None:
    """Break an axis title that is longer than its axis."""
    text = axis.title.text or ""
    size = axis.title.font.size or AXIS_SIZE
    if text and markup_width(text, size) > length:
        axis.title.text = _broken(text, max(length, 60.0), size)


def _broken(text: str, width: float, size: float) -> str:
    return "<br>".join(" ".join(word.text for word in line) for line in wrap(words(text), width, size))
