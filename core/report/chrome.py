"""Find the Chrome or Chromium that makes pictures, PDF and slides. Light enough to ask on every page."""

import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (  # where installers put it without telling PATH
    "/usr/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
HOW = (
    "install Chromium or Google Chrome (Debian and Ubuntu: apt install chromium), or set BROWSER_PATH to its program. "
    "HTML and CSV work without it."
)


class NoBrowser(ValueError):
    """There is no browser to draw with. Its text says how to get one."""


class Browser(NamedTuple):
    """What was found."""

    path: str | None
    reason: str  # why there is none; empty if there is one


def browser() -> Browser:
    """The browser to draw with: BROWSER_PATH if it is set, else the first one on PATH or in a usual place.

    Returns:
        Its path, or the reason why there is none and what helps. Nothing is started.
    """
    return _find(os.environ.get("BROWSER_PATH") or "", os.environ.get("PATH") or "")


def required() -> str:
    """The browser's path.

    Raises:
        NoBrowser: If there is none.
    """
    found = browser()
    if found.path is None:
        raise NoBrowser(found.reason)
    return found.path


@lru_cache(maxsize=8)
def _find(asked: str, search: str) -> Browser:
    if asked:
        if os.access(asked, os.X_OK) and Path(asked).is_file():
            return Browser(asked, "")
        return Browser(None, f"BROWSER_PATH names {asked!r}, which is no program; correct it, or {HOW}")
    on_path = (shutil.which(command, path=search) for command in COMMANDS)
    usual = (place for place in PLACES if os.access(place, os.X_OK)) if search else ()
    path = next(filter(None, on_path), None) or next(iter(usual), None)
    return Browser(path, "" if path else f"Pictures, PDF and slides need a browser to draw them: {HOW}")
