"""A link copied on one machine restores the same view on another, where the same study lies in another store."""

import json
import shutil

import pytest

from tests.browser.serve import CHROMIUM, ROOT, browser, server, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
    pytest.mark.timeout(400),
]
STUDY = "randbit-mnist-5k"
WAIT = 120_000  # ms; test machines are shared
VIEW = "study=runs/randbit-mnist-5k&sup_metric=kNN&sup_kept=bits+known&sup_spread=range&sup_zoom=true"
COPIED = "window.copied = null; navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); };"
DRAWN = """() => {
  const plot = document.querySelector('[class*="st-key-sup"] .js-plotly-plot');
  return JSON.stringify({title: plot.layout.title.text, traces: plot.data.map(({name, type}) => [name || "", type]),
                         y: plot.calcdata.map(points => points.map(({y}) => y === undefined ? null : y))});
}"""


def visit(address: str, chromium, path: str):
    """A page of a dashboard, with what its main chart shows and what its selectors hold."""
    page = chromium.new_page(viewport={"width": 1440, "height": 1200})
    page.set_default_timeout(WAIT)
    page.add_init_script(COPIED)
    page.goto(address + path, timeout=WAIT)  # the first request of all to this server, as after its start
    page.wait_for_selector('[class*="st-key-sup"] .js-plotly-plot .main-svg')
    settle(page, 1.0)
    assert not page.get_by_text("Page not found").count()
    chosen = page.locator("[data-testid='stSelectbox']").all_inner_texts()
    return page, json.loads(page.evaluate(DRAWN)), chosen


def test_a_copied_link_restores_the_view_on_another_store(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    for store in (here / "runs", there / "results"):
        shutil.copytree(ROOT / "data" / "results" / STUDY, store / STUDY)
    with browser() as chromium:
        with server(here / "results", here / "runs", tmp_path / "here.txt") as address:
            page, drawn, chosen = visit(address, chromium, f"/feature_suppression?{VIEW}")
            page.get_by_role("button", name="Save the study").first.click()
            page.get_by_role("button", name="Copy link").last.click()
            page.wait_for_function("window.copied !== null")
            link = page.evaluate("window.copied").replace(address, "")
            page.close()
        assert "study=runs" in link and "sup_metric=kNN" in link and "sup_zoom=true" in link
        with server(there / "results", there / "runs", tmp_path / "there.txt") as address:
            page, restored, elsewhere = visit(address, chromium, link)
            assert not page.get_by_text("The address").count()
            page.close()
    assert restored == drawn
    assert [text.replace("(shipped)", "(your runs)") for text in elsewhere] == chosen
