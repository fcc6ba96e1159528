"""From one row per run to the points of a curve: which runs form a line, and their mean and spread over seeds.

Every chart and table that folds seeds does it here, so that they all agree.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pandas as pd

from core.figures.metrics import applies, setting_text
from core.provenance import data_name
from core.training.spec import CONTRASTIVE, Objective, RunSpec

# Fields that name a run's place or machine, not what is compared.
NEVER_COMPARED = frozenset({"seed", "threads", "device", "precision", "data_root", "save_every"})
MEASURED_TOO = frozenset({"n_train", "n_test"})
FIELDS = tuple(RunSpec.model_fields)
CELL_COLUMNS = ("series", "kind", "place", "objective", "tau", "batch_size", "width", "x", "mean", "sd", "low", "high")
CELL_COLUMNS += ("n", "total", "diverged", "failed", "run_ids", "values", "run_id")
_OBJECTIVE_ORDER = {name: place for place, name in enumerate(get_args(Objective))}


def differing(runs: pd.DataFrame, ignore: Sequence[str] = ()) -> list[str]:
    """The settings that differ among runs, in the order of their declaration.

    Args:
        runs: One row per run with RunSpec fields as columns.
        ignore: Fields to leave out, beside the seed and the machine.

    Returns:
        Field names. A field counts only among the runs whose objective uses it.
    """
    objectives = runs["objective"].unique()
    fields = []
    for field in FIELDS:
        if field in NEVER_COMPARED or field in ignore or field not in runs:
            continue
        users = [objective for objective in objectives if applies(field, objective)]
        used = runs[field] if len(users) == len(objectives) else runs.loc[runs["objective"].isin(users), field]
        # A run that has not ended shows how many images were asked for, which may be "all".
        if used.nunique(dropna=field in MEASURED_TOO) > 1:
            fields.append(field)
    return fields


def name_series(runs: pd.DataFrame, dial: str) -> pd.DataFrame:
    """Say for each run which line it belongs to when the dial is on the x axis.

    Args:
        runs: One row per run with RunSpec fields as columns; at least objective, tau and the dial.
        dial: RunSpec field on the x axis.

    Returns:
        A copy with the columns `series` (its name), `kind` ("contrastive", "supervised", "autoencoder" or "untrained") and
        `place` (order of the lines: objectives in their fixed order, then by the settings that tell lines apart).
    """
    if runs.empty:
        return runs.assign(series=pd.Series(dtype=str), kind=pd.Series(dtype=str), place=pd.Series(dtype=int))
    fields = differing(runs, ignore=(dial, "objective"))
    settings = list(zip(*(runs[field].tolist() for field in ("objective", *fields)), strict=True))
    lines = {line: _line(line[0], dict(zip(fields, line[1:], strict=True))) for line in set(settings)}
    several_objectives = len({line[0] for line in lines} & CONTRASTIVE) > 1
    keys = sorted({key for key, _ in lines.values()}, key=lambda key: (key[0], len(key), key))
    places = {key: place for place, key in enumerate(keys)}
    names = {line: _name(line[0], parts, several_objectives) for line, (_, parts) in lines.items()}
    return runs.assign(
        series=[names[line] for line in settings],
        kind=["contrastive" if line[0] in CONTRASTIVE else line[0] for line in settings],
        place=[places[lines[line][0]] for line in settings],
    )


def _line(objective: str, settings: dict[str, Any]) -> tuple[tuple, list[str]]:
    """Sort key of a line, and its settings in words; those that the objective ignores are left out."""
    own = {field: value for field, value in settings.items() if applies(field, objective)}
    key = (_OBJECTIVE_ORDER[objective], *(_sortable(value) for value in own.values()))
    return key, [setting_text(field, value) for field, value in own.items()]


def _name(objective: str, parts: list[str], several_objectives: bool) -> str:
    if objective in CONTRASTIVE and parts and not several_objectives:
        return ", ".join(parts)
    return ", ".join([setting_text("objective", objective), *parts])


def fold_seeds(runs: pd.DataFrame, metric: str, dial: str) -> pd.DataFrame:
    """Fold runs that differ only in their seed into one point with mean and spread.

    Args:
        runs: One row per run: RunSpec fields, run_id, status, the metric. Runs without a result count as missing.
        metric: Column to fold.
        dial: RunSpec field on the x axis.

    Returns:
        One row per line and dial value, in drawing order: series, kind, place, objective, tau, batch_size, width, x, mean,
        sd (n − 1 in the denominator, NaN below two runs), low, high, n (runs in the mean), total (runs of the cell), diverged,
        failed, run_ids and values (tuples, by seed; of the runs in the mean first), run_id (first of them). Only finished
        runs with a finite value enter the mean.
    """
    if runs.empty:
        return pd.DataFrame(columns=CELL_COLUMNS)
    measured = runs[metric] if metric in runs else pd.Series(np.nan, index=runs.index)
    needed = runs[[name for name in (*FIELDS, "run_id", "status") if name in runs]]
    named = name_series(needed, dial).assign(value=pd.to_numeric(measured, errors="coerce").astype(float))
    columns = ("place", dial, "seed", "run_id", "status", "value", "series", "kind", "objective", "tau", "batch_size", "width")
    cells: dict[tuple, list[tuple]] = {}
    for run in zip(*(named[column].tolist() for column in columns), strict=True):  # plain values: pandas is slow on small groups
        cells.setdefault(run[:2], []).append(run)
    rows = [_cell(place, x, sorted(cells[place, x], key=lambda run: run[2])) for place, x in sorted(cells)]
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def _cell(place: int, x: float, runs: list[tuple]) -> tuple:
    """One row of the folded table from its runs: (place, x, seed, run_id, status, value, series, ...) each."""
    counted = [run for run in runs if run[4] == "finished" and math.isfinite(run[5])]
    values = tuple(run[5] for run in counted)
    ids = (*(run[3] for run in counted), *(run[3] for run in runs if run not in counted))
    states = [run[4] for run in runs]
    mean = statistics.fmean(values) if values else math.nan
    spread = statistics.stdev(values) if len(values) > 1 else math.nan
    low, high = (min(values), max(values)) if values else (math.nan, math.nan)
    series, kind, *settings = runs[0][6:]
    counts = (len(values), len(runs), states.count("diverged"), states.count("failed"))
    return (series, kind, place, *settings, x, mean, spread, low, high, *counts, ids, values, ids[0])


def _sortable(value: object) -> tuple[int, float, str]:
    """Numbers by size, then everything else by its text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 0, float(value), ""
    return 1, 0.0, str(value)


