"""kill -9 at random moments, signals, full disks and read-only folders, each with real processes."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from core.studies.files import read_json
from core.studies.launch import kill
from core.studies.store import Store
from core.studies.study import StudySpec
from tests.studies.fake_runs import accuracy

STUDY = """
name = "s"
seeds = [0]
[base]
epochs = 4
weight_decay = {pause}
data_root = "{traces}"
[[block]]
label = "A"
[block.grid]
bits = {bits}
"""
pytestmark = pytest.mark.timeout(900)  # seconds; real processes on machines that do other things too
PATIENCE = 240  # seconds to wait for one thing


class Scene:
    """A study file, a store and a folder of traces, and supervisors in processes of their own."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.cwd = folder, root
        self.root, self.traces, self.file = folder / "runs", folder / "traces", folder / "s.toml"
        self.traces.mkdir()
        self.store = Store(self.root)
        self.started: list[subprocess.Popen] = []

    def define(self, bits: list[int], pause: float) -> StudySpec:
        self.file.write_text(STUDY.format(bits=bits, pause=pause, traces=self.traces))
        return StudySpec.from_toml(self.file)

    def start(self, function: str = "quick", workers: int = 2, before: tuple[str, ...] = ()) -> subprocess.Popen:
        command = [sys.executable, "-m", "tests.studies.supervise", str(self.file), str(self.root), function, str(workers)]
        process = subprocess.Popen(
            [*before, *command], cwd=self.cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.started.append(process)
        return process

    def complete(self, **options) -> list[dict]:
        process = self.start(**options)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()]

    def wait_for(self, condition) -> None:
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, "waited in vain"
            time.sleep(0.02)

    def executed(self, phase: str) -> Counter:
        return Counter(path.name.split(".")[0] for path in self.traces.glob(f"*.{phase}.*"))

    def worker_pids(self, phase: str = "begin") -> set[int]:
        return {int(path.name.split(".")[2]) for path in self.traces.glob(f"*.{phase}.*")}

    def results(self) -> dict[str, tuple[int, bytes]]:
        """Time and content of every result that is on disk."""
        return {path.parent.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in self.root.glob("s/*/result.json")}

    def check_complete(self, study: StudySpec) -> None:
        table = self.store.table("s").set_index("run_id")
        assert sorted(table.index) == sorted(run.run_id for run in study.expand())
        assert set(table.status) == {"finished"}
        for run in study.expand():
            assert table.linear_accuracy[run.run_id] == accuracy(run)
            assert self.store.history("s", run.run_id).epoch.tolist() == [1, 2, 3, 4]
            assert self.store.checkpoint("s", run.run_id) and self.store.embedding("s", run.run_id)
        litter = [path for path in self.root.rglob("*") if path.suffix == ".tmp" or path.name in (".reserve", "lock.json")]
        assert litter == []


@pytest.fixture
def scene(tmp_path, root):
    made = Scene(tmp_path, root)
    yield made
    for process in made.started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def gone(pids: set[int]) -> bool:
    return not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids)


@pytest.mark.slow
def test_kill_9_of_the_supervisor_at_random_moments(scene):
    """Nothing finished is lost or repeated, its workers go with it, the state is "stalled", and the next one completes."""
    study, chance = scene.define(bits=list(range(10)), pause=0.15), random.Random(1)
    known: dict[str, tuple[int, bytes]] = {}
    for _ in range(3):
        process = scene.start()
        before = scene.executed("begin").total()
        scene.wait_for(lambda before=before: scene.executed("begin").total() > before)
        time.sleep(chance.uniform(0, 1.2))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        scene.wait_for(lambda: gone(scene.worker_pids()))
        assert scene.store.state("s").status == "stalled"
        assert scene.store.state("s").message == "The supervisor is gone."
        now = scene.results()
        assert {run_id: now[run_id] for run_id in known} == known
        known = now
        assert len(scene.store.table("s").query("status == 'finished'")) == len(now)  # also those the summary lacks
    begun = scene.executed("begin")
    scene.complete()
    scene.check_complete(study)
    assert {run_id: scene.results()[run_id] for run_id in known} == known
    assert all(scene.executed("begin")[run_id] == begun[run_id] for run_id in known)


@pytest.mark.slow
def test_kill_9_of_workers_at_random_moments(scene):
    """Dask replaces the worker and the run begins again; the curve shows only its last attempt."""
    study, chance = scene.define(bits=list(range(8)), pause=0.2), random.Random(2)
    process = scene.start()
    scene.wait_for(lambda: scene.executed("begin"))
    killed: set[int] = set()
    for _ in range(2):
        time.sleep(chance.uniform(0.1, 0.6))
        scene.wait_for(lambda: not gone(scene.worker_pids() - killed))
        victim = next(pid for pid in scene.worker_pids() - killed if not gone({pid}))
        os.kill(victim, signal.SIGKILL)
        killed.add(victim)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    scene.check_complete(study)
    ends = Counter(json.loads(line)["run_id"] for line in out.splitlines() if '"kind": "end"' in line)
    assert ends == {run.run_id: 1 for run in study.expand()}
    assert gone(scene.worker_pids())


