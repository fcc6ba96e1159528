"""The run table: filter, choice of epoch, selection that survives new runs, deletion that can be undone."""

import time
from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.events import merge_selection, row_ids, rows_of
from core.figures.metrics import METRICS
from core.figures.run_table import PICK_NAMES, PICKED_AT_ONCE, Column, columns, stable_order, with_picked
from core.glossary import GLOSSARY, help_text
from core.studies import StudyError, StudyState
from core.studies.catalogue import Entry
from core.studies.filtering import matching
from core.studies.launch import request_delete, request_undo
from pages.parts import address
from pages.parts.text import literal, quoted

PICKS = {name: key for key, name in PICK_NAMES.items()}
ROWS, ROW_HEIGHT = 8, 35  # rows in sight, px each
MOST_UNDONE = 10  # deletions to choose from; older ones stay in the trash
STATUS_ICONS = {"finished": "●", "running": "◐", "queued": "○", "diverged": "✕", "failed": "✕", "stopped": "■", "stalled": "◌"}
FILTER_HELP = (
    "Words that must all hold: `tau=0.1`, `bits>=10`, `linear>0.5`, `status!=finished`, or any text found in the label, status, "
    "objective, id or date."
)


def run_table(
    entry: Entry, runs: pd.DataFrame, state: StudyState, controls: DeltaGenerator
) -> tuple[pd.DataFrame, list[str]]:
    """Draw the table with its controls.

    Args:
        entry: The study.
        runs: Its runs.
        state: How it is doing; a study at work takes deletions as requests.
        controls: Row above the table.

    Returns:
        The runs that the filter keeps, and the ids of the selected runs in the order in which they were selected.
    """
    with controls:
        text = st.text_input(
            "Filter", key="runs_filter", bind="query-params", placeholder="tau=0.1 bits>=10", help=FILTER_HELP, width=200
        )
        address.check("runs_pick", list(PICKS), "last epoch")
        pick = PICKS[
            st.segmented_control(
                "Values per epoch",
                list(PICKS),
                default="last epoch",
                required=True,
                key="runs_pick",
                bind="query-params",
                help="Which epoch the columns with an epoch in their title show. Probes after training have one value only.",
            )
        ]
    address.show_notices()
    kept = _filtered(runs, text)
    if pick == "best" and len(kept) > PICKED_AT_ONCE:
        st.info(f"Best values are read for up to {PICKED_AT_ONCE:,} runs; the filter leaves {len(kept):,}. Showing last values.")
        pick = "last"
    selected = _selected(runs)
    shown = with_picked(_ordered(entry, kept), pick, lambda run_id: entry.store.epochs(entry.name, run_id))
    _draw(entry, shown, columns(runs, pick), selected, text)
    _actions(entry, kept, runs, selected, state)
    return kept, selected


def _filtered(runs: pd.DataFrame, text: str) -> pd.DataFrame:
    try:
        return runs[matching(runs, text or "")]
    except StudyError as error:
        st.error(literal(str(error)), icon=":material/filter_alt_off:")
        return runs


