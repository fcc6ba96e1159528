"""Run what a map lacks: its missing cells, or more weights around its ridge."""

import streamlit as st

from core.studies import StudyError
from core.studies.launch import start
from core.studies.refine import around_ridge, free_name, missing_runs, study_of
from core.studies.study import StudySpec
from pages.parts import live, studies
from pages.parts.kept import kept
from pages.parts.tau_lambda.data import Map
from pages.parts.text import literal


def actions(shown: Map) -> None:
    """Folded: both launches, each with its size and time."""
    with st.expander("Run more of this map", icon=":material/add_circle:", key="map_actions"):
        left, right = st.columns(2, gap="large")
        with left:
            _missing(shown)
        with right:
            _ridge(shown)


def _missing(shown: Map) -> None:
    st.markdown("**Missing cells**")
    runs = kept(lambda: missing_runs(shown.entry.definition, shown.runs), "missing runs", shown.version)
    if not runs:
        st.caption("Every cell has all its seeds.")
        return
    if shown.entry.origin != "results":
        live.run_button(shown.entry, "map_fill", f"Run the {len(runs)} missing runs")
        return
    title = f"{shown.entry.title}: missing cells"
    definition = study_of(runs, free_name(f"{shown.entry.name}-rest", _taken()), title)
    _launch(definition, f"Run the {len(runs)} missing runs", "map_fill")


def _ridge(shown: Map) -> None:
    st.markdown("**Around the ridge**")
    try:
        taken = _taken()
        definition = kept(
            lambda: around_ridge(shown.entry.definition, shown.cells, shown.ridge, taken),
            "around the ridge",
            shown.version,
            shown.ridge_metric,
            " ".join(sorted(taken)),
        )
    except StudyError as error:
        st.caption(f"Nothing to add: {literal(str(error))}.")
        return
    weights = {(run.tau, run.lam) for run in definition.expand()}
    st.caption(
        f"{len(weights)} new cells: the midpoints beside each temperature's best lambda and inside its interval, and a step "
        "outwards where the grid ends."
    )
    _launch(definition, "Add cells around the ridge", "map_refine")
    with st.popover("See the definition", icon=":material/code:"):
        st.code(definition.to_toml(), language="toml")


def _launch(definition: StudySpec, text: str, key: str) -> None:
    """A button that starts a new study without leaving the map: its cells appear on it as they end."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(text, key=f"{key}_run", icon=":material/play_arrow:", on_click=_start, args=(definition,))
        st.caption(studies.time_needed(definition))


def _start(definition: StudySpec) -> None:
    try:
        start(definition, studies.runs().root)
    except StudyError as error:
        st.session_state[live.PROBLEM] = str(error)


def _taken() -> set[str]:
    return {entry.name for entry in studies.entries()}
