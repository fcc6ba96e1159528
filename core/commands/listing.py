"""What `python -m core list` prints: the studies of a store, or the runs of one study."""

import json
from typing import Any

import pandas as pd

from core.commands.terminal import duration, show_rows
from core.studies.names import StudyError
from core.studies.store import Store

RESULTS = ("linear_accuracy", "knn_accuracy", "alignment", "uniformity", "seconds")


def list_studies(store: Store, as_json: bool) -> None:
    """Print one line per study: name, status, counts, age of the last sign of life.

    Raises:
        StudyError: If the store is no folder; one that is missing has no studies yet.
    """
    if store.root.exists() and not store.root.is_dir():
        raise StudyError(f"the store {store.root} is not a folder")
    states = [(name, store.state(name)) for name in store.studies()]
    if as_json:
        records = [{"study": name, "title": store.title(name), **state._asdict()} for name, state in states]
        print(json.dumps(records, ensure_ascii=False))
        return
    columns = ["study", "status", "done", "failed", "left", "title"]
    rows = [
        (name, state.status, f"{state.ended} of {state.total}", state.failed, duration(state.seconds_left), store.title(name))
        for name, state in states
    ]
    show_rows(columns, rows)


def list_runs(store: Store, study: str, as_json: bool) -> None:
    """Print one line per run: id, label, status, what is varied, main results.

    Raises:
        StudyError: If there is no such study.
    """
    if store.state(study).status == "missing":
        known = ", ".join(store.studies()) or "none yet"
        raise StudyError(f"there is no study {study!r} in {store.root}; it has: {known}")
    runs = store.table(study)
    if as_json:
        print(json.dumps([_plain(row) for row in runs.to_dict("records")], ensure_ascii=False))
        return
    definition = store.definition(study)
    varied = list(definition.varied) if definition else [name for name in ("bits", "tau", "lam") if runs[name].nunique() > 1]
    columns = ["run_id", "label", "status", *varied, "seed", *RESULTS]
    show_rows(columns, runs[columns].itertuples(index=False))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Missing numbers as null."""
    return {key: None if not isinstance(value, (tuple, list, dict)) and pd.isna(value) else value for key, value in row.items()}
