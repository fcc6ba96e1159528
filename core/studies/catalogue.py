"""Which studies a person can look at: results that are shipped, their own runs, and definitions that wait to be run."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from core.studies.names import STUDY_NAME, StudyError
from core.studies.store import Store
from core.studies.study import StudySpec
from core.training.spec import RunSpec

Origin = Literal["results", "runs", "defined"]
TIMED_PER_STUDY = 500  # newest ended runs that a time estimate looks at


class Entry(NamedTuple):
    """One study of the catalogue."""

    name: str
    origin: Origin  # shipped results, own runs, or a definition without any
    store: Store  # where its runs are, or would be
    definition: StudySpec | None  # None if it has none that can be read

    @property
    def id(self) -> str:
        """What stands in an address: `results/randbit-mnist-5k`."""
        return f"{self.origin}/{self.name}"

    @property
    def title(self) -> str:
        """The study's title; its name if it has none."""
        return (self.definition.title if self.definition else "") or self.name

    def varies(self, dial: str) -> bool:
        """Whether the study has at least two values of a RunSpec field in some grid."""
        return self.definition is not None and any(len(block.grid.get(dial, ())) > 1 for block in self.definition.blocks)


def catalogue(results: Store, runs: Store, definitions: Path) -> list[Entry]:
    """All studies: shipped ones first, then own runs, then definitions that have neither.

    Args:
        results: Shipped results.
        runs: The person's own runs.
        definitions: Folder of study files.

    Returns:
        One entry per place: a study that is shipped and was run again has two. Definitions that cannot be read are left out.
    """
    entries = [
        Entry(name, origin, store, read_definition(store.folder(name) / "study.toml"))
        for origin, store in (("results", results), ("runs", runs))
        for name in store.studies()
    ]
    known = {entry.name for entry in entries}
    for path in sorted(definitions.glob("*.toml")):
        spec = read_definition(path)
        if spec is not None and spec.name not in known:
            entries.append(Entry(spec.name, "defined", runs, spec))
            known.add(spec.name)
    return entries


def find(entries: Sequence[Entry], wanted: str | None) -> Entry | None:
    """The entry that an address names.

    Args:
        entries: What there is.
        wanted: An id such as `runs/randbit-quick`. A bare name will do, and on a machine that has the study elsewhere so will
            another origin.

    Returns:
        The entry with that id, else the first one with that name, else None.
    """
    if not wanted:
        return None
    name = wanted.rpartition("/")[2]
    if not STUDY_NAME.fullmatch(name):
        return None
    named = [entry for entry in entries if entry.name == name]
    return next((entry for entry in named if entry.id == wanted), next(iter(named), None))


def timed(entries: Iterable[Entry]) -> list[tuple[RunSpec, float]]:
    """Runs whose time was measured, with their seconds, for `study.estimate`."""
    found = []
    for entry in entries:
        path = entry.store.folder(entry.name) / "results.jsonl"
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            continue
        found += _timed(entry.store, entry.name, changed)
    return found


def read_definition(path: Path) -> StudySpec | None:
    """A study file, read again only when it has changed; None if it is missing or holds a mistake."""
    try:
        found = path.stat()
    except OSError:
        return None
    return _definition(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def _definition(path: Path, _changed: int, _size: int) -> StudySpec | None:
    try:
        return StudySpec.from_toml(path)
    except StudyError:
        return None


@lru_cache(maxsize=64)
def _timed(store: Store, study: str, _changed: int) -> tuple[tuple[RunSpec, float], ...]:
    rows = [row for row in store.ended_rows(study)[-TIMED_PER_STUDY:] if row["result"].get("status") == "finished"]
    return tuple((RunSpec(**row["spec"]), row["result"]["seconds"]) for row in rows if row["result"].get("seconds"))
