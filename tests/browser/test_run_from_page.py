"""A study that is started from the page outlives the tab and the server. In a file of its own: it opens browsers itself."""

import json
import time

import pytest

from core.studies import Store, launch
from tests.browser.serve import CHROMIUM, READY, browser, server, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
    pytest.mark.timeout(900),
]
WAIT = 120_000  # ms; test machines are shared


def test_a_study_started_from_the_page_outlives_it_and_appears_live(tmp_path):
    """Press the button, close the tab, come back on another server: the first point is there. Real training."""
    results, runs = tmp_path / "results", tmp_path / "runs"
    with server(results, runs, tmp_path / "first.txt") as address, browser() as chromium:
        page = chromium.new_page()
        page.goto(address, timeout=WAIT)
        settle(page)
        pressed = time.monotonic()
        page.get_by_role("button", name="Run it here").click()
        page.get_by_role("button", name="Stop").wait_for(timeout=WAIT)
        seen = time.monotonic() - pressed
    state = Store(runs).state("randbit-quick")
    assert state.active, state
    with server(results, runs, tmp_path / "second.txt") as address, browser() as chromium:
        page = chromium.new_page()
        page.goto(address, timeout=WAIT)
        page.wait_for_selector(READY, timeout=WAIT)
        page.get_by_text("Your curve, live").wait_for(timeout=600_000)
        settle(page)
    launch.request_stop("randbit-quick", runs)  # by request: on a fast machine the study may have ended by itself
    ends = time.monotonic() + 300
    while Store(runs).state("randbit-quick").active and time.monotonic() < ends:
        time.sleep(1)
    summary = (runs / "randbit-quick" / "results.jsonl").read_text().splitlines()
    assert summary and all(json.loads(line)["result"]["status"] == "finished" for line in summary)
    print(f"progress was visible {seen:.1f} s after the click")