@pytest.mark.slow
def test_a_run_that_kills_its_worker_each_time_is_recorded_as_failed(scene):
    """Three attempts, then its log says why; runs that shared the workers are not blamed."""
    study = scene.define(bits=[0, 5, 7], pause=0.0)
    process = scene.start("deadly", workers=1)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    table = scene.store.table("s").set_index("bits")
    assert table.status.to_dict() == {0: "finished", 5: "failed", 7: "finished"}
    assert table.error[5] == "Its worker process died each time; perhaps it needs more memory."
    bad = next(run.run_id for run in study.expand() if run.bits == 5)
    assert scene.executed("begin")[bad] == 3
    log = scene.store.log("s", bad)
    assert log.count("ended without a result; the run begins again.") == 2 and "Attempt 3 failed." in log


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_group_stops_cleanly(scene, number):
    """Ctrl-C reaches the workers too: they leave it to the supervisor, whose runs end after their batch."""
    study = scene.define(bits=list(range(6)), pause=0.6)
    process = scene.start()
    scene.wait_for(lambda: len(scene.executed("begin")) >= 2 and scene.store.state("s").runs)
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)
    final = json.loads(out.splitlines()[-1])
    assert (process.returncode, final["status"]) == (1, "stopped"), err
    assert "Traceback" not in err
    assert scene.store.state("s").status == "stopped" and scene.executed("stopped") and gone(scene.worker_pids())
    scene.complete()
    scene.check_complete(study)


@pytest.mark.slow
def test_a_supervisor_that_does_not_answer_can_be_killed(scene):
    """It is held by a signal that no program can refuse; the grace time passes, then it is gone, and its workers too."""
    scene.define(bits=list(range(6)), pause=0.6)
    process = scene.start()
    scene.wait_for(lambda: len(scene.executed("begin")) >= 2)
    os.kill(process.pid, signal.SIGSTOP)
    assert kill("s", scene.root, grace=0.5)
    process.wait(timeout=30)
    scene.wait_for(lambda: gone(scene.worker_pids()))
    assert scene.store.state("s").status == "stalled"
    assert not kill("s", scene.root)  # nobody is left to end


@pytest.mark.slow
def test_two_supervisors_at_once(scene):
    study = scene.define(bits=[0, 1, 2], pause=0.2)
    pair = [scene.start(), scene.start()]
    said = [json.loads(process.communicate(timeout=PATIENCE)[0].splitlines()[-1]) for process in pair]
    assert sorted(process.returncode for process in pair) == [0, 2]
    refused = next(line for line in said if line["kind"] == "refused")
    winner = next(process for process in pair if process.returncode == 0)
    assert refused["error"].startswith(f"study 's' is being run by process {winner.pid} since ")
    scene.check_complete(study)
    assert set(scene.executed("begin").values()) == {1}


def private_mount(options: str, folder: Path) -> tuple[str, ...]:
    """Words to put before a command so that it sees a small file system of its own at the folder."""
    script = f'mount -t tmpfs -o {options} tmpfs "{folder}" && exec "$@"'
    words = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("this system does not let users mount a file system of their own")
    return words


@pytest.mark.slow
def test_a_disk_that_is_really_full(scene):
    """A file system of 220 kB: the study ends with a message, its state says so, and no file is half written."""
    scene.define(bits=list(range(33)), pause=0.0)
    scene.root.mkdir()
    process = scene.start(before=private_mount("size=220k", scene.root))
    out, err = process.communicate(timeout=PATIENCE)
    final = json.loads(out.splitlines()[-1])
    assert (process.returncode, final["status"]) == (1, "failed"), err
    assert final["message"].endswith("cannot be written (no space left on device); choose another, or make room")
    assert "Traceback" not in err
    assert not [name for name in final["files"] if name.endswith(".tmp")]
    assert "s/state.json" in final["files"] and any(name.endswith("result.json") for name in final["files"])


@pytest.mark.slow
def test_a_read_only_store_is_refused_on_one_line(scene):
    scene.define(bits=[0], pause=0.0)
    scene.root.mkdir()
    process = scene.start(before=private_mount("ro", scene.root))
    out, err = process.communicate(timeout=PATIENCE)
    expected = f"the folder {scene.root} cannot be written (read-only file system); choose another, or make room"
    assert (process.returncode, json.loads(out)) == (2, {"kind": "refused", "error": expected})
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_copy_of_a_killed_study_can_be_moved_and_resumed(scene):
    """The folder holds everything: killed here, copied, gone on with there."""
    study = scene.define(bits=list(range(4)), pause=0.2)
    process = scene.start()
    scene.wait_for(lambda: scene.results())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    scene.wait_for(lambda: gone(scene.worker_pids()))
    shutil.copytree(scene.root, scene.folder / "elsewhere")
    scene.root = scene.folder / "elsewhere"
    scene.store = Store(scene.root)
    scene.complete()
    scene.check_complete(study)
    assert read_json(scene.root / "s" / "state.json")["status"] == "finished"
