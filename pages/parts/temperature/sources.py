"""Embeddings that the teaching pages can show: of finished runs, of inspected checkpoints, and a made-up one."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core.figures.metrics import DATASET_NAMES, setting_text
from core.inspections.store import InspectionStore
from core.losses.hardness import PushShares, clouds, push_shares, unit_rows
from core.studies import Store
from core.training.spec import USES_TAU
from pages.parts import studies
from pages.parts.inspect import places

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
    """Every finished run that kept its embedding, by study and settings; then every inspected checkpoint."""
    found = []
    for store in stores():
        for study in store.studies():
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
    kept = [run for run in table[table["status"] == "finished"].itertuples() if _has_embedding(store, study, run.run_id)]
    return [Choice(root, study, run.run_id, _title(run, study)) for run in kept]


def _has_embedding(store: Store, study: str, run_id: str) -> bool:
    return (store.run_folder(study, run_id) / "embedding.npz").is_file()


def _title(run, study: str) -> str:
    parts = [setting_text("objective", run.objective)]
    if run.objective in USES_TAU:
        parts.append(f"tau {run.tau:g}")
    if run.bits:
        parts.append(f"{run.bits} bits")
    return f"{DATASET_NAMES.get(run.dataset, run.dataset)}, {', '.join(parts)}, seed {run.seed} ({study})"


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


@st.cache_data(max_entries=4, show_spinner=False)
def made_up() -> tuple[np.ndarray, np.ndarray]:
    """The made-up embedding: ten overlapping clouds."""
    return clouds()


@st.cache_data(max_entries=8, show_spinner=False)
def made_up_shares(top: float) -> PushShares:
    """Shares of the push on the made-up embedding."""
    return push_shares(*made_up(), TAUS, top=top)


def picker(key: str) -> tuple[tuple[np.ndarray, np.ndarray], str, Choice | None]:
    """A select box over the embeddings. Returns (rows, labels), a short name, and the run (None: made up)."""
    runs = {choice.title: choice for choice in choices()}
    title = st.selectbox(
        "Embedding",
        [*runs, MADE_UP],
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
