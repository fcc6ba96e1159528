"""Presentation mode: a slide of each kind, and texts that hold nothing."""

from core.figures.theme import LIGHT
from core.report import files
from core.report.definition import FigureItem, Markdown, Report

PAGE = "pages/present/show.py"


def test_a_legend_in_a_subtitle_keeps_its_colours(stores, open_page):
    """Bug: the subtitle was plain text, so nobody could tell which line was the queue."""
    files.save(files.folder_of(stores.runs), "talk", Report(item=(FigureItem(figure="full_softmax_cost"),)))
    app = open_page(PAGE, report="talk")
    head = next(html.proto.body for html in app.get("html") if "<h1>" in html.proto.body)
    assert head.count('<span style="color:#') == 2 and LIGHT.muted not in head and not app.exception


def test_text_is_shown_as_the_files_write_it_and_may_be_empty(stores, open_page):
    """Bug: the page knew more Markdown than the exported files, formulas for example."""
    texts = ("", "Cost $n^2$ and <script>alert(1)</script> :red[x]")
    files.save(files.folder_of(stores.runs), "talk", Report(item=tuple(Markdown(markdown=text) for text in texts)))
    assert not open_page(PAGE, report="talk").exception
    app = open_page(PAGE, report="talk", slide="2")
    shown = [html.proto.body for html in app.get("html")]
    assert any("Cost $n^2$ and &lt;script&gt;alert(1)&lt;/script&gt; :red[x]" in body for body in shown) and not app.exception
    for place in (0, 1):
        app = open_page("pages/present/report.py", report="talk")
        app.radio(key="rep_place").set_value(place).run()
        assert not app.exception
