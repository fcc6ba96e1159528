"""Reading studies: whatever a supervisor leaves at any moment, and the shipped form."""

import json
import shutil
import time

import numpy as np
import pandas as pd
import pytest

from core.studies import manage
from core.studies.files import append_lines, read_json, write_json
from core.studies.filtering import matching
from core.studies.names import StudyError
from core.studies.process import identity
from core.studies.store import Store
from core.studies.table import COLUMNS, used
from core.studies.writer import StudyWriter
from core.training.spec import RunResult, RunSpec
from tests.studies.filled import definition, fill, many_rows, trained


def test_table_has_all_settings_all_results_and_the_label(tmp_path):
    store, study = fill(tmp_path)
    table = store.table("s")
    assert tuple(table.columns) == COLUMNS
    assert {*RunSpec.model_fields, *RunResult.model_fields, "label", "attempt"} <= set(COLUMNS)
    assert len(table) == len(study.expand()) == 8
    row = table[(table.bits == 10) & (table.seed == 1)].iloc[0]
    assert (row.label, row.status, row.linear_accuracy, row.epochs, row.tau) == ("NT-Xent", "finished", 0.4, 2, 0.1)
    assert (row.n_train, row.device) == (4000, "CPU, 1 thread")  # measured, not the None and "auto" of the settings
    assert np.isnan(row.knn_accuracy) and row.versions["torch"] == "2.14.1"
    assert sorted(table.label.unique()) == ["NT-Xent", "Supervised"]
    kinds = {"bits": "int64", "tau": "float64", "lam": "float64", "shuffle": "bool", "epochs_done": "int64", "loss": "float64"}
    assert {name: str(table[name].dtype) for name in kinds} == kinds


def test_a_dial_that_a_run_does_not_look_at_is_blank(tmp_path):
    store, _ = fill(tmp_path)
    runs = used(store.table("s"))
    assert set(runs.loc[runs["objective"] == "nt_xent", "tau"]) == {0.1}
    assert runs.loc[runs["objective"] == "supervised", "tau"].isna().all() and runs["momentum"].isna().all()
    assert matching(runs, "tau=0.1").sum() == 6 and store.table("s")["tau"].notna().all()


def test_missing_studies_read_as_empty(tmp_path):
    store = Store(tmp_path / "nowhere")
    assert store.studies() == []
    assert tuple(store.table("s").columns) == COLUMNS and store.table("s").empty
    assert store.state("s").status == "missing"
    assert store.history("s", "0" * 12).empty
    assert store.embedding("s", "0" * 12) is None
    assert store.spec("s", "0" * 12) is None and store.result("s", "0" * 12) is None
    assert store.definition("s") is None and store.title("s") == "s"


def test_what_is_read_of_one_run(tmp_path):
    store, study = fill(tmp_path)
    run = study.expand()[0]
    assert store.spec("s", run.run_id) == run
    assert store.label("s", run.run_id) == "NT-Xent"
    assert store.result("s", run.run_id).linear_accuracy == 0.9
    assert store.history("s", run.run_id).to_dict("list") == {
        "epoch": [1, 2], "loss": [3.0, 1.5], "uniformity": [-1.0, -2.0], "attempt": [1, 1],
    }  # fmt: skip
    assert store.embedding("s", run.run_id)["z"].shape == (700, 4)
    assert store.checkpoint("s", run.run_id).read_bytes() == b"weights"
    assert store.title("s") == "A study" and store.definition("s") == study and store.studies() == ["s"]


def test_a_summary_that_is_missing_or_short_is_completed_from_the_run_folders(tmp_path):
    """A supervisor was killed between result.json and the summary; or somebody removed the summary."""
    store, _ = fill(tmp_path)
    full = store.table("s")
    path = tmp_path / "s" / "results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for content in (b"".join(lines[:5]), b"".join(lines[:5]) + lines[5][:30], b"not json\n" + b"".join(lines[2:]), b""):
        path.write_bytes(content)
        for reader in (store, Store(tmp_path)):
            table = reader.table("s")
            pd.testing.assert_frame_equal(
                table.sort_values("run_id", ignore_index=True), full.sort_values("run_id", ignore_index=True)
            )
    path.unlink()
    assert len(Store(tmp_path).table("s")) == 8 and len(store.table("s")) == 8
    StudyWriter(store, definition()).open()  # the next supervisor makes the summary complete again
    assert len(path.read_bytes().splitlines()) == 8


