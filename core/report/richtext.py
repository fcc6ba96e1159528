"""Text outside the plot: Plotly's markup as words with a colour, their widths, lines of words, and SVG from them."""

import re
from collections.abc import Iterable, Iterator
from html import escape
from html.parser import HTMLParser
from itertools import groupby
from typing import NamedTuple

# Advance widths of Helvetica in thousandths of the font size (Adobe font metrics); the fonts that stand in for it agree.
_WIDTHS = {
    222: "ijl'",
    278: " !,./:;[]\\ftI·|",
    333: "()-r`",
    355: '"°',
    500: "ckvsxyzJ",
    556: "0123456789abdeghnopqu_$?–L",
    584: "+<=>−±~",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "—…→●◇‖@",
}
_WIDTH = {letter: width / 1000 for width, letters in _WIDTHS.items() for letter in letters}
_OTHER = 0.6  # of the font size, for letters that are not listed
BOLD = 1.08  # bold letters are wider
COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-z]+|rgba?\([\d., %]+\)")


class Word(NamedTuple):
    """A word, or a forced line break."""

    text: str  # empty for a break
    color: str | None = None  # None: the line's own colour
    bold: bool = False


class _Reader(HTMLParser):
    """Collects words from the markup that Plotly knows: b, i, br, sub, sup, span with a colour."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[Word] = []
        self._colors: list[str | None] = [None]
        self._bold = 0
        self._glued = False  # whether the next text goes on where the last word ended

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.words.append(Word(""))
            self._glued = False
        elif tag == "b":
            self._bold += 1
        elif tag == "span":
            self._colors.append(_color(dict(attrs).get("style") or "") or self._colors[-1])

    def handle_endtag(self, tag: str) -> None:
        if tag == "b":
            self._bold = max(0, self._bold - 1)
        elif tag == "span" and len(self._colors) > 1:
            self._colors.pop()

    def handle_data(self, data: str) -> None:
        parts = data.split()
        if parts and self._glued and not data[0].isspace() and self.words[-1].color == self._colors[-1]:
            last = self.words.pop()
            parts[0] = last.text + parts[0]
        self.words += [Word(part, self._colors[-1], self._bold > 0) for part in parts]
        self._glued = bool(parts) and not data[-1].isspace()


def words(markup: str) -> list[Word]:
    """The words of a Plotly text, with forced breaks as empty words."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.words


def plain(markup: str) -> str:
    """A Plotly text without its markup, on one line."""
    return " ".join(word.text for word in words(markup) if word.text)


def coloured_html(markup: str, dark: str | None = None) -> str:
    """A Plotly text as HTML on one line that keeps the colours, which are often the only legend.

    Args:
        markup: The text.
        dark: The same text for the dark theme. With it, a coloured stretch is a `span` of class `mark` with its two colours in
            `--light` and `--dark`; without it, the colour is set directly.

    Returns:
        HTML that can be put into a page as it is.
    """
    found = [word for word in words(markup) if word.text]
    other = [word.color for word in words(dark) if word.text] if dark else []
    if len(other) != len(found):
        other = [word.color for word in found]  # texts that do not match word by word
    parts = []
    for (light, night), stretch in groupby(zip(found, other, strict=True), key=lambda pair: (pair[0].color, pair[1])):
        text = escape(" ".join(word.text for word, _ in stretch))
        style = f'class="mark" style="--light:{light};--dark:{night or light}"' if dark else f'style="color:{light}"'
        parts.append(f"<span {style}>{text}</span>" if light else text)
    return " ".join(parts)


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of a text in px, at a font size in px; an estimate that is right to a few per cent."""
    return sum(_WIDTH.get(letter, _OTHER) for letter in text) * size * (BOLD if bold else 1)


def markup_width(markup: str, size: float) -> float:
    """Width of the widest line of a Plotly text."""
    lines = wrap(words(markup), float("inf"), size)
    return max((line_width(line, size) for line in lines), default=0.0)


def line_width(line: Iterable[Word], size: float) -> float:
    """Width of a line of words with single spaces."""
    line = list(line)
    spaces = max(0, len(line) - 1) * text_width(" ", size)
    return sum(text_width(word.text, size, word.bold) for word in line) + spaces


def wrap(found: Iterable[Word], width: float, size: float) -> list[list[Word]]:
    """Break words into lines.

    Args:
        found: From `words`; empty words force a break.
        width: Most px of a line; a single longer word stands alone.
        size: Font size in px.

    Returns:
        Lines of words, none of them empty.
    """
    lines: list[list[Word]] = [[]]
    for word in found:
        if not word.text:
            lines.append([])
        elif lines[-1] and line_width([*lines[-1], word], size) > width:
            lines.append([word])
        else:
            lines[-1].append(word)
    return [line for line in lines if line]


def balanced(found: list[Word], width: float, size: float) -> list[list[Word]]:
    """Like `wrap`, with lines of about equal length instead of a full one and a short rest."""
    lines = wrap(found, width, size)
    if len(lines) < 2:
        return lines
    low, high = width / 2, width
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (low, middle) if len(wrap(found, middle, size)) <= len(lines) else (middle, high)
    return wrap(found, high, size)


def svg_lines(
    lines: Iterable[Iterable[Word]], *, x: float, y: float, size: float, leading: float, color: str, bold: bool = False
) -> Iterator[str]:
    """SVG text elements, one a line.

    Args:
        lines: From `wrap`.
        x: Left edge.
        y: Top of the first line.
        size: Font size.
        leading: Height of a line.
        color: Of words without their own.
        bold: All of it.
    """
    for number, line in enumerate(lines):
        baseline = y + leading * number + (leading + size * 0.7) / 2
        spans = []
        for place, word in enumerate(line):
            style = f' fill="{word.color}"' if word.color else ""
            style += ' font-weight="bold"' if word.bold and not bold else ""
            space = " " if place else ""
            spans.append(f"<tspan{style}>{space}{escape(word.text)}</tspan>" if style else f"{space}{escape(word.text)}")
        weight = ' font-weight="bold"' if bold else ""
        yield (
            f'<text x="{x:.2f}" y="{baseline:.2f}" font-size="{size:g}" fill="{color}"{weight} xml:space="preserve">'
            f"{''.join(spans)}</text>"
        )


def _color(style: str) -> str | None:
    for part in style.split(";"):
        name, _, value = part.partition(":")
        if name.strip() == "color" and COLOR.fullmatch(value.strip()):
            return value.strip()
    return None
