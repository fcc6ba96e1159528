"""The page Inspect in a browser: all tabs in sight, a click on an image, and an upload that is no checkpoint."""

import re

import pytest

from tests.browser.serve import CHROMIUM, browser, server, settle
from tests.inspections import made_up

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
    pytest.mark.timeout(900),
]
PLACE = """(place) => {
    const plot = document.querySelector('[class*="st-key-ins_sheet_"] .js-plotly-plot');
    const trace = plot.data.find(trace => trace.mode === 'markers');
    const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
    const point = plot.calcdata[plot.data.indexOf(trace)][place];
    const x = box.x + xaxis._offset + xaxis.l2p(point.x), y = box.y + yaxis._offset + yaxis.l2p(point.y);
    return [x, y, String(plot._fullData[plot.data.indexOf(trace)].customdata[place])];
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    made_up.write(folder / "runs" / "inspections")
    with server(folder / "results", folder / "runs", folder / "log.txt") as address, browser() as chromium:
        context = chromium.new_context(viewport={"width": 1440, "height": 1400})
        found = context.new_page()
        found.set_default_timeout(120_000)
        found.goto(address)
        settle(found)
        yield found, address
        context.close()


def test_a_click_on_an_image_shows_its_neighbours(page):
    found, address = page
    found.goto(f"{address}/inspect?inspection={made_up.spec().inspection_id}&ins_tab=Neighbours&ins_sheet=any+test+images")
    settle(found)
    found.wait_for_selector('[class*="st-key-ins_sheet_"] .js-plotly-plot .scatterlayer')
    found.wait_for_timeout(500)
    x, y, index = found.evaluate(PLACE, 5)
    found.mouse.move(x - 3, y)
    found.mouse.move(x, y)
    found.wait_for_timeout(300)
    found.mouse.click(x, y)
    found.wait_for_url(re.compile(rf"[?&]image={index}(&|$)"))
    settle(found)
    assert not found.locator("[data-testid='stException']").count()


def test_a_web_page_in_the_clothes_of_a_checkpoint_is_refused(page, tmp_path):
    found, address = page
    fake = tmp_path / "moco_v2_800ep_pretrain.pth.tar"
    fake.write_text("<!DOCTYPE html><html><body>Sign in to download</body></html>")
    found.goto(f"{address}/inspect?inspection=open")
    settle(found)
    found.locator("input[type=file]").set_input_files(str(fake))
    found.get_by_text("was not opened").wait_for()
    assert not found.get_by_role("button", name="Inspect", exact=True).count()


def test_all_tabs_are_in_sight_in_a_small_window(page):
    """The name of the seventh was cut off at 1,024 px and had to be scrolled to."""
    found, address = page
    usual = found.viewport_size
    found.set_viewport_size({"width": 1024, "height": 768})
    found.goto(f"{address}/inspect?inspection={made_up.spec().inspection_id}")
    settle(found)
    row = found.locator(".st-key-ins_tab [role=radiogroup]")
    assert row.get_by_role("radio").count() == 7
    assert row.evaluate("row => row.scrollWidth <= row.clientWidth")
    found.set_viewport_size(usual)
