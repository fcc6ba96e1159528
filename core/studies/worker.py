"""What runs inside a Dask worker: one run, its progress, and the request to stop it."""

import os
import secrets
import signal
import threading
import traceback
from typing import Any, NamedTuple

from distributed import get_worker
from distributed.worker import Worker

from core import __version__
from core.studies.trained import Trained, run_by_name
from core.training.spec import RunSpec

GPUS = "CONTRASTIVE_LENS_GPUS"  # environment of a worker: names of the machine's GPUs, comma-separated
STOPPING = "contrastive_lens_stopping"  # attribute of the worker: tokens of the supervisors whose runs shall stop


class Outcome(NamedTuple):
    """How one execution of a run ended."""

    execution: str  # told apart from an earlier execution whose worker died
    trained: Trained | None
    error: str  # traceback; empty unless the run raised


def execute(settings: dict[str, Any], attempt: int, run_function: str, topic: str, token: str) -> Outcome:
    """Do one run, here and now.

    Args:
        settings: Fields of RunSpec.
        attempt: Number of this try, as far as the supervisor knew when it submitted the run.
        run_function: Where the function lies, "package.module:name"; called as `core.training.loop.train_run` is.
        topic: Dask topic for progress; every record carries run_id and execution.
        token: Of the supervisor that may ask to stop.

    Returns:
        The outcome as plain data. An exception of the run is an outcome too: its traceback, which always can be sent.
    """
    run, worker, execution = RunSpec(**settings), get_worker(), secrets.token_hex(8)
    task = worker.get_current_task()

    def tell(record: dict[str, Any]) -> None:
        plain = {key: value.item() if hasattr(value, "item") else value for key, value in record.items()}
        worker.log_event(topic, {**plain, "run_id": run.run_id, "execution": execution})

    def should_stop() -> bool:
        return token in getattr(worker, STOPPING, ()) or is_forgotten(worker, task)

    tell({"kind": "begin"})
    try:
        function = run_by_name(run_function)
        result, history, checkpoint, embedding = function(run, on_progress=tell, should_stop=should_stop, attempt=attempt)
        return Outcome(execution, Trained(result.model_dump(mode="json"), history, checkpoint, embedding), "")
    except Exception:
        return Outcome(execution, None, traceback.format_exc())


async def stop_runs(token: str, dask_worker: Worker) -> None:
    """Ask the runs of one supervisor on this worker to end after their current batch; Dask waits for no coroutine's end."""
    setattr(dask_worker, STOPPING, {*getattr(dask_worker, STOPPING, ()), token})


def is_forgotten(worker: Worker, task: str) -> bool:
    """Whether nobody waits for this task any more: its supervisor was killed, and the scheduler has taken the task back."""
    known = worker.state.tasks.get(task)
    return known is None or known.state == "cancelled"


def hello() -> str:
    """The version of this code on the worker."""
    return __version__


def dask_setup(worker: Worker) -> None:
    """Prepare a worker process of this machine, before torch is imported in it.

    Ctrl-C is left to the supervisor: it asks the runs to stop, and they end after their current batch. With several GPUs each
    worker sees one of them, in turn.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    gpus = [name for name in os.environ.get(GPUS, "").split(",") if name]
    if len(gpus) > 1 and isinstance(worker.name, int):
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus[worker.name % len(gpus)]
