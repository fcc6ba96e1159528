"""The process that does one inspection: `python -m core.inspections.job ID --root FOLDER --uploads FOLDER`.

It writes its state with every batch, ends soon after a request to stop, and turns whatever goes wrong into a message.
"""

import argparse
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.checkpoints.uploads import UploadStore
from core.inspections.launch import file_of
from core.inspections.spec import InspectionSpec
from core.inspections.store import InspectionStore

PULSE = 1.0  # seconds between signs of life
STOP_GRACE = 8.0  # seconds that a part without batches, such as t-SNE, may go on after a request to stop
OK, NOT_DONE, USAGE = 0, 1, 2


class Pulse:
    """Keeps state.json up to date from a thread, so that long parts give signs of life too.

    Args:
        store: Where the inspection is kept.
        inspection_id: Which one.
    """

    def __init__(self, store: InspectionStore, inspection_id: str):
        self.store, self.id = store, inspection_id
        self.fields: dict[str, Any] = {"status": "running", "part": "starting", "share": 0.0, "started": time.time()}
        self._lock, self._over = threading.Lock(), threading.Event()
        self._encoding: float | None = None  # when the first batch was done
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def start(self) -> None:
        """Begin to beat."""
        self._write()
        self._thread.start()

    def __call__(self, part: str, share: float, rate: float | None) -> None:
        """Take in progress."""
        with self._lock:
            now = time.time()
            if self._encoding is None and rate:
                self._encoding = now
            left = None
            if rate and now - self.fields["started"] > 3 and share > 0.1:
                left = (now - self.fields["started"]) / share * (1 - share)
            kept = {"rate": rate} if rate else {}
            self.fields = {**self.fields, "part": part, "share": round(share, 4), "seconds_left": left, **kept}

    def stopping(self) -> bool:
        """Whether somebody has asked to stop."""
        return self.store.stop_requested(self.id)

    def end(self, status: str, message: str = "") -> None:
        """Write the final state; nothing is written afterwards."""
        self._over.set()
        with self._lock:
            share = 1.0 if status == "finished" else self.fields["share"]
            self.fields = {**self.fields, "status": status, "message": message, "share": share, "seconds_left": None}
        self._write()

    def _write(self) -> None:
        with self._lock:
            try:
                self.store.write_state(self.id, heartbeat=time.time(), **self.fields)
            except OSError as error:  # a full disk: the work goes on, and the last write says whether it was in vain
                print(f"state.json cannot be written: {error}", file=sys.stderr, flush=True)

    def _beat(self) -> None:
        asked: float | None = None
        while not self._over.wait(PULSE):
            if self.stopping():
                asked = asked or time.monotonic()
                if time.monotonic() - asked > STOP_GRACE:
                    self.end("stopped")
                    os._exit(NOT_DONE)  # nothing is lost: results are written in one go at the end
            if not self._over.is_set():
                self._write()


def run(inspection_id: str, store: InspectionStore, uploads: UploadStore, examine: Callable | None = None) -> int:
    """Do an inspection that has been created, and write its result.

    Args:
        inspection_id: The inspection.
        store: Where it is kept.
        uploads: Where uploaded checkpoints lie.
        examine: What does the work; None for `core.inspections.examine.examine`.

    Returns:
        Exit code: 0 finished, 1 failed or stopped, 2 there is no such inspection.
    """
    spec = store.spec(inspection_id)
    if spec is None:
        print(f"There is no inspection {inspection_id} in {store.root}.", file=sys.stderr)
        return USAGE
    pulse = Pulse(store, inspection_id)
    pulse.start()
    try:
        return _work(spec, pulse, store, uploads, examine)
    except OSError as error:
        traceback.print_exc()
        pulse.end("failed", f"A file could not be read or written: {error.strerror or error}.")
    except MemoryError:
        pulse.end("failed", "There was not enough memory. Choose fewer images, or smaller ones.")
    except ValueError as error:  # a file, a data set or a choice that a person can put right; the text says how
        pulse.end("failed", str(error))
    except Exception as error:  # the border of the process: the page shows this instead of a traceback
        traceback.print_exc()
        pulse.end("failed", f"The inspection broke off in an unexpected way ({type(error).__name__}: {_first_line(error)}).")
    return NOT_DONE


def _work(spec: InspectionSpec, pulse: Pulse, store: InspectionStore, uploads: UploadStore, examine: Callable | None) -> int:
    if examine is None:
        from core.inspections.examine import examine
    path = file_of(spec, uploads)
    try:
        found = examine(spec, path, on_progress=pulse, should_stop=pulse.stopping)
    except RuntimeError as error:
        raise ValueError(f"The encoder could not be run on these images: {_first_line(error)}") from error
    except Exception as error:
        if type(error).__name__ != "Stopped":
            raise
        pulse.end("stopped")
        return NOT_DONE
    store.write_result(spec.inspection_id, *found)
    pulse.end("finished")
    return OK


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no details"])[0][:300]


def main(arguments: list[str] | None = None) -> int:
    """The command line of the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("id", help="of an inspection that has been created")
    parser.add_argument("--root", type=Path, required=True, help="folder of the inspections")
    parser.add_argument("--uploads", type=Path, required=True, help="folder of uploaded checkpoints")
    asked = parser.parse_args(arguments)
    store = InspectionStore(asked.root)
    signal.signal(signal.SIGTERM, lambda *_: _terminated(store, asked.id))
    return run(asked.id, store, UploadStore(asked.uploads))


def _terminated(store: InspectionStore, inspection_id: str) -> None:
    now = time.time()
    store.write_state(inspection_id, status="stopped", started=now, heartbeat=now, message="Its process was ended.")
    os._exit(NOT_DONE)


if __name__ == "__main__":
    sys.exit(main())
