"""Store: read the studies under a folder. The supervisor writes them; whatever it leaves at any moment can be read.

    <root>/<study>/study.toml            the definition
                   state.json            who is at work, counts, last sign of life
                   results.jsonl         one line per ended run: the summary that tables are read from
                   <run_id>/spec.json    written before the run starts
                            metrics.jsonl        one line per epoch
                            checkpoint.safetensors, embedding.npz, log.txt
                            result.json          written last: with it the run is done

Shipped results have the same form, without checkpoints, and with all epochs in `curves.jsonl.gz`.
"""

import gzip
import json
import threading
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import ValidationError

from core.studies import manage
from core.studies.files import Lines, read_json, read_lines
from core.studies.names import RUN_ID, STUDY_NAME, StudyError, check_run, check_study
from core.studies.process import is_running
from core.studies.records import Begun, Curve, Epoch, Launch, Pulse, Result, Row, conforms
from core.studies.state import ACTIVE, StudyState, judge
from core.studies.study import StudySpec
from core.studies.table import KINDS, table
from core.training.spec import RunResult, RunSpec
from core.validation import explain

CURVES = "curves.jsonl.gz"
NUMBERS = frozenset(name for name, kind in KINDS.items() if kind in (int, float)) & RunResult.model_fields.keys()
ROWS = ("pca", "labels", "index", "code", "predicted", "h")  # arrays of an embedding that are as long as z


class Ended(NamedTuple):
    """The ended runs of a study, as they were read last."""

    summary: Lines  # results.jsonl
    sound: dict[str, dict[str, Any]]  # its records by run
    problems: dict[str, str]  # what is wrong with each of its records that cannot be used
    folders: list[dict[str, Any]]  # runs that it lacks
    rows: list[dict[str, Any]]
    left_out: tuple[str, ...]  # what is wrong with each run that nothing sound was found of