def _ordered(entry: Entry, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order that never moves while the page is open, so that a selection by place stays right."""
    key = f"runs_order_{entry.id}"
    order = stable_order(runs["run_id"], st.session_state.get(key, ()))
    st.session_state[key] = list(dict.fromkeys([*st.session_state.get(key, ()), *order]))
    return runs.set_index("run_id", drop=False).loc[order].reset_index(drop=True)


def _selected(runs: pd.DataFrame) -> list[str]:
    """Selected ids that the study has; the address keeps them, new runs never change them."""
    named = (address.recall("compare") or "").split(",")
    known = set(runs["run_id"])
    selected = [run_id for run_id in named if run_id in known]
    if unknown := [run_id for run_id in named if run_id and run_id not in known]:
        address.notice(f"The address names runs that this study does not have: {quoted(', '.join(unknown))}.")
        address.show_notices()
        _keep(selected)
    return selected


def _keep(selected: Sequence[str]) -> None:
    if selected:
        address.remember("compare", ",".join(selected))
    else:
        address.forget("compare")


def _draw(entry: Entry, shown: pd.DataFrame, wanted: Sequence[Column], selected: Sequence[str], text: str) -> None:
    ids = shown["run_id"].tolist()
    # Another set of rows is another table; new rows at the end are not, so scrolling and sorting survive them.
    version = st.session_state.get("runs_version", 0)
    key = f"runs_table_{entry.id}_{text}_{version}"

    def chosen() -> None:
        _keep(merge_selection(selected, row_ids(st.session_state[key], ids), ids))

    frame = shown[[column.key for column in wanted]].copy()
    for column in wanted:
        if column.metric:  # a tiny negative value is written as 0, not as -0
            frame[column.key] = frame[column.key].astype(float).round(_digits(column)) + 0.0
    frame["status"] = [f"{STATUS_ICONS.get(status, '')} {status}" for status in frame["status"]]
    st.dataframe(
        frame,
        hide_index=True,
        height=ROW_HEIGHT * (min(max(len(shown), 1), ROWS) + 1) + 3,
        key=key,
        on_select=chosen,
        selection_mode="multi-row",
        selection_default={"selection": {"rows": rows_of(selected, ids)}},
        column_config={column.key: _config(column) for column in wanted},
        placeholder="",
        alt="All runs of the study with their differing settings and measured values; select rows to compare them.",
    )


def _digits(column: Column) -> int:
    """Decimals of a metric's column."""
    metric = METRICS[column.key]
    return max(metric.digits, 3) if metric.is_accuracy else metric.digits


def _config(column: Column):
    help_mark = help_text(column.key) if column.key in GLOSSARY else None
    if column.metric:
        return st.column_config.NumberColumn(column.title, format=f"%.{_digits(column)}f", help=help_mark)
    if column.key in {"seconds", "samples_per_second"}:
        return st.column_config.NumberColumn(column.title, format="%.0f")
    if column.key == "finished_at":
        return st.column_config.DatetimeColumn(column.title, format="YYYY-MM-DD HH:mm")
    return st.column_config.Column(column.title, help=help_mark, pinned=column.key == "status")


def _actions(entry: Entry, kept: pd.DataFrame, runs: pd.DataFrame, selected: list[str], state: StudyState) -> None:
    """Counts, clearing, deletion and undo."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_counts(kept, runs, selected))
        if selected:
            st.button("Clear selection", key="runs_clear", icon=":material/close:", type="tertiary", on_click=_clear)
            if entry.origin == "runs":
                st.button(
                    f"Delete {len(selected)} run{'s' if len(selected) > 1 else ''}",
                    key="runs_delete",
                    icon=":material/delete:",
                    type="tertiary",
                    on_click=_delete,
                    args=(entry, selected, set(runs.loc[runs["status"] == "running", "run_id"]), state.active),
                    help="Moves the runs to the trash; this can be undone.",
                )
    offer_undo(entry)


def _counts(kept: pd.DataFrame, runs: pd.DataFrame, selected: Sequence[str]) -> str:
    counts = runs["status"].value_counts()
    parts = [f"{len(kept):,} of {len(runs):,} runs" if len(kept) < len(runs) else f"{len(runs):,} runs"]
    parts += [f"{count:,} {status}" for status, count in counts.items() if len(counts) > 1]
    hidden = len(set(selected) - set(kept["run_id"]))
    if selected:
        parts.append(f"{len(selected)} selected" + (f", {hidden} of them hidden by the filter" if hidden else ""))
    return " · ".join(parts)


def _clear() -> None:
    _keep(())
    _new_table()


def _new_table() -> None:
    st.session_state["runs_version"] = st.session_state.get("runs_version", 0) + 1


def _delete(entry: Entry, selected: list[str], running: set[str], active: bool) -> None:
    wanted = [run_id for run_id in selected if run_id not in running]
    if len(wanted) < len(selected):
        count = f"{len(selected) - len(wanted)} of {len(selected)}"
        st.session_state["runs_problem"] = f"{count} selected runs are in progress and were kept. Stop the study to delete them."
    if not wanted:
        return
    try:
        remove = request_delete if active else lambda name, _root, ids: entry.store.delete(name, ids)
        token = remove(entry.name, entry.store.root, wanted)
    except StudyError as error:
        st.session_state["runs_problem"] = str(error)
        return
    st.session_state["runs_deleted"] = (entry.id, token, len(wanted))
    _clear()


def offer_undo(entry: Entry) -> None:
    """Undo of the last deletion, and a way back to earlier ones, as of another tab or before a reload; what could not be done."""
    if problem := st.session_state.pop("runs_problem", None):
        st.error(literal(problem), icon=":material/error:")
    study_id, token, count = st.session_state.get("runs_deleted") or ("", "", 0)
    earlier = [trashed for trashed in entry.store.trashed(entry.name) if trashed.token != token]
    if study_id != entry.id and not earlier:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if study_id == entry.id:
            st.markdown(f":material/delete: {_runs(count)} deleted.")
            st.button("Undo", key="runs_undo", icon=":material/undo:", on_click=_undo, args=(entry, token))
        if earlier:
            with st.popover("Deleted earlier", key="runs_earlier", icon=":material/restore_from_trash:", type="tertiary"):
                for trashed in earlier[:MOST_UNDONE]:
                    text = f"{_runs(trashed.runs)}, {time.strftime('%Y-%m-%d %H:%M', time.localtime(trashed.when))}: bring back"
                    key = f"runs_undo_{trashed.token}"
                    st.button(text, key=key, icon=":material/undo:", on_click=_undo, args=(entry, trashed.token))


def _runs(count: int) -> str:
    return f"{count} run{'s' if count != 1 else ''}"


def _undo(entry: Entry, token: str) -> None:
    if (st.session_state.get("runs_deleted") or ("", ""))[1] == token:
        st.session_state.pop("runs_deleted")
    try:
        if entry.store.state(entry.name).active:
            request_undo(entry.name, entry.store.root, token)
        else:
            entry.store.undo(token)
    except StudyError as error:
        st.session_state["runs_problem"] = str(error)
    _new_table()
