"""Files that are never seen half written: whole files by replacement, line files by appending, and a tolerant reader."""

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from core.studies.records import Record, conforms

FORMAT_VERSION = 1
FINGERPRINT = 64  # bytes before the read position that must be unchanged for a line file to count as "grown"


def write_bytes(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file so that a reader sees the old content or the new, and after a crash one of the two.

    Args:
        path: Where; its folder exists.
        content: Everything the file shall hold.
        durable: Wait until the content is on the disk. False for what is rewritten every few seconds anyway.

    Raises:
        OSError: If it cannot be written; then no trace of the attempt is left.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def write_json(path: Path, content: dict[str, Any], durable: bool = True) -> None:
    """Write a JSON object with its format version, as `write_bytes` does."""
    text = json.dumps({"format_version": FORMAT_VERSION, **content}, ensure_ascii=False)
    write_bytes(path, text.encode(), durable)


def read_json(path: Path, like: type[Record] | None = None) -> dict[str, Any] | None:
    """Read a JSON object; None if the file is missing, half written, not an object, or not what `like` describes."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and (like is None or conforms(content, like)) else None


def append_lines(path: Path, records: Iterable[dict[str, Any]], durable: bool = False) -> None:
    """Append JSON objects to a line file; a half-written last line of an earlier process is closed first.

    Args:
        path: The line file; made if missing.
        records: One object per line.
        durable: Wait until the lines are on the disk.

    Raises:
        OSError: If they cannot be written; then the file is as it was.
    """
    content = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    if not content:
        return
    with open(path, "ab+", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                content = b"\n" + content
        try:
            written = file.write(content)
            if written != len(content):  # a disk that fills up takes the first part without an error
                file.write(content[written:])
            if durable:
                os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), size)
            raise


class Lines(NamedTuple):
    """What a line file held when it was read, and where reading can go on."""

    records: list[dict[str, Any]]
    broken: int  # lines that are no JSON object; a half-written last line is not counted
    offset: int  # bytes read, up to the last complete line
    fingerprint: bytes  # the last bytes before the offset
    signature: tuple[int, ...]  # inode, size, time of the last change


def read_lines(path: Path, before: Lines | None = None) -> Lines:
    """Read a line file, or only what was added since the last time.

    Args:
        path: The line file; a missing one reads as empty.
        before: What the last call returned; reused as far as the file only grew.

    Returns:
        All records. A last line without a newline counts if it is complete.
    """
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            signature = (found.st_ino, found.st_size, found.st_mtime_ns)
            if before is not None and before.signature == signature:
                return before
            start = _position(file, before, found)
            file.seek(start)
            content = file.read(found.st_size - start)
            end = start + content.rfind(b"\n") + 1
            file.seek(max(0, end - FINGERPRINT))
            fingerprint = file.read(min(end, FINGERPRINT))
    except OSError:
        return Lines([], 0, 0, b"", ())
    records = list(before.records) if before is not None and start else []
    broken = before.broken if before is not None and start else 0
    complete, _, rest = content.rpartition(b"\n")
    for line in complete.split(b"\n"):
        record = _record(line)
        if record is not None:
            records.append(record)
        elif line.strip():
            broken += 1
    last = _record(rest)
    if last is not None:  # complete, but for its newline; read again next time
        return Lines([*records, last], broken, 0, b"", signature)
    return Lines(records, broken, end, fingerprint, signature)


def _position(file: Any, before: Lines | None, found: os.stat_result) -> int:
    """Where to go on reading: after the lines already read if they are still there, else at the start.

    A file written anew is another inode; its lines may end like the old ones at the same byte.
    """
    if before is None or not before.offset or found.st_size < before.offset or found.st_ino != before.signature[0]:
        return 0
    file.seek(before.offset - len(before.fingerprint))
    return before.offset if file.read(len(before.fingerprint)) == before.fingerprint else 0


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = from_json(line)  # faster than json.loads, and it knows NaN and Infinity, which diverged runs have
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder survive a power cut, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows has no handles of folders
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
