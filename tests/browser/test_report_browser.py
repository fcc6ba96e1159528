"""A report as a person makes it: figures added from their own pages, then exported with the buttons of the page Report."""

import io

import pytest
from pptx import Presentation

from tests.browser.serve import CHROMIUM, ROOT, browser, server, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
    pytest.mark.timeout(900),
]
WAIT = 180_000  # ms; test machines are shared
SMALL = 8_000_000  # bytes of a ten-figure report
FIGURES = {  # page -> keys of its charts; matrices, an animation, bands, a map and figures with several panels
    "/feature_suppression?study=results/randbit-mnist-5k": ("sup_left", "sup_right"),
    "/tau_lambda?study=results/tau-lambda-mnist-5k": ("map_chart",),
    "/compare": ("cmp_plane", "cmp_cka", "cmp_spectra"),
    "/temperature?tmp_view=Across+runs": ("tmp_metrics", "tmp_dimensions"),
    "/loss_family": ("fam_motion",),
    "/priors_heads?study=results/priors-heads-mnist-5k": ("pri_dots",),
}
COUNT = sum(map(len, FIGURES.values()))


def exported(page, key: str) -> bytes:
    with page.expect_download(timeout=WAIT) as download:
        page.locator(f".st-key-{key} button").first.click()
    return download.value.path().read_bytes()


def test_figures_of_six_pages_become_a_file_a_print_and_slides(tmp_path):
    with server(ROOT / "data" / "results", tmp_path / "runs", tmp_path / "log.txt") as address, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1440, "height": 1200})
        page.set_default_timeout(WAIT)
        page.goto(address, timeout=WAIT)
        settle(page)
        for path, keys in FIGURES.items():
            page.goto(address + path, timeout=WAIT)
            settle(page, 1.0)
            for key in keys:
                page.locator(f".st-key-{key}_menu button").first.click()
                page.locator(f".st-key-{key}_add button").first.click()
                page.get_by_text("Added to the report").last.wait_for()
                page.keyboard.press("Escape")
                settle(page)
        page.goto(address + "/report", timeout=WAIT)
        settle(page)
        html, pdf, slides = (exported(page, f"rep_{form}") for form in ("html", "pdf", "pptx"))
        assert not page.get_by_text("Traceback").count()
        page.close()
        assert pdf.startswith(b"%PDF") and len(html) < SMALL
        assert len([slide for slide in Presentation(io.BytesIO(slides)).slides if slide.shapes]) >= COUNT
        (tmp_path / "report.html").write_bytes(html)
        context = chromium.new_context(offline=True)
        page, wrong = context.new_page(), []
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((tmp_path / "report.html").as_uri(), timeout=WAIT)
        plots = page.locator("[data-figure]")
        assert plots.count() == COUNT
        for place in range(COUNT):  # each is drawn when it comes into view
            plots.nth(place).scroll_into_view_if_needed()
            plots.nth(place).locator(".main-svg").first.wait_for(timeout=WAIT)
        assert not wrong
