"""Saved reports: names that cannot leave the folder, atomic writing, the draft, kept figures."""

import os
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import plotly.graph_objects as go
import pytest

from core.figures.theme import DARK, LIGHT, style
from core.report import files, kept
from core.report.builders.kept import KeptOptions
from core.report.builders.kept import kept as draw_kept
from core.report.definition import FigureItem, Markdown, Report, ReportError
from core.report.drawing import CannotDraw, Source


def test_saved_and_opened_again(tmp_path):
    folder = files.folder_of(tmp_path)
    assert files.names(folder) == [] and files.read(folder, "talk") == Report()
    report = Report(title="A talk", item=(Markdown(markdown="Hello."),))
    files.save(folder, "talk", report)
    files.add(folder, Markdown(markdown="From a chart."))
    assert files.names(folder) == ["draft", "talk"]
    assert files.read(folder, "talk") == report and files.read(folder, "draft").item[0].markdown == "From a chart."
    assert not [path for path in folder.iterdir() if path.suffix != ".toml"]  # no trace of the writing is left


def test_adding_goes_to_the_end_and_counts(tmp_path):
    assert [files.add(tmp_path, Markdown(markdown=text)) for text in "abc"] == [1, 2, 3]
    assert [item.markdown for item in files.read(tmp_path, "draft").item] == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["../x", "a/b", "", "UPPER", ".hidden", "x" * 65, "a b", None])
def test_a_name_that_could_leave_the_folder_is_refused(name, tmp_path):
    with pytest.raises(ReportError, match="report name: must be 1 to 64 lower-case letters"):
        files.path_of(tmp_path, name)


def test_a_folder_that_cannot_be_written_is_an_error_for_people(tmp_path):
    (tmp_path / "reports").write_text("a file where the folder should be")
    with pytest.raises(ReportError, match="cannot be written"):
        files.save(tmp_path / "reports", "draft", Report())


def _figure(theme) -> go.Figure:
    fig = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="line", marker=dict(color="#0072B2", line=dict(color=theme.paper))))
    return style(fig, theme, title="A slider's position", subtitle="live")


def test_a_kept_figure_comes_back_in_the_colours_of_either_theme(tmp_path):
    name = kept.keep(_figure(DARK), tmp_path, alt="A line.", provenance="made here", theme=DARK)
    assert name == kept.keep(_figure(DARK), tmp_path, alt="A line.", provenance="made here", theme=DARK)
    made = draw_kept(Source(None, (), tmp_path), KeptOptions(file=name), LIGHT)
    assert made.figure.layout.paper_bgcolor == LIGHT.paper and made.figure.layout.title.font.color == LIGHT.text
    assert made.figure.data[0].marker.color == "#0072B2" and made.figure.data[0].marker.line.color == LIGHT.paper
    assert (made.alt, made.provenance, made.settings) == ("A line.", "made here", None)
    assert list(made.data()["y"]) == [3, 4]
    assert draw_kept(Source(None, (), tmp_path), KeptOptions(file=name), DARK).figure.layout.paper_bgcolor == DARK.paper


def test_a_missing_or_broken_kept_figure_is_named(tmp_path):
    options = KeptOptions(file="0123456789ab")
    with pytest.raises(CannotDraw, match="the kept figure '0123456789ab' is missing"):
        draw_kept(Source(None, (), tmp_path), options, LIGHT)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "0123456789ab.json").write_text('{"format_version": 1, "figure"')
    with pytest.raises(CannotDraw, match="is missing beside the report"):
        draw_kept(Source(None, (), tmp_path), options, LIGHT)
    assert kept.read("../../secret", tmp_path, LIGHT) is None


def test_deleting_a_report_drops_only_the_kept_figures_that_nobody_else_shows(tmp_path):
    shared = kept.keep(_figure(LIGHT), tmp_path, alt="a", provenance="", theme=LIGHT)
    own = kept.keep(_figure(LIGHT), tmp_path, alt="b", provenance="", theme=LIGHT)
    items = [FigureItem(figure="kept", options={"file": name}) for name in (shared, own)]
    files.save(tmp_path, "one", Report(item=tuple(items)))
    files.save(tmp_path, "two", Report(item=(items[0],)))
    files.delete(tmp_path, "one")
    assert files.names(tmp_path) == ["two"] and len(list((tmp_path / "kept").glob("*.json"))) == 2  # it may be brought back
    for path in (tmp_path / "kept").glob("*.json"):
        os.utime(path, (0, 0))
    files.delete(tmp_path, "gone")
    assert [path.stem for path in (tmp_path / "kept").glob("*.json")] == [shared]


def test_a_definition_with_kept_figures_is_packed_with_them(tmp_path):
    """Bug: the downloaded definition named kept figures that lay on another machine, so it could not be drawn."""
    name = kept.keep(_figure(DARK), tmp_path / "here", alt="A line.", provenance="made here", theme=DARK)
    item = FigureItem(figure="kept", options={"file": name})
    report = Report(title="Kept", item=(item, item, FigureItem(figure="kept", options={"file": "0123456789ab"})))
    assert files.kept_in(report) == [name, "0123456789ab"]
    with ZipFile(BytesIO(files.packed(report, tmp_path / "here", "talk"))) as archive:
        assert sorted(archive.namelist()) == [f"kept/{name}.json", "talk.toml"]
        archive.extractall(tmp_path / "there")
    assert Report.from_toml(tmp_path / "there" / "talk.toml") == report
    assert draw_kept(Source(None, (), tmp_path / "there"), KeptOptions(file=name), LIGHT).alt == "A line."
    assert kept.title_of(name, tmp_path / "there") == "A slider's position"
    assert kept.title_of("0123456789ab", tmp_path / "there") == ""


def test_the_numbers_of_a_kept_figure_come_back(tmp_path):
    """Bug: arrays are kept as base64; a report with a kept heatmap could not be written, and curves lost their CSV."""
    fig = go.Figure(go.Heatmap(z=np.float32([[1, 2, 3], [4, 5, 6]])))
    fig.add_scatter(x=np.array([1.5, 2.5]), y=np.array([3, 4]), name="curve")
    name = kept.keep(fig, tmp_path, alt="a", provenance="", theme=LIGHT)
    table = draw_kept(Source(None, (), tmp_path), KeptOptions(file=name), LIGHT).data()
    assert list(table["value"].dropna()) == [1, 2, 3, 4, 5, 6]
    assert list(table.loc[table["trace"] == "curve", "y"]) == [3, 4]
