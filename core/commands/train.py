"""One run from the command line: train it here, show how far it is, and file it under a study."""

import json
import signal
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.commands.terminal import Reporter, fail, outcome
from core.studies.lock import busy, holder, lock
from core.studies.names import StudyError, cannot_write
from core.studies.progress import preparing
from core.studies.store import Store
from core.studies.study import Block, StudySpec
from core.studies.trained import TRAIN_RUN, Trained, run_by_name
from core.studies.writer import CannotWrite, StudyWriter
from core.training.spec import RunResult, RunSpec
from core.validation import explain

SHOWN = ("knn_accuracy", "online_accuracy", "alignment", "uniformity", "tolerance", "rankme", "bits_known", "loss", "loss_floor")
WAIT_FOR_LOCK = 30  # seconds to wait for another run that is just being written
WAIT_FOR_OTHER = 2  # the same, before training, where nothing can be lost


def run_spec(settings: dict[str, Any]) -> RunSpec:
    """The run with these settings.

    Raises:
        ValueError: One line per mistake.
    """
    try:
        return RunSpec(**settings)
    except ValidationError as error:
        raise ValueError(explain(error)) from None


def train_one(spec: RunSpec, root: Path | None, study: str, as_json: bool, run_function: str = TRAIN_RUN) -> int:
    """Train one run, or show it if the store has it.

    Args:
        spec: The run.
        root: Folder of the store; None keeps nothing.
        study: Study to file it under.
        as_json: Print the result as JSON.
        run_function: What does the run, "package.module:name".

    Returns:
        Exit code: 0 if it finished, 1 if it diverged, was stopped, or could not be written after training.

    Raises:
        StudyError: If the run could not be filed; that is found before it is trained.
    """
    store = Store(root) if root else None
    known = store.result(study, spec.run_id) if store else None
    if known and known.status in ("finished", "diverged"):
        return _show(known, as_json, f"already in {store.run_folder(study, spec.run_id)}")
    if store:
        _check_can_be_filed(store, study)
    function = run_by_name(run_function)
    with Reporter(as_json) as report, _stop_signal() as stop:
        trained = function(spec, on_progress=lambda record: _progress(report, spec, record), should_stop=stop.is_set)
    result = trained.result
    if store and result.status in ("finished", "diverged"):
        try:
            _file(store, study, spec, Trained(result.model_dump(mode="json"), *trained[1:]))
        except StudyError as error:  # what was measured is shown all the same: it may have taken hours
            _show(result, as_json, "not kept")
            fail(str(error))
            return 1
        return _show(result, as_json, f"kept in {store.run_folder(study, spec.run_id)}")
    return _show(result, as_json, "not kept")


def _progress(report: Reporter, spec: RunSpec, record: dict[str, Any]) -> None:
    epochs = max(1, spec.epochs)
    if record.get("kind") == "epoch":
        share, epoch = record["epoch"] / epochs, record["epoch"]
    elif record.get("kind") == "step" and record.get("steps"):
        share, epoch = (record["epoch"] - 1 + record["step"] / record["steps"]) / epochs, record["epoch"]
    else:
        doing = preparing(record)
        if doing:
            report.bar("run", f"{spec.objective} on {spec.dataset}", 0.0, doing)
        return
    loss = f", loss {record['loss']:.3f}" if record.get("loss") is not None else ""
    fields = {"rate": record.get("samples_per_second")}
    report.bar("run", f"{spec.objective} on {spec.dataset}", share, f"epoch {epoch} of {epochs}{loss}", **fields)


def _check_can_be_filed(store: Store, study: str) -> None:
    """Find out now, not after an hour of training, that the store cannot be written or that the study is at work.

    Raises:
        StudyError: If so.
    """
    folder = store.folder(study)
    try:
        with tempfile.TemporaryFile(dir=next(path for path in (folder, *folder.absolute().parents) if path.exists())):
            pass
    except OSError as error:
        raise StudyError(cannot_write(folder, error)) from None
    until = time.monotonic() + WAIT_FOR_OTHER
    while found := holder(folder):
        if time.monotonic() > until:
            raise StudyError(busy(study, found))
        time.sleep(0.2)


def _file(store: Store, study: str, spec: RunSpec, trained: Trained) -> None:
    """Write the run under the study's lock, held only for that moment."""
    folder = store.folder(study)
    definition = store.definition(study)
    if definition is None or not definition.label_of(spec):
        definition = _definition_of(study, spec)
    until = time.monotonic() + WAIT_FOR_LOCK
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with lock(folder):
                writer = StudyWriter(store, definition)
                writer.end(spec, writer.begin(spec), trained)
            return
        except StudyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        except (OSError, CannotWrite) as error:
            text = cannot_write(folder, error) if isinstance(error, OSError) else str(error)
            raise StudyError(f"the run is finished, but {text}") from None


def _definition_of(study: str, spec: RunSpec) -> StudySpec:
    """A definition for writing a run that belongs to no grid: its label is the objective."""
    return StudySpec(name=study, blocks=(Block(label=spec.objective, fields=spec.changed()),), seeds=(spec.seed,))


def _show(result: RunResult, as_json: bool, where: str) -> int:
    if as_json:
        print(json.dumps(result.model_dump(mode="json"), ensure_ascii=False))
    else:
        print(f"{result.run_id}  {outcome(result.model_dump())}  ({where})")
        for name in SHOWN:
            value = getattr(result, name)
            if value is not None:
                print(f"  {name.replace('_', ' '):16} {value:.4f}")
        for note in result.notes:
            print(f"  note: {note}")
    return 0 if result.status == "finished" else 1


@contextmanager
def _stop_signal():
    """An event that Ctrl-C and SIGTERM set; the run ends after its batch."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
