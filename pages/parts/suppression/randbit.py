"""RandBit: how many bits of an easy shared feature does it take to erase the class?"""

import streamlit as st

from pages.parts import address, live, studies
from pages.parts.suppression.charts import charts
from pages.parts.suppression.claims import claims
from pages.parts.suppression.details import cells_table, method
from pages.parts.suppression.run import run_panel
from pages.parts.suppression.so_far import so_far
from pages.parts.suppression.strip import strip

DIAL = "bits"


def randbit() -> None:
    """Draw the experiment."""
    found = studies.entries(lambda entry: entry.varies(DIAL))
    if not found:
        st.warning("No study with a bits dial was found. The definitions lie in data/studies.", icon=":material/search_off:")
        return
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        options = dict(help=studies.ORIGIN_HELP, width=studies.TITLE_WIDTH)
        entry = studies.choose(found, "sup_study", favourite="randbit-mnist-5k", **options)
    runs = studies.table(entry)
    address.show_notices()
    state = live.watch(entry, "sup")
    if not (runs["status"] == "finished").any():
        so_far(entry, state, DIAL, "sup")
        if not state.active and state.status not in {"missing", "empty"}:
            st.info("No run of this study has finished, so there is no curve yet.", icon=":material/show_chart:")
        return
    charts(entry, runs, state, DIAL, controls)
    run_panel(entry, runs, DIAL)
    if entry.origin == "results":
        with st.expander("Run this study here", icon=":material/play_arrow:"):
            live.run_button(entry, "sup_again", "Run here", help="Runs in its own process, also when this page is closed.")
    claims(entry, runs, DIAL)
    strip(entry, DIAL)
    cells_table(entry, runs, "linear_accuracy", DIAL)
    method(entry, runs)
