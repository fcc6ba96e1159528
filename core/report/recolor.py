"""Take a figure from one theme to the other by its colours, for pictures on paper and for figures kept as they stood."""

import re
from typing import Any

from core.figures.text import LIGHTER, readable
from core.figures.theme import DARK, OBJECTIVE_COLORS, OKABE_ITO, Theme

TEXT = ("font", "textfont", "text")  # keys under which a colour is one of text
HEX = re.compile(r"#[0-9A-Fa-f]{6}\b")
WHITE = "#FFFFFF"  # text on coloured marks in both themes
LIGHTENED = {readable(color, DARK): color for color in (*OKABE_ITO, *OBJECTIVE_COLORS.values())}


def recolored(node: Any, before: Theme, after: Theme, inside: str = "") -> Any:
    """A figure's JSON with the colours of a theme replaced by those of another.

    Args:
        node: `fig.to_plotly_json()` or a part of it; arrays are passed through.
        before: The theme it was drawn in.
        after: The theme wanted.
        inside: Key that the node stands under.

    Returns:
        The same structure. Marks keep their colours, which are equal in both themes; coloured text, which is lighter on the dark
        page, becomes lighter or takes its own colour again.
    """
    if before.name == after.name:
        return node
    if isinstance(node, dict):
        return {key: recolored(value, before, after, inside if key == "color" else key) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [recolored(value, before, after, inside) for value in node]
    if isinstance(node, str) and "#" in node:
        return HEX.sub(lambda found: _replaced(found[0], before, after, inside in TEXT), node)
    return node


def patch(light: Any, dark: Any, path: tuple = ()) -> list[list]:
    """What to set in one JSON tree to get another: a list of [path, value]; parts of another shape are set as a whole."""
    if isinstance(light, dict) and isinstance(dark, dict) and light.keys() == dark.keys():
        return [change for key in light for change in patch(light[key], dark[key], (*path, key))]
    if isinstance(light, list) and isinstance(dark, list) and len(light) == len(dark):
        return [change for place, pair in enumerate(zip(light, dark, strict=True)) for change in patch(*pair, (*path, place))]
    return [] if light is dark or light == dark else [[list(path), dark]]


def _replaced(color: str, before: Theme, after: Theme, is_text: bool) -> str:
    if is_text and color.upper() == WHITE:
        return color
    for field in before._fields[1:]:
        if getattr(before, field).upper() == color.upper():
            return getattr(after, field)
    if not is_text:
        return color
    return readable(color, after) if after.name == "dark" else _own(color)


def _own(color: str) -> str:
    """The colour that `core.figures.text.readable` made lighter; one that it cannot have made stays.

    Lightening rounds, so that two colours may become one: the palette's own comes first.
    """
    if color.upper() in LIGHTENED:
        return LIGHTENED[color.upper()]
    parts = [int(color[place : place + 2], 16) for place in (1, 3, 5)]
    own = [(part - LIGHTER * 255) / (1 - LIGHTER) for part in parts]
    return color if min(own) < -1 else "#" + "".join(f"{max(0, round(part)):02X}" for part in own)
