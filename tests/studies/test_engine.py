"""The supervisor, with quick stand-ins for training, on one Dask cluster that all tests of this file share."""

import errno
import logging
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster

from core.studies import files, requests
from core.studies.engine import run
from core.studies.lock import lock
from core.studies.names import StudyError
from core.studies.store import Store
from core.studies.study import StudySpec
from tests.studies.fake_runs import accuracy

FAKES = "tests.studies.fake_runs:"


def local_cluster(workers: int) -> LocalCluster:
    """A cluster as somebody else may have started it."""
    web = {"dashboard_address": "127.0.0.1:0"}
    quiet = {"dashboard_address": None, "scheduler_kwargs": web, "silence_logs": logging.CRITICAL}
    return LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", memory_limit=0, **quiet)


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2) as started:
        yield started


@pytest.fixture
def bench(tmp_path, cluster):
    return Bench(tmp_path, cluster)


class Bench:
    """A store, a folder of traces, and a study whose settings tests choose."""

    def __init__(self, folder: Path, cluster) -> None:
        self.cluster, self.root, self.traces = cluster, folder / "runs", folder / "traces"
        self.traces.mkdir()
        self.store = Store(self.root)
        self.events: list[dict] = []

    def study(self, bits=(0, 1, 5), seeds=(0, 1), epochs=2, pause=0.0, name="s") -> StudySpec:
        base = {"epochs": epochs, "weight_decay": pause, "data_root": str(self.traces)}
        block = {"label": "A", "grid": {"bits": list(bits)}}
        return StudySpec.from_dict({"name": name, "seeds": list(seeds), "base": base, "block": [block]})

    def run(self, study: StudySpec, function: str = "quick", on_event=None):
        def heard(event: dict) -> None:
            self.events.append(event)
            if on_event:
                on_event(event)

        address = self.cluster.scheduler_address
        return run(study, self.store, scheduler=address, on_event=heard, run_function=FAKES + function)

    def executed(self, phase: str = "begin") -> Counter:
        """How often each run was executed."""
        return Counter(path.name.split(".")[0] for path in self.traces.glob(f"*.{phase}.*"))

    def no_litter(self) -> bool:
        return not [path for path in self.root.rglob("*") if path.name.endswith(".tmp") or path.name in (".reserve", "lock.json")]


def test_a_study_runs_each_run_once_and_keeps_everything(bench):
    study = bench.study()
    state = bench.run(study)
    assert (state.status, state.total, state.finished, state.queued, state.message) == ("finished", 6, 6, 0, "")
    assert bench.executed() == {each.run_id: 1 for each in study.expand()}
    table = bench.store.table("s").set_index("run_id")
    for each in study.expand():
        assert table.linear_accuracy[each.run_id] == accuracy(each)
        assert bench.store.history("s", each.run_id).to_dict("list") == {
            "epoch": [1, 2], "loss": [1.0, 0.5], "attempt": [1, 1], "samples_per_second": [10.0, 10.0],
        }  # fmt: skip
        assert bench.store.checkpoint("s", each.run_id).read_bytes() == b"weights"
        assert bench.store.embedding("s", each.run_id)["z"].shape == (700, 4)
    assert bench.store.definition("s") == study
    assert bench.no_litter()


def test_events_tell_the_story_of_each_run(bench):
    study = bench.study(bits=[3], seeds=[0])
    bench.run(study)
    kinds = [event["kind"] for event in bench.events]
    assert kinds[:2] == ["plan", "begin"] and kinds[-1] == "end" and set(kinds) <= {"plan", "begin", "step", "epoch", "end"}
    shares = [event["share"] for event in bench.events[1:]]
    assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)
    assert bench.events[0] == {"kind": "plan", "study": "s", "total": 1, "left": 1}


