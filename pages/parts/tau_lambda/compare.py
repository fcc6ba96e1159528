"""Two maps subtracted cell by cell."""

import streamlit as st

from core.figures.metrics import METRICS
from core.figures.tau_lambda_difference import tau_lambda_difference
from core.studies.compare_maps import at_weights_of, compare_cells, comparison_sentence
from core.studies.maps import is_map, siblings
from pages.parts import address, studies
from pages.parts.chart import current_theme, show
from pages.parts.save import Save
from pages.parts.tau_lambda.chart import made
from pages.parts.tau_lambda.data import Map, load


def compare(shown: Map, metric: str) -> None:
    """Choose a second map; the difference of every shared cell with its significance."""
    found = studies.entries(is_map)
    relatives = {entry.id for entry in siblings(shown.entry, found).values()}  # another convention before another data set
    found = sorted(found, key=lambda entry: entry.id not in relatives)
    others = {entry.id: entry for entry in found if entry.id != shown.entry.id and entry.origin != "defined"}
    others = {key: entry for key, entry in others.items() if entry not in shown.extras}
    if not others:
        st.info(
            "There is no second map with results yet. Run one of the other maps of this page first.", icon=":material/compare:"
        )
        return
    labels = [studies.label(entry) for entry in others.values()]  # what the selector writes into the address
    address.check("map_other", labels, labels[0])
    address.show_notices()
    chosen = st.selectbox(
        "Compare with",
        list(others),
        format_func=lambda key: studies.label(others[key]),
        key="map_other",
        bind="query-params",
        width=420,
    )
    second = _on_our_scale(load(others[chosen], metric))
    first = _on_our_scale(shown)
    table = compare_cells(first.cells, second.cells)
    between = table.empty
    if between:
        table = compare_cells(first.cells, at_weights_of(second.cells, first.cells))
    names = _names(shown, second)
    st.markdown(comparison_sentence(table, *names, words(metric)))
    if table.empty:
        return
    if between:
        st.caption(
            f"The weights of the two maps do not meet on one scale. The cells are those of {names[0]}; the other map is read "
            "between its two nearest weights, straight in log lambda, seed by seed."
        )
    title = f"Where the two maps differ: {names[1]}, minus {names[0]}"
    show(
        tau_lambda_difference(table, current_theme(), metric=metric, names=names, title=title),
        key="map_difference",
        alt="Heat map of the difference of two maps, cell by cell, with stars on significant cells.",
        save=Save(provenance=lambda: f"{made(second)} minus {made(shown)}", data=lambda: table, study=shown.entry.id),
    )
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(table, hide_index=True, placeholder="–", alt="Means, difference and test of every shared cell.")
    st.caption(
        "Welch's t test per cell on the seeds of both maps, Holm's correction over the tested cells. Weights in the notebook's "
        "convention are multiplied by d first. With few seeds only large differences can be significant."
    )


def _on_our_scale(shown: Map) -> Map:
    """Weights of the notebook's convention times d, which is our scale."""
    if shown.convention.key != "notebook":
        return shown
    return shown._replace(cells=shown.cells.assign(lam=shown.cells["lam"] / shown.nt_xent_factor))


def _names(first: Map, second: Map) -> tuple[str, str]:
    """The two maps in words: by convention where that is what differs, else by title and origin."""
    if first.convention != second.convention:
        return first.convention.phrase, second.convention.phrase
    return tuple(f"“{shown.entry.title}” ({studies.ORIGINS[shown.entry.origin]})" for shown in (first, second))


def words(metric: str) -> str:
    """A metric in running text: "linear probe accuracy", "uniformity"."""
    info = METRICS[metric]
    return f"{info.name} accuracy" if info.is_accuracy else info.name
