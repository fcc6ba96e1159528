"""What the tau-lambda page shows: the runs of a map with its refinements, folded into cells, and its ridge."""

from collections import Counter
from typing import NamedTuple

import pandas as pd

from core.figures.metrics import METRICS
from core.studies.catalogue import Entry
from core.studies.cells import fold_cells
from core.studies.maps import Convention, convention, first_run, merged, same_map
from core.studies.ridge import Ridge, find_ridge
from core.training.spec import RunSpec
from pages.parts import studies
from pages.parts.kept import kept, version

RIDGE_METRIC = "linear_accuracy"  # the ridge of a metric that is not an accuracy


class Map(NamedTuple):
    """One map, ready to draw. Shared by all sessions: nothing in it may be changed."""

    entry: Entry
    extras: tuple[Entry, ...]  # refinements and other seeds of the same map
    runs: pd.DataFrame
    cells: pd.DataFrame  # of the chosen metric
    ridge: Ridge
    ridge_metric: str
    run: RunSpec  # any run of the map, for its settings
    convention: Convention
    where: dict[str, Entry]  # run_id -> the study that holds the run
    records: dict[str, dict]  # run_id -> its row
    version: str  # changes with the runs

    @property
    def nt_xent_factor(self) -> float:
        """lambda = factor * tau is NT-Xent."""
        return 1 / self.run.head_dim if self.convention.key == "notebook" else 1.0


def load(entry: Entry, metric: str) -> Map:
    """Read a map and everything that adds cells to it; read again only when its files or the states of its runs change.

    Args:
        entry: A study that varies tau and lambda.
        metric: RunResult field.
    """
    extras = tuple(same_map(entry, studies.entries()))
    tables = [other.store.table(other.name) for other in (entry, *extras)]
    stamp = " | ".join(
        f"{other.id} {version(other)} {sorted(Counter(table['status']).items())}"
        for other, table in zip((entry, *extras), tables, strict=True)
    )
    return kept(lambda: _read(entry, extras, tables, metric, stamp), "tau-lambda map", metric, stamp)


def _read(entry: Entry, extras: tuple[Entry, ...], tables: list[pd.DataFrame], metric: str, stamp: str) -> Map:
    runs = merged(tables)
    expected = [run for other in (entry, *extras) for run in other.definition.expand()]
    cells = fold_cells(runs, metric, expected)
    ridge_metric = metric if METRICS[metric].is_accuracy else RIDGE_METRIC
    of_ridge = cells if ridge_metric == metric else fold_cells(runs, ridge_metric, expected)
    where: dict[str, Entry] = {}
    for other, table in zip((entry, *extras), tables, strict=True):
        for run_id in table["run_id"]:
            where.setdefault(run_id, other)
    records = {row["run_id"]: row for row in runs.to_dict("records")}
    ridge, run = find_ridge(of_ridge), first_run(entry)
    return Map(entry, extras, runs, cells, ridge, ridge_metric, run, convention(run), where, records, stamp)
