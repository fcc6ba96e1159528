"""Download one file so that an interrupted download goes on where it stopped."""

import contextlib
import errno
import hashlib
import http.client
import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from core.datasets.locks import locked

BLOCK = 2**18  # bytes per read
TIMEOUT = 20  # seconds without a byte before a connection counts as lost
RETRIES = 4  # lost connections in a row, without a new byte, before giving up on an address
PAUSE = 0.5  # seconds before the first retry; doubles with each
RECORD_EVERY = 0.25  # seconds between progress records
SPARE = 2**24  # bytes that must stay free on the disk

Progress = Callable[[dict[str, Any]], None]


class RemoteFile(NamedTuple):
    """A published file."""

    name: str
    urls: tuple[str, ...]  # tried in this order
    md5: str


class DownloadError(Exception):
    """A file could not be downloaded; the text is the reason."""


def fetch(file: RemoteFile, folder: Path, on_progress: Progress) -> Path:
    """Download a file into a folder, unless it is there already.

    The bytes are collected in NAME.part, which stays when the download breaks off: the next call asks the server only for
    the rest. The file gets its name once its checksum is right. Two processes may ask for the same file at once; the second
    one waits for the first.

    Args:
        file: What to download.
        folder: Where to; made if missing.
        on_progress: Called with {"kind": "download", "file": name, "done": bytes, "total": bytes or None,
            "rate": bytes per second} about four times a second, and once at the end.

    Returns:
        Path of the complete file.

    Raises:
        DownloadError: If no address delivers the file, the checksum is wrong twice, or the disk is full.
        OSError: If the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / file.name
    with locked(target):
        if target.is_file():
            return target
        part = folder / f"{file.name}.part"
        for _ in range(2):  # a part of something else, left by an earlier version of the file, spoils the first try
            resumed = part.is_file()
            _collect(file, part, on_progress)
            if _md5(part) == file.md5:
                os.replace(part, target)
                return target
            part.unlink()
            if not resumed:
                break
    raise DownloadError(f"{file.name} arrived with another checksum than the published one ({file.md5}); it was deleted")


def _collect(file: RemoteFile, part: Path, on_progress: Progress) -> None:
    """Bring the part file to full length, from the first address that works."""
    reasons = []
    for url in file.urls:
        try:
            _collect_from(url, file.name, part, on_progress)
            return
        except DownloadError as error:
            reasons.append(f"{url}: {error}")
    raise DownloadError("; ".join(reasons))


def _collect_from(url: str, name: str, part: Path, on_progress: Progress) -> None:
    failures = 0
    while True:
        before = _length(part)
        try:
            _stream(url, name, part, on_progress)
            return
        except urllib.error.HTTPError as error:
            if error.code < 500:  # not found, forbidden: asking again changes nothing
                raise DownloadError(f"the server answers {error.code} {error.reason}") from error
            reason = f"the server answers {error.code} {error.reason}"
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            reason = _in_words(error)
            if isinstance(getattr(error, "reason", None), OSError) and _length(part) == before == 0 and failures >= 1:
                raise DownloadError(reason) from error  # no connection at all, twice: offline
        failures = 0 if _length(part) > before else failures + 1
        if failures > RETRIES:
            raise DownloadError(reason)
        time.sleep(PAUSE * 2**failures)


def _in_words(error: Exception) -> str:
    """Why a connection failed, without the numbers of the operating system."""
    cause = getattr(error, "reason", None) or error
    if isinstance(cause, socket.gaierror):
        return "the address of the server was not found; this machine may be offline"
    return getattr(cause, "strerror", None) or str(cause) or type(error).__name__


def _stream(url: str, name: str, part: Path, on_progress: Progress) -> None:
    """One connection: append what the server sends, from where the part file ends."""
    start = _length(part)
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:  # nothing left to send: complete, or longer than the file; the checksum decides
            return
        raise
    with response:
        if response.status != 206:
            start = 0  # the server sends the file from its beginning
        left = response.headers.get("Content-Length")
        total = start + int(left) if left else None
        _check_space(part, (total or 0) - start)
        with _open_part(part, start) as out:
            for done, rate in _copy(response, out, start):
                on_progress({"kind": "download", "file": name, "done": done, "total": total, "rate": rate})
    if total is not None and _length(part) < total:
        raise ConnectionError(f"the connection broke off after {_length(part):,} of {total:,} bytes")


def _copy(response: http.client.HTTPResponse, out: Any, done: int) -> Iterator[tuple[int, float]]:
    """Write the body; yields bytes so far and bytes per second, now and then and at the end."""
    began = reported = time.monotonic()
    first = done
    while block := response.read1(BLOCK):
        out.write(block)
        done += len(block)
        now = time.monotonic()
        if now - reported >= RECORD_EVERY:
            reported = now
            yield done, (done - first) / (now - began)
    yield done, (done - first) / max(time.monotonic() - began, 1e-9)


@contextlib.contextmanager
def _open_part(part: Path, start: int) -> Iterator[Any]:
    """The part file, ready to be written from byte `start`; a full disk becomes a DownloadError."""
    try:
        with open(part, "r+b" if start else "wb") as out:
            out.seek(start)
            yield out
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DownloadError(f"the disk with {part.parent} is full; free some space and start again, it will go on") from error
        raise


def _check_space(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed + SPARE > free:
        raise DownloadError(
            f"{needed / 1e6:,.0f} MB are still to come and the disk with {part.parent} has {free / 1e6:,.0f} MB free; "
            "free some space, or name another folder with CONTRASTIVE_LENS_CACHE"
        )


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
