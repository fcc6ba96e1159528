"""The settings behind a figure as a study file: `python -m core sweep` of it runs the same runs, with the same ids."""

import pandas as pd

from core.studies.catalogue import Entry
from core.studies.names import STUDY_NAME
from core.studies.refine import study_of
from core.studies.study import StudySpec


def study_behind(entry: Entry, runs: pd.DataFrame) -> StudySpec:
    """The study that consists of the runs shown.

    Args:
        entry: The study that they belong to.
        runs: The runs shown; at least one.

    Returns:
        The study's own definition if the runs are all it asks for, or all of it that has begun; else a study of exactly these
        runs, as for a figure of two selected ones.
    """
    shown = set(runs["run_id"])
    if entry.definition is not None:
        asked = {run.run_id for run in entry.definition.expand()}
        begun = set(entry.store.table(entry.name)["run_id"])
        if shown <= asked and shown >= begun & asked:
            return entry.definition
    specs = [entry.store.spec(entry.name, run_id) for run_id in runs["run_id"]]
    name = f"{entry.name[:57]}-shown"
    title = f"Runs shown of {entry.title}"
    return study_of([spec for spec in specs if spec is not None], name if STUDY_NAME.fullmatch(name) else "shown-runs", title)


def settings_of(entry: Entry, runs: pd.DataFrame) -> str:
    """The same as TOML text."""
    return study_behind(entry, runs).to_toml()
