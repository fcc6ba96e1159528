"""The head of a result: which inspection is shown, what was inspected, and what can be done with it."""

import streamlit as st

from core.inspections.samples import SAMPLES
from core.inspections.store import Inspection
from pages.parts import address
from pages.parts.inspect.places import OPENING, Found, delete
from pages.parts.inspect.provenance import provenance
from pages.parts.link import copy_link

STORIES = {sample.title: sample.story for sample in SAMPLES}


def header(found: list[Found], chosen: Found) -> Found:
    """Draw the selector, the way to another checkpoint, and what was inspected.

    Args:
        found: All inspections.
        chosen: The one that the address names, or the first.

    Returns:
        The chosen one.
    """
    by_id = {entry.id: entry for entry in found}
    st.session_state["ins_shown"] = chosen.id
    address.show_notices()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Inspection", list(by_id), format_func=lambda key: by_id[key].label, key="ins_shown", width=300,
            on_change=lambda: (address.remember("inspection", st.session_state["ins_shown"]), address.forget("image")),
        )  # fmt: skip
        st.button(
            "Open a checkpoint", key="ins_open", icon=":material/upload_file:", type="primary",
            on_click=address.remember, args=("inspection", OPENING),
        )  # fmt: skip
        if not chosen.shipped and not chosen.state.active:
            st.button(
                "Delete", key="ins_delete", icon=":material/delete:", type="tertiary", on_click=delete, args=(chosen,),
                help="Moves the inspection to the trash; this can be undone. The checkpoint itself stays.",
            )  # fmt: skip
        with st.container(width=130):
            copy_link("ins_link", inspection=chosen.id)
    if chosen.shipped and chosen.state.status == "finished" and chosen.spec.name in STORIES:
        st.markdown(STORIES[chosen.spec.name])
    return chosen


def about_file(entry: Found, inspection: Inspection) -> str:
    """What was inspected, and how the numbers were made."""
    report = inspection.report
    parts = [f"{report.get('architecture')}, {report.get('layout_name')}"] if report.get("architecture") else []
    return " · ".join([*parts, provenance(entry, inspection)])
