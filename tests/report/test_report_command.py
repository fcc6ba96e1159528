"""`python -m core report`: one line and code 2 for what a person can put right, files for the rest."""

import json

import plotly.graph_objects as go
import pytest

from core.__main__ import main
from core.figures.theme import LIGHT
from core.report import chrome, files, kept
from core.report.definition import Report
from core.report.snapshot import report_on
from core.studies.catalogue import find

DEFINITION = """
title = "From the command line"
[[item]]
figure = "suppression"
study = "randbit-mnist-5k"
[[item]]
table = "cells"
study = "results/randbit-mnist-5k"
"""


@pytest.fixture
def stores(report_stores, monkeypatch):
    monkeypatch.setenv("CONTRASTIVE_LENS_RESULTS", str(report_stores / "results"))
    monkeypatch.setenv("CONTRASTIVE_LENS_RUNS", str(report_stores / "runs"))
    return report_stores


@pytest.fixture
def definition(tmp_path):
    (tmp_path / "report.toml").write_text(DEFINITION)
    return tmp_path / "report.toml"


def test_a_definition_becomes_a_file(stores, definition, tmp_path, capsys):
    out = tmp_path / "new" / "report.html"
    assert main(["report", str(definition), "--out", str(out)]) == 0
    assert "<h1>From the command line</h1>" in out.read_text()
    assert capsys.readouterr().out.strip().endswith("MB, 1 figure")


def test_a_study_becomes_a_snapshot(stores, tmp_path, capsys):
    out = tmp_path / "quick.html"
    assert main(["report", "--study", "randbit-quick", "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["figures"] >= 3 and said["bytes"] == out.stat().st_size
    assert "RandBit in two minutes" in out.read_text()


def test_the_definition_of_a_snapshot_gives_the_same_figures(stores, entries, tmp_path, capsys):
    (tmp_path / "own.toml").write_text(report_on(find(entries, "randbit-quick")).to_toml())
    assert len(Report.from_toml(tmp_path / "own.toml").item) >= 5
    assert main(["report", str(tmp_path / "own.toml"), "--out", str(tmp_path / "own.html")]) == 0


MISTAKES = {  # arguments -> start of the one line
    "": "give either a report definition or --study NAME",
    "{definition} --study x": "give either a report definition or --study NAME",
    "{definition} --out {folder}/x.docx": "--out: must end in .html, .pdf, .pptx, got 'x.docx'",
    "{folder}/none.toml --out {folder}/x.html": "{folder}/none.toml: cannot be read (No such file or directory)",
    "--study nowhere --out {folder}/x.html": "there are no results of a study 'nowhere'; there are: results/moco",
    "{broken} --out {folder}/x.html": "{broken}: item 1 (figure 'loss_flor'): there is no figure 'loss_flor'; did you mean",
    "{empty} --out {folder}/x.html": "{empty}: item 1 (figure 'queue_size'): no run of the study",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_one_line_and_code_2(arguments, stores, definition, tmp_path, capsys):
    places = {"definition": definition, "folder": tmp_path, "broken": tmp_path / "broken.toml", "empty": tmp_path / "empty.toml"}
    places["broken"].write_text('[[item]]\nfigure = "loss_flor"\nstudy = "x"\n')
    places["empty"].write_text('[[item]]\nfigure = "queue_size"\nstudy = "randbit-quick"\n')
    assert main(["report", *arguments.format(**places).split()]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"error: {MISTAKES[arguments].format(**places)}") and said.err.count("\n") == 1


def test_without_a_browser_slides_are_refused_in_one_line(stores, definition, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    chrome._find.cache_clear()
    for form in ("pptx", "pdf"):
        assert main(["report", str(definition), "--out", str(tmp_path / f"x.{form}")]) == 2
        assert "BROWSER_PATH names" in capsys.readouterr().err
        assert not (tmp_path / f"x.{form}").exists()


def test_kept_figures_are_found_beside_ones_own_reports(tmp_path, monkeypatch, capsys):
    """Bug: a definition that was saved from the page could not be drawn on the same machine."""
    folder = files.folder_of(tmp_path / "runs")
    name = kept.keep(go.Figure(go.Scatter(y=[1, 2])), folder, alt="A line.", provenance="made here", theme=LIGHT, title="Kept")
    (tmp_path / "talk.toml").write_text(f'[[item]]\nfigure = "kept"\noptions = {{ file = "{name}" }}\n')
    arguments = ["report", str(tmp_path / "talk.toml"), "--out", str(tmp_path / "talk.html")]
    monkeypatch.setenv("CONTRASTIVE_LENS_RUNS", str(tmp_path / "empty"))
    assert main(arguments) == 2 and f"kept/{name}.json belongs there" in capsys.readouterr().err
    monkeypatch.setenv("CONTRASTIVE_LENS_RUNS", str(tmp_path / "runs"))
    assert main(arguments) == 0 and 'aria-label="A line."' in (tmp_path / "talk.html").read_text()
