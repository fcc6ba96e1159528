"""Presentation mode in a real browser: the figure fills the screen, and the keys work whatever was clicked before."""

import pytest

from core.report import files
from core.report.definition import FigureItem, Markdown, Report
from tests.browser.serve import CHROMIUM, browser, server, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
]
WIDE, HIGH = 1920, 1080
BOX = "selector => { const box = document.querySelector(selector).getBoundingClientRect(); return [box.height, box.bottom]; }"


def test_the_figure_fills_the_screen_and_the_keys_work_after_the_notes(tmp_path):
    """Bugs: the figure was 450 px high on any screen, and after a click on Notes the arrow keys did nothing."""
    figure = FigureItem(figure="contrastive_accuracy", notes="Point at the last one. " * 12)
    report = Report(item=(figure, Markdown(markdown="# A heading"), figure))
    files.save(files.folder_of(tmp_path / "runs"), "talk", report)
    with server(tmp_path / "results", tmp_path / "runs", tmp_path / "log") as address, browser() as chromium:
        page = chromium.new_context(viewport={"width": WIDE, "height": HIGH}).new_page()
        page.set_default_timeout(60_000)
        page.goto(address)  # a server answers its very first deep link with a second load
        settle(page)
        page.goto(f"{address}/show?report=talk&present=1")
        settle(page, 1)
        assert page.evaluate(BOX, ".js-plotly-plot")[0] > 0.75 * HIGH
        assert page.evaluate(BOX, ".st-key-show_foot")[1] <= HIGH
        page.get_by_role("button", name="Notes").click()
        page.wait_for_selector(".st-key-show_said")
        settle(page, 1)
        assert page.evaluate(BOX, ".js-plotly-plot")[0] > 0.6 * HIGH and page.evaluate(BOX, ".st-key-show_said")[1] <= HIGH
        for key, place in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("n", 2), ("PageDown", 3)):
            page.keyboard.press(key)
            page.wait_for_url(f"**slide={place}*")
            settle(page)
        assert page.locator(".st-key-show_said").count() == 0
