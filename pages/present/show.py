"""Presentation mode: one figure of a report at a time, as large as the screen, with the arrow keys."""

from html import escape

import streamlit as st

from core.report.definition import Markdown
from core.report.markdown import to_html
from core.report.relay import title_parts, without_title
from core.report.resolve import FigurePart, TablePart
from core.report.richtext import coloured_html
from core.report.scale import scaled
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.report import state
from pages.parts.report.item import preview
from pages.parts.report.stage import STYLE, table_html

SLIDE, NOTES = "slide", "show_notes"
LARGER = 1.75  # of all text in a figure: 12 px become 21, read from the last row at 1920 x 1080

name, report = state.name(), state.current()
address.show_notices()
if report is None or not report.item:
    st.title("Presentation")
    st.info("This report is empty. Put figures into it first.", icon=":material/slideshow:")
    st.page_link("pages/present/report.py", label="To the report", icon=":material/arrow_back:")
    st.stop()

count = len(report.item)
wanted = st.query_params.get(SLIDE, "1")
place = min(max(int(wanted) if wanted.isdecimal() else 1, 1), count) - 1


def go(to: int) -> None:
    """Show another slide; the address says which."""
    st.query_params[SLIDE] = str(min(max(to, 0), count - 1) + 1)


st.html(STYLE)
item = report.item[place]
title, subtitle, part = "", "", None
if not isinstance(item, Markdown):
    part = preview(item)
    if isinstance(part, FigurePart):
        large = part.dark if part.dark is not None and current_theme().name == "dark" else part.drawing.figure
        title, subtitle = part.title, coloured_html(title_parts(large)[1])
    elif isinstance(part, TablePart):
        title = part.title
    else:
        title, subtitle = item.title, escape(f"This cannot be drawn: {part}.")

with st.container(key="show_head"):
    st.html(f"<h1>{escape(title)}</h1><p>{subtitle}</p>" if title or subtitle else "<h1></h1>")
with st.container(key="show_stage"):
    if isinstance(item, Markdown):
        with st.container(key="show_text"):
            st.html(to_html(item.markdown) or "<p></p>")
    elif isinstance(part, FigurePart):
        large = scaled(without_title(large), LARGER).update_layout(height=None)  # as high as the window
        show(large, key="show_figure", alt=part.drawing.alt, save=None, height="stretch")
    elif isinstance(part, TablePart):
        st.html(table_html(part.frame))

with st.container(key="show_foot", horizontal=True, vertical_alignment="center"):
    made = part.drawing.provenance if isinstance(part, FigurePart) else part.provenance if isinstance(part, TablePart) else ""
    st.caption(made or " ", width="stretch")
    notes = bool(st.session_state.get(NOTES))
    st.button(  # no toggle: while one has the focus, the arrow keys belong to it
        "Hide notes" if notes else "Notes",
        key="show_flip",
        icon=":material/speaker_notes:",
        shortcut="N",
        on_click=lambda: st.session_state.update({NOTES: not notes}),
    )
    st.button(
        "Back",
        key="show_back",
        icon=":material/arrow_back:",
        shortcut="Left",
        on_click=go,
        args=(place - 1,),
        disabled=place == 0,
    )
    st.markdown(f"{place + 1} of {count}", width="content")
    st.button(
        "Next",
        key="show_next",
        icon=":material/arrow_forward:",
        shortcut="Right",
        on_click=go,
        args=(place + 1,),
        disabled=place + 1 == count,
    )
    if st.button("Leave", key="show_leave", icon=":material/close:", shortcut="Esc", type="tertiary"):
        st.switch_page("pages/present/report.py", query_params={"report": name})
with st.container(key="show_remote", horizontal=True):  # what presenters' remotes send
    st.button("Page up", key="show_page_up", shortcut="PageUp", on_click=go, args=(place - 1,))
    st.button("Page down", key="show_page_down", shortcut="PageDown", on_click=go, args=(place + 1,))
if notes:
    with st.container(border=True, key="show_said"):
        st.markdown(getattr(item, "notes", "") or "No notes were written for this slide.")
