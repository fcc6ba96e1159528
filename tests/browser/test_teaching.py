"""What only a browser shows of the teaching pages: clicks on the circle, keys, animations, formulas, width, alternatives."""

import pytest

from tests.browser.serve import CHROMIUM, browser, server, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
]
WAIT = 120_000  # ms; test machines are shared
TITLE = ".js-plotly-plot .gtitle"
GRIP = ".slider-grip-rect"  # of the slider under an animation; it moves with the frames
TEMPERATURE = ("One%20anchor", "Penalty%20curve", "Hard%20and%20false", "Circle", "Across%20runs")
INFONCE = ("Three%20losses", "Reference%20lines", "Information%20bound", "Full%20softmax", "Queue")
VIEWS = [*(f"/temperature?tmp_view={view}" for view in TEMPERATURE), *(f"/infonce?nce_view={view}" for view in INFONCE), "/tour"]
ALTERNATIVE = "box => box.getAttribute('aria-label') || box.querySelector('[aria-label]')?.ariaLabel || ''"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A dashboard on empty stores, visited once so that deep links are known."""
    folder = tmp_path_factory.mktemp("site")
    with server(folder / "results", folder / "runs", folder / "log.txt") as address, browser() as chromium:
        page = chromium.new_page()
        page.goto(address, timeout=WAIT)
        settle(page)
        page.close()
        yield address, chromium


def opened(site, path: str, width: int = 1024, height: int = 768):
    """A page of the site, drawn."""
    address, chromium = site
    page = chromium.new_page(viewport={"width": width, "height": height})
    page.goto(address + path, timeout=WAIT)
    settle(page)
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=WAIT)
    return page


def title_of(page, place: int = 0) -> str:
    return page.locator(TITLE).nth(place).text_content()


def wait_for_title(page, words: str) -> None:
    page.wait_for_function(f"words => document.querySelector('{TITLE}')?.textContent.includes(words)", arg=words, timeout=WAIT)


@pytest.mark.parametrize("path", VIEWS)
def test_formulas_render_nothing_overflows_and_charts_have_alternatives(site, path):
    page = opened(site, path)
    assert page.locator(".katex-error").count() == 0
    assert page.locator("[data-testid=stException]").count() == 0
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("box => box.scrollWidth - box.clientWidth") <= 1
    for formula in page.locator("[data-testid=stMarkdownContainer] .katex-display").all():
        assert formula.evaluate("box => box.scrollWidth - box.clientWidth") <= 2, formula.inner_text()[:80]
    charts = page.locator("[data-testid=stPlotlyChart]")
    for place in range(charts.count()):
        assert len(charts.nth(place).evaluate(ALTERNATIVE)) > 30
    page.close()


def test_the_temperature_slider_obeys_the_arrow_keys(site):
    page = opened(site, "/temperature")
    assert "At tau 0.1" in title_of(page)
    slider = page.locator(".st-key-tmp_tau input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_for_title(page, "At tau 0.12")
    page.keyboard.press("End")
    wait_for_title(page, "For tau → ∞")
    assert "tmp_tau=" in page.url
    page.close()


def test_a_click_on_the_circle_chooses_the_anchor(site):
    page = opened(site, "/temperature?tmp_view=Circle", 1440, 900)
    assert "anchor A" in title_of(page)
    points = page.locator(".js-plotly-plot .scatterlayer .trace").nth(1).locator("path.point")
    box = points.nth(6).bounding_box()  # D, far from its neighbours
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(400)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_for_title(page, "anchor D")
    assert "tmp_circle_anchor=" in page.url
    page.close()


@pytest.mark.parametrize("path", ["/infonce?nce_view=Queue", "/temperature?tmp_view=Circle&tmp_circle_follow=true"])
def test_an_animation_plays_in_the_browser_alone(site, path):
    """After play is pressed the step advances, and not one message goes to the server."""
    address, chromium = site
    page = chromium.new_page(viewport={"width": 1440, "height": 1700})
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(address + path, timeout=WAIT)
    settle(page)
    page.wait_for_selector(".js-plotly-plot .updatemenu-button", timeout=WAIT)
    settle(page, 2)
    before = page.locator(GRIP).get_attribute("transform")
    count = len(sent)
    page.locator(".updatemenu-button").first.click()
    moved = f"before => document.querySelector('{GRIP}').getAttribute('transform') !== before"
    page.wait_for_function(moved, arg=before, timeout=WAIT)
    assert len(sent) == count
    page.close()


def test_the_tour_is_walked_by_keyboard(site):
    page = opened(site, "/tour")
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=2 of 8.", timeout=WAIT)
    settle(page)
    answer = page.locator("[data-testid=stExpander] summary")
    answer.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=the hardest negative is left", timeout=WAIT)
    page.close()
