"""One writer per study: a lock file that names the process holding it, and that a dead process cannot keep."""

import contextlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.studies.files import read_json
from core.studies.names import StudyError
from core.studies.process import identity, is_here, is_running
from core.studies.records import Holder

if TYPE_CHECKING:
    from filelock import FileLock

FOREIGN_TIMEOUT = 60.0  # seconds without a sign of life after which a lock of another machine counts as left behind
GUARD_TIMEOUT = 10.0  # seconds; it is held for milliseconds
LOCK = "lock.json"


def holder(folder: Path) -> dict[str, Any] | None:
    """Who holds the lock of a study.

    Args:
        folder: The study's folder.

    Returns:
        {"pid", "created", "host", "since"} of a live holder; None if nobody holds it or the holder is dead.
    """
    path = folder / LOCK
    found = read_json(path, Holder)
    return found if found and _is_live(found, path) else None


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[Path]:
    """Hold the lock of a study.

    Args:
        folder: The study's folder; it exists.

    Yields:
        The lock file. Its holder touches it as a sign of life for other machines.

    Raises:
        StudyError: If another process holds it.
        OSError: If the file cannot be written.
    """
    path = folder / LOCK
    mine = {**identity(), "since": time.time(), "token": secrets.token_hex(8)}
    with _guard(folder):
        found = read_json(path, Holder)
        if found and _is_live(found, path):
            raise StudyError(busy(folder.name, found))
        path.unlink(missing_ok=True)
        _create(path, mine)
    try:
        yield path
    finally:
        if path.exists():  # not if the whole study was moved away meanwhile
            with _guard(folder):
                if (read_json(path) or {}).get("token") == mine["token"]:
                    path.unlink(missing_ok=True)


def _guard(folder: Path) -> "FileLock":
    """Held for the moment of looking and taking: two that find the same dead lock must not take each other's new one away.

    It is the system's own lock, which a dying process cannot keep.
    """
    from filelock import FileLock  # here, because pages read far more often than they change anything

    return FileLock(folder / ".lock.guard", timeout=GUARD_TIMEOUT)


def busy(study: str, found: dict[str, Any]) -> str:
    """What to tell a person who wants to write to a study that another process writes to."""
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(found.get("since", 0))))
    where = "" if is_here(found) else f" on {found.get('host')}"
    return f"study {study!r} is being run by process {found.get('pid')}{where} since {since}; stop that one first, or watch it"


def _create(path: Path, content: dict[str, Any]) -> None:
    """Make the lock file; complete from its first moment, and never over another one."""
    temporary = path.with_name(f".{path.name}.{content['token']}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            json.dump(content, file)
        os.link(temporary, path)  # fails if the name is taken
    finally:
        temporary.unlink(missing_ok=True)


def _is_live(found: dict[str, Any], path: Path) -> bool:
    if is_here(found):
        return is_running(found)
    try:
        return time.time() - path.stat().st_mtime < FOREIGN_TIMEOUT
    except OSError:
        return False
