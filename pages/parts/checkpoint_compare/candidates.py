"""What can be compared: finished inspections of checkpoints, and runs whose embedding is stored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

from core import provenance
from core.comparison import MOST, Encoder
from core.figures.metrics import applies, short_setting
from core.inspections.runs import from_run
from core.inspections.store import Inspection
from core.studies.catalogue import Entry
from core.training.spec import RunSpec
from pages.parts import address, studies
from pages.parts.hypersphere.images import images_of
from pages.parts.hypersphere.source import Source
from pages.parts.inspect import pictures, places
from pages.parts.inspect.provenance import provenance as inspected
from pages.parts.kept import kept, version
from pages.parts.text import literal, quoted

FAVOURITE = "hypersphere-mnist-5k"
ADDRESS = "encoders"  # in the address: ids, separated by commas


class Candidate(NamedTuple):
    """One encoder that can be chosen."""

    id: str  # "run:results/<study>/<run>" or "inspection:<id>"
    name: str
    group: str  # study, or "Checkpoints"
    load: Callable[[], Inspection | None]
    stamp: str  # changes with the result
    made: Callable[[], str]  # how its numbers were made, a provenance line
    entry: Entry | None = None
    run_id: str = ""

    @property
    def label(self) -> str:
        """In the selector."""
        return f"{self.group}: {self.name}"


def candidates() -> list[Candidate]:
    """Everything that can be compared: the study of flat embeddings first, then checkpoints, then other runs."""
    runs = [candidate for entry in studies.entries(lambda entry: entry.origin != "defined") for candidate in _runs(entry)]
    first = [candidate for candidate in runs if candidate.entry.name == FAVOURITE]
    return [*first, *_checkpoints(), *(candidate for candidate in runs if candidate.entry.name != FAVOURITE)]


def choose(found: list[Candidate]) -> list[Candidate]:
    """Draw the selector; up to six, kept in the address.

    Args:
        found: At least one candidate.
    """
    by_id = {candidate.id: candidate for candidate in found}
    names = Counter(candidate.name for candidate in found)
    if "cmp_encoders" not in st.session_state:
        asked = [name for name in (address.recall(ADDRESS) or "").split(",") if name]
        wanted = [there for name in asked if (there := _here(name, by_id))][:MOST]
        if len(wanted) < len(asked):
            address.notice("The address names encoders that are not here, or more than six; the others are shown.")
        st.session_state["cmp_encoders"] = wanted or _default(found)
    else:  # what was deleted meanwhile must not stay selected
        st.session_state["cmp_encoders"] = [name for name in st.session_state["cmp_encoders"] if name in by_id]
    address.keep(ADDRESS, "cmp_encoders")  # the defaults too: on another machine they are others
    chosen = st.multiselect(
        "Encoders, up to six",
        list(by_id),
        format_func=lambda name: by_id[name].name if names[by_id[name].name] == 1 else by_id[name].label,
        max_selections=MOST,
        key="cmp_encoders",
        persist_state="session",
        help="Runs whose embedding is stored, and checkpoints that were inspected. Type to search.",
    )
    return [by_id[name] for name in chosen]


def elsewhere(name: str, by_id: Mapping[str, Candidate]) -> None:
    """Put the id that an encoder has here in place of the one that the address gives it, if it is another machine's.

    Args:
        name: Of the parameter.
        by_id: The encoders that are here.
    """
    wanted = address.recall(name)
    there = _here(wanted or "", by_id)
    if wanted and there is None:
        address.notice(f"The address names the encoder {quoted(wanted)}, which is not here.")
        address.forget(name)
        address.show_notices()
    elif there != wanted:
        address.remember(name, there)


def _here(wanted: str, by_id: Mapping[str, Candidate]) -> str | None:
    """The id of an encoder on this machine: a study may be shipped on one and somebody's own on another."""
    if wanted in by_id:
        return wanted
    study, run_id = wanted.partition("/")[2].rpartition("/")[::2]
    same = (c.id for c in by_id.values() if c.entry is not None and (c.entry.name, c.run_id) == (study, run_id))
    return next(same, None)


def encoder(candidate: Candidate) -> Encoder | None:
    """The numbers and arrays of a candidate, read once; None if its files are gone."""

    def read() -> Encoder | None:
        found = candidate.load()
        if found is None:
            return None
        names = found.arrays.keys() & {"z", "h"}
        if not names:
            return None
        images = _images_of(candidate, found)
        return Encoder(candidate.id, candidate.name, images, found.summary.get("h", {}), found.summary.get("z", {}), found.arrays)

    return kept(read, "compared encoder", candidate.id, candidate.stamp)


def unreadable(lost: list[Candidate]) -> str:
    """Which encoders cannot be shown because their files are gone or damaged, and what helps."""
    names = ", ".join(f"**{literal(candidate.label)}**" for candidate in lost)
    kinds = {candidate.entry is None for candidate in lost}
    again = {True: "Run the inspection again on the page Inspect", False: "Train the run again on the page Runs"}
    return f"{names} cannot be read: the result on disk is gone or damaged. {'. '.join(again[kind] for kind in sorted(kinds))}."


