"""Decoded data sets on disk: one folder per data set and size, with plain .npy files and a manifest.

A folder appears in one step (a temporary folder is renamed), so readers see a complete entry or none. Two processes that
decode the same data at once both succeed; the second one finds the first one's entry and uses it. An entry whose manifest
is missing, unreadable, of another version, made from other files, or whose arrays have another size than the manifest
says, is rebuilt.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.datasets.locks import locked
from core.paths import expanded

FORMAT_VERSION = 1  # raise it when the content of an entry changes its meaning: old entries are then rebuilt
ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
RESERVE_BLOCK = 2**22  # bytes written at a time where the system cannot reserve space


class Entry(NamedTuple):
    """A decoded data set."""

    train_images: np.ndarray  # uint8 [n, h, w, c]
    train_labels: np.ndarray  # int64 [n]
    test_images: np.ndarray
    test_labels: np.ndarray
    classes: tuple[str, ...]
    notes: tuple[str, ...]


class Source(NamedTuple):
    """One file that an entry was made from."""

    name: str
    size: int  # bytes
    mtime_ns: int

    @classmethod
    def of(cls, path: Path, name: str | None = None) -> "Source":
        """The state of a file now; `name` is how the manifest calls it (default: the file's name)."""
        state = path.stat()
        return cls(name or path.name, state.st_size, state.st_mtime_ns)


Allocate = Callable[[str, tuple[int, ...]], np.ndarray]  # (array name, shape) -> writable uint8 array
Build = Callable[[Allocate], Entry]


def root() -> Path:
    """The cache folder: CONTRASTIVE_LENS_CACHE, or ~/.cache/contrastive-lens."""
    named = os.environ.get("CONTRASTIVE_LENS_CACHE")
    return expanded(named) if named else Path.home() / ".cache" / "contrastive-lens"


def cached(key: str, sources: Sequence[Source], build: Build) -> Entry:
    """The entry of this key, from disk if it is there and still fits its sources, else built and stored.

    Args:
        key: Folder name, unique per data set and image size.
        sources: The files the entry is made from. Empty: any complete entry of this key will do.
        build: Decodes the data set. It gets a function that allocates image arrays on disk or in memory.

    Returns:
        The entry, its arrays read-only. Where the cache cannot be written it lives in memory and a note says why.

    Raises:
        DataError: What `build` raises, unchanged.
    """
    folder = root() / "decoded" / key
    entry = read(folder, sources)
    if entry is not None:
        return entry
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder) as alone:
            if alone:
                _clear_abandoned(folder)
            return read(folder, sources) or _build_on_disk(folder, sources, build)
    except OSError as error:  # read-only, full, or not a folder: the cache is a convenience, the data set is not
        entry = build(lambda name, shape: np.empty(shape, np.uint8))
        return _frozen(entry._replace(notes=(*entry.notes, _why_not_cached(error))))


def read(folder: Path, sources: Sequence[Source]) -> Entry | None:
    """The entry in a folder, memory-mapped; None where it is missing, half-written, damaged, stale or of another version."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if manifest["format_version"] != FORMAT_VERSION:
            return None
        if sources and manifest["sources"] != fingerprint(sources):
            return None
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in ARRAYS}
        arrays = {name: array[: manifest["arrays"][name][0]] for name, array in arrays.items()}  # rows to spare at the end
        if any(list(array.shape) != manifest["arrays"][name] for name, array in arrays.items()):
            return None
        return Entry(**arrays, classes=tuple(manifest["classes"]), notes=tuple(manifest["notes"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError):  # np.load: ValueError for too short a file
        return None


def fingerprint(sources: Sequence[Source]) -> str:
    """SHA-256 over names, sizes and times of the source files, in the order of their names."""
    lines = sorted(f"{source.name}\t{source.size}\t{source.mtime_ns}" for source in sources)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _build_on_disk(folder: Path, sources: Sequence[Source], build: Build) -> Entry:
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".tmp", dir=folder.parent))
    try:
        _write(work, build(lambda name, shape: _reserve(work / f"{name}.npy", shape)), sources)
        _publish(work, folder, sources)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    stored = read(folder, sources)
    if stored is None:
        raise OSError(errno.EIO, "the stored arrays cannot be read back", str(folder))
    return stored


def _clear_abandoned(folder: Path) -> None:
    """Remove the temporary folders of processes that were killed; only for who holds the lock."""
    for pattern in (f".{folder.name}-*.tmp", f".{folder.name}-*.old"):
        for abandoned in folder.parent.glob(pattern):
            shutil.rmtree(abandoned, ignore_errors=True)


def _write(work: Path, entry: Entry, sources: Sequence[Source]) -> None:
    """Complete the files of an entry whose image arrays may already lie in `work`, with rows to spare at their ends."""
    for name in ARRAYS:
        array, path = getattr(entry, name), work / f"{name}.npy"
        if isinstance(array, np.memmap) and path.exists() and os.path.samefile(array.filename, path):
            array.flush()
        else:
            np.save(path, array)
    manifest: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "sources": fingerprint(sources),
        "source_files": len(sources),
        "arrays": {name: list(getattr(entry, name).shape) for name in ARRAYS},
        "classes": list(entry.classes),
        "notes": list(entry.notes),
    }
    (work / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _publish(work: Path, folder: Path, sources: Sequence[Source]) -> None:
    """Rename the finished folder into place; move a stale or broken entry out of the way first."""
    for _ in range(3):
        try:
            os.replace(work, folder)
            return
        except OSError:
            if not folder.exists() or read(folder, sources) is not None:  # no permission, or another process was first
                if folder.exists():
                    return
                raise
            old = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}.old")
            with contextlib.suppress(OSError):
                os.replace(folder, old)
                shutil.rmtree(old, ignore_errors=True)  # processes that have it open keep their pages
    raise OSError(errno.EEXIST, "an outdated entry cannot be replaced", str(folder))


def _reserve(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """A writable uint8 array in a file whose space is really there: a full disk fails here and not while pixels are written."""
    if 0 in shape:
        return np.empty(shape, np.uint8)  # nothing can be mapped
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
    size = path.stat().st_size
    if hasattr(os, "posix_fallocate"):
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    else:
        with open(path, "r+b") as file:
            file.seek(size - array.nbytes)
            for start in range(0, array.nbytes, RESERVE_BLOCK):
                file.write(bytes(min(RESERVE_BLOCK, array.nbytes - start)))
    return array


def _frozen(entry: Entry) -> Entry:
    for name in ARRAYS:
        getattr(entry, name).flags.writeable = False
    return entry


def _why_not_cached(error: OSError) -> str:
    reason = error.strerror or str(error)
    return (
        f"The decoded images could not be stored in {root()} ({reason}); they are kept in memory and decoded again next time. "
        "Set CONTRASTIVE_LENS_CACHE to a folder with free space that can be written."
    )
