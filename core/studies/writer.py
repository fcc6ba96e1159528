"""StudyWriter: everything that is written under a study's folder while it runs. Only its supervisor has one."""

import contextlib
import functools
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from core.studies.files import append_lines, read_json, read_lines, write_bytes, write_json
from core.studies.manage import bring_back, move_to_trash, pack, write_rows
from core.studies.names import cannot_write
from core.studies.process import identity
from core.studies.records import Begun, Result
from core.studies.store import Store, summary_row
from core.studies.study import StudySpec
from core.studies.trained import Trained
from core.training.spec import RunResult, RunSpec

DONE = frozenset({"finished", "diverged"})  # never run again; a failed run is, the next time the study is started
RESERVE = ".reserve"  # given up when the disk is full, so that the state can say so
RESERVE_BYTES = 1 << 16


class CannotWrite(Exception):
    """The study's folder cannot be written any more: a full disk, a lost mount. Its text is for people."""


def _writes(method: Callable[..., Any]) -> Callable[..., Any]:
    """Tell errors of the disk from errors of the network, which Dask raises as OSError too."""

    @functools.wraps(method)
    def wrapped(self: "StudyWriter", *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except OSError as error:
            raise CannotWrite(cannot_write(self.folder, error)) from error

    return wrapped


class StudyWriter:
    """Writes the folder of one study. Its owner holds the study's lock."""

    def __init__(self, store: Store, study: StudySpec) -> None:
        self.store, self.study = store, study
        self.folder = store.folder(study.name)
        self._identity = identity()
        self._started = time.time()

    @_writes
    def open(self) -> set[str]:
        """Make the folder sound: definition written, summary complete, left-over temporary files gone.

        Returns:
            Ids of the runs that are done and need not be run again.

        Raises:
            CannotWrite: As every method here does, if the folder cannot be written.
        """
        for path in (*self.folder.glob(".*.tmp"), *self.folder.glob("*/.*.tmp")):
            path.unlink(missing_ok=True)
        write_bytes(self.folder / "study.toml", self.study.to_toml().encode())
        rows = [
            {**row, "label": self.study.label_of(row["run_id"]) or row.get("label", "")}
            for row in self.store.ended_rows(self.study.name)
        ]
        if read_lines(self.folder / "results.jsonl").records != rows or not _ends_with_newline(self.folder / "results.jsonl"):
            write_rows(self.folder, rows)
        write_bytes(self.folder / RESERVE, b"\1" * RESERVE_BYTES)
        return {row["run_id"] for row in rows if row["result"].get("status") in DONE}

    def close(self) -> None:
        """Give back the reserve."""
        with contextlib.suppress(OSError):
            (self.folder / RESERVE).unlink(missing_ok=True)

    @_writes
    def state(self, status: str, message: str = "", **facts: Any) -> None:
        """Write state.json: status, counts and runs in progress, with the time as a sign of life."""
        final = status in ("stopped", "failed", "finished")
        pulse = {"started": self._started, "heartbeat": time.time()}
        content = {**self._identity, "status": status, "message": message, **pulse, **facts}
        write_json(self.folder / "state.json", content, durable=final)

    @_writes
    def begin(self, run: RunSpec) -> int:
        """Make the run's folder with its spec.json.

        Returns:
            The number of this attempt: one more than the last one that left epochs behind.
        """
        folder = self.folder / run.run_id
        folder.mkdir(exist_ok=True)
        spec = {"run_id": run.run_id, "label": self.study.label_of(run), "spec": run.changed()}
        write_json(folder / "spec.json", {**spec, "all_fields": run.model_dump(mode="json")}, durable=False)
        records = read_lines(folder / "metrics.jsonl").records
        return 1 + max((record.get("attempt", 1) for record in records), default=0)

    @_writes
    def epoch(self, run_id: str, attempt: int, record: dict[str, Any]) -> None:
        """Append one epoch to the run's metrics.jsonl."""
        append_lines(self.folder / run_id / "metrics.jsonl", [{**record, "kind": "epoch", "attempt": attempt}])

    @_writes
    def log(self, run_id: str, text: str) -> None:
        """Append to the run's log.txt, with the time."""
        with open(self.folder / run_id / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text.rstrip()}\n")

    @_writes
    def end(self, run: RunSpec, attempt: int, trained: Trained) -> dict[str, Any]:
        """Write what an ended run left behind; result.json last, for with it the run is done.

        Returns:
            The run's line in the summary.
        """
        folder = self.folder / run.run_id
        history = [{**record, "kind": "epoch", "attempt": attempt} for record in trained.history]
        write_bytes(folder / "metrics.jsonl", _lines(history))
        if trained.checkpoint is not None:
            write_bytes(folder / "checkpoint.safetensors", trained.checkpoint)
        if trained.embedding is not None:
            write_bytes(folder / "embedding.npz", pack(trained.embedding))
        return self._close_run(run, attempt, trained.result)

    @_writes
    def fail(self, run: RunSpec, attempt: int, error: str) -> dict[str, Any]:
        """Write that a run failed for good.

        Args:
            run: The run.
            attempt: Its last attempt.
            error: What went wrong, one line.

        Returns:
            The run's line in the summary.
        """
        epochs = self.store.epochs(self.study.name, run.run_id)
        finished_at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
        result = RunResult(run_id=run.run_id, status="failed", error=error, epochs_done=len(epochs), finished_at=finished_at)
        return self._close_run(run, attempt, result.model_dump(mode="json"))

    @_writes
    def delete(self, run_ids: set[str], token: str) -> int:
        """Move ended runs to the trash, as `manage.delete` does; returns their number."""
        return move_to_trash(self.store, self.study.name, run_ids, token)

    @_writes
    def undo(self, token: str) -> int:
        """Bring back what `delete` took away; returns the number of runs."""
        return bring_back(self.store, token)

    def _close_run(self, run: RunSpec, attempt: int, result: dict[str, Any]) -> dict[str, Any]:
        path = self.folder / run.run_id / "result.json"
        write_json(path, {"attempt": attempt, "result": {**result, "run_id": run.run_id}})
        row = summary_row(read_json(path.with_name("spec.json"), Begun), read_json(path, Result))
        if row is None:  # somebody has taken the run's folder away under our hands
            raise FileNotFoundError(2, "the run's folder was changed by another program", str(path.parent))
        append_lines(self.folder / "results.jsonl", [row], durable=True)
        return row


def _lines(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _ends_with_newline(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return not content or content.endswith(b"\n")
