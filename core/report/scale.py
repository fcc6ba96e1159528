"""Make everything in a figure larger but its data: for a projector, where a chart must be read from the last row."""

import re
from typing import Any

import plotly.graph_objects as go

SIZES = frozenset(  # layout and trace keys that hold px
    {
        "size", "width", "thickness", "ticklen", "standoff", "xshift", "yshift", "t", "b", "l", "r", "pad", "borderwidth",
        "arrowwidth",
    }
)  # fmt: skip
HOLDERS = frozenset(  # keys under which a size is one of text, a mark or a line
    {
        "font", "tickfont", "textfont", "marker", "line", "margin", "title", "annotations", "hoverlabel", "legend", "xaxis",
        "yaxis", "colorbar", "shapes", "selected", "unselected", "pad",
    }
)  # fmt: skip
IN_TEXT = re.compile(r"font-size:(\d+(?:\.\d+)?)px")


def scaled(fig: go.Figure, factor: float) -> go.Figure:
    """A figure with larger text, marks, lines and margins.

    Args:
        fig: Any figure.
        factor: 1 leaves it as it is; above 0.

    Returns:
        A new figure. Positions in data units and its height stay; sizes that Plotly chooses itself are set to the factor times
        Plotly's default where the figure's template leaves them open.
    """
    content = {key: _walk(value, factor, key) for key, value in fig.to_plotly_json().items() if key != "frames"}
    return go.Figure(content, skip_invalid=True)


def _walk(node: Any, factor: float, inside: str) -> Any:
    if isinstance(node, dict):
        return {key: _value(key, value, factor, inside) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_walk(part, factor, inside) for part in node]
    return node


def _value(key: str, value: Any, factor: float, inside: str) -> Any:
    holder = re.sub(r"\d+$", "", inside)
    if key == "template":
        return value
    if key in SIZES and holder in HOLDERS and not (key == "width" and holder in {"title", "legend"}):
        return value * factor if isinstance(value, int | float) and not isinstance(value, bool) else _larger(value, factor)
    if key == "text" and isinstance(value, str):
        return IN_TEXT.sub(lambda found: f"font-size:{float(found[1]) * factor:g}px", value)
    return _walk(value, factor, key)


def _larger(value: Any, factor: float) -> Any:
    """Arrays of sizes, one per point."""
    try:
        return value * factor if hasattr(value, "dtype") else [part * factor for part in value]
    except TypeError:
        return _walk(value, factor, "")
