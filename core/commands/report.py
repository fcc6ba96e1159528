"""What `python -m core report` does: write a report, or a snapshot of a study, as HTML, PDF or slides."""

import json
from pathlib import Path

from core.report import files, kept
from core.report.definition import Report
from core.report.forms import FORMS, as_bytes
from core.report.resolve import resolve
from core.report.snapshot import snapshot
from core.studies.catalogue import Entry, catalogue, find
from core.studies.names import StudyError, cannot_write
from core.studies.shipped import DEFINITIONS, results_root
from core.studies.store import Store


def write_report(definition: Path | None, study: str | None, out: Path, store: Path, as_json: bool) -> None:
    """Write the file and say where.

    Args:
        definition: A report.toml; None for a snapshot of a study.
        study: Name or id of the study of a snapshot; None for a report.
        out: The file; its ending decides the form.
        store: The person's own runs; shipped results are always there, too.
        as_json: Print JSON.

    Raises:
        ValueError: If neither or both are given, the ending is unknown, the definition holds a mistake, a study is not here or
            has nothing to show, no browser is there to draw with, or the file cannot be written.
        PictureError: If the browser could not draw.
    """
    if (definition is None) == (study is None):
        raise ValueError("give either a report definition or --study NAME")
    form = out.suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ValueError(f"--out: must end in {', '.join(f'.{known}' for known in FORMS)}, got {out.name!r}")
    entries = catalogue(Store(results_root()), Store(store), DEFINITIONS)
    if study is not None:
        report = snapshot(_entry(study, entries), entries)
    else:
        found = Report.from_toml(definition)
        folder = _folder(found, definition, store)
        report = resolve(found, entries, folder, source=str(definition), both=form == "html")
    content = as_bytes(report, form)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(content)
    except OSError as error:
        raise StudyError(cannot_write(out.parent, error)) from None
    figures = len(report.figures)
    if as_json:
        print(json.dumps({"file": str(out), "bytes": len(content), "figures": figures}))
    else:
        print(f"{out}  {len(content) / 1e6:.1f} MB, {figures} figure{'s' if figures != 1 else ''}")


def _folder(found: Report, definition: Path, store: Path) -> Path:
    """Where the kept figures of a report lie: beside it, or, if it was saved from the page, beside the person's reports."""
    beside, own = definition.resolve().parent, files.folder_of(store)
    lacks = any(not kept.path_of(figure, beside).is_file() for figure in files.kept_in(found))
    there = all(kept.path_of(figure, own).is_file() for figure in files.kept_in(found))
    return own if lacks and there else beside


def _entry(wanted: str, entries: list[Entry]) -> Entry:
    entry = find(entries, wanted)
    if entry is None or entry.origin == "defined":
        known = ", ".join(entry.id for entry in entries if entry.origin != "defined") or "none yet"
        raise StudyError(f"there are no results of a study {wanted!r}; there are: {known}")
    return entry
