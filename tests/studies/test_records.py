"""Files that are sound JSON but not what a store writes: one of them must not take a page, or the other studies, away."""

import gzip
import json
import shutil

import numpy as np
import pytest

from core.studies import manage
from core.studies.catalogue import catalogue, timed
from core.studies.files import read_json
from core.studies.lock import holder
from core.studies.manage import TRASH
from core.studies.names import StudyError
from core.studies.process import identity
from core.studies.records import Epoch, Pulse, conforms
from core.studies.store import Store
from tests.studies.filled import fill

ODD_STATES = [
    {"started": "yesterday", "heartbeat": "now", "total": "many", "status": "running", "running": "x"},
    {"started": None, "heartbeat": None, "total": None, "status": "running", "running": None},
    {"status": "running", "total": 9, "started": 1.0, "heartbeat": 2e9, "running": [{"epoch": "x"}, 3]},
    {"status": ["x"], "total": -5, "started": -1, "heartbeat": 1e300},
    {"status": "running", "pid": "me", "created": {}},
]


@pytest.mark.parametrize("content", ODD_STATES)
def test_an_odd_state_file_is_said_to_be_broken(tmp_path, content):
    """It raised, on every page that lists the person's own studies."""
    store, _ = fill(tmp_path)
    (tmp_path / "s" / "state.json").write_text(json.dumps(content))
    state = store.state("s")
    assert (state.status, state.ended) == ("finished", 8)
    assert state.message == "state.json cannot be read; the counts come from the results."
    assert len(store.table("s")) == 8


@pytest.mark.parametrize("content", [{"at": "soon"}, {"at": 1e300, "pid": "x"}, {"at": None}])
def test_an_odd_launch_file_is_none(tmp_path, content):
    store, _ = fill(tmp_path)
    (tmp_path / ".requests").mkdir(exist_ok=True)
    (tmp_path / ".requests" / "s.launch.json").write_text(json.dumps(content))
    assert store.state("s").status == "finished"


@pytest.mark.parametrize("content", [{"since": "y", "host": identity()["host"]}, {"since": 1e300, "host": "elsewhere"}])
def test_an_odd_lock_holds_nothing(tmp_path, content):
    """Saying since when it was held raised."""
    (tmp_path / "lock.json").write_text(json.dumps(content))
    assert holder(tmp_path) is None


def test_odd_files_of_runs_are_passed_over(tmp_path):
    """spec.json, result.json and metrics.jsonl of other programs; a run without a sound one is no run, or has no epochs."""
    store, study = fill(tmp_path)
    runs = [run.run_id for run in study.expand()]
    folders = [tmp_path / "s" / run_id for run_id in runs]
    (tmp_path / "s" / "results.jsonl").unlink()
    for folder, name, content in (
        (folders[0], "spec.json", {"spec": 5}),
        (folders[1], "result.json", {"result": 7}),
        (folders[2], "result.json", {"result": {"run_id": 7}}),
        (folders[3], "result.json", {"attempt": "first", "result": {"run_id": runs[3], "status": "finished"}}),
    ):
        (folder / name).write_text(json.dumps(content))
    lines = [{"epoch": "x", "attempt": "y"}, {"epoch": 1, "loss": "abc"}, {"epoch": 1, "loss": 2.0, "attempt": 1}]
    (folders[4] / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = store.table("s")
    assert runs[0] not in set(table["run_id"])
    assert set(table.loc[table["status"] == "finished", "run_id"]) == set(runs[4:])
    assert [record["loss"] for record in store.epochs("s", runs[4])] == [2.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"run_id": "abc"}, "run_id: must be 12 hexadecimal digits, got 'abc'"),
        ({"attempt": "first"}, "attempt: input should be a valid integer, got 'first'"),
        ({"label": 7}, "label: input should be a valid string, got 7"),
        ({"spec": []}, "spec: input should be a valid dictionary, got []"),
    ],
)
def test_an_odd_line_of_the_summary_is_left_out_and_named(tmp_path, change, said):
    """An id that is none raised when the run's curve was asked for, an attempt that is none when the table was made."""
    store, study = fill(tmp_path)
    path = tmp_path / "s" / "results.jsonl"
    row = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps(row | change) + "\n")
    for run in study.expand():
        (tmp_path / "s" / run.run_id / "result.json").unlink(missing_ok=True)
    assert said in store.state("s").message
    assert not (store.table("s")["status"] == "finished").any()
    assert not timed(catalogue(Store(tmp_path / "none"), store, tmp_path / "none"))


def test_a_number_written_as_text_is_named(tmp_path):
    """pydantic takes the text for a number, and a time estimate then adds text up."""
    store, study = fill(tmp_path)
    path = tmp_path / "s" / "results.jsonl"
    row = json.loads(path.read_text().splitlines()[0])
    row["result"]["seconds"] = "5"
    path.write_text(json.dumps(row) + "\n")
    for run in study.expand():
        (tmp_path / "s" / run.run_id / "result.json").unlink(missing_ok=True)
    assert "seconds: must be a number, got '5'" in store.state("s").message


