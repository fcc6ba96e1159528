"""The reading process: opens untrusted files under limits and answers in JSON. Run by `sandbox.py`, never imported by pages.

Two walls stand between a file and the machine. The unpickler follows no name (`pickles.py`), so nothing in a file can
run. Should that ever fail, this process has limits on memory, processor time and file size, and an audit hook that
refuses to start programs, open connections, import modules, or open any file but the checkpoint and the output.
"""

import contextlib
import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # started by path and in isolated mode, so the repository is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.checkpoints.reader import open_checkpoint
from core.checkpoints.report import CheckpointError, Choices, Limits
from core.checkpoints.survey import survey
from core.checkpoints.writer import write_parts

try:
    import resource
except ImportError:  # Windows; there the parent's watch over time and memory is the only limit
    resource = None

OUTPUT_SLACK = 64 * 2**20  # bytes beyond the size of the checkpoint that may be written
OPEN_FILES = 32
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN = (  # audit events, or families of them
    "import", "exec", "compile", "code.__new__", "marshal.", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
    "os.startfile", "os.system", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod",
    "os.chown", "os.truncate", "os.putenv", "os.kill", "pty.", "subprocess.", "socket.", "ctypes.", "shutil.", "urllib.",
    "http.", "ftplib.", "smtplib.", "webbrowser.", "winreg.", "syslog.", "pickle.find_class", "cpython.run_",
)  # fmt: skip


class Forbidden(PermissionError):
    """Something in this process tried what reading a checkpoint never needs."""


def seal(readable: set[str], writable: set[str]) -> None:
    """From now on refuse everything that reading does not need. Cannot be undone within the process.

    Args:
        readable: Paths that may be opened for reading.
        writable: Folders in which files may be created.
    """

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = args
            writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool(flags & WRITING)
            inside = isinstance(path, str) and os.path.dirname(path) in writable
            if isinstance(path, int) or (path in readable and not writes) or inside:
                return
            raise Forbidden("open")
        if event.startswith(FORBIDDEN):
            raise Forbidden(event)

    sys.addaudithook(hook)


def limit_resources(limits: Limits) -> None:
    """Cap memory and file size, where the system can; `limit_time` caps processor time for each file."""
    if resource is None:
        return
    caps = {"RLIMIT_FSIZE": limits.file_bytes + OUTPUT_SLACK, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": OPEN_FILES}
    with contextlib.suppress(OSError):  # no /proc outside Linux; macOS does not enforce this limit anyway
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        caps["RLIMIT_AS"] = pages * resource.getpagesize() + limits.memory_bytes
    for name, value in caps.items():
        with contextlib.suppress(ValueError, OSError, AttributeError):  # a lower hard limit is in force already
            resource.setrlimit(getattr(resource, name), (value, value))


def limit_time(seconds: float) -> None:
    """Give the process so many more seconds of processor time; the system ends it afterwards."""
    if resource is None:
        return
    with contextlib.suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds) + 1, hard))


def do(job: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Examine one file, and write its encoder when the job names an output folder.

    Returns:
        {"report": ...} or {"problem": ..., "message": ...}.
    """
    try:
        opened = open_checkpoint(Path(job["path"]), limits)
        with opened.file:
            found = survey(opened, Path(job["path"]), Choices(**job["choices"]), limits)
            if job["out"] is not None and found.report.refusal is None:
                write_parts(opened, found.parts, Path(job["out"]) / "encoder.safetensors")
                write_parts(opened, found.head_parts, Path(job["out"]) / "projector.safetensors")
            if opened.damaged:
                text = f"{len(opened.damaged)} of the stored tensors do not fit their checksums; the file may be damaged."
                found = found._replace(report=found.report.model_copy(update={"notes": (*found.report.notes, text)}))
        return {"report": found.report.model_dump(mode="json")}
    except CheckpointError as error:
        return {"problem": error.problem, "message": str(error)}
    except MemoryError:
        return {"problem": limits.out_of_memory().problem, "message": str(limits.out_of_memory())}
    except RecursionError:
        return {"problem": "damaged", "message": "The objects in the file are nested too deeply to be a checkpoint."}
    except Forbidden as error:
        return {
            "problem": "hostile",
            "message": (
                f"Reading the file led to a forbidden action ({error}). It was stopped; do not open this file with other tools."
            ),
        }
    except OSError as error:
        return {"problem": "damaged", "message": f"The file cannot be read: {error.strerror or error}."}
    except Exception as error:  # the border of the process: the parent turns it into a message
        return {
            "problem": "crashed",
            "message": f"Reading the file failed in an unexpected way ({type(error).__name__}: {str(error)[:200]}).",
        }


def main() -> None:
    """Read one request from standard input, answer each of its jobs with one line of JSON."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # nothing but answers may reach the parent
    request = json.loads(sys.stdin.read())
    limits = Limits(**request["limits"])
    jobs = request["jobs"]
    warm_up()
    limit_resources(limits)
    seal({job["path"] for job in jobs}, {job["out"] for job in jobs if job["out"] is not None})
    for job in jobs:
        limit_time(limits.seconds)
        answers.write(json.dumps(do(job, limits)) + "\n")
        answers.flush()


def warm_up() -> None:
    """Import what Python and NumPy import on first use, before imports are forbidden."""
    import encodings.ascii
    import encodings.cp437  # names in zip archives
    import encodings.latin_1
    import encodings.raw_unicode_escape
    import encodings.unicode_escape
    import encodings.utf_8  # noqa: F401

    import numpy as np

    warnings.simplefilter("ignore")  # showing one would read source files
    np.seterr(all="ignore")
    np.square(np.ones((2, 2), np.float16), dtype=np.float64).sum()
    np.ones((2, 2), np.float32).mean(axis=0, dtype=np.float32)
    Limits().model_dump(mode="json")


if __name__ == "__main__":
    main()
