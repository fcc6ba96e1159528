"""Workers on this machine: their environment, their GPUs, and how many there are."""

import http.client
import os
import stat
import subprocess
import sys

import psutil
import pytest

from core.studies import cluster
from core.studies.names import StudyError
from core.studies.worker import GPUS


def pretend(folder, monkeypatch, lines: str) -> None:
    """A program called nvidia-smi that lists these GPUs."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{lines}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_gpus_are_those_that_the_process_may_use(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert cluster.gpus() == []
    pretend(tmp_path, monkeypatch, r"GPU 0: NVIDIA H200 (UUID: x)\nGPU 1: NVIDIA H200 (UUID: y)\n")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    assert cluster.gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 5")
    assert cluster.gpus() == ["3", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert cluster.gpus() == []


def test_places(monkeypatch):
    monkeypatch.setattr(cluster, "cores", lambda: 16)
    assert [cluster.places(["0"] * gpus) for gpus in (0, 1, 2, 5)] == [16, 4, 8, 16]


def environment(name: str) -> str:
    return os.environ.get(name, "")


def answer(port: int, path: str) -> int:
    """The status of a web page on this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    return connection.getresponse().status


def test_workers_have_one_thread_keep_their_memory_and_share_the_gpus(monkeypatch):
    monkeypatch.setenv(GPUS, "")  # as an earlier cluster of this process may have left it
    with cluster.connect(None, 3, tries=3, gpus=["4", "6"]) as client:
        asked = ("OMP_NUM_THREADS", "MALLOC_MMAP_MAX_", "CUDA_VISIBLE_DEVICES")
        found = {name: sorted(client.run(environment, name).values()) for name in asked}
        port = client.scheduler_info(n_workers=-1)["services"]["dashboard"]
        assert port != 8787 and {answer(port, path) for path in ("/info/main/workers.html", "/json/counts.json")} == {404}
        listening = {each.laddr.ip for each in psutil.Process().net_connections("tcp") if each.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}  # nothing of it can be reached from another machine
        assert all(address.startswith("tcp://127.0.0.1:") for address in client.nthreads())
        assert set(client.nthreads().values()) == {1}
    assert found == {"OMP_NUM_THREADS": ["1"] * 3, "MALLOC_MMAP_MAX_": ["0"] * 3, "CUDA_VISIBLE_DEVICES": ["4", "4", "6"]}


def test_nothing_of_dask_is_printed():
    """Leaving early, as on a full disk, makes the scheduler complain of messages it can no longer deliver."""
    program = (
        "import logging; from core.studies import cluster\n"
        "with cluster.connect(None, 1, tries=3):\n"
        "    logging.getLogger('distributed.scheduler').critical('Closed comm', exc_info=OSError())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "tcp://host", "http://a b:1", "8786"])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(StudyError, match="is no address; it looks like tcp://host:8786"), cluster.connect(address, 1, tries=3):
        pass


@pytest.mark.parametrize("address", ["tcp://host:8786", "10.0.0.1:8786", "tls://node-1.example:8786", "tcp://[::1]:8786"])
def test_addresses(address):
    assert cluster.ADDRESS.fullmatch(address)


def test_workers_that_cannot_import_this_code(monkeypatch):
    class Client:
        def run(self, function):
            raise ModuleNotFoundError("No module named 'core'")

    expected = (
        "the workers of tcp://far:8786 cannot import this code (No module named 'core'); "
        "start them in the folder of this repository, with its environment"
    )
    with pytest.raises(StudyError) as caught:
        cluster._check_workers(Client(), "tcp://far:8786")
    assert str(caught.value) == expected


def test_workers_with_another_version_of_this_code(monkeypatch):
    class Client:
        def run(self, function):
            return {"a": "0.0.1", "b": function()}

    with pytest.raises(StudyError, match=r"^the workers of far have version 0\.0\.1 of this code, here it is "):
        cluster._check_workers(Client(), "far")