@pytest.mark.parametrize("content", [b'[1]\n5\n{"run_id": "x"}\n', b'{"run_id": "0123456789ab", "history": [1]}\n'])
def test_odd_shipped_curves_are_none(tmp_path, content):
    store, study = fill(tmp_path)
    run_id = study.expand()[0].run_id
    (tmp_path / "s" / run_id / "metrics.jsonl").unlink(missing_ok=True)
    (tmp_path / "s" / "curves.jsonl.gz").write_bytes(gzip.compress(content))
    assert store.epochs("s", run_id) == []


def test_damaged_compressed_files_read_as_nothing(tmp_path):
    """zlib's own error is none of those that reading a file raises otherwise."""
    store, study = fill(tmp_path)
    run_id = study.expand()[0].run_id
    folder = tmp_path / "s"
    (folder / run_id / "metrics.jsonl").unlink(missing_ok=True)
    packed = bytearray(gzip.compress(json.dumps({"run_id": run_id, "history": [{"epoch": i} for i in range(500)]}).encode()))
    packed[30:60] = b"\xff" * 30
    (folder / "curves.jsonl.gz").write_bytes(packed)
    assert store.epochs("s", run_id) == []
    np.savez_compressed(folder / run_id / "embedding.npz", z=np.random.default_rng(0).normal(size=(90, 8)), labels=np.zeros(90))
    packed = bytearray((folder / run_id / "embedding.npz").read_bytes())
    packed[300:340] = b"\xff" * 40
    (folder / run_id / "embedding.npz").write_bytes(packed)
    assert store.embedding("s", run_id) is None


@pytest.mark.parametrize(
    "arrays",
    [
        {"q": np.zeros(3)},
        {"z": np.zeros((5, 4))},
        {"z": np.zeros(5), "labels": np.zeros(5)},
        {"z": np.zeros((5, 4)), "labels": np.zeros(7)},
        {"z": np.zeros((5, 4)), "labels": np.zeros(5), "pca": np.zeros((3, 2))},
        {"z": np.zeros((5, 4)), "labels": np.array(["a"] * 5)},
    ],
)
def test_arrays_that_are_no_embedding_are_none(tmp_path, arrays):
    store, study = fill(tmp_path)
    run_id = study.expand()[0].run_id
    np.savez(tmp_path / "s" / run_id / "embedding.npz", **arrays)
    assert store.embedding("s", run_id) is None


def test_an_odd_manifest_undoes_nothing(tmp_path):
    store, _ = fill(tmp_path)
    token = "20260101T000000-01234567"
    (tmp_path / TRASH / token).mkdir(parents=True)
    (tmp_path / TRASH / token / "manifest.json").write_text('{"study": "s"}')
    with pytest.raises(StudyError, match="there is nothing to undo under"):
        store.undo(token)


def test_what_a_supervisor_writes_conforms():
    """Fields of later versions may stand beside the known ones."""
    run = {"run_id": "0123456789ab", "epoch": 1, "epochs": 9, "share": 0.1, "samples_per_second": None, "began": 1.7e9}
    pulse = {**identity(), "status": "running", "started": 1.7e9, "running": [run], "new": 1, "seconds_left": None}
    assert conforms(pulse, Pulse)
    assert conforms({"epoch": 1, "loss": float("nan"), "loss_floor": None, "attempt": 2, "worker": "tcp://x:1"}, Epoch)
    assert not conforms([1], Epoch)


def test_the_trash_lists_what_can_be_brought_back(tmp_path):
    """A study deleted as a whole, another study's runs, and broken manifests are none of it."""
    store, study = fill(tmp_path)
    first, second, third = (run.run_id for run in study.expand()[:3])
    old = store.delete("s", [first])
    (tmp_path / TRASH / old).rename(tmp_path / TRASH / "20200102T030405-01234567")
    new = store.delete("s", [second, third])
    nothing = '{"study": "s", "whole": false, "rows": []}'
    odd = {"20260101T000000-01234567": '{"study": "s"}', "20260101T000000-x": "{", "20260101T000000-00000000": nothing}
    odd["20269999T000000-01234567"] = nothing  # no date
    for name, content in odd.items():
        (tmp_path / TRASH / name).mkdir()
        (tmp_path / TRASH / name / "manifest.json").write_text(content)
    assert store.trashed("s") == [(new, 2, store.trashed("s")[0].when), ("20200102T030405-01234567", 1, 1577934245)]
    assert store.trashed("other") == []


def test_what_is_brought_back_while_the_trash_is_listed_is_left_out(tmp_path, monkeypatch):
    """As by Undo in another tab."""
    store, study = fill(tmp_path)
    token = store.delete("s", [study.expand()[0].run_id])

    def read_and_lose(path, like):
        content = read_json(path, like)
        shutil.rmtree(tmp_path / TRASH / token)
        return content

    monkeypatch.setattr(manage, "read_json", read_and_lose)
    assert store.trashed("s") == []
