"""InspectionStore: the inspections under a folder. A job writes them; pages read whatever it leaves at any moment.

    <root>/<id>/spec.json       what was asked
               report.json     what the checkpoint holds
               launch.json     which process was started for it, until that process writes its own state
               state.json      who is at work, how far, last sign of life
               summary.json    numbers
               arrays.npz      embeddings, spectra, histograms

The summary is written last: with it the inspection is done.
"""

import io
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from core.inspections.spec import InspectionSpec
from core.inspections.state import InspectionState, judge
from core.studies.files import read_json, write_bytes, write_json
from core.studies.manage import check_token, new_token
from core.studies.names import StudyError, cannot_write
from core.studies.process import identity, is_running

INSPECTION_ID = re.compile(r"[0-9a-f]{12}")
TRASH = ".trash"
STOP = "stop"
LOG = "log.txt"


class InspectionError(ValueError):
    """Something a person can put right about an inspection. Its text says what to do."""


class Inspection(NamedTuple):
    """A finished inspection, or the part of one that the embedding of a run gives. Missing parts are absent."""

    spec: InspectionSpec | None  # None for a run of a study
    report: dict[str, Any]  # a CheckpointReport; empty for a run of a study
    summary: dict[str, Any]  # see core.inspections.measure.Summary
    arrays: dict[str, np.ndarray]  # see core.inspections.measure


class Listed(NamedTuple):
    """One inspection in a list."""

    id: str
    spec: InspectionSpec
    state: InspectionState
    changed: float  # seconds since 1970


