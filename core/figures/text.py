"""Numbers and sentences as charts write them."""

import textwrap

import plotly.graph_objects as go
from plotly.colors import find_intermediate_color, hex_to_rgb, unlabel_rgb

from core.figures.theme import Theme

LIGHTER = 0.4  # share of white in coloured text on the dark page
LINE = 21  # px; height of a title line
WIDE = 84  # characters of a bold title line in the page's width at 1024 px
WIDE_SUBTITLE = 114
NARROW = 50  # characters of a bold title line in half the page's width
NARROW_SUBTITLE = 68


def wrapped(text: str, width: int | None) -> str:
    """A text broken into lines of at most this many characters; None leaves it whole."""
    return "<br>".join(textwrap.wrap(text, width, break_long_words=False)) if width else text


def readable(color: str, theme: Theme) -> str:
    """A mark's colour as text: lighter on the dark page, where the dark blues and reds would not reach a contrast of 4.5."""
    if theme.name == "light":
        return color
    rgb = hex_to_rgb(color) if color.startswith("#") else unlabel_rgb(color)
    red, green, blue = find_intermediate_color(rgb, (255, 255, 255), LIGHTER)
    return f"#{round(red):02X}{round(green):02X}{round(blue):02X}"


def marks(theme: Theme, *entries: tuple[str, str, str]) -> str:
    """A legend for a subtitle: (symbol, colour, name) in colour, one after the other."""
    return " · ".join(f"<span style='color:{readable(color, theme)}'>{symbol} {name}</span>" for symbol, color, name in entries)


def make_room(fig: go.Figure) -> go.Figure:
    """Raise the top margin by a line for each line break of the title beyond the one before the subtitle, if there is one."""
    text = fig.layout.title.text or ""
    extra = text.count("<br>") - ("<br><span" in text)
    if extra > 0:
        fig.update_layout(margin_t=fig.layout.margin.t + extra * LINE)
    return fig


def percent(share: float) -> str:
    """A share in whole per cent that never rounds to none or all of it."""
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{share:.0%}"


def signed(value: float, digits: int = 3) -> str:
    """Significant digits with a real minus sign; powers of ten as 4.9e−4."""
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, power = text.split("e")
        text = f"{mantissa}e{int(power)}"
    return text.replace("-", "−")
