"""Embeddings that the teaching pages can show: of finished runs, of inspected checkpoints, and a made-up one."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from core.figures.metrics import applies, short_setting
from core.figures.series import differing
from core.inspections.store import InspectionStore
from core.losses.hardness import PushShares, clouds, push_shares, unit_rows
from core.studies import Store
from pages.parts import studies
from pages.parts.inspect import places
from pages.parts.inspect.provenance import provenance
from pages.parts.save import HERE, Save, of_runs

FAVOURITE, USUAL_TAU = "temperature-mnist-5k", 0.1  # shown first: its embeddings have as many dimensions as in practice
INSPECTED = "inspections"  # stands for the study of an inspected checkpoint
MADE_UP = "Made-up clouds"
TAUS = tuple(np.geomspace(0.02, 2, 21).round(4).tolist())


class Choice(NamedTuple):
    """A run, or an inspected checkpoint, whose embedding can be shown."""

    root: str  # of the store it lies in
    study: str  # INSPECTED for a checkpoint
    run_id: str  # or the id of the inspection
    title: str


def stores() -> tuple[Store, ...]:
    """Shipped results first, then the visitor's own runs."""
    return studies.results(), studies.runs()


def store_at(root: str) -> Store:
    """The store at a root that a choice names."""
    return next(store for store in stores() if str(store.root) == root)


def choices() -> list[Choice]:
    """Every finished run that kept its embedding, by study and settings, the temperature study first; then checkpoints."""
    found = []
    for store in stores():
        for study in sorted(store.studies(), key=lambda study: (study != FAVOURITE, study)):
            summary = store.folder(study) / "results.jsonl"
            changed = summary.stat().st_mtime_ns if summary.is_file() else 0
            found += _choices(str(store.root), study, changed)
    inspected = [entry for entry in places.everything() if entry.state.status == "finished"]
    return found + [Choice(str(entry.store.root), INSPECTED, entry.id, f"Checkpoint: {entry.label}") for entry in inspected]


@st.cache_data(max_entries=64, show_spinner=False)
def _choices(root: str, study: str, changed: int) -> list[Choice]:
    """Those of one study; looked up again when its summary has changed."""
    store = store_at(root)
    table = store.table(study)
    finished = table[table["status"] == "finished"]
    kept = finished[[_has_embedding(store, study, run_id) for run_id in finished["run_id"]]]
    return [Choice(root, study, run_id, title) for run_id, title in titles(kept, study)]


def _has_embedding(store: Store, study: str, run_id: str) -> bool:
    return (store.run_folder(study, run_id) / "embedding.npz").is_file()


def _matters(field: str, run: dict) -> bool:
    """Whether a setting says something about a run's embedding."""
    if field == "bits":
        return run["bits"] > 0
    if field == "label_layer":
        return run["objective"] == "supervised"
    return field == "head_dim" or applies(field, run["objective"])  # an untrained encoder has a head, too


def titles(runs: pd.DataFrame, study: str) -> list[tuple[str, str]]:
    """A title for each run that no other run of the study shares.

    Args:
        runs: One row per run, with RunSpec fields and run_id as columns; may be empty.
        study: Name of the study, the end of each title.

    Returns:
        (run_id, title), sorted by objective, temperature and the other settings that differ.
    """
    if runs.empty:
        return []
    usual = ["dataset", "objective", "tau", "bits"]
    others = differing(runs, ignore=usual)
    found = []
    for run in runs.sort_values(["objective", "tau", "bits", *others, "seed"]).to_dict("records"):
        told = [field for field in (*usual, *others) if _matters(field, run)]
        parts = [*(short_setting(field, run[field]) for field in told), f"seed {run['seed']}"]
        found.append((run["run_id"], f"{', '.join(parts)} ({study})"))
    often = Counter(title for _, title in found)
    return [(run_id, title if often[title] == 1 else f"{title} {run_id}") for run_id, title in found]


@st.cache_data(max_entries=8, show_spinner=False)
def embedding(root: str, study: str, run_id: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Unit rows and labels of test images; None if the file is gone. A checkpoint without a projection head is shown by its h."""
    if study == INSPECTED:
        inspection = places.result(InspectionStore(root), run_id)
        arrays = inspection and inspection.arrays
    else:
        arrays = store_at(root).embedding(study, run_id)
    if arrays is None:
        return None
    rows = arrays["z"] if "z" in arrays else arrays["h"]
    return unit_rows(rows.astype(np.float32)), arrays["labels"]


@st.cache_data(max_entries=32, show_spinner=False)
def run_shares(root: str, study: str, run_id: str, top: float) -> PushShares | None:
    """Shares of the push on a run's embedding, over the usual temperatures."""
    found = embedding(root, study, run_id)
    return None if found is None else push_shares(*found, TAUS, top=top)


def saved(choice: Choice | None) -> Save:
    """What the menu under a chart of this embedding tells of its making."""
    if choice is None:
        return HERE
    if choice.study == INSPECTED:
        found = next((entry for entry in places.everything() if entry.id == choice.run_id), None)
        inspection = found and places.load(found)
        return Save(provenance=provenance(found, inspection)) if inspection else HERE
    here = lambda entry: entry.name == choice.study and str(entry.store.root) == choice.root and entry.origin != "defined"  # noqa: E731
    entry = studies.entries(here)[0]
    table = studies.table(entry)
    return of_runs(entry, table[table["run_id"] == choice.run_id])


@st.cache_data(max_entries=4, show_spinner=False)
def made_up() -> tuple[np.ndarray, np.ndarray]:
    """The made-up embedding: ten overlapping clouds."""
    return clouds()


@st.cache_data(max_entries=8, show_spinner=False)
def made_up_shares(top: float) -> PushShares:
    """Shares of the push on the made-up embedding."""
    return push_shares(*made_up(), TAUS, top=top)


def _usual(found: list[Choice]) -> int:
    """Place of the run that is shown first: of the temperature study, trained at the usual temperature, if it is there."""
    start = f"tau {USUAL_TAU:g},"
    return next((place for place, choice in enumerate(found) if choice.study == FAVOURITE and start in choice.title), 0)


def picker(key: str) -> tuple[tuple[np.ndarray, np.ndarray], str, Choice | None]:
    """A select box over the embeddings. Returns (rows, labels), a short name, and the run (None: made up)."""
    runs = {choice.title: choice for choice in choices()}
    title = st.selectbox(
        "Embedding",
        [*runs, MADE_UP],
        _usual(list(runs.values())),
        key=key,
        bind="query-params",
        persist_state="session",
        help="Test images of a finished run or an inspected checkpoint as its encoder places them, or ten made-up clouds on a "
        "sphere of 16 dimensions.",
    )
    choice = runs.get(title)
    found = embedding(choice.root, choice.study, choice.run_id) if choice else None
    if choice and found is None:
        st.warning("The embedding of this run could not be read; the made-up clouds are shown. Pick another run.")
    return (found, title, choice) if found is not None else (made_up(), "made-up clouds, not measured", None)