class Store:
    """The studies under one folder. Safe to share between threads; keeps what it has read until the file changes."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)
        self._lock = threading.RLock()
        self._summaries: dict[str, Lines] = {}
        self._ended: dict[str, Ended] = {}
        self._frames: dict[str, tuple[list[dict[str, Any]], pd.DataFrame]] = {}  # rows, and the table made of them
        self._definitions: dict[str, tuple[tuple[int, ...], StudySpec]] = {}
        self._single: dict[Path, tuple[int, dict[str, Any]]] = {}  # runs that the summary lacks
        self._curves: dict[str, tuple[tuple[int, int], dict[str, list[dict]]]] = {}

    # Studies

    def studies(self) -> list[str]:
        """Names of the studies, sorted; empty if the folder is missing."""
        try:
            names = [path.name for path in self.root.iterdir() if STUDY_NAME.fullmatch(path.name)]
        except OSError:
            return []
        marks = ("study.toml", "results.jsonl", "state.json")
        return sorted(name for name in names if any((self.root / name / mark).is_file() for mark in marks))

    def folder(self, study: str) -> Path:
        """The folder of a study, whether it exists or not.

        Raises:
            StudyError: If the name cannot be a study's.
        """
        return self.root / check_study(study)

    def run_folder(self, study: str, run_id: str) -> Path:
        """The folder of a run, whether it exists or not.

        Raises:
            StudyError: If the name or the id cannot be one.
        """
        return self.folder(study) / check_run(run_id)

    def definition(self, study: str) -> StudySpec | None:
        """The study's definition, read again when its file changes; None if it has none or it cannot be read."""
        path = self.folder(study) / "study.toml"
        try:
            found = path.stat()
            signature = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._definitions.get(study, (None,))[0] != signature:
                self._definitions[study] = (signature, StudySpec.from_toml(path))
            return self._definitions[study][1]
        except (OSError, StudyError):
            return None

    def definition_problem(self, study: str) -> str:
        """Why the study's definition cannot be used, one line; empty if it can, or if there is none."""
        path = self.folder(study) / "study.toml"
        try:
            StudySpec.from_toml(path)
        except StudyError as error:
            return str(error).splitlines()[0] if path.exists() else ""
        return ""

    def title(self, study: str) -> str:
        """The study's title; its name if it has none."""
        definition = self.definition(study)
        return (definition.title if definition else "") or study

    def state(self, study: str) -> StudyState:
        """How the study is doing; never raises for files that are missing, half written or broken."""
        folder = self.folder(study)
        launch = read_json(self.root / ".requests" / f"{study}.launch.json", Launch)
        written = read_json(folder / "state.json", Pulse)
        if launch and float(launch.get("at", 0)) > float((written or {}).get("started", 0)):
            if is_running(launch):
                known = {"total": (written or {}).get("total", 0)}  # what is left stays left while a resumed study starts up
                return self._judged(study, known)._replace(status="queued", pid=launch.get("pid"), message="Starting up.")
            if not (written and is_running(written)):
                said = last_line(self.root / ".logs" / f"{study}.log") or "The supervisor ended before it began, without a word."
                return self._judged(study, written or {})._replace(status="failed", message=said)
        if not folder.is_dir():
            return StudyState("missing", message=f"There is no study {study!r} in {self.root}.")
        if written is not None:
            return self._judged(study, written)
        state = self._judged(study, {})
        if not state.ended and not state.message and (folders := len(_run_folders(folder))):
            held = f"{folders} run folder{'s' if folders > 1 else ''}"
            said = f"No result can be read, although there are {held}: results.jsonl is missing or damaged."
            state = state._replace(message=said)
        definition = self.definition(study)
        total = max(state.ended, len(definition.expand()) if definition else 0)
        rested = "finished" if state.ended == total else "stopped"
        broken = (folder / "state.json").exists()
        return state._replace(
            status=rested if state.ended else "empty",
            total=total,
            queued=total - state.ended,
            message="state.json cannot be read; the counts come from the results." if broken else state.message,
        )

    def table(self, study: str) -> pd.DataFrame:
        """One row per run that has begun: label, status, attempt, all fields of its RunSpec and its RunResult.

        Args:
            study: Name; a missing study gives an empty table with all columns.

        Returns:
            Ended runs in the order in which they ended, then runs in progress with the values of their last epoch. status is
            one of finished, diverged, failed, running, queued (begun, to be begun again), stopped, stalled. Of fields that
            both specification and result have (device, n_train, n_test) the measured one is shown.
        """
        ended = self.ended_rows(study)
        frame = self._frame_of(study, ended)
        begun = self._begun(study, {row["run_id"] for row in ended})
        return pd.concat([frame, table(begun)], ignore_index=True) if begun else frame.copy(deep=False)

    # Runs

    def spec(self, study: str, run_id: str) -> RunSpec | None:
        """The settings of a run; None if the study has no such run, or one of another version of this code."""
        row = self._row(study, run_id)
        return None if row is None or _spec_problem(row["spec"]) else RunSpec(**row["spec"])

    def label(self, study: str, run_id: str) -> str:
        """The label of the block that the run belongs to; empty if unknown."""
        return (self._row(study, run_id) or {}).get("label", "")

    def result(self, study: str, run_id: str) -> RunResult | None:
        """What the run measured; None if it has not ended."""
        row = self._row(study, run_id)
        return RunResult(**row["result"]) if row and row.get("result") else None

    def history(self, study: str, run_id: str) -> pd.DataFrame:
        """One row per epoch of a run: epoch, loss, loss_floor, alignment, uniformity, online_accuracy, ...

        Args:
            study: Name of the study.
            run_id: The run; also one in progress.

        Returns:
            The epochs of the last attempt, in order; empty for an unknown run.
        """
        return pd.DataFrame.from_records(self.epochs(study, run_id))

    def epochs(self, study: str, run_id: str) -> list[dict[str, Any]]:
        """The same as `history`, as plain records."""
        records = read_lines(self.run_folder(study, run_id) / "metrics.jsonl").records or self._curve(study, run_id)
        return last_attempt(records)

    def embedding(self, study: str, run_id: str) -> dict[str, np.ndarray] | None:
        """The arrays of embedding.npz: z, pca, labels, index, code, predicted; None if missing or unreadable."""
        path = self.run_folder(study, run_id) / "embedding.npz"
        try:
            with np.load(path, allow_pickle=False) as arrays:
                found = {name: arrays[name] for name in arrays.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error):
            return None
        return found if _is_embedding(found) else None

    def checkpoint(self, study: str, run_id: str) -> Path | None:
        """Where the run's checkpoint lies; None if there is none."""
        path = self.run_folder(study, run_id) / "checkpoint.safetensors"
        return path if path.is_file() else None

    def log(self, study: str, run_id: str) -> str:
        """The run's log: the tracebacks of its failed attempts; empty if nothing went wrong."""
        try:
            return (self.run_folder(study, run_id) / "log.txt").read_text("utf-8", errors="replace")
        except OSError:
            return ""

    # Changes that a page may make while no supervisor is at work

    def delete(self, study: str, run_ids: Iterable[str] | None) -> str:
        """Move runs, or with None the whole study, to the trash; returns the token for `undo`. See `manage.delete`."""
        return manage.delete(self, study, run_ids)

    def trashed(self, study: str) -> list[manage.Trashed]:
        """What of the study can be brought back with `undo`. See `manage.trashed`."""
        return manage.trashed(self, study)

    def undo(self, token: str) -> tuple[str, int]:
        """Bring back what one `delete` took away; returns the study and the number of runs. See `manage.undo`."""
        return manage.undo(self, token)

    def export(self, study: str, destination: str | Path) -> Path:
        """Copy the ended runs into the form of shipped results; returns the new folder. See `manage.export`."""
        return manage.export(self, study, destination)

    # Inside

    def ended_rows(self, study: str) -> list[dict[str, Any]]:
        """One record per ended run, as the summary holds them; what the summary lacks is read from the run folders."""
        return self._ended_of(study).rows

    def _judged(self, study: str, written: dict[str, Any]) -> StudyState:
        counts = {"finished": 0, "diverged": 0, "failed": 0}
        read = self._ended_of(study)
        for row in read.rows:
            status = row["result"].get("status")
            counts[status if status in counts else "failed"] += 1
        state = judge(written, counts)
        return state._replace(message=f"{state.message} {_said(read.left_out)}".strip()) if read.left_out else state

    def _frame_of(self, study: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
        """The table of the ended runs, made when it is first asked for: a time estimate reads every study and needs none."""
        with self._lock:
            frame = _grown(self._frames.get(study), rows)
            self._frames[study] = rows, frame
            return frame

    def _ended_of(self, study: str) -> Ended:
        folder = self.folder(study)
        with self._lock:
            summary = self._summaries[study] = read_lines(folder / "results.jsonl", self._summaries.get(study))
            known = self._ended.get(study)
            if known is None or known.summary is not summary:
                sound, problems = _sound(summary.records, known.rows if known else [])
            else:
                sound, problems = known.sound, known.problems
            # A broken record is looked up in its folder.
            folders = [row for path in _run_folders(folder) if path.name not in sound and (row := self._from_folder(path))]
            if known is None or known.summary is not summary or known.folders != folders:
                extra, worse = _sound(folders, known.rows if known else [])
                rows = [*sound.values(), *extra.values()]
                left_out = tuple(text for run_id, text in (problems | worse).items() if run_id not in extra)
                self._ended[study] = known = Ended(summary, sound, problems, folders, rows, left_out)
            return known

    def _from_folder(self, folder: Path) -> dict[str, Any] | None:
        """The summary line of an ended run, made from its folder; None if it has not ended."""
        path = folder / "result.json"
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            return None
        if self._single.get(path, (0,))[0] != changed:
            row = summary_row(read_json(folder / "spec.json", Begun), read_json(path, Result))
            if row is None or row["run_id"] != folder.name:
                return None
            self._single[path] = (changed, row)
        return self._single[path][1]

    def _begun(self, study: str, ended: set[str]) -> list[dict[str, Any]]:
        """Rows of the runs that have a folder and no result."""
        folder = self.folder(study)
        open_runs = [path for path in _run_folders(folder) if path.name not in ended]
        if not open_runs:
            return []
        state = self.state(study)
        at_work = {run.run_id for run in state.runs}
        idle = "queued" if state.status in ACTIVE else ("stalled" if state.status == "stalled" else "stopped")
        rows = []
        for path in open_runs:
            spec = read_json(path / "spec.json", Begun)
            if spec is None or _spec_problem(spec["spec"]):
                continue
            epochs = last_attempt(read_lines(path / "metrics.jsonl").records)
            last = {key: value for key, value in (epochs[-1] if epochs else {}).items() if key in RunResult.model_fields}
            done = epochs[-1].get("epoch", 0) if epochs else 0
            rows.append(
                {
                    "run_id": path.name,
                    "label": spec.get("label", ""),
                    "status": "running" if path.name in at_work else idle,
                    "attempt": epochs[-1].get("attempt", 1) if epochs else 1,
                    "spec": spec["spec"],
                    "result": {**last, "run_id": path.name, "epochs_done": done},
                }
            )
        return rows

    def _row(self, study: str, run_id: str) -> dict[str, Any] | None:
        folder = self.run_folder(study, run_id)
        row = next((row for row in self.ended_rows(study) if row["run_id"] == run_id), None)
        if row is None:
            spec = read_json(folder / "spec.json", Begun)
            row = {**spec, "run_id": run_id} if spec else None
        return row

    def _curve(self, study: str, run_id: str) -> list[dict[str, Any]]:
        """Epochs of a shipped run."""
        path = self.folder(study) / CURVES
        with self._lock:
            try:
                found = path.stat()
                signature = (found.st_mtime_ns, found.st_size)
                if self._curves.get(study, ((0, 0),))[0] != signature:
                    runs = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
                    curves = {run["run_id"]: run["history"] for run in runs if conforms(run, Curve)}
                    self._curves[study] = (signature, curves)
            except (OSError, ValueError, EOFError, zlib.error):
                return []
            return self._curves[study][1].get(run_id, [])


def summary_row(spec: dict[str, Any] | None, result: dict[str, Any] | None) -> dict[str, Any] | None:
    """The line of results.jsonl from the contents of spec.json and result.json; None if one of them is not sound."""
    if not spec or not result:
        return None
    return {
        "run_id": result["result"]["run_id"],
        "label": spec.get("label", ""),
        "attempt": result.get("attempt", 1),
        "spec": spec["spec"],
        "result": result["result"],
    }


def last_attempt(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The epochs of the last attempt; a run that began again on another worker repeats its first epochs."""
    epochs = [record for record in records if record.get("kind", "epoch") == "epoch" and conforms(record, Epoch)]
    latest = max((record.get("attempt", 1) for record in epochs), default=1)
    return [
        {key: value for key, value in record.items() if key != "kind"} for record in epochs if record.get("attempt", 1) == latest
    ]


def last_line(path: Path) -> str:
    """The last line of a log that is not empty; empty if there is none."""
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _run_folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if RUN_ID.fullmatch(path.name))
    except OSError:
        return []


def _grown(known: tuple[list[dict[str, Any]], pd.DataFrame] | None, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The table of the rows; the part of it that was known is not made again."""
    before, frame = known or ([], None)
    count = len(before)
    if not count or len(rows) < count or any(old is not new for old, new in zip(before, rows, strict=False)):
        return table(rows)
    return pd.concat([frame, table(rows[count:])], ignore_index=True) if len(rows) > count else frame


def _sound(records: list[dict[str, Any]], known: list[dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """By run: the records that this version of the code can use, and what is wrong with the others.

    The last line about a run wins: a failed run may have been run again.
    """
    seen = {id(row) for row in known}  # read and checked before
    rows: dict[str, dict[str, Any]] = {}
    problems: dict[str, str] = {}
    for record in records:
        problem = "" if id(record) in seen else _problem(record)
        if problem:
            problems[str(record.get("run_id"))] = problem
        else:
            rows[record["run_id"]] = record
    return rows, {run_id: problem for run_id, problem in problems.items() if run_id not in rows}


def _problem(record: dict[str, Any]) -> str:
    """Why a record is no run of this version of the code; empty if it is one."""
    try:
        Row.model_validate(record)
    except ValidationError as error:
        return explain(error).splitlines()[0]
    problem = _spec_problem(record["spec"])
    try:
        RunResult.model_validate(record["result"])
    except ValidationError as error:
        problem = problem or explain(error).splitlines()[0]
    texts = [name for name, value in record["result"].items() if name in NUMBERS and isinstance(value, str | bool)]
    problem = problem or (f"{texts[0]}: must be a number, got {record['result'][texts[0]]!r}" if texts else "")
    return problem and f"run {record['run_id']}: {problem}"


def _spec_problem(spec: Any) -> str:
    """What this version of the code refuses in the settings of a run; empty if it takes them."""
    try:
        RunSpec.model_validate(spec)
    except ValidationError as error:
        return explain(error).splitlines()[0]
    return ""


def _is_embedding(arrays: dict[str, np.ndarray]) -> bool:
    """Whether arrays are those of an embedding, so that whoever draws them can rely on what belongs together."""
    if not arrays.keys() >= {"z", "labels"} or arrays["z"].ndim != 2:
        return False
    numbers = all(array.dtype.kind in "fiub" for array in arrays.values())
    return numbers and all(len(arrays[name]) == len(arrays["z"]) for name in ROWS if name in arrays and arrays[name].ndim)


def _said(left_out: tuple[str, ...]) -> str:
    """The records that are left out, for people."""
    count = len(left_out)
    results, are, them = ("result", "is", "it") if count == 1 else ("results", "are", "them")
    return f"{count} {results} {are} left out, because this version cannot read {them} ({left_out[0]})."