def test_finished_runs_are_never_run_again(bench):
    study = bench.study()
    bench.run(study)
    before = {path: path.stat().st_mtime_ns for path in bench.root.rglob("result.json")}
    assert bench.run(study).status == "finished"
    bench.run(bench.study(bits=[0, 1, 5, 7]))  # a larger study of the same name: only what is new
    assert set(bench.executed().values()) == {1} and len(bench.executed()) == 8
    assert {path: path.stat().st_mtime_ns for path in before} == before
    bench.run(bench.study(bits=[0]))  # a smaller one: the other results stay
    assert len(bench.store.table("s")) == 8 and bench.store.state("s").status == "finished"


def test_a_run_that_fails_three_times_is_recorded_and_the_study_goes_on(bench):
    study = bench.study()
    state = bench.run(study, "failing")
    assert (state.status, state.finished, state.failed) == ("finished", 4, 2)
    assert state.message == "2 of 6 runs failed; their logs say why."
    table = bench.store.table("s").set_index("run_id")
    for each in study.expand():
        assert bench.executed()[each.run_id] == (3 if each.bits == 5 else 1)
        if each.bits == 5:
            assert table.error[each.run_id] == "5 bits make the input not fit the encoder"
            log = bench.store.log("s", each.run_id)
            assert log.count("Traceback (most recent call last):") == 3 and "Attempt 3 failed." in log
    assert bench.run(study).failed == 0  # the cause is gone: the next start tries the failed ones again, and only them
    assert set(bench.executed("end").values()) == {1} and len(bench.store.table("s")) == 6


def test_when_every_run_fails_the_study_has_failed(bench):
    state = bench.run(bench.study(bits=[5]), "failing")
    assert state.status == "failed"
    assert state.message == "All 2 runs failed; the first with: 5 bits make the input not fit the encoder"


def test_an_exception_that_cannot_be_sent_still_arrives(bench):
    state = bench.run(bench.study(bits=[0], seeds=[0]), "unsendable")
    assert state.message == "The only run failed with: tests.studies.fake_runs.Unsendable: a message"


def test_words_for_people_come_without_the_name_of_their_exception(bench):
    state = bench.run(bench.study(bits=[0], seeds=[0]), "without_data")
    assert state.message == "The only run failed with: data_root: there is no folder photos."


def test_a_diverged_run_is_a_result(bench):
    study = bench.study(bits=[0], seeds=[0])
    assert bench.run(study, "diverging").diverged == 1
    assert bench.run(study, "diverging").status == "finished"
    assert sum(bench.executed().values()) == 1
    assert bench.store.table("s").status.tolist() == ["diverged"]


def stop_at(bench: Bench, kind: str):
    """Leave a request to stop at the first event of a kind, as a page does."""

    def heard(event: dict) -> None:
        if event["kind"] == kind and not bench.executed("stopped"):
            requests.request_stop("s", bench.root)

    return heard


def test_stop_and_resume(bench):
    """Running runs end after their batch and count as not done; the rest is left; resuming does what is missing, once."""
    study = bench.study(bits=range(8), seeds=[0], epochs=4, pause=0.2)
    state = bench.run(study, on_event=stop_at(bench, "end"))
    assert state.status == "stopped"
    assert state.message == "Running it again goes on from there."
    assert state.finished + state.queued == 8
    assert 1 <= state.finished < 8 and bench.executed("stopped") and bench.no_litter()
    begun = bench.store.table("s")
    assert set(begun.status) <= {"finished", "stopped"}
    done = set(begun.run_id[begun.status == "finished"])
    assert bench.run(bench.study(bits=range(8), seeds=[0], epochs=4, pause=0.2)).status == "finished"
    assert bench.executed("end") == {each.run_id: 1 for each in study.expand()}
    assert all(bench.executed()[run_id] == 1 for run_id in done)
    again = bench.store.table("s")
    assert again.attempt[again.run_id.isin(begun.run_id[begun.epochs_done > 0]) & ~again.run_id.isin(done)].gt(1).all()


