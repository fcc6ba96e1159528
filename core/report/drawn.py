"""The numbers that a figure draws, as a tidy table: what the CSV of a chart holds when no better table is at hand."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.report.richtext import plain

COLUMNS = ("panel", "trace", "x", "y", "value", "error", "id", "text")


def drawn(fig: go.Figure) -> pd.DataFrame:
    """One row per mark of a figure.

    Args:
        fig: Any figure of scatter, bar and heatmap traces.

    Returns:
        Columns panel (title of the y axis where there are several), trace (its name), x, y, value (of heatmap cells), error
        (half length of an error bar), id (what a click reports), text (hover text or label). Columns without any entry are left
        out. Helper lines without a name and without hover are called "line", shaded bands "band".
    """
    several = len({trace.yaxis for trace in fig.data if hasattr(trace, "yaxis")}) > 1
    rows = [row for trace in fig.data for row in _rows(fig, trace, several)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.dropna(axis=1, how="all")


def _rows(fig: go.Figure, trace: go.Scatter, several: bool) -> Iterator[tuple[Any, ...]]:
    panel = _panel(fig, trace) if several else None
    name = plain(trace.name) if trace.name else ("band" if getattr(trace, "fill", None) == "toself" else "line")
    if getattr(trace, "z", None) is not None and trace.type in {"heatmap", "contour"}:
        yield from _cells(trace, panel, name)
        return
    x, y = _list(getattr(trace, "x", None)), _list(getattr(trace, "y", None))
    count = max(len(x), len(y))
    ids, texts = _list(trace.customdata), _list(getattr(trace, "hovertext", None) or getattr(trace, "text", None))
    errors = _list(getattr(getattr(trace, "error_y", None), "array", None))
    for place in range(count):
        text = _at(texts, place)
        yield (
            panel, name, _at(x, place), _at(y, place), None, _at(errors, place), _first(_at(ids, place)),
            plain(text) if isinstance(text, str) else text,
        )  # fmt: skip


def _cells(trace: go.Heatmap, panel: str | None, name: str) -> Iterator[tuple[Any, ...]]:
    values = np.asarray(trace.z)
    x, y = _list(trace.x) or list(range(values.shape[1])), _list(trace.y) or list(range(values.shape[0]))
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            yield panel, name, x[column], y[row], _plain(values[row, column]), None, None, None


def _panel(fig: go.Figure, trace: go.Scatter) -> str | None:
    place = (getattr(trace, "yaxis", None) or "y")[1:]
    axis = fig.layout[f"yaxis{place}"]
    return plain(axis.title.text or "") or f"panel {place or 1}"


def _list(values: Any) -> list:
    if values is None or isinstance(values, str):
        return [] if values is None else [values]
    return [_plain(value) for value in values]


def _at(values: list, place: int) -> Any:
    return values[place] if place < len(values) else None


def _first(value: Any) -> Any:
    """The id itself, or the first of several values."""
    if isinstance(value, list | tuple | np.ndarray):
        return _plain(value[0]) if len(value) else None
    return value


def _plain(value: Any) -> Any:
    """numpy scalars as Python ones, with as many digits as float32 has."""
    if isinstance(value, np.float32):
        return float(f"{value:.7g}")
    return value.item() if isinstance(value, np.generic) else value
