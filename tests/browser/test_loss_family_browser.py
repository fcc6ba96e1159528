"""What only a browser shows of the map and the moving points: clicks anywhere in a cell, shared links, smooth frames, steps."""

import pytest

from core.figures.grid import Grid
from core.studies.cells import fold_cells
from core.studies.store import Store
from tests.browser.serve import CHROMIUM, browser, server, settle
from tests.fixtures import study
from tests.map_runs import fill_heads, fill_map

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
]
WAIT = 120_000  # ms; test machines are shared
MAP = "/tau_lambda?study=results/tau-lambda-mnist-5k"
BUTTONS = ".st-key-fam_motion .updatemenu-button"
# The place in pixels of a point given in data coordinates, on the page.
TO_PIXELS = """([key, x, y]) => {
  const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const box = plot.querySelector('.nsewdrag').getBoundingClientRect();
  const {xaxis, yaxis} = plot._fullLayout;
  return [box.left + xaxis.l2p(x), box.top + yaxis.l2p(y)];
}"""
WATCH_FRAMES = """() => {
  const plot = document.querySelector('.st-key-fam_motion .js-plotly-plot');
  window.shown = [];
  plot.on('plotly_animatingframe', event => window.shown.push([event.name, performance.now()]));
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A dashboard on a made-up map and prior table, visited once so that deep links are known."""
    folder = tmp_path_factory.mktemp("site")
    fill_map(folder / "results", study("tau-lambda-mnist-5k"))
    fill_heads(folder / "results", study("priors-heads-mnist-5k"))
    with server(folder / "results", folder / "runs", folder / "log.txt") as address, browser() as chromium:
        page = chromium.new_page()
        page.goto(address, timeout=WAIT)
        settle(page)
        page.close()
        yield address, chromium, folder


def opened(site, path: str, width: int = 1440, height: int = 900):
    address, chromium, _ = site
    page = chromium.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(WAIT)
    page.goto(address + path, timeout=WAIT)
    settle(page)
    page.wait_for_selector(".js-plotly-plot .main-svg")
    return page


def click(page, key: str, x: float, y: float) -> None:
    """Wait until the chart stands still, then move and wait a moment: Plotly selects the point it hovers."""
    place = page.evaluate(TO_PIXELS, [key, x, y])
    for _ in range(40):
        page.mouse.move(*place)
        page.wait_for_timeout(500)
        before, place = place, page.evaluate(TO_PIXELS, [key, x, y])
        if place == before:
            break
    page.mouse.click(*place)


@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (0.42, 0.4), (-0.42, -0.4)])
def test_a_click_anywhere_in_a_cell_opens_its_run_and_the_link_reopens_it(site, dx, dy):
    _, chromium, folder = site
    cells = fold_cells(Store(folder / "results").table("tau-lambda-mnist-5k"), "linear_accuracy")
    grid = Grid.of(cells)
    tau, lam = 1.0, 0.1  # away from the ridge and its marks
    page = opened(site, MAP)
    click(page, "map_chart", grid.column(tau) + dx, grid.row(lam) + dy)
    page.wait_for_selector(".st-key-map_close")
    settle(page)
    assert "map_cell=1%2C0.1" in page.url or "map_cell=1,0.1" in page.url
    page.get_by_text("tau 1, lambda 0.1").first.wait_for(timeout=WAIT)
    wanted = cells[(cells["tau"] == tau) & (cells["lam"] == lam)].iloc[0]["run_ids"][0]
    page.get_by_text(f"Run {wanted} in the run table").wait_for(timeout=WAIT)
    again = chromium.new_page(viewport={"width": 1440, "height": 900})
    again.goto(page.url, timeout=WAIT)
    settle(again)
    again.wait_for_selector(".st-key-map_close", timeout=WAIT)
    again.get_by_text(f"Run {wanted} in the run table").wait_for(timeout=WAIT)
    again.close()
    page.close()


def test_a_second_click_closes_the_cell(site):
    page = opened(site, MAP + "&map_cell=1,0.1")
    page.wait_for_selector(".st-key-map_close")
    click(page, "map_chart", 4, 2)
    page.wait_for_selector(".st-key-map_close", state="detached")
    settle(page)
    assert "map_cell" not in page.url
    page.close()


def test_the_points_move_without_the_server_and_end_at_the_last_frame(site):
    """Smoothness is measured in the benchmarks; here every frame must come, in order, whatever the machine is doing."""
    page = opened(site, "/loss_family")
    page.wait_for_selector(BUTTONS)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH_FRAMES)
    before = page.locator(".st-key-fam_motion .scatterlayer .point").first.get_attribute("transform")
    page.locator(BUTTONS).nth(0).click()
    page.wait_for_function("() => window.shown.length && window.shown.at(-1)[0] === '150'", timeout=WAIT)
    names = [int(name) for name, _ in page.evaluate("window.shown")]
    assert names == list(range(0, 151, 5))
    after = page.locator(".st-key-fam_motion .scatterlayer .point").first.get_attribute("transform")
    assert before != after
    page.close()


def test_step_pause_and_restart(site):
    page = opened(site, "/loss_family")
    page.wait_for_selector(BUTTONS)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH_FRAMES)

    def press(place: int) -> int:
        page.locator(BUTTONS).nth(place).click()
        page.wait_for_timeout(1500)
        return int(page.evaluate("window.shown.at(-1)[0]"))

    assert press(3) == 5 and press(3) == 10 and press(3) == 15
    assert press(2) == 10
    page.locator(BUTTONS).nth(0).click()
    page.wait_for_timeout(1500)
    paused = press(1)
    page.wait_for_timeout(1500)
    assert int(page.evaluate("window.shown.at(-1)[0]")) == paused > 10
    assert press(4) == 0
    page.close()


@pytest.mark.parametrize("path", [MAP, MAP + "&map_cell=0.2,0.5", "/priors_heads", *(
    f"/loss_family?fam_view={view}" for view in ("Motion", "NT-Xent%20inside", "Conventions", "Information"))])  # fmt: skip
def test_nothing_overflows_and_formulas_render_at_1024(site, path):
    address, chromium, _ = site
    page = chromium.new_page(viewport={"width": 1024, "height": 768})
    page.set_default_timeout(WAIT)
    page.goto(address + path, timeout=WAIT)
    settle(page, 1.0)
    assert page.locator(".katex-error").count() == 0 and page.locator("[data-testid=stException]").count() == 0
    assert page.locator("[data-testid=stMain]").evaluate("box => box.scrollWidth - box.clientWidth") <= 1
    page.close()
