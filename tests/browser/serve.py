"""A running dashboard for browser tests: a random port, its own data folders, and a Chromium that talks to nobody else."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
READY = "[data-testid='stApp'][data-test-connection-state='CONNECTED'][data-test-script-state='notRunning']"


@contextlib.contextmanager
def server(results: Path, runs: Path, log: Path) -> Iterator[str]:
    """Start `streamlit run app.py` on a free port and end it afterwards.

    Args:
        results: Root of the shipped results that it shows.
        runs: Root of the runs that it may start.
        log: Where its output goes.

    Yields:
        Its address, such as http://127.0.0.1:43210.

    Raises:
        RuntimeError: If it does not answer within 120 s; the text holds the end of the log.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"]
    command += ["--server.fileWatcherType", "none", "--browser.gatherUsageStats", "false"]
    environment = {**os.environ, "CONTRASTIVE_LENS_RESULTS": str(results), "CONTRASTIVE_LENS_RUNS": str(runs)}
    with open(log, "wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def browser() -> Iterator:
    """A Playwright Chromium, closed afterwards."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_FLAGS))
        try:
            yield chromium
        finally:
            chromium.close()


def settle(page, extra: float = 0.4) -> None:
    """Wait until the script has run and the charts are drawn."""
    page.wait_for_selector(READY, timeout=120_000)
    page.wait_for_timeout(int(extra * 1000))
    page.wait_for_selector(READY, timeout=120_000)
    page.wait_for_function("!document.querySelector('[data-testid=stSkeleton]')", timeout=120_000)  # parts load on demand


def _wait(address: str, process: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the dashboard did not start:\n{log.read_text(errors='replace')[-2000:]}")