def test_the_last_result_of_a_run_counts(tmp_path):
    """A failed run was run again and finished."""
    store, study = fill(tmp_path, 0)
    run, writer = study.expand()[0], StudyWriter(store, study)
    writer.fail(run, writer.begin(run), "ValueError: no")
    assert store.table("s").status.tolist() == ["failed"] and store.table("s").error.tolist() == ["ValueError: no"]
    writer.end(run, writer.begin(run), trained(run))
    assert store.table("s").status.tolist() == ["finished"]


def at_work(store: Store, run: RunSpec, status: str = "running", **facts) -> None:
    """What a live supervisor with one run in progress has written: this process plays the supervisor."""
    entry = {"run_id": run.run_id, "label": "NT-Xent", "epoch": 1, "epochs": 2, "share": 0.6, "began": time.time() - 5}
    pulse = {"started": time.time() - 9, "heartbeat": time.time()}
    content = {**identity(), **pulse, "status": status, "total": 8, "running": [entry]}
    write_json(store.folder("s") / "state.json", content | facts)


def test_runs_in_progress_are_in_the_table_and_the_state(tmp_path):
    store, study = fill(tmp_path, 2)
    run, writer = study.expand()[2], StudyWriter(store, study)
    attempt = writer.begin(run)
    writer.epoch(run.run_id, attempt, {"epoch": 1, "loss": 2.5, "online_accuracy": 0.3})
    at_work(store, run)
    row = store.table("s").iloc[-1]
    assert (row.run_id, row.status, row.epochs_done, row.loss, row.online_accuracy) == (run.run_id, "running", 1, 2.5, 0.3)
    assert np.isnan(row.linear_accuracy) and row.bits == run.bits and row.label == study.label_of(run)
    state = store.state("s")
    assert (state.status, state.total, state.finished, state.running, state.queued) == ("running", 8, 2, 1, 5)
    assert state.active and state.runs[0].share == 0.6 and 4 < state.runs[0].seconds < 60 and state.heartbeat_age < 5
    for change, shown in (({"created": 1.0}, "stalled"), ({"status": "stopped"}, "stopped"), ({"running": []}, "queued")):
        at_work(store, run, **change)
        assert store.table("s").status.tolist() == ["finished", "finished", shown]
    writer.end(run, attempt, trained(run))
    at_work(store, run)
    assert store.table("s").status.tolist() == ["finished"] * 3


def test_epochs_of_an_earlier_attempt_are_not_shown(tmp_path):
    store, study = fill(tmp_path, 0)
    run, writer = study.expand()[0], StudyWriter(store, study)
    assert writer.begin(run) == 1
    for epoch in (1, 2):
        writer.epoch(run.run_id, 1, {"epoch": epoch, "loss": 99.0})
    assert writer.begin(run) == 2
    writer.epoch(run.run_id, 2, {"epoch": 1, "loss": 1.0})
    with open(tmp_path / "s" / run.run_id / "metrics.jsonl", "ab") as file:
        file.write(b'{"epoch": 2, "att')  # caught in the act
    assert store.history("s", run.run_id)[["epoch", "loss", "attempt"]].values.tolist() == [[1, 1.0, 2]]


STATES = {
    "alive": ({}, "running"),
    "no run has begun": ({"running": [], "ended": False}, "queued"),
    "supervisor gone": ({"created": 1.0}, "stalled"),
    "silent": ({"heartbeat": 100.0}, "stalled"),
    "silent on another machine": ({"host": "elsewhere", "heartbeat": 100.0}, "stalled"),
    "alive on another machine": ({"host": "elsewhere"}, "running"),
    "stopped": ({"status": "stopped", "message": "Stopped."}, "stopped"),
    "failed": ({"status": "failed", "message": "The disk is full."}, "failed"),
    "finished": ({"status": "finished", "total": 2}, "finished"),
    "finished, then runs were deleted": ({"status": "finished", "total": 8}, "stopped"),
}