def test_an_old_request_to_stop_means_nothing_but_one_since_the_start_counts(bench):
    """A person may press stop while the supervisor still imports its libraries."""
    start = time.time()
    study = bench.study(bits=[0], seeds=[0])
    requests.request_stop("s", bench.root)
    assert run(study, bench.store, run_function=FAKES + "quick", since=start).status == "stopped"
    requests.request_stop("s", bench.root)
    assert bench.run(study).status == "finished"


@pytest.mark.slow
def test_runs_of_a_killed_supervisor_do_not_hold_up_a_shared_cluster(bench, root):
    """kill -9 of a supervisor somewhere else: its runs on the cluster end after their batch, and the next one goes on."""
    study = bench.study(bits=range(3), seeds=[0], epochs=100, pause=0.2)
    file = bench.root.parent / "s.toml"
    file.write_text(study.to_toml())
    words = [str(file), str(bench.root), "quick", bench.cluster.scheduler_address]
    command = [sys.executable, "-m", "tests.studies.supervise", *words]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while not bench.executed() and time.monotonic() < until:
        time.sleep(0.1)
    process.kill()
    process.wait()
    while bench.executed("stopped") != bench.executed() and time.monotonic() < until:
        time.sleep(0.1)
    assert bench.executed("stopped") == bench.executed() != {}
    assert bench.run(bench.study(bits=range(3), seeds=[0])).finished == 3


def test_runs_are_deleted_on_request_while_the_study_runs(bench):
    study, tokens = bench.study(bits=range(6), seeds=[0]), []

    def heard(event: dict) -> None:
        if event["kind"] == "end" and not tokens:  # ask for the run that has ended, and for those in progress
            begun = [each["run_id"] for each in bench.events if each["kind"] == "begin"]
            tokens.append((requests.request_delete("s", bench.root, begun), event["run_id"]))
        elif tokens and tokens[0][1] not in set(bench.store.table("s").run_id):  # served: now the others may end
            (bench.traces / "go").touch()

    state = bench.run(study, "held", on_event=heard)
    token, deleted = tokens[0]
    assert state.status == "stopped" and state.finished == 5  # done, but for what was deleted
    assert deleted not in set(bench.store.table("s").run_id) and len(bench.store.table("s")) == 5
    assert bench.store.undo(token) == ("s", 1)
    assert bench.store.state("s").status == "finished"


def test_two_supervisors_on_one_study(bench):
    study = bench.study()
    bench.store.folder("s").mkdir(parents=True)
    text = rf"^study 's' is being run by process {os.getpid()} since "
    with lock(bench.store.folder("s")), pytest.raises(StudyError, match=text):
        bench.run(study)
    assert not bench.executed() and bench.run(study).status == "finished"


def test_two_studies_at_the_same_time_do_not_disturb_each_other(bench):
    first, second = bench.study(name="a", pause=0.1), bench.study(name="b", bits=[2, 3])
    other = threading.Thread(target=bench.run, args=(first,))
    other.start()
    assert bench.run(second).finished == 4
    other.join(60)
    assert bench.store.state("a").finished == 6


@pytest.mark.parametrize("calls", [3, 9, 14])
def test_a_full_disk_ends_the_study_with_a_clear_state_and_nothing_half_written(bench, monkeypatch, calls):
    """The disk is full from the n-th durable write on, until the reserve is given back."""
    study, real, count = bench.study(bits=range(4), seeds=[0]), os.fsync, [0]
    reserve = bench.store.folder("s") / ".reserve"

    def fsync(handle: int) -> None:
        count[0] += 1
        if count[0] > calls + 6 and reserve.exists():  # the first ones are the writer's own preparations
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)
    state = bench.run(study)
    monkeypatch.undo()
    expected = f"the folder {bench.root / 's'} cannot be written (no space left on device); choose another, or make room"
    assert (state.status, state.message) == ("failed", expected)
    assert (bench.store.state("s").status, bench.store.state("s").message) == ("failed", expected)  # on disk too
    assert bench.no_litter()
    done = set(bench.store.table("s").query("status == 'finished'").run_id)
    assert len(done) < 4
    assert bench.run(study).status == "finished"
    assert len(bench.store.table("s")) == 4 and all(bench.executed()[run_id] == 1 for run_id in done)


