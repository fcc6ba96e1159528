"""Report: figures, tables and text in an order, as a file for others."""

import streamlit as st

from core.report import files
from pages.parts import address
from pages.parts.report import state
from pages.parts.report.contents import contents
from pages.parts.report.downloads import downloads
from pages.parts.report.item import detail

NEW = "A new name saves a copy. Letters, digits, - and _."

st.title("Report")
st.markdown("Figures, tables and text in the order in which they are read. **What should others see?**")

name = state.name()
report = state.current()
address.show_notices()
state.show_problem()


def opened() -> None:
    """Open the chosen report; a new name gets a copy of what is open."""
    wanted = (st.session_state["rep_name"] or files.DRAFT).strip().lower().replace(" ", "-")
    try:
        if wanted not in files.names(state.folder()) and wanted != files.DRAFT:
            files.save(state.folder(), wanted, report or files.read(state.folder(), files.DRAFT))
    except ValueError as error:
        st.session_state[state.PROBLEM] = str(error)
        return
    address.remember("report", wanted)
    st.session_state.pop(state.PLACE, None)


with st.container(horizontal=True, vertical_alignment="bottom"):
    known = list(dict.fromkeys([files.DRAFT, *files.names(state.folder()), name]))
    st.session_state["rep_name"] = name
    st.selectbox("File", known, key="rep_name", on_change=opened, accept_new_options=True, width=220, help=NEW)
    if report is not None:
        for field, title, width in (("title", "Title", 380), ("author", "Author", 220)):
            key = f"rep_header_{field}"
            st.session_state[key] = getattr(report, field)

            def renamed(field: str = field, key: str = key) -> None:
                state.change(lambda found: found.model_copy(update={field: st.session_state[key]}))

            st.text_input(title, key=key, on_change=renamed, width=width)
    st.button(
        "Delete", key="rep_delete", icon=":material/delete:", type="tertiary", on_click=state.delete,
        disabled=name not in known[1:], help="Removes the report; it can be brought back. The draft stays.",
    )  # fmt: skip
state.offer_undelete()
if report is None:
    st.stop()

left, right = st.columns([2, 3], gap="large")
with left:
    place = contents(report)
    downloads(report)
with right:
    if place is not None:
        detail(report.item[place], place)