@pytest.mark.parametrize("case", STATES)
def test_the_states_are_told_apart(tmp_path, case):
    facts, expected = STATES[case]
    store, study = fill(tmp_path, 2 if facts.get("ended", True) else 0)
    at_work(store, study.expand()[2], **facts)
    state = store.state("s")
    assert state.status == expected
    assert bool(state.message) == (expected in ("stalled", "failed", "stopped"))
    assert state.active == (expected in ("running", "queued"))


def test_states_without_a_state_file(tmp_path):
    store, study = fill(tmp_path, 0)
    assert store.state("s").status == "empty" and store.state("s").total == 8
    run, writer = study.expand()[0], StudyWriter(store, study)
    writer.end(run, writer.begin(run), trained(run))
    assert (store.state("s").status, store.state("s").queued) == ("stopped", 7)
    (tmp_path / "s" / "state.json").write_text('{"status": "runn')
    assert store.state("s").message == "state.json cannot be read; the counts come from the results."
    (tmp_path / "bare").mkdir()
    assert store.state("bare").status == "empty" and store.studies() == ["s"]


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/b", "", ".trash", "Ä", "A", "x" * 65, None, 5])
def test_names_never_become_paths(tmp_path, name):
    store, _ = fill(tmp_path)
    for read in (store.table, store.state, store.definition, lambda study: store.history(study, "0" * 12)):
        with pytest.raises(StudyError, match=r"^study name: must be 1 to 64 lower-case letters"):
            read(name)
    for read in (store.history, store.embedding, store.spec, store.log, store.checkpoint, store.result):
        with pytest.raises(StudyError, match=r"^run id: must be 12 hexadecimal digits, got "):
            read("s", name)


def test_ten_thousand_runs_read_fast_and_stay_warm(tmp_path):
    """The bar is 1 s warm, without opening a run folder; one more run must not cost a new reading of all.

    Processor time is measured, so that other programs on the machine do not count.
    """
    folder = tmp_path / "big"
    folder.mkdir()
    many_rows(folder / "results.jsonl", 10_000)
    store = Store(tmp_path)
    started = time.process_time()
    assert len(store.table("big")) == 10_000
    cold = time.process_time() - started
    started = time.process_time()
    table = store.table("big")
    warm = time.process_time() - started
    assert warm < 0.1 and cold < 2, (warm, cold)
    table.loc[0, "tau"] = -1.0  # a reader's own copy
    assert (store.table("big").tau > 0).all()
    result = trained(RunSpec(seed=10_001)).result
    append_lines(folder / "results.jsonl", [{"run_id": RunSpec(seed=10_001).run_id, "label": "x", "spec": {}, "result": result}])
    started = time.process_time()
    assert len(store.table("big")) == 10_001
    assert time.process_time() - started < 1
    assert store.state("big").finished == 10_001


def test_export_reads_like_the_original(tmp_path):
    store, study = fill(tmp_path / "runs")
    folder = store.export("s", tmp_path / "results")
    shipped = Store(tmp_path / "results")
    by_id = {"by": "run_id", "ignore_index": True}
    pd.testing.assert_frame_equal(shipped.table("s").sort_values(**by_id), store.table("s").sort_values(**by_id))
    assert shipped.table("s").run_id.tolist() == [run.run_id for run in study.expand()]  # in the order of the definition
    assert shipped.state("s").status == "finished" and shipped.definition("s") == study
    for run in study.expand():
        pd.testing.assert_frame_equal(shipped.history("s", run.run_id), store.history("s", run.run_id))
        assert shipped.spec("s", run.run_id) == run
        small = shipped.embedding("s", run.run_id)
        if run.seed:
            assert small is None
            continue
        large = store.embedding("s", run.run_id)
        assert {name: len(array) for name, array in small.items()} == {
            "z": 500, "pca": 500, "labels": 500, "index": 500, "similarity_counts": 5,
        }  # fmt: skip
        assert np.bincount(small["labels"]).tolist() == [50] * 10
        np.testing.assert_array_equal(small["z"], large["z"][small["index"]])  # rows still belong together
    assert not list(folder.rglob("*.safetensors")) and not (folder / "state.json").exists()
    first = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    store.export("s", tmp_path / "results")  # again: the same bytes, so that version control sees no change
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == first


