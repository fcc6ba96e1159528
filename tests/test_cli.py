"""The command line: exit codes, one-line errors, JSON for programs, plain lines for logs."""

import errno
import json
import os
import subprocess
import sys

import pytest

from core import __main__ as cli
from core.commands import terminal, train
from core.studies.lock import lock
from core.studies.store import Store
from core.training.spec import RunSpec
from tests.studies.filled import STUDY, fill

FAKE = "tests.studies.fake_runs:quick"


@pytest.fixture
def call(capsys):
    """Run a command in this process; returns exit code, output and error stream."""

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["sweep", "nowhere.toml"], "nowhere.toml: cannot be read (No such file or directory)"),
        (["sweep", ""], "STUDY.toml: must name a file or a shipped study, got ''"),
        (["sweep"], "Missing argument 'STUDY.toml'; see python -m core --help"),
        (["swep", "x"], "No such command 'swep'. Did you mean 'sweep'?; see python -m core --help"),
        (["list", "nothing", "--store", "/nowhere"], "there is no study 'nothing' in /nowhere; it has: none yet"),
        (
            ["list", "../x"],
            "study name: must be 1 to 64 lower-case letters, digits, '-' or '_', starting with a letter or digit, got '../x'",
        ),
        (["export", "nothing", "--store", "/nowhere"], "there is no study 'nothing' in /nowhere"),
        (["train", "--tau", "0"], "tau: input should be greater than 0, got 0.0"),
        (["train", "--set", "widht=2"], "widht: unknown field (value 2); remove it or check its spelling"),
        (["train", "--set", "tau='0.1'"], "tau: must be a number, got '0.1'"),
        (["train", "--set", "bits=true"], "bits: must be a whole number, got True"),
        (["train", "--set", f"tau=1{'0' * 5000}"], f"tau: must be a number, got '1{'0' * 198}..."),
        (["train", "--set", f"tau={'[' * 5000}{']' * 5000}"], f"tau: must be a number, got '{'[' * 199}..."),
        (["train", "--set", "width"], "--set: must be name=value, got 'width'"),
        (["train", "--tau", "0", "--lr", "-1"], "tau: input should be greater than 0, got 0.0 (and 1 more problem)"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_exit_code_2(call, words, expected):
    code, out, err = call(*words)
    assert (code, out, err) == (2, "", f"error: {expected}\n")


def test_a_study_file_with_mistakes(call, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("name = 's'\n[[block]]\nlabel = 'X'\ntau = 0\nepochs = -1\n")
    code, _, err = call("sweep", path, "--store", tmp_path / "runs")
    assert (code, err) == (2, f"error: {path}: block 1 (X): tau: input should be greater than 0, got 0 (and 1 more problem)\n")
    assert not (tmp_path / "runs").exists()


def test_a_scheduler_that_does_not_answer(call, tmp_path, monkeypatch):
    from core.studies import cluster

    monkeypatch.setattr(cluster, "ANSWER_WITHIN", 1)
    path = tmp_path / "s.toml"
    path.write_text(STUDY)
    code, _, err = call("sweep", path, "--store", tmp_path / "runs", "--scheduler", "tcp://127.0.0.1:9")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: scheduler tcp://127.0.0.1:9 does not answer within 1 s (")


def test_help_answers_at_once_and_imports_nothing_heavy(root):
    """Every command's help, in one process; no torch, Dask or pandas for it."""
    script = (
        "import sys\nfrom core.__main__ import main\n"
        "codes = [main(words) for words in (['--help'], ['train', '--help'], ['sweep', '--help'], ['list', '--help'])]\n"
        "print(codes, [name for name in ('torch', 'distributed', 'pandas', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 0, 0] []"
    assert all(f"\n  {command}" in done.stdout for command in ("train", "sweep", "list", "export"))


def test_no_command_shows_the_help(call):
    code, out, err = call()
    assert code == 2 and out.startswith("Usage: python -m core") and err == ""


def test_list(call, tmp_path):
    fill(tmp_path)
    code, out, _ = call("list", "--store", tmp_path)
    assert (code, out) == (0, "study\tstatus\tdone\tfailed\tleft\ttitle\ns\tfinished\t8 of 8\t0\t\tA study\n")
    code, out, _ = call("list", "s", "--store", tmp_path)
    lines = out.splitlines()
    assert lines[0].split("\t") == ["run_id", "label", "status", "bits", "seed", *cli_results()] and len(lines) == 9
    assert lines[1].split("\t")[1:6] == ["NT-Xent", "finished", "0", "0", "0.900"]


def cli_results() -> list[str]:
    from core.commands.listing import RESULTS

    return list(RESULTS)


def test_a_store_that_is_a_file_is_not_an_empty_one(call, tmp_path):
    (tmp_path / "file").write_text("")
    assert call("list", "--store", tmp_path / "file") == (2, "", f"error: the store {tmp_path / 'file'} is not a folder\n")
    assert call("list", "--store", tmp_path / "nothing yet")[0] == 0


def test_list_as_json(call, tmp_path):
    fill(tmp_path, 2)
    studies = json.loads(call("list", "--store", tmp_path, "--json")[1])
    assert [(study["study"], study["status"], study["finished"], study["total"]) for study in studies] == [("s", "stopped", 2, 8)]
    runs = json.loads(call("list", "s", "--store", tmp_path, "--json")[1])
    assert len(runs) == 2 and runs[0]["linear_accuracy"] == 0.9 and runs[0]["knn_accuracy"] is None and runs[0]["seed"] == 0


def test_export(call, tmp_path):
    fill(tmp_path / "runs")
    code, out, _ = call("export", "s", "--store", tmp_path / "runs", "--to", tmp_path / "out", "--json")
    assert code == 0 and json.loads(out)["folder"] == str(tmp_path / "out" / "s") and json.loads(out)["bytes"] > 1000
    assert len(Store(tmp_path / "out").table("s")) == 8


def test_settings_are_read_as_toml_where_they_are():
    pairs = ["bits=3", "tau=0.5", "shuffle=false", "augment=none", "encoder='conv'", "data_root=/a/b", "lam=1e-3", "n_train="]
    expected = {"bits": 3, "tau": 0.5, "shuffle": False, "augment": "none", "encoder": "conv", "data_root": "/a/b", "lam": 0.001}
    assert cli._assignments(pairs) == expected | {"n_train": None}


def test_train_files_a_run_once(capsys, tmp_path):
    spec = RunSpec(epochs=2, data_root=str(tmp_path))
    assert train.train_one(spec, tmp_path / "runs", "single-runs", False, FAKE) == 0
    out = capsys.readouterr().out
    assert f"{spec.run_id}  linear accuracy 0.901 in 0 s  (kept in {tmp_path / 'runs' / 'single-runs' / spec.run_id})" in out
    assert train.train_one(spec, tmp_path / "runs", "single-runs", True, FAKE) == 0
    assert json.loads(capsys.readouterr().out)["linear_accuracy"] == 0.901
    assert len(list(tmp_path.glob(f"{spec.run_id}.begin.*"))) == 1  # the second time it was looked up
    store = Store(tmp_path / "runs")
    assert store.table("single-runs").label.tolist() == ["nt_xent"] and store.state("single-runs").status == "finished"
    assert train.train_one(RunSpec(epochs=1, objective="gcl"), tmp_path / "runs", "single-runs", True, FAKE) == 0
    assert sorted(store.table("single-runs").label) == ["gcl", "nt_xent"]


def test_a_store_that_cannot_be_written_is_found_before_training(call, tmp_path, monkeypatch):
    """The run was trained to its end, and then thrown away with an error."""
    monkeypatch.setattr(train, "run_by_name", lambda name: pytest.fail("the training began"))
    (tmp_path / "file").write_text("kept")
    for store in (tmp_path / "file", tmp_path / "file" / "below"):
        code, out, err = call("train", "--store", store)
        assert (code, out) == (2, "")
        assert err == (
            f"error: the folder {store / 'single-runs'} cannot be written (not a directory); choose another, or make room\n"
        )
    assert (tmp_path / "file").read_text() == "kept" and len(list(tmp_path.iterdir())) == 1


def test_a_study_at_work_is_found_before_training(call, tmp_path, monkeypatch):
    """The run was trained to its end, and then thrown away because a supervisor held the study."""
    monkeypatch.setattr(train, "run_by_name", lambda name: pytest.fail("the training began"))
    monkeypatch.setattr(train, "WAIT_FOR_OTHER", 0)
    (tmp_path / "s").mkdir()
    with lock(tmp_path / "s"):
        code, out, err = call("train", "--store", tmp_path, "--study", "s")
    assert (code, out) == (2, "") and err.startswith("error: study 's' is being run by process ") and err.count("\n") == 1


def test_what_was_measured_is_shown_even_if_the_disk_is_full_by_then(capsys, tmp_path, monkeypatch):
    """An hour of training ended with an error and no number."""

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(train.StudyWriter, "end", full)
    assert train.train_one(RunSpec(epochs=1), tmp_path, "single-runs", False, FAKE) == 1
    out, err = capsys.readouterr()
    assert "linear accuracy 0.90" in out and "(not kept)" in out
    assert err.splitlines()[-1] == (
        f"error: the run is finished, but the folder {tmp_path / 'single-runs'} cannot be written "
        "(no space left on device); choose another, or make room"
    )


def test_train_keeps_nothing_if_asked(capsys, tmp_path):
    assert train.train_one(RunSpec(epochs=1), None, "single-runs", False, FAKE) == 0
    assert "(not kept)" in capsys.readouterr().out


def test_train_of_a_run_that_diverges(capsys, tmp_path):
    code = train.train_one(RunSpec(epochs=1), tmp_path, "single-runs", False, "tests.studies.fake_runs:diverging")
    assert code == 1 and "diverged after epoch 1" in capsys.readouterr().out


def test_train_says_what_the_training_found_wrong(call, monkeypatch):
    monkeypatch.setattr(train, "run_by_name", lambda name: broken)
    assert call("train", "--no-keep")[0::2] == (2, "error: batch_size: must not exceed the 10 training images, got 250\n")


def broken(*args, **kwargs):
    raise ValueError("batch_size: must not exceed the 10 training images, got 250")


def test_a_reader_that_goes_away_is_no_error(tmp_path, root):
    """`python -m core list | head -1`"""
    fill(tmp_path)
    lister = subprocess.Popen(
        [sys.executable, "-m", "core", "list", "s", "--store", str(tmp_path), "--json"],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ,
    )  # fmt: skip
    lister.stdout.close()
    assert lister.stderr.read() == b""
    lister.wait(60)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.4, "0 s"), (59.4, "59 s"), (60, "1 min 0 s"), (200, "3 min 20 s"), (900, "15 min"), (7500, "2 h 5 min")],
)
def test_durations(seconds, text):
    assert terminal.duration(seconds) == text


