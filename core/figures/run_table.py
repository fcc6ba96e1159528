"""The table of runs: which columns, in which order, with which titles; and values picked from a run's epochs."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import pandas as pd

from core.figures.metrics import METRICS, applies, field_name, number, setting_text, setting_value, short_setting
from core.figures.series import differing

Pick = Literal["last", "best"]
PICK_NAMES: dict[Pick, str] = {"last": "last epoch", "best": "best epoch"}
PER_EPOCH = ("online_accuracy", "loss", "alignment", "uniformity")  # metrics that a history holds
RIVALS = ("bits_known", "bit_accuracy", "digit_accuracy", "small_digit_accuracy", "large_digit_accuracy", "color_accuracy")
AFTER_TRAINING = ("linear_accuracy", "knn_accuracy", *RIVALS, "tolerance", "rankme")
PICKED_AT_ONCE = 1000  # runs whose epochs are read for one table
TAIL = ("epochs_done", "seconds", "samples_per_second", "finished_at", "error", "run_id")
TAIL_NAMES = {
    "epochs_done": "epochs done",
    "samples_per_second": "images/s",
    "seconds": "wall time (s)",
    "finished_at": "ended",
    "run_id": "run",
}


class Column(NamedTuple):
    """One column of the table."""

    key: str  # column of the frame
    title: str
    metric: bool = False  # a measured value, to be shown with its digits


def columns(runs: pd.DataFrame, pick: Pick = "last") -> list[Column]:
    """The columns worth showing, differing settings first.

    Args:
        runs: One row per run.
        pick: Which epoch the values per epoch are taken from; it stands in their titles.

    Returns:
        Status and label, then the settings that differ, the seed, the values after training and per epoch that some run has,
        and at the end how the run went and its id.
    """
    by_label = runs["label"].nunique() > 1  # the label says what the objective would
    shown = [Column("status", "status"), *([Column("label", "line")] if by_label else [])]
    shown += [Column(field, field_name(field)) for field in differing(runs, ignore=("objective",) if by_label else ())]
    shown.append(Column("seed", "seed"))
    shown += [Column(key, METRICS[key].name, metric=True) for key in AFTER_TRAINING if key in runs and runs[key].notna().any()]
    shown += [
        Column(key, f"{METRICS[key].name}, {PICK_NAMES[pick]}", metric=True)
        for key in PER_EPOCH
        if key in runs and runs[key].notna().any()
    ]
    shown += [Column(key, TAIL_NAMES.get(key, key)) for key in TAIL if key != "error" or runs["error"].notna().any()]
    return shown


def with_picked(runs: pd.DataFrame, pick: Pick, epochs_of: Callable[[str], Iterable[Mapping[str, Any]]]) -> pd.DataFrame:
    """Replace the values per epoch by those of the wanted epoch of each run.

    Args:
        runs: One row per run.
        pick: "last" leaves the table as it is; "best" takes, for each metric on its own, the best epoch: the highest
            accuracy, the lowest loss.
        epochs_of: The epochs of a run, by id.

    Returns:
        A copy. Runs without epochs keep their values.
    """
    if pick == "last":
        return runs
    runs = runs.copy()
    epochs = [list(epochs_of(run_id)) for run_id in runs["run_id"]]
    for key in PER_EPOCH:
        if key in runs:
            runs[key] = [best_value(history, key, value) for history, value in zip(epochs, runs[key], strict=True)]
    return runs


def best_value(epochs: Iterable[Mapping[str, Any]], metric: str, otherwise: float | None = None) -> float | None:
    """The best finite value of a metric over epochs: highest or lowest, as the metric wants it."""
    found = (epoch.get(metric) for epoch in epochs)
    values = [value for value in found if value is not None and math.isfinite(value)]
    if not values:
        return otherwise
    return max(values) if METRICS[metric].higher_is_better else min(values)


def stable_order(ids: Iterable[str], before: Iterable[str]) -> list[str]:
    """Row order that does not move when runs come and go: known ids as before, new ones at the end."""
    present = list(dict.fromkeys(ids))
    known = set(present)
    kept = [run_id for run_id in before if run_id in known]
    seen = set(kept)
    return kept + [run_id for run_id in present if run_id not in seen]


def comparison(runs: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Selected runs side by side: only what differs, then what was measured.

    Args:
        runs: The selected runs.
        names: Column title of each run id.

    Returns:
        Text cells; one row per differing setting and per measured value, one column per run.
    """
    settings = [*differing(runs), *(["seed"] if runs["seed"].nunique() > 1 else [])]
    measured = [key for key in (*AFTER_TRAINING, *PER_EPOCH) if key in runs and runs[key].notna().any()]
    rows = {field_name(field): [setting_value(field, value) for value in runs[field]] for field in settings}
    rows |= {METRICS[key].name: [number(value, key) for value in runs[key]] for key in measured}
    return pd.DataFrame.from_dict(rows, orient="index", columns=[names[run_id] for run_id in runs["run_id"]])


def run_names(runs: pd.DataFrame) -> dict[str, str]:
    """A short name for each run from what sets it apart: "tau 0.1, 10 bits, seed 0"; equal names get the start of their id."""
    fields = [*differing(runs), *(["seed"] if runs["seed"].nunique() > 1 else [])]
    names = {}
    for run in runs.to_dict("records"):
        own = [field for field in fields if applies(field, run["objective"])]
        parts = [short_setting(field, run[field]) for field in own]
        names[run["run_id"]] = ", ".join(parts) or setting_text("objective", run["objective"])
    taken = Counter(names.values())
    return {run_id: name if taken[name] == 1 else f"{name} ({run_id[:4]})" for run_id, name in names.items()}
