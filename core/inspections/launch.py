"""Start an inspection in a process of its own, and end it. Pages use this; nothing here imports torch."""

import contextlib
import subprocess
import sys
from pathlib import Path

import psutil

from core.checkpoints.uploads import UploadStore
from core.inspections.spec import InspectionSpec
from core.inspections.store import LOG, InspectionError, InspectionStore
from core.studies.names import cannot_write
from core.studies.process import is_running

ROOT = Path(__file__).resolve().parents[2]  # where `python -m core` works


def file_of(spec: InspectionSpec, uploads: UploadStore) -> Path:
    """Where the checkpoint lies.

    Raises:
        InspectionError: If it is not there any more.
    """
    if spec.uploaded:
        upload = uploads.get(spec.source)
        if upload is None:
            raise InspectionError(f"The uploaded file {spec.name} is not on this machine any more. Upload it again.")
        return upload.path
    path = Path(spec.source)
    if not path.is_file():
        raise InspectionError(f"{path} is not there any more. Put it back, or choose the file again.")
    return path


def start(spec: InspectionSpec, store: InspectionStore, uploads: UploadStore) -> str:
    """Run an inspection in a detached process that outlives this one.

    Args:
        spec: What is asked.
        store: Where it is kept.
        uploads: Where uploaded checkpoints lie.

    Returns:
        The id of the inspection.

    Raises:
        InspectionError: If it is at work already, the file is not there, or the folder cannot be written.
    """
    file_of(spec, uploads)
    if store.state(spec.inspection_id).active:
        raise InspectionError("This inspection is at work already.")
    inspection_id = store.create(spec)
    folder = store.folder(inspection_id)
    command = [sys.executable, "-m", "core.inspections.job", inspection_id, "--root", str(store.root.resolve())]
    command += ["--uploads", str(uploads.root.resolve())]
    try:
        with open(folder / LOG, "wb") as log:
            child = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        store.write_launch(inspection_id, child.pid)
    except OSError as error:
        raise InspectionError(cannot_write(folder, error)) from None
    return inspection_id


def kill(inspection_id: str, store: InspectionStore, grace: float = 5.0) -> bool:
    """End the process of an inspection that does not answer a request to stop.

    Args:
        inspection_id: The inspection.
        store: Where it is kept.
        grace: Seconds between asking it to terminate and killing it.

    Returns:
        Whether there was one on this machine to end.
    """
    written = store.process(inspection_id)
    if not is_running(written):
        return False
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(int(written["pid"]))
        process.terminate()
        _, alive = psutil.wait_procs([process], timeout=grace)
        for member in alive:
            member.kill()
        psutil.wait_procs(alive, timeout=grace)
    return True
