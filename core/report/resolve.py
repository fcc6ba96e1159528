"""From a report's definition to its parts: figures drawn, tables filled, every one with where it came from."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from core import provenance
from core.figures.theme import DARK, LIGHT
from core.report.catalogue import FIGURES, TABLES
from core.report.definition import Item, Markdown, Report, ReportError, TableItem, named
from core.report.drawing import CannotDraw, Drawing, Source
from core.report.relay import title_parts
from core.report.richtext import plain
from core.studies.catalogue import Entry, find
from core.studies.names import StudyError


class TextPart(NamedTuple):
    """Text between figures."""

    markdown: str


class FigurePart(NamedTuple):
    """A figure that was drawn."""

    title: str  # plain text
    subtitle: str  # Plotly markup: its colours are often the legend
    drawing: Drawing
    notes: str
    name: str  # start of file names
    study: str  # id; empty if it needs none
    dark: go.Figure | None = None  # the same figure for the dark theme


class TablePart(NamedTuple):
    """A table that was filled."""

    title: str
    frame: pd.DataFrame  # text cells
    provenance: str
    notes: str
    name: str
    study: str


Part = TextPart | FigurePart | TablePart


class Resolved(NamedTuple):
    """A report, ready to be written in any form."""

    title: str
    author: str
    parts: tuple[Part, ...]

    @property
    def figures(self) -> list[FigurePart]:
        """The figures, in order."""
        return [part for part in self.parts if isinstance(part, FigurePart)]


def resolve(
    report: Report,
    entries: Sequence[Entry],
    folder: Path = Path(),
    *,
    source: str = "report",
    both: bool = False,
    strict: bool = True,
) -> Resolved:
    """Draw everything that a report holds.

    Args:
        report: The definition.
        entries: All studies, as from `core.studies.catalogue.catalogue`.
        folder: Of the report, where kept figures lie.
        source: Starts each line of an error.
        both: Draw the figures for the dark theme, too, as HTML wants them.
        strict: Raise for items that cannot be drawn; else a line of text says in their place why.

    Raises:
        ReportError: If items cannot be drawn: the study is not here, or has nothing to show; one line per item.
    """
    parts, lines = [], []
    for number, item in enumerate(report.item):
        try:
            parts.append(part_of(item, entries, folder, both=both))
        except (CannotDraw, StudyError) as error:
            lines.append(f"{source}: {named(number, item)}: {error}")
            parts.append(TextPart(f"> {named(number, item)} could not be drawn: {error}."))
    if lines and strict:
        raise ReportError("\n".join(lines))
    return Resolved(report.title, report.author, tuple(parts))


def part_of(item: Item, entries: Sequence[Entry], folder: Path = Path(), *, both: bool = False) -> Part:
    """Draw one item in light colours, and with `both` in dark ones, too.

    Raises:
        CannotDraw: If its study is not here or has nothing to show.
        StudyError: If a filter cannot be read.
    """
    if isinstance(item, Markdown):
        return TextPart(item.markdown)
    if isinstance(item, TableItem):
        kind, entry = TABLES[item.table], _entry(item.study, entries)
        frame = kind.build(Source(entry, entries, folder), kind.options(**item.options))
        made = provenance.line(entry.store.table(entry.name), entry.name)
        title = item.title or f"{kind.title}: {entry.title}"
        return TablePart(title, frame, made, item.notes, _file(entry, item.table), entry.id)
    kind = FIGURES[item.figure]
    entry = _entry(item.study, entries) if kind.needs_study else None
    source, options = Source(entry, entries, folder), kind.options(**item.options)
    drawn = kind.build(source, options, LIGHT)
    dark = kind.build(source, options, DARK).figure if both else None
    title, subtitle = title_parts(drawn.figure)
    name = _file(entry, item.figure)
    title = item.title or plain(title) or kind.title
    return FigurePart(title, subtitle, drawn, item.notes, name, entry.id if entry else "", dark)


def _entry(wanted: str, entries: Sequence[Entry]) -> Entry:
    entry = find(entries, wanted)
    if entry is None:
        known = ", ".join(entry.id for entry in entries if entry.origin != "defined") or "none yet"
        raise CannotDraw(f"there is no study {wanted!r}; with results there are: {known}")
    return entry


def _file(entry: Entry | None, kind: str) -> str:
    return f"{entry.name}-{kind.replace('_', '-')}" if entry else kind.replace("_", "-")
