"""Start a study in a process of its own, and end one that does not answer. Pages use this and `requests`."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import psutil

from core.studies.files import write_bytes, write_json
from core.studies.lock import busy, holder
from core.studies.names import StudyError, cannot_write, check_study
from core.studies.process import identity, is_running
from core.studies.requests import FOLDER as REQUESTS
from core.studies.requests import forget_stop, request_delete, request_stop, request_undo
from core.studies.study import StudySpec

ROOT = Path(__file__).resolve().parents[2]  # where `python -m core` works
LOGS = ".logs"

__all__ = ["is_alive", "kill", "request_delete", "request_stop", "request_undo", "start"]


def start(study: str | Path | StudySpec, root: str | Path, workers: int | None = None, scheduler: str | None = None) -> int:
    """Run a study in a detached process that outlives this one; running it again resumes it.

    Args:
        study: A definition, the path of its file, or its TOML text.
        root: Folder of the store; made if missing.
        workers: Runs at the same time; None for one per core.
        scheduler: Address of a Dask scheduler; None for this machine. From configuration, never from a form.

    Returns:
        The process id of its supervisor.

    Raises:
        StudyError: If the definition has a mistake, the study is being run already, or the folder cannot be written.
    """
    spec = _definition(study)
    root = Path(root).resolve()
    found = holder(root / spec.name)
    if found:
        raise StudyError(busy(spec.name, found))
    try:
        for folder in (root / REQUESTS, root / LOGS):
            folder.mkdir(parents=True, exist_ok=True)
        definition = root / REQUESTS / f"{spec.name}.study.toml"
        write_bytes(definition, spec.to_toml().encode())
        forget_stop(spec.name, root)
        with open(root / LOGS / f"{spec.name}.log", "wb") as log:
            command = [sys.executable, "-m", "core", "sweep", str(definition), "--store", str(root)]
            command += ["--workers", str(int(workers))] if workers else []
            command += ["--scheduler", scheduler] if scheduler else []
            child = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        write_json(root / REQUESTS / f"{spec.name}.launch.json", {**identity(child.pid), "at": time.time()})
    except OSError as error:
        raise StudyError(cannot_write(root, error)) from None
    return child.pid


def is_alive(study: str, root: str | Path) -> bool:
    """Whether a supervisor on this machine, or a live one elsewhere, holds the study."""
    return holder(Path(root) / check_study(study)) is not None


def kill(study: str, root: str | Path, grace: float = 10.0) -> bool:
    """End a supervisor that does not answer a stop request: it is asked to terminate, and killed after a grace time.

    Args:
        study: Name of the study.
        root: Folder of the store.
        grace: Seconds between the two.

    Returns:
        Whether there was a supervisor on this machine to end. Its workers end with it.
    """
    found = holder(Path(root) / check_study(study))
    if not found or not is_running(found):
        return False
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(found["pid"])
        family = [process, *process.children(recursive=True)]
        process.terminate()
        psutil.wait_procs([process], timeout=grace)
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family, timeout=grace)
    return True


def _definition(study: str | Path | StudySpec) -> StudySpec:
    if isinstance(study, StudySpec):
        return study
    if isinstance(study, Path) or "\n" not in study:
        return StudySpec.from_toml(study)
    return StudySpec.from_text(study)
