"""How fast pages are: first page ready, warm page switch, widget rerun, bytes per rerun, and the table of 10,000 runs.

    python tests/benchmarks/bench_pages.py            # on invented data of the shipped study's size
    python tests/benchmarks/bench_pages.py --repeat 9

Prints JSON. Wall times are server side; "ready" is a fresh process from its start to the end of the first page. Each figure is a
median with its extremes beside the bar of the design. The CPU times beside them say what an idle machine would do; on a busy one
the wall times measure the other programs.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
PAGES = {
    "home": "pages/home/home.py",
    "feature_suppression": "pages/experiments/feature_suppression.py",
    "runs": "pages/experiments/runs.py",
}
BARS = {"ready_s": 1.5, "switch_ms": 300, "rerun_ms": 150, "rerun_kb": 300, "table_10000_s": 1.0}
FIRST = """
import time; begin = time.perf_counter()
import sys; sys.stderr = open("/dev/null", "w")
from streamlit.testing.v1 import AppTest
app = AppTest.from_file({app!r}, default_timeout=120).run()
assert not app.exception
print(time.perf_counter() - begin, time.process_time(), "torch" in sys.modules)
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    logging.disable(logging.WARNING)
    from tests import fixtures

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["CONTRASTIVE_LENS_RESULTS"], os.environ["CONTRASTIVE_LENS_RUNS"] = str(root / "results"), str(root / "runs")
        os.chdir(ROOT)
        fixtures.fill(root / "results", fixtures.study())
        report = {"first_page": first_page(repeat), "pages": {name: page(path, repeat) for name, path in PAGES.items()}}
        os.environ["CONTRASTIVE_LENS_RESULTS"] = str(root / "large")
        fixtures.fill(root / "large", fixtures.study(seeds=tuple(range(200))), embeddings=False)
        report["table_10000_s"] = summary(measured_rerun(PAGES["runs"], repeat), 1.0, BARS["table_10000_s"])
    report |= {"bars": BARS, "cores": os.cpu_count(), "load_before": os.getloadavg()[0]}
    print(json.dumps(report, indent=2))


def first_page(repeat: int) -> dict:
    """A fresh process: imports and the home page."""
    times, cpu, torch = [], [], False
    command = [sys.executable, "-c", FIRST.format(app=str(ROOT / "app.py"))]
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(repeat + 1):
        said = subprocess.run(command, cwd=ROOT, env=usual, capture_output=True, text=True, check=True).stdout.split()
        if not turn:  # compiles our modules, as the first start after an installation does
            continue
        times.append(float(said[-3]))
        cpu.append(float(said[-2]))
        torch |= said[-1] == "True"
    processor = round(statistics.median(cpu), 3)
    return {"ready_s": summary(times, 1.0, BARS["ready_s"]), "ready_cpu_s": processor, "torch_loaded": torch}


def page(path: str, repeat: int) -> dict:
    """Warm switch from another page, and rerun of an unchanged page."""
    other = PAGES["home"] if path != PAGES["home"] else PAGES["runs"]
    app = _opened(path)
    switches = []
    for _ in range(repeat):
        app.switch_page(other)
        _quiet(app.run)
        app.switch_page(path)
        switches.append(_timed(app.run))
    reruns = [_timed(app.run) for _ in range(repeat)]
    size = sum(len(chart.proto.spec) for chart in app.get("plotly_chart")) / 1000
    return {
        "switch_ms": summary(switches, 1000.0, BARS["switch_ms"]),
        "rerun_ms": summary(reruns, 1000.0, BARS["rerun_ms"]),
        "rerun_cpu_ms": round(1000 * statistics.median(_cpu(app.run) for _ in range(repeat)), 1),
        "charts_kb": round(size, 1),
    }


def measured_rerun(path: str, repeat: int) -> list[float]:
    """Seconds of warm reruns of a page."""
    app = _opened(path)
    return [_timed(app.run) for _ in range(repeat)]


def summary(times: list[float], scale: float, bar: float) -> dict:
    """Median, extremes and whether the bar is met, in the unit of the bar."""
    scaled = [value * scale for value in times]
    middle = statistics.median(scaled)
    extremes = {"lowest": round(min(scaled), 3), "highest": round(max(scaled), 3)}
    return {"median": round(middle, 3), **extremes, "bar": bar, "met": middle < bar}


def _opened(path: str):
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    _quiet(app.run)
    app.switch_page(path)
    _quiet(app.run)
    _quiet(app.run)
    if app.exception:
        raise RuntimeError(f"{path}: {app.exception[0].value}")
    return app


def _timed(work: Callable) -> float:
    begin = time.perf_counter()
    _quiet(work)
    return time.perf_counter() - begin


def _cpu(work: Callable) -> float:
    begin = time.process_time()
    _quiet(work)
    return time.process_time() - begin


def _quiet(work: Callable) -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        work()


if __name__ == "__main__":
    main()