def _sets(runs: pd.DataFrame) -> list[str]:
    """Data sets in words; image folders by the name of the folder."""
    roots = runs["data_root"] if "data_root" in runs else pd.Series(None, index=runs.index)
    pairs = sorted(set(zip(runs["dataset"], roots.where(roots.notna(), ""), strict=True)))
    return list(dict.fromkeys(setting_text("dataset", data_name(*pair)) for pair in pairs))


def describe(runs: pd.DataFrame, spread: str = "") -> str:
    """Data set, encoder, sizes and seeds of a set of runs, for a subtitle.

    Args:
        runs: One row per run.
        spread: What the bands show, such as "mean ± sd"; empty where seeds are not folded.
    """
    if runs.empty:
        return ""
    named = {"dataset": _sets(runs), "encoder": [setting_text("encoder", value) for value in sorted(runs["encoder"].unique())]}
    parts = [" and ".join(values) if len(values) < 4 else f"{len(values)} {field}s" for field, values in named.items()]
    sizes = pd.to_numeric(runs["n_train"], errors="coerce").dropna().unique()
    if len(sizes) == 1 and sizes[0] > 0:
        parts.append(f"n = {int(sizes[0]):,}")
    fewest, most = _seeds(runs)
    counted = f"{fewest} to {most} seeds" if fewest < most else f"{most} seed{'s' if most != 1 else ''}"
    parts.append(f"{spread} of {counted}" if spread and most > 1 else counted)
    return ", ".join(parts)


def _seeds(runs: pd.DataFrame) -> tuple[int, int]:
    """Fewest and most seeds of one setting: a study may repeat some of its settings only, such as the ends of a dial."""
    fields = [field for field in FIELDS if field in runs and field not in NEVER_COMPARED]
    counts = runs.groupby(fields, dropna=False, sort=False)["seed"].nunique() if fields else runs[["seed"]].nunique()
    return int(counts.min()), int(counts.max())