def test_plain_lines_of_a_sweep(capsys):
    """In a log: what is planned, each end with its count and its settings, each retry; bars only now and then."""
    from tests.studies.filled import definition, trained

    study = definition()
    run = study.expand()[0]
    with terminal.SweepReporter(study) as report:
        report({"kind": "plan", "study": "s", "total": 8, "left": 6})
        facts = {"run_id": run.run_id, "label": "NT-Xent", "epoch": 0, "epochs": 2, "share": 0.0}
        report({"kind": "begin", **facts})
        report({"kind": "retry", **facts, "error": "its worker ended without a result"})
        report({"kind": "end", **facts, "result": trained(run).result})
    lines = [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "s: 8 runs; 2 are done already"
    assert "NT-Xent, bits 0, seed 0: its worker ended without a result; trying again" in lines
    assert lines[-1] == "3 of 8  NT-Xent, bits 0, seed 0: linear accuracy 0.900 in 10 s"


def test_json_lines_of_a_sweep(capsys):
    from tests.studies.filled import definition, trained

    study = definition()
    run = study.expand()[0]
    with terminal.SweepReporter(study, as_json=True) as report:
        report({"kind": "plan", "study": "s", "total": 8, "left": 8})
        report({"kind": "step", "run_id": run.run_id, "epoch": 0, "epochs": 2, "share": 0.1})
        report({"kind": "end", "run_id": run.run_id, "result": trained(run).result})
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["event"] for record in records] == ["plan", "end"]
    assert records[1]["result"]["linear_accuracy"] == 0.9
