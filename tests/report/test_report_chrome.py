"""Finding a browser: what is asked for wins, and without one the reason says what to do."""

import stat
import subprocess
import sys

import pytest

from core.report import chrome
from core.report.chrome import NoBrowser, browser, required


@pytest.fixture
def nothing_there(monkeypatch, tmp_path):
    """A machine without any browser."""
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chrome, "PLACES", ())
    chrome._find.cache_clear()
    yield tmp_path
    chrome._find.cache_clear()


def _program(path):
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_without_a_browser_the_reason_says_what_to_do(nothing_there):
    found = browser()
    assert found.path is None
    assert found.reason == (
        "Pictures, PDF and slides need a browser to draw them: install Chromium or Google Chrome (Debian and Ubuntu: apt install "
        "chromium), or set BROWSER_PATH to its program. HTML and CSV work without it."
    )
    with pytest.raises(NoBrowser, match="install Chromium or Google Chrome"):
        required()


def test_one_on_the_path_is_found(nothing_there):
    wanted = _program(nothing_there / "google-chrome")
    assert browser() == (wanted, "")


def test_the_variable_wins_and_a_wrong_one_is_named(nothing_there, monkeypatch):
    _program(nothing_there / "chromium")
    own = _program(nothing_there / "my-own")
    monkeypatch.setenv("BROWSER_PATH", own)
    assert browser().path == own
    monkeypatch.setenv("BROWSER_PATH", str(nothing_there / "none"))
    assert browser().path is None and "which is no program" in browser().reason


def test_asking_imports_nothing_heavy():
    """Every page asks; kaleido takes a second to import."""
    heavy = "[name for name in ('kaleido', 'plotly', 'pandas') if name in sys.modules]"
    code = f"import sys; from core.report.chrome import browser; browser(); print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
