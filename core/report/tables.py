"""Tables of reports: the runs of a study, and the means behind a curve, as text cells."""

from typing import Literal

import pandas as pd
from pydantic import Field

from core.figures.metrics import METRICS, field_name, number, setting_value, with_spread
from core.figures.run_table import columns
from core.figures.series import fold_seeds
from core.report.builders.suppression import dial_of
from core.report.drawing import CannotDraw, Options, Source
from core.studies.filtering import matching
from core.training.spec import RunSpec

LEFT_OUT = frozenset({"samples_per_second", "error"})  # of the run table on the page


class RunsOptions(Options):
    """Choices of the table `runs`."""

    filter: str = Field("", title="Filter", description="As on the Runs page, such as tau=0.1 bits>=10")


class CellsOptions(Options):
    """Choices of the table `cells`."""

    metric: Literal["linear_accuracy", "knn_accuracy", "online_accuracy", "bits_known", "loss"] = Field(
        "linear_accuracy", title="Metric"
    )


def runs_table(source: Source, options: RunsOptions) -> pd.DataFrame:
    """One row per run: status, differing settings, seed, measurements, id.

    Raises:
        StudyError: If the filter cannot be read.
        CannotDraw: If no run has begun, or the filter keeps none.
    """
    runs = source.entry.store.table(source.entry.name)
    if runs.empty:
        raise CannotDraw(f"no run of the study {source.entry.id!r} has begun")
    kept = runs[matching(runs, options.filter)]
    if kept.empty:
        raise CannotDraw(f"the filter {options.filter!r} keeps no run of the study {source.entry.id!r}")
    shown = [column for column in columns(runs) if column.key not in LEFT_OUT]
    return pd.DataFrame({column.title: [_cell(column.key, value) for value in kept[column.key]] for column in shown})


def cells_table(source: Source, options: CellsOptions) -> pd.DataFrame:
    """Mean ± standard deviation over seeds: one row per value of the dial, one column per line."""
    dial = dial_of(source.entry)
    cells = fold_seeds(source.entry.store.table(source.entry.name), options.metric, dial) if dial else pd.DataFrame()
    if cells.empty or not cells["n"].sum():
        raise CannotDraw(f"no run of the study {source.entry.id!r} has finished")
    text = [with_spread(cell.mean, options.metric, cell.sd) for cell in cells.itertuples()]
    wide = cells.assign(text=text).pivot(index="x", columns="series", values="text")
    wide = wide[list(dict.fromkeys(cells["series"]))].fillna("–")
    return wide.rename_axis(columns=None).rename_axis(field_name(dial)).reset_index()


def _cell(key: str, value: object) -> str:
    if key in METRICS:
        return number(value, key)
    if key == "finished_at":
        return str(value)[:10]
    if key in RunSpec.model_fields:
        return setting_value(key, value)
    return str(value)
