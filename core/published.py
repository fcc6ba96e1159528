"""Numbers from papers and public code: one TOML file per source in data/published, read into one tidy table.

A file names its source, its trust grade and, for each table in it, the settings under which the numbers were made. Pages
draw these numbers beside ours, never instead of ours, and only where the settings agree or what differs is said.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from core.training.spec import RunSpec
from core.validation import explain, parse_toml

FOLDER = Path(__file__).resolve().parents[1] / "data" / "published"
GRADES = {
    "A": "the authors' own code or text",
    "B": "an independent reproduction or a transcription",
    "C": "an unreviewed text",
}
DIALS = tuple(RunSpec.model_fields)  # columns that say under which settings a value was made
TEXT_COLUMNS = ("setting", "note")  # for what no RunSpec field can say


class Table(BaseModel):
    """One table of a source: values of one metric on one data set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str
    metric: str  # a RunResult field where one fits, else a short name of its own
    seeds: int | None = None  # runs per value; None = not stated
    settings: dict[str, Any] = {}  # RunSpec fields that hold for the whole table
    beside: str = ""  # dial of an experiment of ours that it stands beside although data and encoder differ, as `differs` says
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @model_validator(mode="after")
    def _well_formed(self) -> "Table":
        allowed = {*DIALS, *TEXT_COLUMNS, "value"}
        if unknown := [name for name in (*self.columns, *self.settings) if name not in allowed]:
            raise ValueError(f"columns: must be RunSpec fields, value, setting or note, got {', '.join(unknown)}")
        if "value" not in self.columns:
            raise ValueError("columns: one of them must be 'value'")
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(f"rows: row {number} must have {len(self.columns)} entries, got {len(row)}")
            value = row[self.columns.index("value")]
            if not isinstance(value, int | float) or (self.metric.endswith("accuracy") and not 0 <= value <= 1):
                raise ValueError(f"rows: row {number} must have a number as value, an accuracy between 0 and 1, got {value!r}")
        return self


class Source(BaseModel):
    """Where numbers come from and how far they can be trusted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1]
    name: str
    title: str
    label: str  # as written in charts
    citation: str
    source: str  # repository, commit and file, or paper and table
    url: str = ""
    grade: Literal["A", "B", "C"]
    note: str = ""
    differs: str = ""  # what a reader must know who compares: what is not the same in our runs, or a value that stands apart
    table: tuple[Table, ...]


def read(path: Path) -> Source:
    """Read and check one file of published numbers.

    Raises:
        ValueError: If the file is not TOML or breaks the format; one line per problem, each naming the file.
    """
    try:
        return Source.model_validate(parse_toml(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise ValueError(explain(error, path.name)) from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def sources(folder: Path = FOLDER) -> dict[str, Source]:
    """All sources by name, in the order of their file names."""
    found = [read(path) for path in sorted(folder.glob("*.toml"))]
    return {source.name: source for source in found}


def rows(metric: str | None = None, dataset: str | None = None, folder: Path = FOLDER) -> pd.DataFrame:
    """Published values as a tidy table.

    Args:
        metric: Only this metric; None = all.
        dataset: Only this data set; None = all.
        folder: Where the TOML files lie.

    Returns:
        One row per value: source, title, label, citation, url, grade, dataset, metric, seeds, value, setting, note, and a
        column for each RunSpec field that some table states.
    """
    return _tidy(
        (source, table)
        for source in sources(folder).values()
        for table in source.table
        if metric in (None, table.metric) and dataset in (None, table.dataset)
    )


def counterparts(runs: pd.DataFrame, metric: str, folder: Path = FOLDER) -> pd.DataFrame:
    """The published values of a metric that belong beside a study: same data set, same settings.

    Args:
        runs: One row per run with the RunSpec fields as columns.
        metric: RunResult field.
        folder: Where the TOML files lie.

    Returns:
        Rows as in `rows`, of those tables whose settings all hold in at least one run. Empty where there are none.
    """
    return _tidy(
        (source, table)
        for source in sources(folder).values()
        for table in source.table
        if table.metric == metric and _some_run_agrees(runs, {"dataset": table.dataset, **table.settings})
    )


def beside(dial: str, metric: str, folder: Path = FOLDER) -> pd.DataFrame:
    """The published values along a dial that stand beside our own experiment although they come from other data.

    Args:
        dial: RunSpec field.
        metric: RunResult field.
        folder: Where the TOML files lie.

    Returns:
        Rows as in `rows`; empty where there are none.
    """
    return _tidy(
        (source, table)
        for source in sources(folder).values()
        for table in source.table
        if table.beside == dial and table.metric == metric
    )


def _tidy(tables: Iterable[tuple[Source, Table]]) -> pd.DataFrame:
    """One row per value, with its source and settings repeated in each row."""
    found = []
    for source, table in tables:
        origin = {"source": source.name, **source.model_dump(include={"title", "label", "citation", "url", "grade"})}
        meaning = {"dataset": table.dataset, "metric": table.metric, "seeds": table.seeds, "setting": "", "note": ""}
        shared = origin | meaning | table.settings
        found += [shared | dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return pd.DataFrame(found) if found else pd.DataFrame(columns=["source", "label", "dataset", "metric", "value"])


def _some_run_agrees(runs: pd.DataFrame, wanted: dict[str, Any]) -> bool:
    """Whether at least one run has all the wanted values."""
    if any(field not in runs for field in wanted):
        return False
    return bool(pd.concat([runs[field] == value for field, value in wanted.items()], axis=1).all(axis=1).any())
