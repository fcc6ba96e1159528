"""Slider to picture on the teaching pages, server side: one rerun of each view with one changed value.

    python -m tests.benchmarks.bench_teaching

Prints the median of ten reruns of every view, on the clock and in processor time, and ends with 1 if a median of processor
time is above the budget of 150 ms. On an idle machine the two agree; on a shared one only the second means anything. A rerun
here is the whole page; in the browser only the fragment with the slider runs.
"""

import statistics
import sys
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 0.150  # seconds
REPEATS = 10
TEMPERATURE, INFONCE, TOUR = (f"pages/understand/{name}.py" for name in ("temperature", "infonce", "tour"))

# Page, address, and the slider that is moved: kind of widget, key, two values to move between.
VIEWS = {
    "One anchor": (TEMPERATURE, {}, ("select_slider", "tmp_tau", (0.2, 0.5))),
    "One anchor, a score": (TEMPERATURE, {}, ("slider", "tmp_pos", (0.3, 0.6))),
    "Hard and false": (TEMPERATURE, {"tmp_view": "Hard and false"}, ("select_slider", "tmp_negatives_tau", (0.2, 0.5))),
    "Circle": (TEMPERATURE, {"tmp_view": "Circle"}, ("select_slider", "tmp_circle_tau", (0.1, 0.5))),
    "Circle with animation": (
        TEMPERATURE,
        {"tmp_view": "Circle", "tmp_circle_follow": "true"},
        ("select_slider", "tmp_circle_tau", (0.1, 0.5)),
    ),
    "Real embedding": (TEMPERATURE, {"tmp_view": "Real embedding"}, None),
    "Across runs": (TEMPERATURE, {"tmp_view": "Across runs"}, ("toggle", "tmp_zoom", (True, False))),
    "Three losses": (INFONCE, {}, ("slider", "nce_s1", (0.3, 0.1))),
    "What is learned": (INFONCE, {"nce_view": "What is learned"}, ("select_slider", "nce_k", (1, 20))),
    "Reference lines": (INFONCE, {"nce_view": "Reference lines"}, ("select_slider", "nce_ref_tau", (0.1, 0.5))),
    "Queue": (INFONCE, {"nce_view": "Queue"}, ("slider", "nce_step", (10, 30))),
    "Tour, step 2": (TOUR, {"tour_step": "2"}, ("select_slider", "tour_cold_tau", (0.1, 0.2))),
}


def measure(page: str, address: dict[str, str], move: tuple | None) -> list[tuple[float, float]]:
    """Seconds of each rerun of a warm page after a slider was moved: on the clock, of the processor."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).run()
    app.switch_page(page)
    for name, value in address.items():
        app.query_params[name] = value
    app.run()
    if app.exception:
        raise RuntimeError(f"{page} {address}: {app.exception[0].value}")
    times = []
    for turn in range(REPEATS + 2):
        if move:
            kind, key, values = move
            getattr(app, kind)(key=key).set_value(values[turn % 2])
        clock, processor = time.perf_counter(), time.process_time()
        app.run()
        times.append((time.perf_counter() - clock, time.process_time() - processor))
    return times[2:]  # the first two fill the caches


if __name__ == "__main__":
    slow = []
    for name, (page, address, move) in VIEWS.items():
        times = measure(page, address, move)
        clock, processor = (statistics.median(kind) for kind in zip(*times, strict=True))
        slow += [name] if processor > BUDGET else []
        print(f"{name:24} {clock * 1e3:6.0f} ms on the clock   {processor * 1e3:6.0f} ms of the processor", flush=True)
    print(f"over the budget of {BUDGET * 1e3:.0f} ms: {', '.join(slow) or 'none'}")
    sys.exit(1 if slow else 0)
