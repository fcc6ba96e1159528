"""Figures that were kept as they stood on a page, such as a slider's position in the temperature lab."""

from pydantic import Field

from core.figures.theme import Theme
from core.report.drawing import CannotDraw, Drawing, Options, Source
from core.report.drawn import drawn
from core.report.kept import FOLDER, read


class KeptOptions(Options):
    """Which kept figure."""

    file: str = Field(title="Name of the kept figure", pattern=r"[0-9a-f]{12}")


def kept(source: Source, options: KeptOptions, theme: Theme) -> Drawing:
    """A figure as it stood on a page when it was added; it does not change with later runs."""
    found = read(options.file, source.folder, theme)
    if found is None:
        raise CannotDraw(
            f"the kept figure {options.file!r} is missing beside the report: {FOLDER}/{options.file}.json belongs there"
        )
    figure, about = found
    return Drawing(figure, about["alt"], about["provenance"], lambda: drawn(figure), None)
