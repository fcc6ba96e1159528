"""A report as a file: HTML always, PDF and slides where a browser can draw, and its definition."""

import streamlit as st

from core.report import files
from core.report.chrome import browser
from core.report.definition import Report
from pages.parts import studies
from pages.parts.link import copy_link
from pages.parts.report import state
from pages.parts.save import download

FORMS = {
    "html": ("HTML", "text/html", "One file that opens without this dashboard and without a network."),
    "pdf": ("PDF", "application/pdf", "A4, with figures as vectors."),
    "pptx": (
        "Slides",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "PowerPoint: one figure a slide, with notes.",
    ),
}
TAKES = "Some seconds for the browser, then about one for each figure."


def downloads(report: Report) -> None:
    """Draw the buttons."""
    name, empty = state.name(), not report.item
    found = browser()
    with st.container(horizontal=True, gap="small"):
        for form, (title, mime, text) in FORMS.items():
            needs = form != "html"
            download(
                title,
                lambda form=form: _file(report, form),
                f"{name}.{form}",
                mime,
                f"rep_{form}",
                disabled=empty or (needs and found.path is None),
                help=(found.reason or f"{text} {TAKES}") if needs else text,
            )
        _definition(report, name)
    if found.path is None:
        st.caption(found.reason)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        with st.container(width=150):
            copy_link("rep_link", report=name if name != files.DRAFT else None)
        st.page_link(
            "pages/present/show.py",
            label="Present it",
            icon=":material/slideshow:",
            query_params={"report": name, "present": "1"},
            disabled=empty,
        )


def _definition(report: Report, name: str) -> None:
    """The TOML; figures that were kept from a page lie beside it in a ZIP, without which they could not be drawn elsewhere."""
    again = f"Writes the same report again: python -m core report {name}.toml --out report.html"
    if files.kept_in(report):
        folder = state.folder()
        data, file, mime = lambda: files.packed(report, folder, name), f"{name}.zip", "application/zip"
        again = f"With the figures that were kept from pages; unpack it. {again}"
    else:
        data, file, mime = report.to_toml, f"{name}.toml", "application/toml"
    download("Definition", data, file, mime, "rep_toml", disabled=not report.item, help=again)


def _file(report: Report, form: str) -> bytes:
    """The file's content, made in a thread of its own: nothing is drawn on the page."""
    from core.report.forms import as_bytes
    from core.report.resolve import resolve

    entries = studies.entries()
    folder = files.folder_of(studies.runs().root)
    return as_bytes(resolve(report, entries, folder, both=form == "html", strict=False), form)
