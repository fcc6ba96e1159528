"""InspectionStore: whole files, states that tell the truth, ids that never become paths, deletion that can be undone."""

import json
import time

import numpy as np
import pytest

from core.inspections.state import STALLED_AFTER, judge
from core.inspections.store import InspectionError, InspectionStore
from core.studies.process import identity
from tests.inspections import made_up


@pytest.fixture
def store(tmp_path):
    return InspectionStore(tmp_path / "inspections")


@pytest.fixture
def finished(store):
    return made_up.write(store.root)


def test_what_was_written_is_read_again(store, finished):
    found, made = store.load(finished), made_up.arrays()
    assert found.spec == made_up.spec() and found.summary["h"]["linear_accuracy"] == 0.83
    assert found.report["architecture"] == "ConvN" and set(found.arrays) == set(made)
    for name, array in made.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype == array.dtype


def test_arrays_cannot_be_changed_by_one_session_for_the_others(store, finished):
    with pytest.raises(ValueError, match="read-only"):
        store.load(finished).arrays["h"][0] = 0


def test_lists_the_latest_first(store, finished):
    other = made_up.write(store.root, seed=1)
    import os

    os.utime(store.folder(finished) / "spec.json", (1, 1))
    assert [listed.id for listed in store.list()] == [other, finished]


def test_a_missing_folder_is_empty(tmp_path):
    store = InspectionStore(tmp_path / "none")
    assert store.list() == [] and store.load("0" * 12) is None and store.state("0" * 12).status == "missing"


@pytest.mark.parametrize("wrong", ["../../../etc", "", "0" * 11, "0" * 13, "ABCDEF012345", "/etc/passwd", None])
def test_an_id_never_becomes_another_path(store, wrong):
    with pytest.raises(InspectionError, match="inspection id: must be 12 hexadecimal digits"):
        store.folder(wrong)


@pytest.mark.parametrize("name", ["summary.json", "arrays.npz", "spec.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"\x00\x01"])
def test_broken_files_are_no_result(store, finished, name, content):
    (store.folder(finished) / name).write_bytes(content)
    assert store.load(finished) is None


@pytest.mark.parametrize("name", ["summary.json", "arrays.npz"])
def test_the_stamp_changes_when_a_file_is_damaged(store, finished, name):
    before, file = store.stamp(finished), store.folder(finished) / name
    file.write_bytes(file.read_bytes()[:100])
    assert store.stamp(finished) != before


def test_a_lost_result_is_not_called_finished(store, finished):
    (store.folder(finished) / "summary.json").unlink()
    state = store.state(finished)
    assert state.status == "failed" and state.message == "Its result was taken away. Run it again."


def test_a_shipped_result_without_a_state_is_finished(store, finished):
    (store.folder(finished) / "state.json").unlink()
    assert store.state(finished).status == "finished"


def test_a_half_written_result_is_none(store, finished, monkeypatch):
    """The summary is written last: a crash in between leaves no result, never a mixed one."""

    def full(path, content, durable=True):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.inspections.store.write_bytes", full)
    with pytest.raises(InspectionError, match=r"cannot be written \(no space left on device\); choose another, or make room"):
        store.write_result(finished, {}, {"h": {}}, made_up.arrays())
    assert store.load(finished) is None


def test_delete_and_undo(store, finished):
    token = store.delete(finished)
    assert store.list() == [] and store.state(finished).status == "missing"
    assert store.undo(token) == finished and store.load(finished) is not None
    with pytest.raises(InspectionError, match="nothing to undo"):
        store.undo(token)
    with pytest.raises(InspectionError, match="undo token"):
        store.undo("../..")


def test_an_inspection_at_work_is_not_deleted(store, finished):
    store.write_state(finished, status="running", heartbeat=time.time(), started=time.time())
    with pytest.raises(InspectionError, match="at work"):
        store.delete(finished)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InspectionError, match="cannot be written"):
        InspectionStore(tmp_path / "file").create(made_up.spec())


def test_a_result_of_ten_thousand_images_opens_within_a_second(store):
    """h of a ResNet-18 on 10,000 images, its projector's z, and everything else."""
    random, asked = np.random.default_rng(0), made_up.spec()
    arrays = {
        "h": random.normal(size=(10_000, 512)).astype(np.float16),
        "z": random.normal(size=(10_000, 128)).astype(np.float16),
    }
    arrays |= {"neighbours": np.zeros((10_000, 10), np.int32), "pca_h": np.zeros((10_000, 3), np.float32)}
    store.create(asked)
    store.write_result(asked.inspection_id, {}, {"h": {}}, arrays)
    best = 9.0
    for _ in range(3):
        start = time.perf_counter()
        assert store.load(asked.inspection_id) is not None
        best = min(best, time.perf_counter() - start)
    assert best < 1


NOW = 1000.0


def state(**fields):
    return {**identity(), "status": "running", "heartbeat": NOW, "started": NOW - 10, "share": 0.5, **fields}


def test_a_living_process_is_running():
    found = judge(state(part="encoding", rate=400, seconds_left=10), now=NOW + 1)
    assert (found.status, found.part, found.share, found.rate, found.seconds_left) == ("running", "encoding", 0.5, 400, 10)
    assert found.active and found.seconds == 11


def test_a_dead_process_is_stalled_not_running():
    found = judge(state(pid=2**22 + 1, created=1.0), now=NOW)
    assert (found.status, found.message, found.active) == ("stalled", "Its process is gone.", False)


def test_a_silent_process_is_stalled():
    assert judge(state(), now=NOW + STALLED_AFTER + 1).message == f"No sign of life for {STALLED_AFTER + 1:.0f} s."


@pytest.mark.parametrize("written", [None, {}, {"status": "odd"}, {"status": 3}])
def test_nonsense_is_missing(written):
    assert judge(written).status == "missing"


def test_fields_of_any_kind_are_survived():
    found = judge(json.loads(json.dumps(state(share="half", rate=None, started="yesterday", seconds_left=True))), now=NOW)
    assert (found.share, found.rate, found.seconds, found.seconds_left) == (0.0, None, None, None)
