"""The job: progress on disk, stop, failures as messages; and once for real, in its own process."""

import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from core.checkpoints.report import CheckpointError
from core.checkpoints.uploads import UploadStore
from core.datasets.dataset import DataError
from core.inspections import job, launch, samples
from core.inspections.spec import InspectionSpec
from core.inspections.store import InspectionError, InspectionStore
from tests.inspections import made_up

ROOT = job.__file__.rpartition("/core/")[0]


@pytest.fixture
def places(tmp_path):
    return InspectionStore(tmp_path / "inspections"), UploadStore(tmp_path / "uploads")


@pytest.fixture
def asked(tmp_path):
    """Settings whose file exists."""
    path = tmp_path / "encoder.pth"
    path.write_bytes(b"x")
    return made_up.spec(source=str(path))


def run(places, asked, examine):
    store, uploads = places
    store.create(asked)
    return job.run(asked.inspection_id, store, uploads, examine), store.state(asked.inspection_id)


def found(spec, path, on_progress, should_stop):
    on_progress("encoding", 0.4, 812.0)
    made = made_up.arrays()
    return {"architecture": "ConvN"}, made_up.summary(made), made


def test_a_result_is_written_and_the_state_says_so(places, asked):
    code, state = run(places, asked, found)
    assert code == 0 and state.status == "finished" and state.share == 1.0
    assert places[0].load(asked.inspection_id).report == {"format_version": 1, "architecture": "ConvN"}


def test_progress_is_on_disk_while_it_works(places, asked, monkeypatch):
    monkeypatch.setattr(job, "PULSE", 0.05)
    seen = {}

    def slow(spec, path, on_progress, should_stop):
        on_progress("encoding", 0.4, 812.0)
        until = time.monotonic() + 20
        while seen.get("share") != 0.4 and time.monotonic() < until:
            time.sleep(0.02)
            seen.update(places[0].state(asked.inspection_id)._asdict())
        return found(spec, path, on_progress, should_stop)

    code, _ = run(places, asked, slow)
    assert code == 0
    assert (seen["status"], seen["part"], seen["share"], seen["rate"]) == ("running", "encoding", 0.4, 812.0)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (CheckpointError("mismatch", "Only 60 % of the encoder's tensors match."), "Only 60 % of the encoder's tensors match."),
        (DataError("stl10 is not on this machine."), "stl10 is not on this machine."),
        (OSError(28, "No space left on device"), "A file could not be read or written: No space left on device."),
        (MemoryError(), "There was not enough memory. Choose fewer images, or smaller ones."),
        (RuntimeError("shape '[3]' is invalid\ntrace"), "The encoder could not be run on these images: shape '[3]' is invalid"),
        (
            ZeroDivisionError("division by zero"),
            "The inspection broke off in an unexpected way (ZeroDivisionError: division by zero).",
        ),
    ],
)
def test_every_failure_is_a_message(places, asked, error, text):
    def broken(*_, **__):
        raise error

    code, state = run(places, asked, broken)
    assert code == 1 and (state.status, state.message) == ("failed", text)
    assert places[0].load(asked.inspection_id) is None


