"""A figure as PNG, SVG or PDF in a chosen size, with its provenance at the foot; drawn by a process of its own."""

import base64
import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
import plotly.graph_objects as go
import psutil
from plotly.io import to_json

from core.figures.theme import LIGHT, Theme
from core.report.chrome import required
from core.report.presets import PRESETS, Heading
from core.report.sheet import Sheet, compose, lay_out

Format = Literal["png", "svg", "pdf"]
MIME = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
START_SECONDS, EACH_SECONDS = 180, 60  # a loaded machine takes a minute to open a browser
END_SECONDS = 10  # for a browser that was ended to be gone
KEPT = 24  # pictures that are not drawn again
ROOT = Path(__file__).resolve().parents[2]
MARK = "<svg/>"  # stands for the plot until it is drawn


class PictureError(RuntimeError):
    """The browser could not draw."""


class Request(NamedTuple):
    """One file to make."""

    sheet: Sheet
    format: Format
    pixels: int | None = None  # width of a PNG; None = the preset's


def picture(
    fig: go.Figure,
    format: Format,
    preset: str = "slide",
    *,
    provenance: str = "",
    heading: Heading | None = None,
    theme: Theme = LIGHT,
    alt: str = "",
) -> bytes:
    """Make one picture. The same picture is drawn once and then remembered.

    Args:
        fig: From a builder of core.figures, drawn in `theme`.
        format: "png", "svg" or "pdf".
        preset: Key of `core.report.presets.PRESETS`.
        provenance: Line at the foot.
        heading: What stands above the plot; None = title and subtitle on slides, nothing in papers.
        theme: Colours of the figure.
        alt: Text alternative that an SVG carries.

    Returns:
        The file's content.

    Raises:
        NoBrowser: If no Chrome or Chromium is installed.
        PictureError: If it could not draw.
        ValueError: If the format or the size is unknown.
    """
    if format not in MIME:
        raise ValueError(f"format: must be one of {', '.join(MIME)}, got {format!r}")
    if preset not in PRESETS:
        raise ValueError(f"size: must be one of {', '.join(PRESETS)}, got {preset!r}")
    required()
    content = orjson.dumps(orjson.loads(to_json(fig, engine="orjson")), option=orjson.OPT_SORT_KEYS)  # a copy has another order
    return _remembered(_Asked(content, format, preset, provenance, heading, theme, alt, fig))


@dataclass(frozen=True)
class _Asked:
    """A picture, equal to another by what it shows."""

    content: bytes
    format: Format
    preset: str
    provenance: str
    heading: Heading | None
    theme: Theme
    alt: str
    figure: go.Figure = field(compare=False)


@lru_cache(maxsize=KEPT)
def _remembered(asked: _Asked) -> bytes:
    about = dict(provenance=asked.provenance, heading=asked.heading, theme=asked.theme, alt=asked.alt)
    return pictures([Request(lay_out(asked.figure, PRESETS[asked.preset], **about), asked.format)])[0]


def pictures(requests: Sequence[Request]) -> list[bytes]:
    """Make several files with one browser.

    Args:
        requests: What to make.

    Returns:
        The files' contents, in the same order.

    Raises:
        NoBrowser: If no Chrome or Chromium is installed.
        PictureError: If it could not draw.
    """
    outputs = [_output(number, request) for number, request in enumerate(requests)]
    return run([request.sheet for request in requests], outputs)


def printed(sheets: Sequence[Sheet], html: str) -> bytes:
    """A page as PDF.

    Args:
        sheets: Pictures in it.
        html: The page; `src="{{plot 0}}"`, `src="{{plot 1}}"`, ... stand for the sources of pictures. `@page` sets the paper.

    Returns:
        The PDF.

    Raises:
        NoBrowser: If no Chrome or Chromium is installed.
        PictureError: If it could not draw.
    """
    return run(sheets, [{"format": "pdf", "html": html}])[0]


def run(sheets: Sequence[Sheet], outputs: Sequence[dict[str, Any]]) -> list[bytes]:
    """Hand a job to a new drawing process and wait for its answers; see `core.report.printer.draw`."""
    job = {"browser": required(), "plots": [_plot(sheet) for sheet in sheets], "outputs": list(outputs)}
    limit = START_SECONDS + EACH_SECONDS * (len(sheets) + len(outputs))
    process = subprocess.Popen(
        [sys.executable, "-m", "core.report.printer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    try:
        answered, _ = process.communicate(json.dumps(job).encode(), timeout=limit)
    except subprocess.TimeoutExpired:
        raise PictureError(f"The browser did not finish within {limit} s; try again when the machine is less busy.") from None
    finally:
        _end(process)
    return _answers(answered, len(outputs), job["browser"])


def _answers(answered: bytes, count: int, browser: str) -> list[bytes]:
    records = [json.loads(line) for line in answered.splitlines() if line.startswith(b"{")]
    found = {record["output"]: base64.b64decode(record["data"]) for record in records if "output" in record}
    if len(found) < count:
        said = next((record["error"] for record in records if "error" in record), "it ended without a word")
        raise PictureError(f"{browser} could not draw: {said}")
    return [found[number] for number in range(count)]


def _plot(sheet: Sheet) -> dict[str, Any]:
    before, after = compose(sheet, MARK).split(MARK)
    figure = json.loads(to_json(sheet.figure, engine="orjson"))
    return {"figure": figure, "width": sheet.plot_width, "height": sheet.plot_height, "before": before, "after": after}


def _output(number: int, request: Request) -> dict[str, Any]:
    wide, high = request.sheet.inches
    if request.format == "png":
        size = {"width": request.sheet.width, "height": request.sheet.height}
        return {"format": "png", "plot": number, "pixels": request.pixels or request.sheet.pixels[0], **size}
    if request.format == "svg":
        return {"format": "svg", "plot": number}
    style = f"width:{wide:.4f}in;height:{high:.4f}in;display:block"
    page = f'<style>html,body{{margin:0}}</style><img src="{{{{plot {number}}}}}" style="{style}">'
    return {"format": "pdf", "html": page, "width": wide, "height": high + 0.005}  # rounding must not begin a second page


def _end(process: subprocess.Popen) -> None:
    """End the process and its browser."""
    if process.poll() is None:
        family = []
        with contextlib.suppress(psutil.NoSuchProcess):
            parent = psutil.Process(process.pid)
            parent.suspend()  # a browser that it starts between the list and its own end would be nobody's
            family = [*parent.children(recursive=True), parent]
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        psutil.wait_procs(family[:-1], timeout=END_SECONDS)
    process.wait()
