"""Names that become folders: what a study and a run may be called, and the error that says why something cannot be done."""

import re
from pathlib import Path

STUDY_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
RUN_ID = re.compile(r"[0-9a-f]{12}")


class StudyError(ValueError):
    """Something a person can put right: a definition, a name, a folder, an address. Its text says what to do."""


def check_study(name: str) -> str:
    """Return the name if it can be a study's folder.

    Args:
        name: Candidate, from a file, a form or an address.

    Returns:
        The same name.

    Raises:
        StudyError: If it is not 1 to 64 lower-case letters, digits, `-` or `_`, starting with a letter or digit.
    """
    if not isinstance(name, str) or not STUDY_NAME.fullmatch(name):
        raise StudyError(
            f"study name: must be 1 to 64 lower-case letters, digits, '-' or '_', starting with a letter or digit, got {name!r}"
        )
    return name


def check_run(run_id: str) -> str:
    """Return the id if it can be a run's folder.

    Args:
        run_id: Candidate, from a file, a form or an address.

    Returns:
        The same id.

    Raises:
        StudyError: If it is not 12 hexadecimal digits in lower case.
    """
    if not isinstance(run_id, str) or not RUN_ID.fullmatch(run_id):
        raise StudyError(f"run id: must be 12 hexadecimal digits, got {run_id!r}")
    return run_id


def cannot_write(folder: str | Path, error: OSError) -> str:
    """What to tell a person whose folder cannot be written."""
    return f"the folder {folder} cannot be written ({(error.strerror or str(error)).lower()}); choose another, or make room"