def test_a_folder_that_is_taken_away_is_noticed(bench):
    def heard(event: dict) -> None:
        if event["kind"] == "begin":
            (bench.root / "s").rename(bench.root / "moved")

    state = bench.run(bench.study(pause=0.1), on_event=heard)
    assert state.status == "failed" and "cannot be written (no such file or directory)" in state.message


def test_a_scheduler_that_does_not_answer(bench, monkeypatch):
    from core.studies import cluster

    monkeypatch.setattr(cluster, "ANSWER_WITHIN", 1)
    with pytest.raises(StudyError) as caught:
        run(bench.study(), bench.store, scheduler="tcp://127.0.0.1:9", run_function=FAKES + "quick")
    assert str(caught.value).startswith("scheduler tcp://127.0.0.1:9 does not answer within 1 s (")
    assert "check the address and that `dask scheduler` is running there" in str(caught.value)
    assert bench.store.state("s").status == "failed" and bench.no_litter()
    with pytest.raises(StudyError, match=r"^scheduler .nonsense://x. is no address"):
        run(bench.study(), bench.store, scheduler="nonsense://x", run_function=FAKES + "quick")


@pytest.mark.slow
def test_a_scheduler_that_goes_away(bench, monkeypatch):
    """The state says so, and what had ended is there."""
    monkeypatch.setitem(dask.config.config["distributed"]["comm"]["timeouts"], "connect", "2s")
    study = bench.study(bits=range(6), seeds=[0], epochs=4, pause=0.1)
    with local_cluster(1) as other:
        ended = threading.Event()
        closing = threading.Thread(target=lambda: (ended.wait(30), other.close()))
        closing.start()
        state = run(
            study, bench.store, scheduler=other.scheduler_address, run_function=FAKES + "quick",
            on_event=lambda event: ended.set() if event["kind"] == "end" else None,
        )  # fmt: skip
        closing.join(30)
    assert state.status == "failed" and "is gone; start the study again to go on where it was." in state.message
    done = bench.store.table("s").query("status == 'finished'").run_id
    assert len(done) >= 1
    assert bench.run(study).status == "finished"
    assert all(bench.executed()[run_id] == 1 for run_id in done)


def test_a_page_sees_a_run_in_progress(bench):
    """Within the first epochs the state, the table and the curve show the run; the heartbeat is young."""
    seen = []

    def watch() -> None:
        reader, until = Store(bench.root), time.monotonic() + 20
        while time.monotonic() < until and not seen:
            state, table = reader.state("s"), reader.table("s")
            if state.runs and "running" in set(table.status) and not reader.history("s", state.runs[0].run_id).empty:
                seen.append((state, table, reader.history("s", state.runs[0].run_id)))
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    bench.run(bench.study(bits=[4], seeds=[0], epochs=20, pause=0.25))
    watcher.join()
    state, table, history = seen[0]
    assert state.status == "running" and state.active and state.heartbeat_age < 10
    assert state.runs[0].label == "A" and state.runs[0].epochs == 20 and 0 < state.runs[0].share < 1
    assert table.bits.tolist() == [4]
    assert table.loss[0] == pytest.approx(1 / table.epochs_done[0])
    assert history.epoch.tolist() == list(range(1, len(history) + 1))


def test_a_listener_whose_screen_is_gone_does_not_end_the_study(bench):
    def heard(event: dict) -> None:
        raise BrokenPipeError

    assert bench.run(bench.study(), on_event=heard).status == "finished"
    assert len(bench.events) == 1  # it was told no more
