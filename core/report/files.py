"""Where reports are kept: `<runs>/reports/<name>.toml`, written so that a reader never sees half of one."""

import time
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from core.report import kept
from core.report.definition import FigureItem, Item, Report, ReportError
from core.studies.files import write_bytes
from core.studies.names import STUDY_NAME, cannot_write

REPORTS = "reports"  # below the store of the person's own runs
KEPT_FOR = 86_400  # seconds that a figure which no report shows stays
DRAFT = "draft"  # the report that pages add figures to


def folder_of(runs: Path) -> Path:
    """The folder of reports beside a person's runs."""
    return runs / REPORTS


def names(folder: Path) -> list[str]:
    """Names of the saved reports, the draft first."""
    try:
        found = sorted(path.stem for path in folder.glob("*.toml") if STUDY_NAME.fullmatch(path.stem))
    except OSError:
        return []
    return sorted(found, key=lambda name: name != DRAFT)


def path_of(folder: Path, name: str) -> Path:
    """The file of a report, whether it exists or not.

    Raises:
        ReportError: If the name cannot be a file's.
    """
    if not isinstance(name, str) or not STUDY_NAME.fullmatch(name):
        raise ReportError(
            f"report name: must be 1 to 64 lower-case letters, digits, '-' or '_', starting with a letter or digit, got {name!r}"
        )
    return folder / f"{name}.toml"


def read(folder: Path, name: str) -> Report:
    """A saved report; an empty one if there is none of that name.

    Raises:
        ReportError: If the name cannot be one, or the file holds a mistake.
    """
    path = path_of(folder, name)
    return Report.from_toml(path) if path.is_file() else Report()


def kept_in(report: Report) -> list[str]:
    """Names of the kept figures that a report shows, each once."""
    items = (item for item in report.item if isinstance(item, FigureItem) and item.figure == "kept")
    return list(dict.fromkeys(str(item.options.get("file", "")) for item in items))


def packed(report: Report, folder: Path, name: str) -> bytes:
    """A report's definition and its kept figures as a ZIP, which `core report` finds them in once it is unpacked.

    A kept figure that is missing here is left out.
    """
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.toml", report.to_toml())
        for figure in kept_in(report):
            path = kept.path_of(figure, folder)
            if path.is_file():
                archive.write(path, f"{kept.FOLDER}/{path.name}")
    return file.getvalue()


def save(folder: Path, name: str, report: Report) -> Path:
    """Write a report under a name.

    Raises:
        ReportError: If the name cannot be one, or the folder cannot be written.
    """
    path = path_of(folder, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, report.to_toml().encode())
    except OSError as error:
        raise ReportError(cannot_write(folder, error)) from None
    return path


def add(folder: Path, item: Item, name: str = DRAFT) -> int:
    """Put an item at the end of a report; returns how many it has then."""
    report = read(folder, name)
    report = report.with_items([*report.item, item])
    save(folder, name, report)
    return len(report.item)


def delete(folder: Path, name: str) -> None:
    """Remove a saved report, and old kept figures that no other report shows; younger ones stay, so that it can be undone.

    Raises:
        ReportError: If the name cannot be one, or the file cannot be removed.
    """
    try:
        path_of(folder, name).unlink(missing_ok=True)
        _drop_unused(folder)
    except OSError as error:
        raise ReportError(cannot_write(folder, error)) from None


def _drop_unused(folder: Path) -> None:
    try:
        used = {figure for name in names(folder) for figure in kept_in(read(folder, name))}
    except ReportError:  # a report that cannot be read may show any of them
        return
    for path in (folder / kept.FOLDER).glob("*.json"):
        if path.stem not in used and time.time() - path.stat().st_mtime > KEPT_FOR:
            path.unlink(missing_ok=True)
