"""Requests that pages leave for a supervisor at work, as small files outside the run folders: stop, delete, undo."""

import time
from pathlib import Path
from typing import Any, NamedTuple

from core.studies.files import read_json, write_json
from core.studies.manage import check_token, new_token
from core.studies.names import StudyError, cannot_write, check_run, check_study

FOLDER = ".requests"


class Request(NamedTuple):
    """What somebody asks for."""

    kind: str  # stop, delete or undo
    token: str  # of the trash, for delete and undo
    run_ids: frozenset[str]  # for delete


def request_stop(study: str, root: str | Path) -> None:
    """Ask the supervisor to stop: running runs end after their current batch, and count as not done.

    Args:
        study: Name of the study.
        root: Folder of the store.

    Raises:
        StudyError: If the name cannot be one, or the request cannot be written.
    """
    _leave(Path(root), f"{check_study(study)}.stop.json", {"kind": "stop"})


def request_delete(study: str, root: str | Path, run_ids: list[str]) -> str:
    """Ask the supervisor of a study at work to delete ended runs; `Store.delete` does it for a study at rest.

    Args:
        study: Name of the study.
        root: Folder of the store.
        run_ids: Runs to delete. Those in progress are left alone.

    Returns:
        The token for `request_undo` or `Store.undo`.

    Raises:
        StudyError: If a name or id cannot be one, or the request cannot be written.
    """
    token, wanted = new_token(), [check_run(run_id) for run_id in run_ids]
    _leave(Path(root), f"{check_study(study)}.delete.{token}.json", {"kind": "delete", "token": token, "run_ids": wanted})
    return token


def request_undo(study: str, root: str | Path, token: str) -> None:
    """Ask the supervisor of a study at work to bring deleted runs back; `Store.undo` does it for a study at rest.

    Raises:
        StudyError: If the name or token cannot be one, or the request cannot be written.
    """
    _leave(Path(root), f"{check_study(study)}.undo.{check_token(token)}.json", {"kind": "undo", "token": token})


def take(study: str, root: Path, since: float = 0.0) -> list[Request]:
    """Read and remove the requests for a study.

    Args:
        study: Name of the study.
        root: Folder of the store.
        since: Seconds since 1970; older requests to stop were meant for an earlier supervisor.

    Returns:
        Sound requests, oldest first; broken ones are dropped.
    """
    found = []
    for kind in ("stop", "delete", "undo"):
        for path in (root / FOLDER).glob(f"{study}.{kind}.*json"):
            content = read_json(path) or {}
            path.unlink(missing_ok=True)
            if kind != "stop" or content.get("at", 0) >= since:
                found.append((content.get("at", 0), kind, content))
    return [request for _, kind, content in sorted(found, key=lambda entry: entry[0]) if (request := _request(kind, content))]


def forget_stop(study: str, root: Path) -> None:
    """Remove a request to stop that nobody has taken."""
    (root / FOLDER / f"{study}.stop.json").unlink(missing_ok=True)


def _request(kind: str, content: dict[str, Any]) -> Request | None:
    try:
        token = "" if kind == "stop" else check_token(content.get("token", ""))
        return Request(kind, token, frozenset(check_run(run_id) for run_id in content.get("run_ids", ())))
    except StudyError:
        return None


def _leave(root: Path, name: str, content: dict[str, Any]) -> None:
    try:
        (root / FOLDER).mkdir(parents=True, exist_ok=True)
        write_json(root / FOLDER / name, {"at": time.time(), **content})
    except OSError as error:
        raise StudyError(cannot_write(root, error)) from None
