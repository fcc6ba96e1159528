"""The studies that pages show: where they lie, and how to choose one so that the address says which."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from core.durations import spoken
from core.studies import Store
from core.studies.catalogue import Entry, catalogue, find, timed
from core.studies.study import StudySpec, estimate
from pages.parts import address
from pages.parts.text import literal, quoted

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = ROOT / "data" / "studies"
ORIGIN_HELP = "Shipped results were measured by this code; your own runs and studies that wait to be run stand beside them."
TITLE_WIDTH = 480  # pixels of a selector beside other controls, so that no title is cut where the page is narrow
ORIGINS = {"results": "shipped", "runs": "your runs", "defined": "not run yet"}


def results() -> Store:
    """Shipped results."""
    return _store(os.environ.get("CONTRASTIVE_LENS_RESULTS") or str(ROOT / "data" / "results"))


def runs() -> Store:
    """The person's own runs."""
    return _store(os.environ.get("CONTRASTIVE_LENS_RUNS") or str(ROOT / "runs"))


@st.cache_resource(max_entries=8, show_spinner=False)
def _store(root: str) -> Store:
    """One store per folder for all sessions: it keeps what it has read until a file changes."""
    return Store(root)


def entries(keep: Callable[[Entry], bool] = lambda entry: True) -> list[Entry]:
    """The catalogue, or those entries that a page can show."""
    return [entry for entry in catalogue(results(), runs(), DEFINITIONS) if keep(entry)]


def own_first(found: Sequence[Entry]) -> list[Entry]:
    """The person's own studies before all others, the last started one at the top."""

    def since(entry: Entry) -> float:
        return (entry.store.state(entry.name).started or 0.0) if entry.origin == "runs" else 0.0

    return sorted(found, key=lambda entry: (entry.origin != "runs", -since(entry)))


def named(wanted: str | None) -> Entry | None:
    """The study that an address names; None if there is none of that name."""
    return find(entries(), wanted)


def label(entry: Entry) -> str:
    """An entry in a selector."""
    return f"{entry.title} ({ORIGINS[entry.origin]})"


def choose(found: Sequence[Entry], key: str, favourite: str = "", **options) -> Entry:
    """Draw the study selector. The choice stands in the address as `study`, the same on every page.

    Args:
        found: At least one entry; the first is the default, for as long as the session lasts.
        key: Of the widget, its own on each page.
        favourite: Name of the study that comes first, if it is there.
        options: Passed to st.selectbox.

    Returns:
        The chosen entry.
    """
    found = sorted(found, key=lambda entry: entry.name != favourite or entry.origin == "defined")
    by_id = {entry.id: entry for entry in found}
    # What a session saw first stays its default: a study that starts meanwhile does not push the shown one aside.
    first = by_id.get(st.session_state.get(f"{key}_first"), found[0])
    st.session_state[f"{key}_first"] = first.id
    asked = "study" in st.query_params
    wanted = address.recall("study")
    there = find(found, wanted)
    if wanted and there is None and not asked:  # another page's choice, carried along by the menu
        del st.query_params["study"]
    elif wanted and there is None:
        elsewhere = named(wanted)
        unread = elsewhere is not None and elsewhere.definition is None
        why = "whose definition cannot be read, see Runs" if unread else "which this page does not have"
        address.notice(f"The address names the study {quoted(wanted)}, {why}; showing {first.title!r}.")
    st.session_state[key] = (there or first).id
    st.selectbox(
        "Study",
        list(by_id),
        format_func=lambda study_id: label(by_id[study_id]),
        key=key,
        on_change=lambda: (address.remember("study", st.session_state[key]), address.forget("run")),
        **options,
    )
    return by_id[st.session_state[key]]


def table(entry: Entry) -> pd.DataFrame:
    """All runs of a study that have begun. Treat it as read-only: the store shares it between sessions."""
    return entry.store.table(entry.name)


def say_unfinished(run: Mapping[str, Any]) -> None:
    """Say that a run did not finish, and why where that is known; nothing for a finished one.

    Args:
        run: A row of `table`.
    """
    if run["status"] != "finished":
        reason = literal(run["error"]) if pd.notna(run["error"]) else ""
        st.warning(f"This run is {run['status']}. {reason}".rstrip(), icon=":material/error:")


def planned(entry: Entry) -> int:
    """Runs that the study's definition asks for; 0 if it has none."""
    return _count(entry.definition) if entry.definition else 0


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs={StudySpec: lambda spec: spec.to_toml()})
def _count(definition: StudySpec) -> int:
    return len(definition.expand())


def cores() -> int:
    """Processor cores that this process may use, which is how many runs go on at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def time_needed(definition: StudySpec, done: Sequence[str] = ()) -> str:
    """How long the rest of a study takes on this machine, from runs that were timed, in words."""
    workers = cores()
    expected = estimate(definition, timed(entries()), workers=workers, done=done)
    count = f"{expected.runs} run{'s' if expected.runs != 1 else ''}"
    where = f"on {workers} core{'s' if workers != 1 else ''}"
    if expected.seconds is None:
        return f"{count}; no comparable run was timed yet, so there is no estimate"
    return f"{count}, {spoken(expected.seconds)} {where}, judging by {expected.measured:,} timed runs"
