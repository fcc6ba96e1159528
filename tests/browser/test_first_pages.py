"""Clicks that only a browser can make: points, rows, links, deep links on a fresh server, themes."""

import re

import pytest

from core.studies import Store
from tests import fixtures
from tests.browser.serve import CHROMIUM, browser, server, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
    pytest.mark.timeout(900),
]
WAIT = 120_000  # ms; test machines are shared
STUDY = "results/randbit-mnist-5k"
POINT = """([key, x, name]) => {
    const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    const trace = plot.data.find(trace => trace.name === name);
    const place = Array.from(plot.calcdata[plot.data.indexOf(trace)]).findIndex(point => point.x === x);
    const point = plot.calcdata[plot.data.indexOf(trace)][place];
    const box = plot.getBoundingClientRect(), {xaxis, yaxis} = plot._fullLayout;
    return [box.x + xaxis._offset + xaxis.l2p(point.x), box.y + yaxis._offset + yaxis.l2p(point.y)];
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A dashboard with the shipped study and a finished small one; Chromium beside it."""
    folder = tmp_path_factory.mktemp("site")
    fixtures.fill(folder / "results", fixtures.study())
    fixtures.fill(folder / "runs", fixtures.study("randbit-quick"), folders=True)
    with server(folder / "results", folder / "runs", folder / "log.txt") as address, browser() as chromium:
        yield address, chromium, folder


@pytest.fixture
def visit(site):
    """Open an address in a fresh context and wait until it is drawn; fails on a traceback in the page."""
    address, chromium, _ = site
    contexts = []

    def visited(path: str = "", theme: str = "light", width: int = 1440):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme))
        page = contexts[-1].new_page()
        page.set_default_timeout(WAIT)
        page.goto(address + path, timeout=WAIT)
        settle(page)
        return page

    yield visited
    for context in contexts:
        context.close()


def click_point(page, key: str, bits: int, name: str) -> None:
    """Plotly selects the point under the mouse, so the mouse moves there first."""
    page.wait_for_selector(f".st-key-{key} .js-plotly-plot .scatterlayer")
    page.wait_for_timeout(500)
    x, y = page.evaluate(POINT, [key, bits, name])
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    page.wait_for_timeout(300)
    page.mouse.click(x, y)


def address_of(page, name: str) -> str:
    found = re.search(rf"[?&]{name}=([^&]*)", page.url)
    return found[1] if found else ""


def run_of(site, bits: int, tau: float, seed: int = 0) -> str:
    runs = Store(site[2] / "results").table("randbit-mnist-5k")
    hit = (runs["bits"] == bits) & (runs["tau"] == tau) & (runs["seed"] == seed) & (runs["objective"] == "nt_xent")
    return runs.loc[hit, "run_id"].iloc[0]


def test_a_deep_link_as_the_very_first_request_runs_the_entrypoint(site, visit):
    """A flat pages folder would skip app.py here. Must stay the first test of this module."""
    page = visit(f"/feature_suppression?study={STUDY}&run={run_of(site, 10, 0.1)}")
    assert page.get_by_role("link", name="Runs").count()  # navigation is drawn by app.py only
    page.get_by_text("tau 0.1, 10 bits").wait_for()


def test_a_click_on_a_point_opens_its_run_and_a_second_one_closes_it(site, visit):
    page = visit(f"/feature_suppression?study={STUDY}")
    click_point(page, "sup_left", 10, "tau 0.1")
    page.get_by_text("tau 0.1, 10 bits").wait_for()
    settle(page)
    assert address_of(page, "run") == run_of(site, 10, 0.1)
    click_point(page, "sup_left", 10, "tau 0.1")
    page.get_by_text("Click a point to open its runs").wait_for()
    settle(page)
    assert address_of(page, "run") == ""


def test_points_of_every_line_return_their_own_run(site, visit):
    """Places count from zero in each trace; ids must not."""
    page = visit(f"/feature_suppression?study={STUDY}")
    for bits, tau in ((12, 0.05), (8, 0.2)):
        click_point(page, "sup_left", bits, f"tau {tau:g}")
        page.get_by_text(f"tau {tau:g}, {bits} bits").wait_for()
        settle(page)
        assert address_of(page, "run") == run_of(site, bits, tau)


def test_a_click_keeps_the_zoom(site, visit):
    """The clicked chart is not drawn anew: zoom into it, click, and the range is as it was."""
    page = visit(f"/feature_suppression?study={STUDY}")
    page.wait_for_selector(".st-key-sup_left .js-plotly-plot .nsewdrag")
    box = page.locator(".st-key-sup_left .js-plotly-plot .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 40, box["y"] + box["height"] - 20, steps=6)
    page.mouse.up()
    page.wait_for_timeout(800)
    span = "document.querySelector('.st-key-sup_left .js-plotly-plot')._fullLayout.xaxis.range"
    zoomed = page.evaluate(span)
    assert zoomed[1] - zoomed[0] < 18
    click_point(page, "sup_left", 10, "tau 0.1")
    page.get_by_text("tau 0.1, 10 bits").wait_for()
    settle(page)
    assert page.evaluate(span) == pytest.approx(zoomed)


def test_a_click_in_one_chart_is_shown_in_the_other(site, visit):
    page = visit(f"/feature_suppression?study={STUDY}")
    click_point(page, "sup_left", 10, "tau 0.2")
    page.get_by_text("tau 0.2, 10 bits").wait_for()
    settle(page)
    chart = "document.querySelector('.st-key-sup_right .js-plotly-plot')"
    marked = page.evaluate(f"{chart}.data.map(trace => trace.selectedpoints ?? null)")
    assert [6] in [list(points) for points in marked if points is not None]


def test_thumbnails_lead_to_their_page_with_the_study_and_the_run(site, visit):
    page = visit()
    page.get_by_role("link", name="Embedding of that run").click()
    page.get_by_text("Does the class order the embedding?").wait_for()
    settle(page)
    assert "feature_suppression" in page.url and address_of(page, "run")


def test_selected_rows_are_compared_and_the_address_restores_them(site, visit):
    page = visit("/runs?study=runs/randbit-quick")
    table = page.locator("[data-testid='stDataFrame']").first
    box = table.bounding_box()
    for row in (1, 2):
        page.mouse.click(box["x"] + 18, box["y"] + 35 * row + 17)
        settle(page)
    page.get_by_text("What differs").wait_for()
    chosen = address_of(page, "compare")
    assert chosen.count("%2C") + chosen.count(",") == 1
    again = visit(f"/runs?study=runs/randbit-quick&compare={chosen}")
    again.get_by_text("2 selected").wait_for()


def test_the_theme_reaches_the_charts(visit):
    page = visit(f"/feature_suppression?study={STUDY}", theme="dark")
    paper = "document.querySelector('.st-key-sup_left .js-plotly-plot')._fullLayout.paper_bgcolor"
    page.wait_for_selector(".st-key-sup_left .js-plotly-plot .main-svg")
    assert page.evaluate(paper) == "#12161C"


@pytest.mark.parametrize("path", ["", f"/feature_suppression?study={STUDY}", "/runs"])
def test_nothing_overflows_at_1024(visit, path):
    page = visit(path, width=1024)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not page.locator("[data-testid='stException']").count()
