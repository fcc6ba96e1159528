"""What only a browser shows of the hypersphere: a lasso that keeps images, epochs that play, and a page without WebGL."""

import pytest

from tests.browser.serve import CHROMIUM, browser, server, settle
from tests.flat_runs import STUDY, fill_flat

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
]
WAIT = 120_000  # ms; test machines are shared
ONE = "/compare?cmp_view=One+embedding"
CHART = "[class*='st-key-cmp_sphere_chart'] .js-plotly-plot"
NO_WEBGL = """
const before = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith('webgl') ? null : before.call(this, kind, ...rest);
};
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A dashboard on invented flat embeddings, visited once so that deep links are known."""
    folder = tmp_path_factory.mktemp("flat")
    fill_flat(folder / "results")
    with server(folder / "results", folder / "runs", folder / "log.txt") as address, browser() as chromium:
        page = chromium.new_page()
        page.goto(address, timeout=WAIT)
        settle(page)
        page.close()
        yield address, chromium


def opened(site, path: str, script: str = ""):
    address, chromium = site
    page = chromium.new_page(viewport={"width": 1440, "height": 1100})
    page.set_default_timeout(WAIT)
    if script:
        page.add_init_script(script)
    page.goto(address + path, timeout=WAIT)
    settle(page, 1.0)
    return page


def choose(page, name: str) -> None:
    """Pick another encoder in the selector."""
    page.locator("[data-testid='stSelectbox']", has_text="Encoder").locator("input").fill(name)
    page.keyboard.press("Enter")
    settle(page, 1.5)


def test_a_lasso_shows_exactly_its_images_and_they_stay_until_cleared(site):
    page = opened(site, ONE)
    page.wait_for_selector(f"{CHART} .main-svg")
    box = page.locator(f"{CHART} .nsewdrag").first.bounding_box()
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.03)]
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()
    page.wait_for_selector("text=200 selected test images")  # all of them lay inside
    assert page.locator(".st-key-cmp_sphere_rows button").is_enabled()
    page.wait_for_function("document.querySelectorAll('img[alt^=\"Test image\"]').length === 48")
    page.locator(".st-key-cmp_sphere_clear button").click()
    page.wait_for_selector("text=selected test images", state="detached")
    page.close()


def test_without_webgl_there_are_words_and_flat_halves(site):
    page = opened(site, ONE, NO_WEBGL)
    choose(page, "NT-Xent, d = 3")
    page.wait_for_selector("text=This browser cannot draw in three dimensions")
    page.wait_for_selector(f"{CHART} .main-svg")
    kinds = page.evaluate(f"Array.from(document.querySelector(\"{CHART}\").data, trace => trace.type)")
    assert "heatmap" in kinds and not {"scatter3d", "surface"} & set(kinds)
    page.close()


def test_the_sphere_turns_only_when_asked_and_without_the_server(site):
    page = opened(site, ONE)
    choose(page, "NT-Xent, d = 3")
    page.wait_for_selector(f"{CHART} .gl-container canvas")
    eye = f"document.querySelector(\"{CHART}\")._fullLayout.scene.camera.eye.x"
    before = page.evaluate(eye)
    page.wait_for_timeout(800)
    assert page.evaluate(eye) == before
    page.locator(f"{CHART} .updatemenu-button", has_text="Play").click()
    page.wait_for_function(f"Math.abs({eye} - ({before})) > 0.05")
    page.close()


def test_epochs_play(site):
    page = opened(site, f"/compare?cmp_view=Epoch+by+epoch&encoders=run:results/{STUDY}/x")
    plot = ".st-key-cmp_epochs .js-plotly-plot"
    page.wait_for_selector(f"{plot} .main-svg")
    page.evaluate("window.seen = []")
    page.evaluate(f"document.querySelector('{plot}').on('plotly_animatingframe', event => window.seen.push(event.name))")
    page.locator(f"{plot} .updatemenu-button", has_text="Play").click()
    page.wait_for_function("window.seen.length > 0")
    page.close()
