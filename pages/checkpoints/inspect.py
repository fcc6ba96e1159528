"""Inspect: open any checkpoint safely, show it images, and see what it knows and how its embedding lies on the sphere."""

import streamlit as st

from core.glossary import help_text
from pages.parts import address
from pages.parts.inspect import places
from pages.parts.inspect.ask import ask
from pages.parts.inspect.neighbours import neighbours_tab
from pages.parts.inspect.result import about_file, header
from pages.parts.inspect.source import choose
from pages.parts.inspect.summary import summary
from pages.parts.inspect.tabs import (
    choose_space,
    competing_tab,
    confusion_tab,
    hypersphere_tab,
    similarities_tab,
    spectrum_tab,
)
from pages.parts.inspect.work import launch, watch

TABS = {
    "Summary": lambda _, inspection, space: summary(inspection),
    "Hypersphere": hypersphere_tab,
    "Spectrum": lambda entry, inspection, space: spectrum_tab(entry, inspection),
    "Similarities": similarities_tab,
    "Neighbours": lambda entry, inspection, space: neighbours_tab(entry, inspection),
    "Confusion": lambda entry, inspection, space: confusion_tab(entry, inspection),
    "Competing features": lambda entry, inspection, space: competing_tab(entry, inspection),
}
OF_ONE_SPACE = ("Hypersphere", "Similarities")
# All seven names fit beside the menu in a window of 1,024 px; with the usual padding the last one has to be scrolled to.
CLOSER = "<style>@media (max-width: 1140px) { .st-key-ins_tab button { padding-inline: 0.5rem; } }</style>"

st.title("Inspect a checkpoint", help=help_text("checkpoint", "hypersphere"))
st.markdown(
    "**What does an encoder know, and how does its embedding lie on the sphere?** Weights of any codebase, opened safely."
)

found = places.everything()
if places.opening() or not found:
    if found:
        st.button("Back to the results", key="ins_back", icon=":material/arrow_back:", type="tertiary",
                  on_click=address.forget, args=("inspection",))  # fmt: skip
    places.show_problem()
    source = choose()
    spec = ask(source) if source is not None else None
    if spec is not None:
        st.button("Inspect", key="ins_start", icon=":material/play_arrow:", type="primary", on_click=launch, args=(spec,))
    st.stop()

entry = header(found, places.choose(found))
places.show_problem()
places.offer_undo()
inspection = places.load(entry) if entry.state.status == "finished" else None
if inspection is None:
    watch(entry)
    st.stop()

address.check("ins_tab", list(TABS), "Summary")
st.html(CLOSER)
with st.container(horizontal=True, vertical_alignment="bottom"):
    tab = st.segmented_control(
        "View", list(TABS), default="Summary", required=True, key="ins_tab", bind="query-params", label_visibility="collapsed"
    )
    space = choose_space(inspection, "ins_space") if tab in OF_ONE_SPACE else ""
address.show_notices()
TABS.get(tab, TABS["Summary"])(entry, inspection, space)
st.caption(about_file(entry, inspection))
