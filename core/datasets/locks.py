"""Let one process at a time work on a file or folder of the cache."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock


@contextlib.contextmanager
def locked(target: Path) -> Iterator[bool]:
    """Hold a lock that belongs to a path; the system frees it when its holder dies.

    Args:
        target: What is worked on; the lock is the hidden file .NAME.lock beside it.

    Yields:
        True; False on a file system without locks, where everything stays correct but work may be done twice.

    Raises:
        OSError: If the folder cannot be written.
    """
    lock = FileLock(target.with_name(f".{target.name}.lock"))
    try:
        lock.acquire()
    except NotImplementedError:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
