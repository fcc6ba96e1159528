"""The forms that a report can be written in."""

from core.report.resolve import Resolved

FORMS = ("html", "pdf", "pptx")


def as_bytes(report: Resolved, form: str) -> bytes:
    """Write a report in one of the forms.

    Args:
        report: What to write; for html drawn in both themes.
        form: One of FORMS. What it needs is imported only then.

    Raises:
        NoBrowser: If pdf or pptx is wanted and there is no Chrome or Chromium.
        PictureError: If the browser could not draw.
    """
    if form == "html":
        from core.report.html import render

        return render(report).encode("utf-8")
    if form == "pdf":
        from core.report.pdf import to_pdf

        return to_pdf(report)
    from core.report.slides import to_pptx

    return to_pptx(report)
