"""Keep uploaded files once each, under the hash of their content; the name a visitor gave never becomes a path."""

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from core.checkpoints.report import CheckpointError, Limits
from core.checkpoints.tensors import bytes_text

CHUNK = 2**22  # bytes read at a time
MAX_NAME = 120  # characters of a name kept for display
DIGEST = re.compile(r"[0-9a-f]{64}")
STALE = 24 * 3600.0  # seconds after which an unfinished upload is swept away
FORMAT_VERSION = 1


class Upload(NamedTuple):
    """One stored file."""

    sha256: str
    path: Path
    name: str  # as the visitor called it, cleaned; for display only
    bytes: int
    added: float  # seconds since 1970


class UploadStore:
    """A folder of uploaded files: `<sha256>/content` and `<sha256>/about.json`.

    Args:
        root: The folder, `runs/uploads` in the dashboard; made when the first file arrives.
        limit: Greatest size of a file in bytes.
    """

    def __init__(self, root: Path | str, limit: int | None = None):
        self.root = Path(root)
        self.limit = Limits().file_bytes if limit is None else limit

    def add(self, stream: BinaryIO, name: str, on_progress: Callable[[int], None] | None = None) -> Upload:
        """Store a file while it is read, in pieces.

        Args:
            stream: Read to its end.
            name: What the visitor calls it.
            on_progress: Called with the number of bytes stored so far.

        Returns:
            The stored file; an older one with the same content keeps its place and gets the new name.

        Raises:
            CheckpointError: If the stream is empty or longer than the limit; nothing is kept then.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        self._sweep()
        digest, size = hashlib.sha256(), 0
        handle, temporary = tempfile.mkstemp(prefix=".partial-", dir=self.root)
        try:
            with os.fdopen(handle, "wb") as file:
                while chunk := stream.read(CHUNK):
                    size += len(chunk)
                    if size > self.limit:
                        raise CheckpointError(
                            "too_large", f"The file has more than {bytes_text(self.limit)}, the limit for uploads. {HINT}"
                        )
                    digest.update(chunk)
                    file.write(chunk)
                    if on_progress is not None:
                        on_progress(size)
                file.flush()
                os.fsync(file.fileno())
            if size == 0:
                raise CheckpointError("damaged", "The file is empty (0 bytes). The upload did not finish; try again.")
            return self._settle(Path(temporary), digest.hexdigest(), name, size)
        finally:
            Path(temporary).unlink(missing_ok=True)

    def get(self, sha256: str) -> Upload | None:
        """The file with this hash, or None; anything that is no hash finds nothing."""
        if not DIGEST.fullmatch(sha256):
            return None
        folder = self.root / sha256
        try:
            about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
            content = folder / "content"
            return Upload(sha256, content, str(about["name"]), content.stat().st_size, float(about["added"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def all(self) -> list[Upload]:
        """All stored files, the newest first."""
        folders = self.root.iterdir() if self.root.is_dir() else ()
        found = (self.get(folder.name) for folder in folders)
        return sorted((upload for upload in found if upload is not None), key=lambda upload: -upload.added)

    def remove(self, sha256: str) -> bool:
        """Delete a file; False if there was none."""
        upload = self.get(sha256)
        if upload is None:
            return False
        for part in ("about.json", "content"):
            (upload.path.parent / part).unlink(missing_ok=True)
        upload.path.parent.rmdir()
        return True

    def _settle(self, temporary: Path, sha256: str, name: str, size: int) -> Upload:
        """Move a complete file to its place; the description comes last, so a folder without one is unfinished."""
        folder = self.root / sha256
        folder.mkdir(exist_ok=True)
        os.chmod(temporary, 0o600)  # data, never a program
        os.replace(temporary, folder / "content")
        about = {"format_version": FORMAT_VERSION, "name": clean_name(name), "bytes": size, "added": time.time()}
        handle, waiting = tempfile.mkstemp(prefix=".partial-", dir=self.root)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(about, file)
        os.replace(waiting, folder / "about.json")
        return Upload(sha256, folder / "content", about["name"], size, about["added"])

    def _sweep(self) -> None:
        """Remove what interrupted uploads left behind."""
        for path in self._partial():
            try:
                if time.time() - path.stat().st_mtime > STALE:
                    path.unlink()
            except OSError:
                continue  # another process was faster

    def _partial(self) -> Iterator[Path]:
        return self.root.glob(".partial-*")


HINT = "Save the state_dict without the optimizer, raise the limit, or open the file from the disk of this computer."


def clean_name(name: str) -> str:
    """A name that is safe to show: no folders, no control characters, not too long, never empty."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(char for char in last if char.isprintable()).strip(" .")
    return shown[-MAX_NAME:] or "checkpoint"
