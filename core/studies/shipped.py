"""The folders that studies lie in: definitions and results that ship with this code, and the user's own runs."""

import os
from pathlib import Path

from core.studies.names import STUDY_NAME, StudyError
from core.studies.study import StudySpec

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = ROOT / "data" / "studies"
RESULTS = ROOT / "data" / "results"


def runs_root() -> Path:
    """The folder of the user's own runs: CONTRASTIVE_LENS_RUNS, else `runs` beside the code."""
    return Path(os.environ.get("CONTRASTIVE_LENS_RUNS") or ROOT / "runs")


def results_root() -> Path:
    """The folder of shipped results: CONTRASTIVE_LENS_RESULTS, else the one in this code's data."""
    return Path(os.environ.get("CONTRASTIVE_LENS_RESULTS") or RESULTS)


def names() -> list[str]:
    """Names of the shipped definitions, sorted."""
    return sorted(path.stem for path in DEFINITIONS.glob("*.toml") if STUDY_NAME.fullmatch(path.stem))


def definition(name: str) -> StudySpec:
    """A shipped definition.

    Args:
        name: One of `names()`.

    Returns:
        The study.

    Raises:
        StudyError: If there is none of that name.
    """
    if name not in names():
        raise StudyError(f"there is no shipped study {name!r}; there are: {', '.join(names())}")
    return StudySpec.from_toml(DEFINITIONS / f"{name}.toml")


def file_or_name(text: str) -> StudySpec:
    """A study by the path of its file, or by the name of a shipped definition; a file goes first.

    Raises:
        StudyError: If there is neither, or the file holds a mistake.
    """
    if not text.strip():  # as a path, no name at all would be the current folder
        raise StudyError(f"STUDY.toml: must name a file or a shipped study, got {text!r}")
    return definition(text) if not Path(text).exists() and text in names() else StudySpec.from_toml(text)