class InspectionStore:
    """The inspections under one folder, `runs/inspections` in the dashboard.

    Args:
        root: The folder; made when the first inspection is created.
    """

    def __init__(self, root: Path | str):
        self.root = Path(root)

    def folder(self, inspection_id: str) -> Path:
        """Where an inspection lies, whether it exists or not.

        Raises:
            InspectionError: If the id cannot be one; an id from an address never becomes another path.
        """
        if not isinstance(inspection_id, str) or not INSPECTION_ID.fullmatch(inspection_id):
            raise InspectionError(f"inspection id: must be 12 hexadecimal digits, got {inspection_id!r}")
        return self.root / inspection_id

    # Reading

    def list(self) -> list[Listed]:
        """All inspections, the latest first; empty if the folder is missing."""
        try:
            names = [path.name for path in self.root.iterdir() if INSPECTION_ID.fullmatch(path.name)]
        except OSError:
            return []
        found = []
        for name in names:
            spec = self.spec(name)
            if spec is not None:
                found.append(Listed(name, spec, self.state(name), _changed(self.root / name)))
        return sorted(found, key=lambda listed: (-listed.changed, listed.id))

    def spec(self, inspection_id: str) -> InspectionSpec | None:
        """What was asked; None if there is no such inspection or its file is broken."""
        return _spec(read_json(self.folder(inspection_id) / "spec.json"))

    def state(self, inspection_id: str) -> InspectionState:
        """How it is doing; never raises for files that are missing, half written or broken."""
        folder = self.folder(inspection_id)
        written = read_json(folder / "state.json")
        if written is None and (launch := read_json(folder / "launch.json")) is not None:
            if is_running(launch):
                return InspectionState("queued", part="starting")
            return InspectionState(
                "failed", message=f"Its process ended before it began. {self.last_words(inspection_id)}".rstrip()
            )
        state = judge(written)
        if state.status == "missing" and (folder / "summary.json").is_file():
            return InspectionState("finished", share=1.0)
        if state.status == "finished" and not (folder / "summary.json").is_file():
            return InspectionState("failed", message="Its result was taken away. Run it again.")
        return state

    def process(self, inspection_id: str) -> dict[str, Any] | None:
        """The process that is, or was, at work on it; None if there never was one."""
        folder = self.folder(inspection_id)
        return read_json(folder / "state.json") or read_json(folder / "launch.json")

    def last_words(self, inspection_id: str) -> str:
        """The last line that its process wrote into its log; empty if it said nothing."""
        try:
            text = (self.folder(inspection_id) / LOG).read_text("utf-8", errors="replace")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")

    def load(self, inspection_id: str) -> Inspection | None:
        """A finished inspection; None if there is none, or its files are broken."""
        folder = self.folder(inspection_id)
        spec, summary = self.spec(inspection_id), read_json(folder / "summary.json")
        if spec is None or summary is None:
            return None
        try:
            with np.load(folder / "arrays.npz", allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, KeyError):
            return None
        for array in arrays.values():
            array.setflags(write=False)  # pages share them between sessions
        return Inspection(spec, read_json(folder / "report.json") or {}, summary, arrays)

    def stamp(self, inspection_id: str) -> str:
        """Changes whenever the result does, or is damaged: part of the key of everything that is kept about it."""
        folder = self.folder(inspection_id)
        try:
            found = [(folder / name).stat() for name in ("summary.json", "arrays.npz")]
        except OSError:
            return "none"
        return " ".join([str(self.root), inspection_id, *(f"{file.st_mtime_ns}-{file.st_size}" for file in found)])

    # Writing: by the job, or by what starts it

    def create(self, spec: InspectionSpec) -> str:
        """Make the folder of an inspection, with its specification; an older result is replaced when the new one is done.

        Returns:
            Its id.

        Raises:
            InspectionError: If the folder cannot be written.
        """
        folder = self.folder(spec.inspection_id)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in (STOP, "state.json", "launch.json"):  # of an earlier try
                (folder / name).unlink(missing_ok=True)
            write_json(folder / "spec.json", spec.model_dump(mode="json", exclude_defaults=True))
        except OSError as error:
            raise InspectionError(cannot_write(folder, error)) from None
        return spec.inspection_id

    def write_launch(self, inspection_id: str, pid: int) -> None:
        """Say which process was started; what it writes itself goes before this."""
        write_json(self.folder(inspection_id) / "launch.json", identity(pid), durable=False)

    def write_state(self, inspection_id: str, **fields: Any) -> None:
        """Write state.json, with this process as the one at work.

        Args:
            inspection_id: The inspection.
            fields: status, part, share, rate, seconds_left, message, started, heartbeat.
        """
        final = fields.get("status") in {"stopped", "failed", "finished"}
        write_json(self.folder(inspection_id) / "state.json", {**identity(), **fields}, durable=final)

    def write_result(
        self, inspection_id: str, report: dict[str, Any], summary: dict[str, Any], arrays: dict[str, np.ndarray]
    ) -> None:
        """Write what an inspection found; the summary last, for with it the inspection is done.

        Raises:
            InspectionError: If it cannot be written, on a full disk for example; an older result is then whole, or missing.
        """
        folder = self.folder(inspection_id)
        try:
            (folder / "summary.json").unlink(missing_ok=True)
            write_json(folder / "report.json", report)
            write_bytes(folder / "arrays.npz", _packed(arrays))
            write_json(folder / "summary.json", summary)
        except OSError as error:
            raise InspectionError(cannot_write(folder, error)) from None

    # Requests

    def request_stop(self, inspection_id: str) -> None:
        """Ask a job to stop; it ends after its current batch.

        Raises:
            InspectionError: If the request cannot be written.
        """
        folder = self.folder(inspection_id)
        try:
            write_bytes(folder / STOP, b"")
        except OSError as error:
            raise InspectionError(cannot_write(folder, error)) from None

    def stop_requested(self, inspection_id: str) -> bool:
        """Whether somebody has asked the job to stop."""
        return (self.folder(inspection_id) / STOP).exists()

    def delete(self, inspection_id: str) -> str:
        """Move an inspection to the trash.

        Returns:
            A token for `undo`.

        Raises:
            InspectionError: If there is none, it is at work, or the folder cannot be written.
        """
        folder, token = self.folder(inspection_id), new_token()
        if not folder.is_dir():
            raise InspectionError(f"There is no inspection {inspection_id} in {self.root}.")
        if self.state(inspection_id).active:
            raise InspectionError("The inspection is at work. Stop it first, then delete it.")
        try:
            (self.root / TRASH / token).mkdir(parents=True)
            os.rename(folder, self.root / TRASH / token / inspection_id)
        except OSError as error:
            raise InspectionError(cannot_write(self.root, error)) from None
        return token

    def undo(self, token: str) -> str:
        """Bring back what `delete` took away.

        Returns:
            The id of the inspection.

        Raises:
            InspectionError: If the token is unknown, or the inspection exists again.
        """
        try:
            folder = self.root / TRASH / check_token(token)
        except StudyError as error:
            raise InspectionError(str(error)) from None
        deleted = [path for path in folder.glob("*") if INSPECTION_ID.fullmatch(path.name)] if folder.is_dir() else []
        if not deleted:
            raise InspectionError(f"There is nothing to undo under {token}; it was undone already, or the trash was emptied.")
        if (self.root / deleted[0].name).exists():
            raise InspectionError(f"Inspection {deleted[0].name} exists again; delete it before you bring the old one back.")
        os.rename(deleted[0], self.root / deleted[0].name)
        shutil.rmtree(folder, ignore_errors=True)
        return deleted[0].name


def _spec(content: dict[str, Any] | None) -> InspectionSpec | None:
    try:
        return InspectionSpec(**{key: value for key, value in (content or {}).items() if key != "format_version"})
    except ValidationError:
        return None


def _changed(folder: Path) -> float:
    """When the inspection was asked for."""
    try:
        return (folder / "spec.json").stat().st_mtime
    except OSError:
        return 0.0


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    """Arrays as the bytes of an npz file, not compressed: embeddings hardly shrink, and opening is six times faster."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()
