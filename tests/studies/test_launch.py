"""Starting a study in a process of its own, with real training on a handful of digits, and what a page sees of it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from core.studies import launch, requests
from core.studies.files import write_json
from core.studies.lock import holder
from core.studies.names import StudyError
from core.studies.process import identity, is_running
from core.studies.store import Store

TINY = """
name = "tiny"
[base]
n_train = 100
n_test = 50
batch_size = 50
epochs = {epochs}
[[block]]
[block.grid]
bits = [0, 5]
"""
pytestmark = pytest.mark.timeout(900)  # seconds; real processes on machines that do other things too
PATIENCE = 240


def wait_for(condition) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.1)


@pytest.mark.slow
def test_from_the_press_of_a_button_to_the_results(tmp_path):
    """Queued at once, run by a process of its own, finished with real numbers; started again, it does nothing twice."""
    store = Store(tmp_path / "runs")
    pid = launch.start(TINY.format(epochs=1), store.root)
    assert store.state("tiny").status in ("queued", "running") and store.state("tiny").active
    assert os.getpgid(pid) == pid != os.getpgid(0)  # Ctrl-C on the dashboard does not reach it
    wait_for(lambda: store.state("tiny").status == "finished")
    table = store.table("tiny")
    assert table.bits.tolist() and set(table.status) == {"finished"} and table.linear_accuracy.between(0, 1).all()
    assert table.n_train.eq(100).all() and table.versions[0]["torch"]
    for run_id in table.run_id:
        assert store.history("tiny", run_id).loss.notna().all() and store.checkpoint("tiny", run_id)
        assert store.embedding("tiny", run_id)["z"].shape[0] == 50
    wait_for(lambda: not launch.is_alive("tiny", store.root))
    before = table.finished_at.tolist()
    launch.start(TINY.format(epochs=1), store.root)
    wait_for(lambda: store.state("tiny").status == "finished" and not launch.is_alive("tiny", store.root))
    assert store.table("tiny").finished_at.tolist() == before
    assert "2 runs; 2 are done already" in (store.root / ".logs" / "tiny.log").read_text()


PAGE = """
import sys, time
from core.studies import launch
print(launch.start(sys.argv[1], sys.argv[2]), flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_the_supervisor_outlives_the_page_and_stops_on_request(tmp_path, root):
    """kill -9 of the page server and its whole process group, then a stop from another process."""
    store, file = Store(tmp_path / "runs"), tmp_path / "tiny.toml"
    file.write_text(TINY.format(epochs=500))
    command = [sys.executable, "-c", PAGE, str(file), str(store.root)]
    page = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, start_new_session=True)
    pid = int(page.stdout.readline())
    os.killpg(page.pid, signal.SIGKILL)
    page.wait()
    supervisor = identity(pid)
    try:
        wait_for(lambda: any(run.epoch > 0 for run in store.state("tiny").runs))
        assert holder(store.folder("tiny"))["pid"] == pid
        with pytest.raises(StudyError, match=rf"^study 'tiny' is being run by process {pid} since "):
            launch.start(file, store.root)
        requests.request_stop("tiny", store.root)
        wait_for(lambda: not is_running(supervisor))
    finally:
        launch.kill("tiny", store.root)
    state = store.state("tiny")
    assert (state.status, state.message) == ("stopped", "Running it again goes on from there.")
    assert set(store.table("tiny").status) == {"stopped"}


def test_mistakes_are_found_before_anything_is_started(tmp_path):
    with pytest.raises(StudyError, match=r"^study: block 1: tau: input should be greater than 0, got 0$"):
        launch.start('name = "s"\n[[block]]\ntau = 0\n', tmp_path)
    with pytest.raises(StudyError, match=r"gone\.toml: cannot be read \(No such file or directory\)$"):
        launch.start(str(tmp_path / "gone.toml"), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match=r"^the folder .*/file cannot be written \(not a directory\); choose another"):
        launch.start(TINY.format(epochs=1), tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_start_that_came_to_nothing_says_why(tmp_path):
    """The supervisor ended before it wrote anything: the last line of its log is shown."""
    store = Store(tmp_path)
    for folder in (".requests", ".logs"):
        (tmp_path / folder).mkdir()
    dead = {**identity(), "created": 1.0, "at": time.time()}
    write_json(tmp_path / ".requests" / "s.launch.json", dead)
    assert store.state("s")[:1] == ("failed",)
    assert store.state("s").message == "The supervisor ended before it began, without a word."
    (tmp_path / ".logs" / "s.log").write_text("Traceback ...\nerror: no module named dask\n\n")
    assert store.state("s").message == "error: no module named dask"
    write_json(tmp_path / ".requests" / "s.launch.json", {**identity(), "at": time.time()})
    assert (store.state("s").status, store.state("s").message) == ("queued", "Starting up.")
    (tmp_path / "s").mkdir()
    write_json(tmp_path / "s" / "state.json", {**identity(), "status": "finished", "started": time.time() + 1, "heartbeat": 0})
    assert store.state("s").status == "finished"  # what it then wrote counts


def test_a_study_that_is_resumed_keeps_its_total_while_it_starts_up(tmp_path):
    """Until the supervisor wrote its plan, only what had ended was counted, and the progress bar was full."""
    (tmp_path / ".requests").mkdir()
    (tmp_path / "s").mkdir()
    stalled = {**identity(), "created": 1.0, "status": "running", "total": 6, "started": 1.0, "heartbeat": 1.0}
    write_json(tmp_path / "s" / "state.json", stalled)
    write_json(tmp_path / ".requests" / "s.launch.json", {**identity(), "at": time.time()})
    state = Store(tmp_path).state("s")
    assert (state.status, state.total, state.queued, state.running) == ("queued", 6, 6, 0)


def test_requests_are_taken_once_and_broken_ones_dropped(tmp_path):
    requests.request_stop("s", tmp_path)
    token = requests.request_delete("s", tmp_path, ["0123456789ab"])
    requests.request_undo("s", tmp_path, token)
    requests.request_stop("other", tmp_path)
    (tmp_path / ".requests" / "s.delete.x.json").write_text('{"token": "../..", "run_ids": ["/etc"]}')
    (tmp_path / ".requests" / "s.undo.y.json").write_text("{")
    taken = requests.take("s", tmp_path)
    assert [(each.kind, each.token, each.run_ids) for each in taken] == [
        ("stop", "", frozenset()), ("delete", token, frozenset({"0123456789ab"})), ("undo", token, frozenset()),
    ]  # fmt: skip
    assert requests.take("s", tmp_path) == []
    assert [each.kind for each in requests.take("other", tmp_path)] == ["stop"]
    with pytest.raises(StudyError, match=r"^run id: must be 12 hexadecimal digits, got '\.\./x'$"):
        requests.request_delete("s", tmp_path, ["../x"])
