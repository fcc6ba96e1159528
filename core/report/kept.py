"""Figures kept as they stood on a page, for reports: one file each, named after what it holds."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.io import to_json

from core.figures.theme import LIGHT, THEMES, Theme
from core.report.recolor import recolored
from core.report.relay import title_parts
from core.report.richtext import plain
from core.studies.files import FORMAT_VERSION, read_json, write_json

FOLDER = "kept"  # beside the reports
LENGTH = 12  # hexadecimal digits of a name


def keep(fig: go.Figure, folder: Path, *, alt: str, provenance: str, theme: Theme, title: str = "") -> str:
    """Write a figure beside the reports.

    Args:
        fig: As it was drawn.
        folder: Of the reports.
        alt: Text alternative.
        provenance: How its numbers were made.
        theme: That it was drawn in.
        title: For figures without one.

    Returns:
        Its name; the same figure has the same name.

    Raises:
        OSError: If the folder cannot be written.
    """
    figure = json.loads(to_json(fig, engine="orjson"))
    figure.pop("frames", None)
    content = {"figure": figure, "alt": alt, "provenance": provenance, "theme": theme.name, "title": title}
    name = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:LENGTH]
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    write_json(path_of(name, folder), content)
    return name


def title_of(name: str, folder: Path) -> str:
    """What a kept figure says on top, or its own words for what it shows; empty if it is missing or broken."""
    found = read(name, folder, LIGHT)
    return (found[1].get("title") or plain(title_parts(found[0])[0]) or found[1].get("alt") or "") if found else ""


def path_of(name: str, folder: Path) -> Path:
    """The file of a kept figure, whether it exists or not."""
    return folder / FOLDER / f"{name}.json"


def read(name: str, folder: Path, theme: Theme) -> tuple[go.Figure, dict[str, Any]] | None:
    """A kept figure in the colours of a theme, and what was written with it; None if it is missing or broken."""
    if len(name) != LENGTH or not set(name) <= set("0123456789abcdef"):
        return None
    content = read_json(path_of(name, folder))
    if content is None or content.get("format_version") != FORMAT_VERSION or content.get("theme") not in THEMES:
        return None
    figure = recolored(_with_arrays(content["figure"]), THEMES[content["theme"]], theme)
    return go.Figure(figure, skip_invalid=True), content


def _with_arrays(node: Any) -> Any:
    """Plotly writes arrays as base64, which it draws but which nothing here could read: as numpy arrays again."""
    if isinstance(node, dict):
        if node.keys() >= {"dtype", "bdata"}:
            values = np.frombuffer(base64.b64decode(node["bdata"]), dtype=np.dtype(node["dtype"]).newbyteorder("<"))
            shape = [int(length) for length in str(node.get("shape", len(values))).split(",")]
            return values.reshape(shape)
        return {key: _with_arrays(value) for key, value in node.items()}
    return [_with_arrays(value) for value in node] if isinstance(node, list) else node
