"""Where runs are executed: worker processes on this machine, or a Dask cluster at an address."""

import contextlib
import logging
import os
import re
import subprocess
from collections.abc import Iterator, Sequence

import dask
from distributed import Client, LocalCluster

from core import __version__
from core.studies import worker
from core.studies.names import StudyError

RUNS_PER_GPU = 4  # small encoders leave most of a GPU idle; each process takes some 0.5 GB of its memory for itself
ADDRESS = re.compile(r"([a-z]+://)?[^\s/:]+:\d{1,5}|[a-z]+://\[[0-9a-fA-F:]+\]:\d{1,5}|inproc://.+")
ANSWER_WITHIN = 10  # seconds for a scheduler to answer
SILENT = logging.CRITICAL + 1  # Dask's lines are for its developers: what went wrong, the states of study and runs tell
# Dask watches itself 50 times a second in every process; together that is a twentieth of two cores that are busy with training.
SELDOM = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.scheduler.active-memory-manager.start": False,  # spreads results, of which each is wanted in one place only
}
# Read by the C libraries when a process starts. Freed activations stay with the process: given back to the system after every
# step, as Dask's own setting makes glibc do, they are mapped and zeroed again in the next, which halves the speed of training.
# Pages of 2 MB (glibc 2.35 and later, where Linux allows them) make it some 5 % faster still.
WORKER_ENVIRONMENT = {
    **{name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")},
    "MALLOC_TRIM_THRESHOLD_": str(4 * 2**30),
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TOP_PAD_": str(64 * 2**20),
    "GLIBC_TUNABLES": ":".join(filter(None, (os.environ.get("GLIBC_TUNABLES"), "glibc.malloc.hugetlb=1"))),
}


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpus() -> list[str]:
    """Names of the NVIDIA GPUs that this process may use, as CUDA_VISIBLE_DEVICES takes them; torch is not imported."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip() and name.strip() != "-1"]
    try:
        listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [str(number) for number, line in enumerate(listed.splitlines()) if line.startswith("GPU ")]


def places(gpus: Sequence[str]) -> int:
    """Runs at the same time that this machine is good for: one per core, and not too many for its GPUs."""
    return min(cores(), RUNS_PER_GPU * len(gpus)) if gpus else cores()


@contextlib.contextmanager
def connect(scheduler: str | None, workers: int, tries: int, gpus: Sequence[str] = ()) -> Iterator[Client]:
    """A Dask client.

    Args:
        scheduler: Address, such as tcp://host:8786; None starts workers on this machine.
        workers: Worker processes to start, without a scheduler.
        tries: Deaths of a worker that one run may cause before Dask gives it up.
        gpus: Names of this machine's GPUs; its workers are spread over them.

    Yields:
        The client; on leaving, workers that were started here are ended.

    Raises:
        StudyError: If the scheduler does not answer, or its workers cannot import this code.
    """
    with _remote(scheduler) if scheduler else _local(workers, tries, gpus) as client:
        yield client


@contextlib.contextmanager
def _local(workers: int, tries: int, gpus: Sequence[str]) -> Iterator[Client]:
    settings = {
        "distributed.scheduler.allowed-failures": tries - 1,
        "distributed.worker.profile.enabled": False,
        "distributed.admin.log-length": 100,
        "distributed.scheduler.http.routes": [],  # the web servers answer nothing
        "distributed.worker.http.routes": [],
        "distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT,
        **SELDOM,
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # its web server cannot be turned off, but kept from port 8787
            silence_logs=SILENT,
            memory_limit=0,  # torch's memory is not Dask's to judge
            preload="core.studies.worker",
            env={worker.GPUS: ",".join(gpus)},  # set in the workers alone: a later cluster of this process may have other GPUs
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextlib.contextmanager
def _remote(scheduler: str) -> Iterator[Client]:
    if not ADDRESS.fullmatch(scheduler):  # Dask would notice after many seconds, and leave a traceback behind
        raise StudyError(
            f"scheduler {scheduler!r} is no address; it looks like tcp://host:8786, or leave --scheduler away to use this machine"
        )
    quiet = logging.getLogger("distributed")
    before = quiet.level
    quiet.setLevel(SILENT)
    try:
        try:
            client = Client(scheduler, timeout=ANSWER_WITHIN, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise StudyError(
                f"scheduler {scheduler} does not answer within {ANSWER_WITHIN} s ({reason}); "
                "check the address and that `dask scheduler` is running there, or leave --scheduler away to use this machine"
            ) from None
        with client:
            _check_workers(client, scheduler)
            yield client
    finally:
        quiet.setLevel(before)


def _check_workers(client: Client, scheduler: str) -> None:
    """Fail early where every run would fail late; a cluster that starts its workers on demand has none yet to ask."""
    try:
        found = client.run(worker.hello)
    except Exception as error:
        raise StudyError(
            f"the workers of {scheduler} cannot import this code ({str(error).splitlines()[0]}); "
            "start them in the folder of this repository, with its environment"
        ) from None
    other = sorted({version for version in found.values() if version != __version__})
    if other:
        raise StudyError(f"the workers of {scheduler} have version {', '.join(other)} of this code, here it is {__version__}")
