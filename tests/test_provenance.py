"""The line under every chart: which runs, which data, which versions, which machine, which day."""

import subprocess
import sys

import pandas as pd

from core import __version__, provenance
from tests.studies.filled import fill


def test_the_line_of_a_study(tmp_path):
    store, _ = fill(tmp_path)
    assert provenance.line(store.table("s"), "s") == (
        "s · mnist-5k, 4,000 training and 1,000 test images · 8 runs, seeds 0, 1 · "
        "Contrastive Lens 0.1.0, torch 2.14.1 · CPU, 1 thread · 2026-11-29"
    )


def test_mixed_runs_are_shown_as_such():
    runs = pd.DataFrame(
        {
            "dataset": ["mnist", "cifar10", "mnist"],
            "n_train": [60000.0, 50000.0, float("nan")],
            "n_test": [10000, 10000, 0],
            "seed": [0, 1, 2],
            "device": ["CPU, 1 thread", "NVIDIA H200", ""],
            "versions": [{"torch": "2.9"}, {"torch": "2.14.1"}, None],
            "finished_at": ["2026-11-30T01:00:00+00:00", "2026-11-28T01:00:00+00:00", ""],
        }
    )
    assert provenance.line(runs) == (
        "mnist and cifar10, 50,000 to 60,000 training and 10,000 test images · 2 runs, seeds 0, 1 · "
        "torch 2.9 and 2.14.1 · CPU, 1 thread and NVIDIA H200 · 2026-11-28 to 2026-11-30"
    )


def test_image_folders_go_by_their_name():
    facts = {"dataset": "folder", "data_root": "my/cifar10", "n_train": 10, "n_test": 5, "device": "CPU"}
    runs = pd.DataFrame({**facts, "seed": [0]})
    runs["finished_at"], runs["versions"] = "2026-01-01", None
    assert provenance.line(runs).startswith("cifar10, 10 training and 5 test images")
    assert provenance.data_name("mnist", "left over") == "mnist" and provenance.data_name("folder", None) == "folder"


def test_many_seeds_are_counted_and_many_versions_are_a_span():
    runs = pd.DataFrame({"dataset": "mnist", "n_train": 10, "n_test": 5, "seed": range(9), "device": "CPU"})
    runs["finished_at"] = "2026-01-01"
    runs["versions"] = [{"contrastive_lens": f"0.1.0-{n}-gabc"} for n in range(9)]
    assert provenance.line(runs, on="2026-02-02") == (
        "mnist, 10 training and 5 test images · 9 runs, 9 seeds · Contrastive Lens 0.1.0-0-gabc to 0.1.0-8-gabc (9 versions) · "
        "CPU · 2026-02-02"
    )


def test_what_is_computed_on_the_spot_names_this_machine():
    for nothing in (None, pd.DataFrame()):
        parts = provenance.line(nothing, "A preview", on="2026-01-02").split(" · ")
        assert parts[0] == "A preview" and parts[1].startswith(f"Contrastive Lens {provenance.code_version()}, torch ")
        assert parts[2:] == [provenance.device_name(), "2026-01-02"]


def test_versions_name_the_code_and_import_nothing(root):
    found = provenance.versions()
    assert found["python"] == ".".join(map(str, sys.version_info[:3])) and found["contrastive_lens"].startswith(__version__)
    script = (
        "import sys, core.provenance as p; p.versions(), p.line(None); "
        "print([m for m in ('torch', 'timm', 'sklearn') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_version_outside_a_clone(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.code_version.__wrapped__() == __version__


def test_the_version_of_a_tagged_clone(tmp_path, monkeypatch):
    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "one")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.code_version.__wrapped__().startswith(f"{__version__}+g")
    git("tag", "v0.3.0")
    assert provenance.code_version.__wrapped__() == "0.3.0"
