"""A report as PDF: the same page as its HTML, with vector pictures, printed by the browser on A4."""

from core.report.html import render
from core.report.images import printed
from core.report.presets import PRESETS
from core.report.resolve import Resolved
from core.report.sheet import lay_out


def to_pdf(report: Resolved) -> bytes:
    """Print a report.

    Args:
        report: What to print.

    Returns:
        The PDF: text is text, figures are vectors, a wide table has a page across.

    Raises:
        NoBrowser: If no Chrome or Chromium is installed.
        PictureError: If it could not print.
    """
    sheets = [lay_out(part.drawing.figure, PRESETS["double"], heading="none", alt=part.drawing.alt) for part in report.figures]
    html = render(report, pictures=True)
    for number, sheet in enumerate(sheets):  # a size in the page keeps the picture from being scaled to the column
        wide, high = sheet.inches
        mark = f'src="{{{{plot {number}}}}}"'
        html = html.replace(mark, f'{mark} style="width:{wide:.3f}in;height:{high:.3f}in"')
    return printed(sheets, html)
