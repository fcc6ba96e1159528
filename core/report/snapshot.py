"""A study as it stands, as a report: its key figures and its runs, to be opened without the dashboard."""

from collections.abc import Sequence

from core.report.catalogue import FIGURES
from core.report.definition import FigureItem, Item, Markdown, Report, TableItem
from core.report.drawing import CannotDraw
from core.report.resolve import Resolved, part_of
from core.studies.catalogue import Entry

LAST = ("curves", "embedding")  # figures that suit every study come after those that answer its question


def key_items(entry: Entry) -> list[Item]:
    """What a report about a study holds: its question, the figures that suit it, the means, all runs."""
    suited = [name for name, kind in FIGURES.items() if kind.needs_study and kind.suits(entry)]
    items: list[Item] = []
    if entry.definition is not None and entry.definition.question:
        items.append(Markdown(markdown=f"**{entry.definition.question}**"))
    items += [FigureItem(figure=name, study=entry.id) for name in sorted(suited, key=lambda name: name in LAST)]
    if "suppression" in suited:
        items.append(TableItem(table="cells", study=entry.id))
    return [*items, TableItem(table="runs", study=entry.id)]


def report_on(entry: Entry) -> Report:
    """The definition of a report about a study."""
    return Report(title=entry.title, item=tuple(key_items(entry)))


def snapshot(entry: Entry, entries: Sequence[Entry]) -> Resolved:
    """Everything about a study that can be drawn; what has no numbers yet is left out.

    Args:
        entry: The study.
        entries: All studies, for those that add to it.

    Raises:
        CannotDraw: If no run of it has begun.
    """
    parts = []
    for item in report_on(entry).item:
        try:
            parts.append(part_of(item, entries, both=True))
        except CannotDraw:
            if isinstance(item, TableItem) and item.table == "runs":
                raise
    return Resolved(entry.title, "", tuple(parts))
