"""Which studies are tau-lambda maps, which of them differ in the convention only, and which add cells to one another.

Pages import this module, so it uses pandas only.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from core.studies.catalogue import Entry
from core.studies.study import StudySpec
from core.training.spec import RunSpec

DIALS = ("tau", "lam")
MACHINE = ("seed", "threads", "device", "precision", "save_every")  # do not change what a cell means
CONVENTION = ("mask_self", "convention")


class Convention(NamedTuple):
    """How a map's loss is written."""

    key: str
    name: str  # in selectors
    sentence: str  # at the start of a sentence
    phrase: str  # inside one


CONVENTIONS = (
    Convention("masked", "Masked", "Self-similarity masked", "self-similarity masked"),
    Convention("kept", "Kept", "Self-similarity kept", "self-similarity kept"),
    Convention("notebook", "Notebook", "In the notebook's convention", "the notebook's convention"),
)


def is_map(entry: Entry) -> bool:
    """Whether a study varies both dials."""
    return all(entry.varies(dial) for dial in DIALS)


def convention(spec: RunSpec) -> Convention:
    """The convention of a run."""
    if spec.convention == "notebook":
        return CONVENTIONS[2]
    return CONVENTIONS[0] if spec.mask_self else CONVENTIONS[1]


def settings(definition: StudySpec, ignore: Sequence[str] = ()) -> tuple[str, ...] | None:
    """What all runs of a map share: every field but the dials and the machine; None if they share less than that."""
    return _settings(definition.to_toml(), tuple(ignore))


@lru_cache(maxsize=256)
def _settings(definition: str, ignore: tuple[str, ...]) -> tuple[str, ...] | None:
    """`settings` by the text of the definition: a page asks for those of every study at every rerun."""
    leave = {*DIALS, *MACHINE, *ignore}
    runs = StudySpec.from_text(definition).expand()
    found = {tuple(f"{field}={value!r}" for field, value in run.model_dump().items() if field not in leave) for run in runs}
    return found.pop() if len(found) == 1 else None


def siblings(entry: Entry, entries: Iterable[Entry]) -> dict[str, Entry]:
    """Maps that differ from this one in the convention only, this one included.

    Args:
        entry: A map.
        entries: The catalogue.

    Returns:
        Convention key -> map, in the order of CONVENTIONS. Of several maps of one convention the first with results wins, of this
        map's own convention this map.
    """
    own = settings(entry.definition, CONVENTION)
    found = {convention(first_run(entry)).key: entry}
    for other in sorted(entries, key=lambda other: other.origin == "defined"):
        if is_map(other) and own is not None and settings(other.definition, CONVENTION) == own:
            found.setdefault(convention(first_run(other)).key, other)
    return {kind.key: found[kind.key] for kind in CONVENTIONS if kind.key in found}


def same_map(entry: Entry, entries: Iterable[Entry]) -> list[Entry]:
    """Other studies with results whose runs are further cells or seeds of this map."""
    own = settings(entry.definition)
    return [
        other
        for other in entries
        if other.id != entry.id
        and other.origin != "defined"
        and other.definition is not None
        and own is not None
        and any(field in block.grid or field in block.fields for block in other.definition.blocks for field in DIALS)
        and settings(other.definition) == own
    ]


def merged(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Runs of several studies as one table; a run that several have counts once, a finished one before others."""
    tables = list(tables)
    filled = [table for table in tables if len(table)]
    if not filled:
        return tables[0] if tables else pd.DataFrame()
    everything = pd.concat(filled, ignore_index=True)
    order = (everything["status"] != "finished").sort_values(kind="stable").index
    return everything.loc[order].drop_duplicates("run_id").sort_index(ignore_index=True)


def first_run(entry: Entry) -> RunSpec:
    """Any run of the study: all of a map agree in everything but the dials."""
    return entry.definition.expand()[0]
