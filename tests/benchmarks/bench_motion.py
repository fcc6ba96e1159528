"""How smoothly points move under a loss in the browser: different pictures a second while the animation plays.

    python -m tests.benchmarks.bench_motion

Needs Chromium, which draws without a graphics card here, so a screen of one's own is smoother. Prints for circle, sphere and
plane the pictures a second on which the first point stands at a place of its own, and the longest gaps between two.
"""

import tempfile
from pathlib import Path

import numpy as np

from tests.browser.serve import browser, server, settle

VIEWS = {
    "circle": "/loss_family",
    "sphere": "/loss_family?fam_space=Sphere",
    "plane": "/loss_family?fam_loss=SWD,%20normal",
}
WAIT = 120_000  # ms
WATCH = """() => {
  const plot = document.querySelector('.st-key-fam_motion .js-plotly-plot');
  const point = plot.querySelector('.scatterlayer .point');
  window.ended = false;
  plot.on('plotly_animated', () => { window.ended = true; });
  window.places = [];
  const look = now => { window.places.push([now, point.getAttribute('transform')]); requestAnimationFrame(look); };
  requestAnimationFrame(look);
}"""


def pictures(page) -> np.ndarray:
    """Times in ms at which the first point had moved, from play to the end of the animation."""
    page.evaluate(WATCH)
    page.locator(".st-key-fam_motion .updatemenu-button").first.click()
    page.wait_for_function("() => window.ended", timeout=WAIT)
    seen = page.evaluate("window.places")
    return np.array([now for (now, place), (_, before) in zip(seen[1:], seen, strict=False) if place != before])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        root = Path(folder)
        with server(root / "results", root / "runs", root / "log.txt") as address:
            for name, path in VIEWS.items():
                page = chromium.new_page(viewport={"width": 1440, "height": 900})
                page.goto(address + path, timeout=WAIT)
                page.wait_for_selector(".st-key-fam_motion .scatterlayer .point", timeout=WAIT)
                settle(page, 2)
                times = pictures(page)
                gaps = np.percentile(np.diff(times), [50, 90, 100])
                rate = 1000 * (len(times) - 1) / (times[-1] - times[0])
                print(f"{name:7} {rate:5.1f} pictures/s, gaps {gaps[0]:.0f} ms median, {gaps[1]:.0f} 90 %, {gaps[2]:.0f} longest")
                page.close()