def test_export_thins_every_kept_epoch_alike_and_keeps_h_of_flat_embeddings():
    """The embeddings of all epochs used to stay whole, so that their rows no longer were those of labels and index."""
    n = 1200
    z = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float16)
    arrays = {"z": z, "h": np.ones((n, 8), np.float16), "labels": np.arange(n) % 10}
    arrays |= {"z_epochs": np.stack([2 * z, z]), "epochs": np.arange(2)}
    small = manage.thin(manage.without_bulk(arrays), 500)
    assert small["z_epochs"].shape == (2, 500, 2) and small["epochs"].tolist() == [0, 1] and len(small["h"]) == 500
    np.testing.assert_array_equal(small["z_epochs"][1], small["z"])
    assert "h" not in manage.without_bulk({**arrays, "z": np.ones((n, 64), np.float16)})


def test_export_refuses_what_makes_no_sense(tmp_path):
    store, _ = fill(tmp_path, 0)
    with pytest.raises(StudyError, match=r"^study 's' has no ended run to export$"):
        store.export("s", tmp_path / "out")
    with pytest.raises(StudyError, match=r"^there is no study 'other' in "):
        store.export("other", tmp_path / "out")
    store, _ = fill(tmp_path)
    with pytest.raises(StudyError, match=r"^destination: must be another folder than the store itself, got "):
        store.export("s", tmp_path)


def test_delete_and_undo(tmp_path):
    store, study = fill(tmp_path)
    before = store.table("s").sort_values("run_id", ignore_index=True)
    ids = [run.run_id for run in study.expand()[:3]]
    token = store.delete("s", ids)
    assert len(store.table("s")) == 5 and not any((tmp_path / "s" / run_id).exists() for run_id in ids)
    assert len(Store(tmp_path).table("s")) == 5
    assert store.undo(token) == ("s", 3)
    pd.testing.assert_frame_equal(store.table("s").sort_values("run_id", ignore_index=True), before)
    assert store.embedding("s", ids[0])["z"].shape == (700, 4)
    with pytest.raises(StudyError, match=r"^there is nothing to undo under "):
        store.undo(token)
    with pytest.raises(StudyError, match=r"^undo token: must be as `delete` returned it, got "):
        store.undo("../../etc")


def test_undo_leaves_a_run_alone_that_exists_again(tmp_path):
    store, study = fill(tmp_path, 2)
    run = study.expand()[0]
    token = store.delete("s", [run.run_id])
    writer = StudyWriter(store, study)
    writer.end(run, writer.begin(run), trained(run)._replace(checkpoint=b"newer"))
    assert store.undo(token) == ("s", 0)
    assert store.checkpoint("s", run.run_id).read_bytes() == b"newer" and len(store.table("s")) == 2


def test_a_whole_study_can_be_deleted_and_comes_back(tmp_path):
    store, _ = fill(tmp_path)
    before = store.table("s")
    token = store.delete("s", None)
    assert store.studies() == [] and store.state("s").status == "missing" and not (tmp_path / "s").exists()
    assert store.undo(token) == ("s", 8)
    pd.testing.assert_frame_equal(store.table("s"), before)
    store.delete("s", [before.run_id[0]])  # no lock was left behind


def test_nothing_is_deleted_while_a_supervisor_is_at_work(tmp_path):
    from core.studies.lock import lock

    store, study = fill(tmp_path)
    with lock(store.folder("s")), pytest.raises(StudyError, match=r"^study 's' is being run by process"):
        store.delete("s", [study.expand()[0].run_id])
    assert len(store.table("s")) == 8


