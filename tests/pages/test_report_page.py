"""The page Report: add, reorder, rename, remove, take back, delete and bring back."""

import plotly.graph_objects as go
import pytest

from core.figures.theme import LIGHT, style
from core.report import files, kept
from core.report.definition import FigureItem, Markdown, Report
from tests.pages.visit import texts

PAGE = "pages/present/report.py"


@pytest.fixture
def talk(stores):
    """A saved report of three texts. Returns the folder of reports."""
    folder = files.folder_of(stores.runs)
    files.save(folder, "talk", Report(title="Talk", item=tuple(Markdown(markdown=text) for text in "abc")))
    return folder


def order(folder):
    return "".join(item.markdown for item in files.read(folder, "talk").item)


def test_every_change_is_written_and_taken_back_one_by_one(talk, open_page):
    app = open_page(PAGE, report="talk")
    assert app.button(key="rep_undo").disabled
    app.button(key="rep_down").click().run()
    assert order(talk) == "bac"
    app.button(key="rep_remove").click().run()
    assert order(talk) == "bc"
    app.text_input(key="rep_header_title").set_value("Another title").run()
    assert files.read(talk, "talk").title == "Another title"
    for title, left in (("Talk", "bc"), ("Talk", "bac"), ("Talk", "abc")):
        app.button(key="rep_undo").click().run()
        assert (files.read(talk, "talk").title, order(talk)) == (title, left) and not app.error
    assert app.button(key="rep_undo").disabled and not app.exception


def test_what_was_removed_last_can_be_taken_back_from_an_empty_report(talk, open_page):
    files.save(talk, "talk", Report(item=(Markdown(markdown="alone"),)))
    app = open_page(PAGE, report="talk")
    app.button(key="rep_remove").click().run()
    assert "Nothing yet." in texts(app) and order(talk) == ""
    app.button(key="rep_undo").click().run()
    assert order(talk) == "alone"


def test_a_change_from_elsewhere_is_not_lost(talk, open_page):
    app = open_page(PAGE, report="talk")
    app.button(key="rep_remove").click().run()
    files.add(talk, Markdown(markdown="z"), "talk")
    app.button(key="rep_undo").click().run()
    assert order(talk) == "bcz" and "changed elsewhere" in app.error[0].value
    assert app.button(key="rep_undo").disabled


def test_a_deleted_report_is_brought_back(talk, open_page):
    app = open_page(PAGE, report="talk")
    app.button(key="rep_delete").click().run()
    assert files.names(talk) == [] and "The report talk was deleted." in texts(app)
    app.button(key="rep_undelete").click().run()
    assert order(talk) == "abc" and app.selectbox(key="rep_name").value == "talk" and not app.exception


def test_a_broken_report_can_be_deleted(talk, open_page):
    files.path_of(talk, "talk").write_text("format_version = 1\n[[item]]\n")
    app = open_page(PAGE, report="talk")
    assert "needs exactly one of" in app.error[0].value
    app.button(key="rep_delete").click().run()
    assert files.names(talk) == [] and not app.exception and not [b for b in app.button if b.key == "rep_undelete"]


def test_kept_figures_are_told_apart_and_travel_with_the_definition(stores, open_page):
    """Bug: the list said "Kept from a page" for each of them."""
    folder = files.folder_of(stores.runs)
    for title in ("One anchor", "Many negatives"):
        figure = style(go.Figure(go.Scatter(y=[1, 2])), LIGHT, title=title)
        name = kept.keep(figure, folder, alt="A line.", provenance="made here", theme=LIGHT)
        files.add(folder, FigureItem(figure="kept", options={"file": name}))
    app = open_page(PAGE)
    listed = app.radio(key="rep_place").options
    assert ["One anchor" in listed[0], "Many negatives" in listed[1]] == [True, True] and not app.exception
