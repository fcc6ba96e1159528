"""Tau-lambda map: how the weight of the distribution term must follow the temperature."""

import streamlit as st

from core.figures.metrics import METRICS
from core.glossary import help_text
from core.studies.cells import cell_at
from core.studies.maps import CONVENTIONS, is_map, siblings
from core.studies.ridge import published_sentence, ridge_sentence
from pages.parts import address, live, studies
from pages.parts.tau_lambda.actions import actions
from pages.parts.tau_lambda.cell import cell_curves, cell_panel, show_hint
from pages.parts.tau_lambda.chart import chosen_cell, corners, cuts, heat_map, map_footer, surface
from pages.parts.tau_lambda.compare import compare, words
from pages.parts.tau_lambda.data import load

OFFERED = ("linear_accuracy", "knn_accuracy", "online_accuracy", "uniformity", "tolerance", "alignment", "rankme", "loss")
VIEWS = ("Map", "Cuts", "Surface", "Compare")

st.title("Tau-lambda map", help=help_text("gcl", "temperature", "lambda"))
st.markdown("Temperature and weight of the generalized loss are two dials. **When one is turned, how must the other follow?**")

found = studies.entries(is_map)
if not found:
    st.warning(
        "No study with both a tau and a lambda dial was found. The definitions lie in data/studies.", icon=":material/search_off:"
    )
    st.stop()

with st.container(horizontal=True, vertical_alignment="bottom"):
    entry = studies.choose(found, "map_study", favourite="tau-lambda-mnist-5k", help=studies.ORIGIN_HELP, width=230)
    kinds = siblings(entry, found)
    names = {kind.name: kinds[kind.key] for kind in CONVENTIONS if kind.key in kinds}
    own = next(name for name, other in names.items() if other.id == entry.id)
    st.session_state["map_convention"] = own
    st.segmented_control(
        "Convention",
        list(names),
        required=True,
        key="map_convention",
        help=help_text("log_sum_exp"),
        on_change=lambda: address.remember("study", names[st.session_state["map_convention"]].id),
    )
    by_name = {METRICS[key].name: key for key in OFFERED}
    address.check("map_metric", list(by_name), METRICS["linear_accuracy"].name)
    metric_name = st.selectbox(
        "Metric", list(by_name), key="map_metric", bind="query-params", width=150, help=help_text(*OFFERED[:3])
    )
    view = st.segmented_control("View", VIEWS, default="Map", required=True, key="map_view", bind="query-params")
    with st.popover("More", icon=":material/tune:"):
        expand = st.toggle("Expand seeds", key="map_expand", bind="query-params", help="One strip per seed in each cell.")
        full = st.toggle(
            "Colours from 0 to 1", key="map_full", bind="query-params", help="For accuracies; else the measured range."
        )
metric = by_name.get(metric_name, "linear_accuracy")
address.show_notices()

state = live.watch(entry, "map")
shown = load(entry, metric)
for other in shown.extras:
    if other.store.state(other.name).active:
        live.watch(other, f"map_{other.name}")
if shown.cells["n"].sum() == 0 and not state.active:
    if state.status != "empty":
        st.info("No run of this map has finished, so there is nothing to draw yet.", icon=":material/grid_on:")
    st.stop()

by = "" if shown.ridge_metric == metric else f", by {words(shown.ridge_metric)}"  # no best lambda without an accuracy
measured = [
    (kind, load(other, metric).ridge)
    for kind in CONVENTIONS
    if (other := kinds.get(kind.key)) is not None and (other.origin != "defined" or other.id == entry.id)
]
lines = [ridge_sentence(ridge, kind.sentence + by) for kind, ridge in measured]
lines.append(published_sentence([ridge for _, ridge in measured]))
st.markdown("\n".join(f"- {line}" for line in lines if line))

cell = chosen_cell(shown)
address.show_notices()
if view == "Compare":
    compare(shown, metric)
elif view == "Surface":
    surface(shown, metric, full=full)
elif view == "Cuts":
    grid = st.grid(2, min_column_width=460)
    with grid.cell():
        cuts(shown, metric, full=full)
    with grid.cell():
        cuts(shown, metric, full=full, along="tau", key="map_cuts_tau")
else:
    grid = st.grid(2, min_column_width=460)
    with grid.cell():
        heat_map(shown, metric, expand=expand, full=full)
    with grid.cell():
        if cell is None:
            cuts(shown, metric, full=full)
            show_hint()
        else:
            cell_curves(shown, cell)
if cell is not None and view != "Compare" and cell_at(shown.cells, *cell) is not None:
    cell_panel(shown, cell)
if view == "Map" and shown.cells["n"].any():
    corners(shown, metric)
map_footer(shown)
actions(shown)