def test_labels_follow_the_definition(tmp_path):
    """A label was renamed in the study file: the next supervisor renames the old runs."""
    store, study = fill(tmp_path)
    renamed = study.model_copy(update={"blocks": (study.blocks[0].model_copy(update={"label": "New"}), study.blocks[1])})
    StudyWriter(store, type(study).from_text(renamed.to_toml())).open()
    assert sorted(store.table("s").label.unique()) == ["New", "Supervised"]


def test_left_over_temporary_files_go(tmp_path):
    store, study = fill(tmp_path)
    stray = tmp_path / "s" / study.expand()[0].run_id / ".result.json.123.abcd.tmp"
    stray.write_text("{")
    StudyWriter(store, study).open()
    assert not stray.exists()


def test_files_of_other_programs_do_no_harm(tmp_path):
    store, _ = fill(tmp_path)
    (tmp_path / "s" / "notes.txt").write_text("mine")
    (tmp_path / "s" / "0123456789ab").mkdir()  # named like a run, empty
    (tmp_path / "README").write_text("x")
    shutil.copytree(tmp_path / "s", tmp_path / "S copy")
    assert store.studies() == ["s"] and len(store.table("s")) == 8
    for run_id in store.table("s").run_id[:1]:
        (tmp_path / "s" / run_id / "embedding.npz").write_bytes(b"PK\x03\x04 broken")
        assert store.embedding("s", run_id) is None


def test_numbers_that_are_not_finite_survive(tmp_path):
    """A diverged run is no run without a loss."""
    store, study = fill(tmp_path, 0)
    run, writer = study.expand()[0], StudyWriter(store, study)
    writer.end(run, 1 + 0 * writer.begin(run), trained(run, "diverged")._replace(history=[{"epoch": 1, "loss": float("nan")}]))
    assert store.table("s").status.tolist() == ["diverged"]
    assert np.isnan(store.history("s", run.run_id).loss[0])
    assert json.loads((tmp_path / "s" / run.run_id / "result.json").read_text())["format_version"] == 1
    assert read_json(tmp_path / "s" / run.run_id / "spec.json")["all_fields"]["epochs"] == 2


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("spec", {"newfield": 1}, "newfield: unknown field"),
        ("spec", {"tau": -1}, "tau: input should be greater than 0, got -1"),
        ("spec", {"tau": "x"}, "tau: must be a number, got 'x'"),
        ("result", {"linear_accuracy": "high"}, "linear_accuracy: input should be a valid number"),
        ("result", {"classes": None}, "classes: input should be a valid integer"),
        ("result", {"seconds": "x"}, "seconds: input should be a valid number"),
    ],
)
def test_a_result_that_this_version_cannot_read_is_left_out_and_named(tmp_path, part, value, said):
    fill(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "s" / "results.jsonl").read_text().splitlines()]
    wrong = lines[0]["run_id"]
    lines[0][part] |= value
    (tmp_path / "s" / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(Store(tmp_path).table("s")) == 8 and "left out" not in Store(tmp_path).state("s").message  # its folder has it
    for path in (tmp_path / "s").glob("*/"):
        shutil.rmtree(path)
    store = Store(tmp_path)
    assert wrong not in set(store.table("s")["run_id"]) and len(store.table("s")) == 7
    message = store.state("s").message
    assert f"1 result is left out, because this version cannot read it (run {wrong}: {said}" in message
    assert all(RunSpec(**row["spec"]) and RunResult(**row["result"]) for row in store.ended_rows("s"))  # what callers rely on


def test_results_lost_beside_run_folders_are_not_called_empty(tmp_path):
    store, _ = fill(tmp_path)
    folder = tmp_path / "s"
    (folder / "results.jsonl").unlink()
    (folder / "state.json").unlink(missing_ok=True)
    for path in folder.glob("*/result.json"):
        path.unlink()
    assert store.state("s").message.startswith("No result can be read, although there are 8 run folders")
