"""Runs: every run of a study as a table, its progress, and selected runs side by side."""

import streamlit as st

from core import provenance
from core.studies.table import used
from pages.parts import address, live, studies
from pages.parts.chart import footer
from pages.parts.runs.compare import compare
from pages.parts.runs.table import offer_undo, run_table

st.title("Runs")
found = studies.own_first(studies.entries())
if not found:
    st.warning("No study was found. The definitions lie in data/studies.", icon=":material/search_off:")
    st.stop()

controls = st.container(horizontal=True, vertical_alignment="bottom")
with controls:
    favourite = "" if found[0].origin == "runs" else "randbit-mnist-5k"
    entry = studies.choose(found, "runs_study", favourite, help=studies.ORIGIN_HELP)
address.show_notices()
state = live.watch(entry, "runs")
runs = used(studies.table(entry))
if runs.empty:
    if state.status not in {"missing", "empty", "queued"}:
        st.info("No run of this study has begun.", icon=":material/hourglass_empty:")
    offer_undo(entry)  # also when all runs were deleted
    st.stop()
kept, selected = run_table(entry, runs, state, controls)
compare(entry, runs[runs["run_id"].isin(selected)], selected)
footer(
    provenance.line(runs, entry.name),
    name=f"{entry.name}-runs",
    key="runs",
    data=lambda: kept,
    settings=entry.definition.to_toml if entry.definition else None,
    entry=entry,
)
