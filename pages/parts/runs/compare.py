"""Selected runs side by side: their curves in one chart, and only the settings that differ."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.figures.curves import CURVE_METRICS, Curve, curve_colors, curves
from core.figures.metrics import METRICS
from core.figures.run_table import comparison, run_names
from core.figures.series import describe
from core.glossary import help_text
from core.studies.catalogue import Entry
from pages.parts import address
from pages.parts.chart import current_theme, show
from pages.parts.save import of_runs
from pages.parts.text import literal

MOST = 8  # runs in one chart: as many as there are colours
NAMES = {METRICS[key].name: key for key in CURVE_METRICS}


def compare(entry: Entry, runs: pd.DataFrame, selected: Sequence[str]) -> None:
    """Draw the comparison of the selected runs; a hint when there are none.

    Args:
        entry: The study.
        runs: The selected runs.
        selected: Their ids in the order of selection.
    """
    if not len(runs):
        st.caption(":material/checklist: Select rows to see their curves and what differs between them.")
        return
    shown = runs.set_index("run_id", drop=False).loc[list(selected)[:MOST]].reset_index(drop=True)
    if len(runs) > MOST:
        st.caption(f"Showing {MOST} of {len(runs)} selected runs.")
    names = run_names(shown)
    grid = st.grid(2, min_column_width=420)
    with grid.cell():
        _curves(entry, shown, names)
    with grid.cell():
        st.markdown("**What differs**" if len(shown) > 1 else "**This run**")
        table = comparison(shown, names)
        st.dataframe(table, alt="Differing settings and measured values of the selected runs, one column per run.")
    _errors(entry, shown)


def _curves(entry: Entry, shown: pd.DataFrame, names: dict[str, str]) -> None:
    address.check("runs_metric", list(NAMES), "online probe")
    address.show_notices()
    metric = NAMES[
        st.segmented_control(
            "Over epochs",
            list(NAMES),
            default="online probe",
            required=True,
            key="runs_metric",
            bind="query-params",
            help=help_text("epoch"),
        )
    ]
    colors = curve_colors(len(shown))
    drawn = [
        Curve.of(run, names[run["run_id"]], entry.store.history(entry.name, run["run_id"]), color)
        for run, color in zip(shown.to_dict("records"), colors, strict=True)
    ]
    classes = shown["classes"].max()
    without = [curve.name for curve in drawn if curve.history.empty or metric not in curve.history]
    if len(without) == len(drawn):
        st.info("None of the selected runs has values per epoch of this kind.", icon=":material/timeline:")
        return
    show(
        curves(
            drawn,
            current_theme(),
            (metric,),
            chance=1 / classes if classes else None,
            title=f"{METRICS[metric].axis} over epochs",
            subtitle=describe(shown),
            height=380,
        ),
        key="runs_curves",
        alt="The chosen metric over epochs, one line per selected run.",
        save=of_runs(entry, shown),
    )
    if without:
        st.caption(f"No values per epoch: {literal('; '.join(without))}.")


def _errors(entry: Entry, shown: pd.DataFrame) -> None:
    """Why a run failed: its last line, and the log folded."""
    for run in shown[shown["error"].notna() & (shown["error"] != "")].itertuples():
        st.error(f"Run {run.run_id} {run.status}: {literal(run.error)}", icon=":material/error:")
        if log := entry.store.log(entry.name, run.run_id):
            with st.expander(f"Log of run {run.run_id}"):
                st.code(log, language=None)