def source(candidate: Candidate) -> Source | None:
    """The same for the hypersphere views."""
    found = encoder(candidate)
    if found is None:
        return None
    space = "z" if "z" in found.arrays else "h"
    arrays = {name: found.arrays[name] for name in (space, "labels", "index", "predicted", "code") if name in found.arrays}
    arrays["z"] = arrays.pop(space)
    for kind in ("pca", "tsne"):
        if f"{kind}_{space}" in found.arrays:
            arrays[kind] = found.arrays[f"{kind}_{space}"]
    dim, stamp = arrays["z"].shape[1], f"{candidate.id} {candidate.stamp}"
    if candidate.entry is None:
        asked = candidate.load().spec
        return Source(
            id=stamp, name=candidate.name, about=f"{space}, d = {dim}", provenance=candidate.made(), arrays=arrays,
            bits=asked.bits, seed=asked.seed, images=lambda: pictures.data_of(asked),
        )  # fmt: skip
    entry = candidate.entry
    spec, row = entry.store.spec(entry.name, candidate.run_id), _row(candidate)
    total = row["n_test"].iloc[0] if len(row) else 0
    return Source(
        id=stamp, name=candidate.name, about=f"{entry.title}, d = {dim}", provenance=candidate.made(),
        arrays=arrays, bits=spec.bits, total=int(total) if total == total else 0, images=lambda: images_of(spec),
    )  # fmt: skip


def run_name(entry: Entry, row) -> str:
    """A run by its block's label and the settings that differ within the study."""
    dials = {dial for block in entry.definition.blocks for dial in block.grid} if entry.definition else set()
    values = [short_setting(dial, getattr(row, dial)) for dial in sorted(dials - {"head_dim"}) if applies(dial, row.objective)]
    if "head_dim" in dials:
        values.append(f"d = {row.head_dim}")
    if entry.definition and len(entry.definition.seeds) > 1:
        values.append(f"seed {row.seed}")
    return ", ".join(filter(None, (row.label or row.objective, *values)))


def _runs(entry: Entry) -> list[Candidate]:
    """Finished runs of a study whose embedding is stored; looked up again only when the study changes."""

    def look() -> list[Candidate]:
        table = studies.table(entry)
        rows = [
            row
            for row in table[table["status"] == "finished"].itertuples()
            if (entry.store.run_folder(entry.name, row.run_id) / "embedding.npz").is_file()
        ]
        return [_run(entry, row) for row in rows]

    return kept(look, "candidates", entry.id, version(entry))


def _run(entry: Entry, row) -> Candidate:
    name, run_id = run_name(entry, row), row.run_id
    load = lambda: from_run(entry.store, entry.name, run_id)  # noqa: E731
    stamp = f"{version(entry)} {run_id}"
    return Candidate(f"run:{entry.id}/{run_id}", name, entry.title, load, stamp, lambda: _made(entry, [run_id]), entry, run_id)


def _checkpoints() -> list[Candidate]:
    finished = [found for found in places.everything() if found.state.status == "finished"]
    return [_checkpoint(found) for found in finished]


def _checkpoint(found: places.Found) -> Candidate:
    stamp = found.store.stamp(found.id)
    made = lambda: inspected(found, places.load(found))  # noqa: E731
    return Candidate(f"inspection:{found.id}", found.spec.name, "Checkpoint", lambda: places.load(found), stamp, made)


def _made(entry: Entry, run_ids: Sequence[str]) -> str:
    """How the numbers of some runs of a study were made."""
    table = studies.table(entry)
    return provenance.line(table[table["run_id"].isin(run_ids)], study=entry.title)


def made(chosen: Sequence[Candidate]) -> str:
    """How everything that is compared was made: one line per study and checkpoint, joined."""
    runs: dict[str, list[Candidate]] = {}
    for candidate in chosen:
        if candidate.entry is not None:
            runs.setdefault(candidate.entry.id, []).append(candidate)
    lines = [_made(some[0].entry, [candidate.run_id for candidate in some]) for some in runs.values()]
    return " | ".join([*lines, *(candidate.made() for candidate in chosen if candidate.entry is None)])


def _default(found: list[Candidate]) -> list[str]:
    """The two-dimensional runs of the study of flat embeddings; without it, the first candidates."""
    two = [candidate.id for candidate in found if candidate.group == found[0].group and candidate.name.endswith("d = 2")]
    return (two or [candidate.id for candidate in found])[:MOST]


def _images_of(candidate: Candidate, found: Inspection) -> str:
    """Which test images an encoder has seen: indexes count within these."""
    if candidate.entry is not None:
        spec: RunSpec | None = candidate.entry.store.spec(candidate.entry.name, candidate.run_id)
        return f"{spec.dataset} {spec.data_root} {spec.n_test}" if spec else candidate.id
    return f"{found.spec.dataset} {found.spec.data_root} None"


def _row(candidate: Candidate) -> pd.DataFrame:
    """The run in the table of its study."""
    table = studies.table(candidate.entry)
    return table[table["run_id"] == candidate.run_id]