def test_a_full_disk_at_the_end_is_a_message(places, asked, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.inspections.store.write_bytes", full)
    code, state = run(places, asked, found)
    folder = places[0].folder(asked.inspection_id)
    assert code == 1 and state.message == f"the folder {folder} cannot be written (no space left on device); " + (
        "choose another, or make room"
    )


def test_a_request_to_stop_ends_it_and_is_not_a_failure(places, asked):
    class Stopped(Exception):
        pass

    def works(spec, path, on_progress, should_stop):
        assert not should_stop()
        places[0].request_stop(spec.inspection_id)
        assert should_stop()
        raise Stopped

    code, state = run(places, asked, works)
    assert code == 1 and (state.status, state.message) == ("stopped", "")


def test_an_old_request_to_stop_does_not_stop_the_next_try(places, asked):
    store, _ = places
    store.create(asked)
    store.request_stop(asked.inspection_id)
    code, _ = run(places, asked, found)
    assert code == 0


def test_a_file_that_is_gone_is_named(places, asked, tmp_path):
    (tmp_path / "encoder.pth").unlink()
    _, state = run(places, asked, found)
    assert state.message == f"{tmp_path / 'encoder.pth'} is not there any more. Put it back, or choose the file again."
    with pytest.raises(InspectionError, match="is not there any more"):
        launch.start(asked, *places)
    gone = made_up.spec(source=made_up.DIGEST)
    with pytest.raises(InspectionError, match=r"The uploaded file encoder.pth is not on this machine any more. Upload it again."):
        launch.start(gone, *places)


def test_an_unknown_id_is_an_error_of_use(places, capsys, monkeypatch):
    monkeypatch.setattr(job.signal, "signal", lambda *_: None)  # what ends its own process would end that of the tests
    assert job.main(["0" * 12, "--root", str(places[0].root), "--uploads", str(places[1].root)]) == 2
    assert "There is no inspection 000000000000" in capsys.readouterr().err


def wait(store, inspection_id, seconds=200):
    until = time.monotonic() + seconds
    while store.state(inspection_id).active and time.monotonic() < until:
        time.sleep(0.1)
    return store.state(inspection_id)


@pytest.fixture
def sample(monkeypatch, tmp_path):
    """A shipped checkpoint under few images."""
    path = samples.SAMPLES[0].path
    if not path.is_file():
        pytest.skip("the sample checkpoints are not there")
    import hashlib

    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return InspectionSpec(source=str(path), sha256=digest, name="sample", bits=15, n_train=60, n_test=40)


def test_a_real_job_in_its_own_process_outlives_its_parent_and_finishes(places, sample):
    """Started by a process that ends at once, as a page server does when it is restarted."""
    store, uploads = places
    start = (
        "import sys; from core.checkpoints.uploads import UploadStore; from core.inspections.launch import start\n"
        "from core.inspections.spec import InspectionSpec; from core.inspections.store import InspectionStore\n"
        "start(InspectionSpec.model_validate_json(sys.argv[1]), InspectionStore(sys.argv[2]), UploadStore(sys.argv[3]))"
    )
    command = [sys.executable, "-c", start, sample.model_dump_json(), str(store.root), str(uploads.root)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    state = wait(store, sample.inspection_id)
    assert state.status == "finished", (state, store.last_words(sample.inspection_id))
    inspection = store.load(sample.inspection_id)
    assert inspection.arrays["h"].shape == (40, 128) and inspection.arrays["h"].dtype == np.float16
    assert inspection.summary["n_test"] == 40 and 0 < inspection.summary["forward_share"] < 1
    with pytest.raises(InspectionError, match="at work"):
        store.write_state(sample.inspection_id, status="running", heartbeat=time.time(), started=time.time())
        launch.start(sample, store, uploads)


def test_a_real_job_stops_on_request(places, sample):
    store, uploads = places
    asked = sample.model_copy(update={"n_train": 4000, "n_test": 1000})
    launch.start(asked, store, uploads)
    store.request_stop(asked.inspection_id)
    assert wait(store, asked.inspection_id).status == "stopped"
    assert store.load(asked.inspection_id) is None


def test_kill_ends_a_job_that_does_not_answer(places, asked):
    """A process that sleeps stands for one that is stuck in a part without batches."""
    store, _ = places
    store.create(asked)
    stuck = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    try:
        store.write_launch(asked.inspection_id, stuck.pid)
        assert store.state(asked.inspection_id).status == "queued"
        assert launch.kill(asked.inspection_id, store)
        assert not psutil.pid_exists(stuck.pid)
        assert not launch.kill(asked.inspection_id, store)
    finally:
        stuck.kill()


def test_a_job_that_dies_before_it_begins_has_failed_with_its_last_words(places, asked):
    store, _ = places
    store.create(asked)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    store.write_launch(asked.inspection_id, gone.pid)
    gone.wait()
    (store.folder(asked.inspection_id) / "log.txt").write_text("Traceback\nModuleNotFoundError: No module named 'torch'\n")
    state = store.state(asked.inspection_id)
    assert state.status == "failed"
    assert state.message == "Its process ended before it began. ModuleNotFoundError: No module named 'torch'"
