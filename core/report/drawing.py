"""What a builder of report figures gets and gives."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
from pydantic import BaseModel, ConfigDict

from core import provenance
from core.figures.lines import Progress
from core.report.drawn import drawn
from core.report.settings import settings_of
from core.studies.catalogue import Entry

ENDED = ("finished", "diverged", "failed")


class Options(BaseModel):
    """Choices that a figure or a table leaves open; every field has a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(NamedTuple):
    """Where a builder finds its numbers."""

    entry: Entry | None  # the study; None where a figure needs none
    entries: Sequence[Entry] = ()  # all studies
    folder: Path = Path()  # of the report, for figures that were kept with it


class Drawing(NamedTuple):
    """A figure with everything that an export needs."""

    figure: go.Figure
    alt: str
    provenance: str
    data: Callable[[], pd.DataFrame]
    settings: Callable[[], str] | None  # TOML that runs the same runs again; None where nothing was run


class CannotDraw(ValueError):
    """The study has nothing to show in this figure yet. Its text says what is missing."""


def drawing(source: Source, figure: go.Figure, runs: pd.DataFrame, alt: str, data: pd.DataFrame | None = None) -> Drawing:
    """A figure of runs of one study.

    Args:
        source: The study.
        figure: The figure.
        runs: The runs that it shows, diverged and failed ones included.
        alt: Text alternative.
        data: The table behind the figure; None takes the drawn values themselves.
    """
    entry = source.entry
    return Drawing(
        figure,
        alt,
        provenance.line(runs, entry.name),
        lambda: drawn(figure) if data is None else data,
        lambda: settings_of(entry, runs),
    )


def finished(entry: Entry, objectives: Sequence[str] | None = None) -> pd.DataFrame:
    """The finished runs of a study, or those of some objectives.

    Raises:
        CannotDraw: If there is none.
    """
    runs = entry.store.table(entry.name)
    runs = runs[runs["status"] == "finished"] if len(runs) else runs
    if objectives is not None and len(runs):
        runs = runs[runs["objective"].isin(objectives)]
    if runs.empty:
        kind = f" with objective {' or '.join(objectives)}" if objectives else ""
        raise CannotDraw(f"no run of the study {entry.id!r}{kind} has finished")
    return runs


def ended(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that have ended, whether they finished, diverged or failed: a chart shows or counts them all."""
    return runs[runs["status"].isin(ENDED)]


def progress(entry: Entry, runs: pd.DataFrame) -> Progress:
    """How far the study is, counting what has ended."""
    done = len(ended(runs))
    planned = len(entry.definition.expand()) if entry.definition else done
    return Progress(done, max(done, planned))


def chance_of(runs: pd.DataFrame) -> float:
    """Accuracy of guessing the class."""
    return 1 / max(int(runs["classes"].max()), 1)
