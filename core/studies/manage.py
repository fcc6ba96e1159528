"""Delete runs so that it can be undone, and copy a study into the small form that is shipped."""

import calendar
import contextlib
import gzip
import io
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.studies.files import append_lines, read_json, write_bytes, write_json
from core.studies.lock import LOCK, lock
from core.studies.names import StudyError, cannot_write, check_run, check_study
from core.studies.records import Deleted

if TYPE_CHECKING:
    from core.studies.store import Store

TRASH = ".trash"
TOKEN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
SHIPPED_ROWS = 500  # points of a shipped embedding
FLAT = 3  # dimensions; the embedding of such a run is drawn as it is and says little about the encoder, so h is shipped too
BY_COLUMN = ("z_epochs",)  # arrays whose second axis counts the rows of an embedding


class Trashed(NamedTuple):
    """What one `delete` took away."""

    token: str  # for `undo`
    runs: int
    when: float  # seconds since 1970


def new_token() -> str:
    """A name for what is deleted together: the time, and some chance."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


def check_token(token: str) -> str:
    """Return the token if it can be a folder of the trash.

    Raises:
        StudyError: If it cannot.
    """
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        raise StudyError(f"undo token: must be as `delete` returned it, got {token!r}")
    return token


def delete(store: "Store", study: str, run_ids: Iterable[str] | None) -> str:
    """Move runs of a study at rest to the trash.

    Args:
        store: Where the study lies.
        study: Its name.
        run_ids: Runs to delete; None for the whole study.

    Returns:
        A token for `undo`.

    Raises:
        StudyError: If the study is missing or being run, an id cannot be one, or the folder cannot be written.
    """
    folder, token = _existing(store, study), new_token()
    wanted = None if run_ids is None else {check_run(run_id) for run_id in run_ids}
    with _writing(store), lock(folder):
        if wanted is None:
            _delete_study(store, study, token)
        else:
            move_to_trash(store, study, wanted, token)
    return token


def undo(store: "Store", token: str) -> tuple[str, int]:
    """Bring back what one `delete` took away.

    Args:
        store: Where it was deleted.
        token: What `delete` returned.

    Returns:
        The study, and the number of runs that came back. Runs that exist again in the meantime are left as they are.

    Raises:
        StudyError: If the token is unknown, or the study is being run.
    """
    folder = store.root / TRASH / check_token(token)
    manifest = read_json(folder / "manifest.json", Deleted)
    if manifest is None:
        raise StudyError(f"there is nothing to undo under {token}; it was undone already, or the trash was emptied")
    study = check_study(manifest["study"])
    with _writing(store):
        if manifest["whole"]:
            if store.folder(study).exists():
                raise StudyError(f"study {study!r} exists again; rename or delete it before you bring the old one back")
            os.rename(folder / study, store.folder(study))
            shutil.rmtree(folder)
            return study, len(store.ended_rows(study))
        with lock(_existing(store, study)):
            return study, bring_back(store, token)


def trashed(store: "Store", study: str) -> list[Trashed]:
    """The runs of a study that can be brought back, the last deleted first.

    Args:
        store: Where the study lies.
        study: Its name.

    Returns:
        One entry per `delete`; none for a study that was deleted as a whole, nor for what is empty or cannot be read.
    """
    found = [_trashed(path.parent, study) for path in (store.root / TRASH).glob("*/manifest.json")]
    return sorted(filter(None, found), key=lambda entry: entry.when, reverse=True)


def _trashed(folder: Path, study: str) -> Trashed | None:
    """What one folder of the trash holds of a study; None if nothing, or if somebody else brings it back at this moment."""
    manifest = read_json(folder / "manifest.json", Deleted)
    if manifest is None or manifest["study"] != study or manifest["whole"] or not TOKEN.fullmatch(folder.name):
        return None
    try:
        when = calendar.timegm(time.strptime(folder.name[:15], "%Y%m%dT%H%M%S"))
        runs = {row["run_id"] for row in manifest["rows"]} | {inner.name for inner in folder.iterdir() if inner.is_dir()}
    except (OSError, ValueError):  # taken away meanwhile; digits that are no date
        return None
    return Trashed(folder.name, len(runs), when) if runs else None  # a run in progress was left alone, so there may be none


def move_to_trash(store: "Store", study: str, run_ids: set[str], token: str) -> int:
    """`delete` for a caller that holds the study's lock.

    Returns:
        The number of runs deleted.
    """
    folder, trash = store.folder(study), store.root / TRASH / token
    rows = [row for row in store.ended_rows(study) if row["run_id"] in run_ids]
    trash.mkdir(parents=True)
    write_json(trash / "manifest.json", {"study": study, "whole": False, "rows": rows})
    # The summary first: if this process dies in between, the runs are still there, and read from their folders.
    write_rows(folder, [row for row in store.ended_rows(study) if row["run_id"] not in run_ids])
    for run_id in sorted(run_ids):
        if (folder / run_id).is_dir():
            os.rename(folder / run_id, trash / run_id)
    return len(rows)


def bring_back(store: "Store", token: str) -> int:
    """`undo` for a caller that holds the study's lock.

    Returns:
        The number of runs that came back.
    """
    trash = store.root / TRASH / token
    manifest = read_json(trash / "manifest.json") or {}
    folder = store.folder(manifest["study"])
    taken = {row["run_id"] for row in store.ended_rows(manifest["study"])}
    for path in trash.iterdir():
        if path.is_dir() and not (folder / path.name).exists():
            os.rename(path, folder / path.name)
    rows = [row for row in manifest["rows"] if row["run_id"] not in taken]
    append_lines(folder / "results.jsonl", rows, durable=True)
    shutil.rmtree(trash)
    return len(rows)


def write_rows(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write the summary of a study anew."""
    write_bytes(folder / "results.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())


def export(store: "Store", study: str, destination: str | Path) -> Path:
    """Copy the ended runs of a study into the form of shipped results: read like any study, without checkpoints.

    Args:
        store: Where the study lies.
        study: Its name.
        destination: Root of the store to copy into, such as data/results; an older copy there is replaced.

    Returns:
        The folder of the copy: study.toml, results.jsonl, curves.jsonl.gz, and embedding.npz (at most `SHIPPED_ROWS` rows) for
        the runs of the first seed. The same runs give the same bytes.

    Raises:
        StudyError: If the study is missing or has no ended run, or the destination cannot be written.
    """
    folder = _existing(store, study)
    rows = _in_order(store, study)
    if not rows:
        raise StudyError(f"study {study!r} has no ended run to export")
    target = Path(destination) / study
    if target.resolve() == folder.resolve():
        raise StudyError(f"destination: must be another folder than the store itself, got {destination}")
    first = min(row["spec"].get("seed", 0) for row in rows)
    fresh = target.with_name(f".{study}.{os.getpid()}.tmp")
    try:
        fresh.mkdir(parents=True)
        if (folder / "study.toml").is_file():
            shutil.copyfile(folder / "study.toml", fresh / "study.toml")
        write_rows(fresh, rows)
        curves = [{"run_id": row["run_id"], "history": store.epochs(study, row["run_id"])} for row in rows]
        text = "".join(json.dumps(curve, ensure_ascii=False) + "\n" for curve in curves if curve["history"])
        write_bytes(fresh / "curves.jsonl.gz", gzip.compress(text.encode(), mtime=0))
        for row in rows:
            arrays = store.embedding(study, row["run_id"]) if row["spec"].get("seed", 0) == first else None
            if arrays is not None:
                (fresh / row["run_id"]).mkdir()
                write_bytes(fresh / row["run_id"] / "embedding.npz", pack(thin(without_bulk(arrays), SHIPPED_ROWS)))
        shutil.rmtree(target, ignore_errors=True)
        os.rename(fresh, target)
    except OSError as error:
        raise StudyError(cannot_write(target, error)) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def pack(arrays: dict[str, np.ndarray]) -> bytes:
    """Arrays as the bytes of a compressed npz file."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def without_bulk(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays that a shipped embedding keeps: h, twice as large as z, only where z has two or three dimensions."""
    flat = arrays["z"].shape[1] <= FLAT
    return {name: array for name, array in arrays.items() if flat or name != "h"}


def thin(arrays: dict[str, np.ndarray], most: int) -> dict[str, np.ndarray]:
    """Keep at most `most` rows of an embedding, every class with its share.

    Args:
        arrays: Of one embedding; those as long as z are thinned, z_epochs along its second axis, others (histograms) are kept.
        most: Rows to keep.

    Returns:
        New arrays; the rows keep their order. The same input gives the same rows.
    """
    count = len(arrays["z"])
    if count <= most:
        return arrays
    labels = arrays.get("labels", np.zeros(count, dtype=np.int64))
    by_class = np.argsort(labels, kind="stable")  # even steps through the classes take each one's share
    rows = np.sort(by_class[np.floor(np.arange(most) * count / most).astype(np.int64)])
    return {
        name: array[:, rows] if name in BY_COLUMN else array[rows] if array.ndim and len(array) == count else array
        for name, array in arrays.items()
    }


def _in_order(store: "Store", study: str) -> list[dict[str, Any]]:
    """Ended runs in the order of the definition, then what it no longer holds."""
    definition = store.definition(study)
    order = {run.run_id: place for place, run in enumerate(definition.expand())} if definition else {}
    return sorted(store.ended_rows(study), key=lambda row: (order.get(row["run_id"], len(order)), row["run_id"]))


def _delete_study(store: "Store", study: str, token: str) -> None:
    trash = store.root / TRASH / token
    trash.mkdir(parents=True)
    write_json(trash / "manifest.json", {"study": study, "whole": True, "rows": []})
    os.rename(store.folder(study), trash / study)
    (trash / study / LOCK).unlink(missing_ok=True)


def _existing(store: "Store", study: str) -> Path:
    folder = store.folder(study)
    if not folder.is_dir():
        raise StudyError(f"there is no study {study!r} in {store.root}")
    return folder


@contextlib.contextmanager
def _writing(store: "Store") -> Iterator[None]:
    """Turn a folder that cannot be written into an error for people."""
    try:
        yield
    except OSError as error:
        raise StudyError(cannot_write(store.root, error)) from None
