"""The first study of one's own: one button, an honest time, live progress, and the way to the curve."""

import streamlit as st

from core.figures.series import fold_seeds
from core.figures.story import takeaway
from core.glossary import help_text
from core.studies.catalogue import Entry, read_definition
from pages.parts import live, studies
from pages.parts.home.thumbnails import PAGE
from pages.parts.suppression.so_far import so_far

QUICK = studies.DEFINITIONS / "randbit-quick.toml"


def first_run() -> None:
    """Draw the "run it here" box in whatever state the small study is."""
    definition = read_definition(QUICK)
    if definition is None:
        st.warning(f"The small study is missing or has a mistake: {QUICK}", icon=":material/search_off:")
        return
    entry = Entry(definition.name, "runs", studies.runs(), definition)
    with st.container(border=True):
        st.markdown(f"**Run it here.** {definition.question}", help=help_text("bits", "feature_suppression"))
        runs = studies.table(entry)
        ended = runs[runs["status"] == "finished"]
        state = entry.store.state(entry.name)
        if state.status in {"missing", "empty"}:
            live.show_problem()
            live.run_button(entry, "home", "Run it here", type="primary")
            return
        live.watch(entry, "home")
        so_far(entry, state, "bits", "home")
        if len(ended):
            cells = fold_seeds(ended, "linear_accuracy", "bits")
            chance = 1 / max(int(ended["classes"].max()), 1)
            said = takeaway(cells, "linear_accuracy", ended["dataset"].iloc[0], chance)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.page_link(
                    PAGE,
                    label="Your curve, live" if state.active else "Your curve",
                    icon=":material/show_chart:",
                    query_params={"study": entry.id},
                )
                st.caption(said if said[0].isupper() else said.capitalize())
