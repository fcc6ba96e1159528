"""The process that draws: kaleido turns figures into SVG, its browser turns pages into PNG and PDF.

    python -m core.report.printer < job.json > answers.jsonl

Started by `core.report.images`, never imported by a page. One browser serves a whole job; nothing is loaded from the network.
"""

import asyncio
import base64
import json
import sys
import tempfile
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import kaleido

DRAW_SECONDS = 120  # for one figure
LOAD_SECONDS = 60  # for one page


async def draw(job: dict[str, Any]) -> None:
    """Do a job: draw its plots, then make its outputs, each as soon as it can be.

    Args:
        job: {"browser": path, "plots": [{"figure", "width", "height", "before", "after"}], "outputs": [...]}. An output is
            {"format": "svg", "plot": n}, {"format": "png", "plot": n, "width", "height", "pixels"} with the CSS size and the
            pixel width, or {"format": "pdf", "html": page with {{plot 0}}, {{plot 1}}, ... where pictures go, and "width" and
            "height" in inches or neither}.
    """
    async with kaleido.Kaleido(n=1, mathjax=False, path=job["browser"], timeout=DRAW_SECONDS) as pen:
        sheets = [await _sheet(pen, plot) for plot in job["plots"]]
        with tempfile.TemporaryDirectory() as folder:
            for number, output in enumerate(job["outputs"]):
                data = await _output(pen, output, sheets, Path(folder) / f"{number}.html")
                print(json.dumps({"output": number, "data": base64.b64encode(data).decode()}), flush=True)


async def _sheet(pen: kaleido.Kaleido, plot: dict[str, Any]) -> str:
    options = {"format": "svg", "width": plot["width"], "height": plot["height"], "scale": 1}
    drawn = (await pen.calc_fig(plot["figure"], options)).decode("utf-8")
    return plot["before"] + drawn[drawn.index("<svg") :] + plot["after"]


async def _output(pen: kaleido.Kaleido, output: dict[str, Any], sheets: Sequence[str], file: Path) -> bytes:
    if output["format"] == "svg":
        return sheets[output["plot"]].encode("utf-8")
    if output["format"] == "png":
        width, height = output["width"], output["height"]
        style = f"width:{width}px;height:{height}px;display:block"
        page = f'<body style="margin:0;overflow:hidden"><img src="{_uri(sheets[output["plot"]])}" style="{style}">'
        scale = output["pixels"] / width
        screen = {"width": ceil(width), "height": ceil(height), "deviceScaleFactor": scale, "mobile": False}
        tab = await _open(pen, page, file, screen)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        answer = await _ask(tab, "Page.captureScreenshot", format="png", clip=clip)
    else:
        page = output["html"]
        for number, sheet in enumerate(sheets):
            page = page.replace(f'src="{{{{plot {number}}}}}"', f'src="{_uri(sheet)}"')  # in text it is text
        tab = await _open(pen, page, file)
        own = "width" in output
        size = {"paperWidth": output["width"], "paperHeight": output["height"]} if own else {"preferCSSPageSize": True}
        margins = dict.fromkeys(("marginTop", "marginBottom", "marginLeft", "marginRight"), 0)
        answer = await _ask(tab, "Page.printToPDF", printBackground=True, generateTaggedPDF=True, **size, **margins)
    await tab.close()
    return base64.b64decode(answer["data"])


async def _open(pen: kaleido.Kaleido, page: str, file: Path, screen: dict[str, Any] | None = None) -> Any:
    """A tab that has loaded the page, pictures included."""
    file.write_text(f'<!doctype html><meta charset="utf-8">{page}' if "<!doctype" not in page[:20].lower() else page, "utf-8")
    tab = await pen.create_tab("about:blank")
    if screen:
        await _ask(tab, "Emulation.setDeviceMetricsOverride", **screen)
    await _ask(tab, "Page.enable")
    loaded = tab.subscribe_once("Page.loadEventFired")
    await _ask(tab, "Page.navigate", url=file.as_uri())
    await asyncio.wait_for(loaded, LOAD_SECONDS)
    ready = "Promise.all([document.fonts.ready, ...[...document.images].map(image => image.decode())]).then(() => true)"
    await _ask(tab, "Runtime.evaluate", expression=ready, awaitPromise=True)
    return tab


async def _ask(tab: Any, command: str, **parameters: Any) -> dict[str, Any]:
    answer = await tab.send_command(command, parameters)
    if "error" in answer:
        raise RuntimeError(f"{command}: {answer['error'].get('message', answer['error'])}")
    return answer["result"]


def _uri(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode('utf-8')).decode()}"


def main() -> int:
    """Read a job, answer it; an error is the last answer."""
    try:
        asyncio.run(draw(json.load(sys.stdin)))
    except Exception as error:  # whatever kaleido, the browser or the pipe between them raise must reach the person
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
