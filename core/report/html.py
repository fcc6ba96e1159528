"""A report as one HTML file: figures that respond, data and settings inside, nothing loaded from anywhere."""

import base64
import json
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader
from plotly.io import to_json
from plotly.offline import get_plotlyjs

from core.figures.theme import DARK, LIGHT
from core.provenance import code_version
from core.report.markdown import to_html
from core.report.recolor import patch
from core.report.relay import title_parts, without_title
from core.report.resolve import FigurePart, Part, Resolved, TablePart, TextPart
from core.report.richtext import coloured_html

FOLDER = Path(__file__).resolve().parent
TEMPLATE = "page.html.j2"
MENU_FROM = 4  # figures and tables from which a table of contents helps
WIDE_TABLE = 9  # columns above which a table gets small text, and a page of its own kind in print


def render(report: Resolved, *, pictures: bool = False) -> str:
    """Write the page.

    Args:
        report: What to write, drawn in both themes; with pictures one will do.
        pictures: Leave `{{plot n}}` for pictures instead of drawing in the page, as print needs it.

    Returns:
        HTML. Figures are drawn in light colours with the changes for the dark theme beside them.
    """
    figures = [] if pictures else [_figure(part) for part in report.figures]
    sections = _sections(report)
    return _environment().get_template(TEMPLATE).render(
        title=report.title or "Report",
        author=report.author,
        made=f"Contrastive Lens {code_version()} · {datetime.now(UTC).date().isoformat()}",
        sections=sections,
        menu=[section for section in sections if section["title"]] if len(sections) >= MENU_FROM else [],
        figures=_for_script(figures),
        plotly="" if pictures or not figures else get_plotlyjs(),
        pictures=pictures,
        light=LIGHT,
        dark=DARK,
    )  # fmt: skip


def _sections(report: Resolved) -> list[dict[str, Any]]:
    sections, figure = [], 0
    for number, part in enumerate(report.parts):
        section = _section(part, number)
        if isinstance(part, FigurePart):
            section["figure"] = figure
            figure += 1
        sections.append(section)
    return sections


def _section(part: Part, number: int) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"kind": "text", "title": "", "html": to_html(part.markdown), "id": f"part-{number + 1}"}
    shared = {"title": part.title, "id": f"part-{number + 1}", "name": part.name}
    if isinstance(part, TablePart):
        header = f"# {part.provenance}\n"
        frame = {"columns": list(part.frame.columns), "rows": part.frame.to_numpy().tolist()}
        wide = len(part.frame.columns) > WIDE_TABLE
        csv = _uri("text/csv", header + part.frame.to_csv(index=False))
        return {"kind": "table", "provenance": part.provenance, "csv": csv, "wide": wide, **shared, **frame}
    drawing = part.drawing
    csv = f"# {drawing.provenance}\n{drawing.data().to_csv(index=False)}"
    toml = f"# {drawing.provenance}\n{drawing.settings()}" if drawing.settings else ""
    return {
        "kind": "figure",
        "subtitle": coloured_html(part.subtitle, title_parts(part.dark)[1] if part.dark is not None else None),
        "alt": drawing.alt,
        "provenance": drawing.provenance,
        "height": without_title(drawing.figure).layout.height,
        "csv": _uri("text/csv", csv),
        "toml": _uri("application/toml", toml) if toml else "",
        **shared,
    }


def _figure(part: FigurePart) -> dict[str, Any]:
    """The figure, and what changes in the dark theme."""
    light = _plain(part.drawing.figure)
    return {"figure": light, "dark": patch(light, _plain(part.dark)) if part.dark is not None else []}


def _plain(fig: go.Figure) -> dict[str, Any]:
    return json.loads(to_json(without_title(fig), engine="orjson"))


def _for_script(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _uri(mime: str, text: str) -> str:
    return f"data:{mime};base64,{base64.b64encode(text.encode('utf-8')).decode()}"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(loader=FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True)
