"""A report as it is written down: title, author, and items in order, in a TOML file.

format_version = 1
title = "What ten random bits do"
author = "A. Reader"

[[item]]
markdown = "Both views of an image carry the same bits."

[[item]]
figure = "suppression"                 # a key of core.report.catalogue.FIGURES
study = "results/randbit-mnist-5k"     # or its bare name
options = { metric = "linear_accuracy" }
title = "Ten bits erase the digits"    # optional: instead of the figure's own
notes = "Say what a bit is first."     # optional: for the speaker

[[item]]
table = "runs"
study = "results/randbit-mnist-5k"
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from core.report.catalogue import FIGURES, TABLES
from core.validation import explain, parse_toml

VERSION = 1
HEADER = ("format_version", "title", "author", "item")
KINDS = ("markdown", "figure", "table")


class ReportError(ValueError):
    """A definition that cannot be used; one line per mistake, each naming the file and the item."""


class Markdown(BaseModel):
    """Text between figures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    markdown: str


class FigureItem(BaseModel):
    """A figure of a study."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    figure: str
    study: str = ""
    options: dict[str, Any] = {}
    title: str = ""  # instead of the figure's own
    notes: str = ""  # for the speaker


class TableItem(BaseModel):
    """A table of a study."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: str
    study: str = ""
    options: dict[str, Any] = {}
    title: str = ""
    notes: str = ""


Item = Markdown | FigureItem | TableItem
MODELS: dict[str, type[Item]] = {"markdown": Markdown, "figure": FigureItem, "table": TableItem}


class Report(BaseModel):
    """A report. `from_toml`, `from_text` and `from_dict` check it and name file, item, field and value in their errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1] = VERSION
    title: str = ""
    author: str = ""
    item: tuple[Item, ...] = ()

    @classmethod
    def from_toml(cls, path: str | Path) -> "Report":
        """Read and check a file.

        Raises:
            ReportError: If it cannot be read or holds a mistake; one line per mistake, each starting with the path.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise ReportError(f"{path}: cannot be read ({error.strerror or error})") from None
        except UnicodeDecodeError as error:
            raise ReportError(f"{path}: not UTF-8 text (byte {error.start})") from None
        return cls.from_text(text, str(path))

    @classmethod
    def from_text(cls, text: str, source: str = "report") -> "Report":
        """Read and check the text of a definition; `source` starts each line of an error."""
        try:
            content = parse_toml(text)
        except ValueError as error:
            raise ReportError(f"{source}: {error}") from None
        return cls.from_dict(content, source)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], source: str = "report") -> "Report":
        """Check a parsed definition; `source` starts each line of an error."""
        lines = [f"{source}: {line}" for line in _problems(content)]
        if lines:
            raise ReportError("\n".join(lines))
        items = tuple(MODELS[_kind(raw)](**raw) for raw in content.get("item", ()))
        return cls(**{key: value for key, value in content.items() if key != "item"}, item=items)

    def to_toml(self) -> str:
        """The report as TOML; `from_text` of it gives an equal report."""
        parts = [f"format_version = {VERSION}", f"title = {_toml(self.title)}", f"author = {_toml(self.author)}"]
        for item in self.item:
            parts += ["", "[[item]]"]
            parts += [f"{key} = {_toml(value)}" for key, value in item.model_dump(mode="json").items() if value or key in KINDS]
        return "\n".join(parts) + "\n"

    def with_items(self, items: Iterable[Item]) -> "Report":
        """The same report with other items."""
        return self.model_copy(update={"item": tuple(items)})


def named(number: int, item: Item | Mapping[str, Any]) -> str:
    """How an item is called in an error: `item 3 (figure 'suppression')`, counted from 1."""
    raw = item.model_dump() if isinstance(item, BaseModel) else item
    kind = _kind(raw)
    if kind in ("figure", "table"):
        return f"item {number + 1} ({kind} {raw[kind]!r})"
    return f"item {number + 1} (text)" if kind == "markdown" else f"item {number + 1}"


def _problems(content: Mapping[str, Any]) -> Iterator[str]:
    for field in content:
        if field not in HEADER:
            yield f"{field}: unknown field; {_advice(field, HEADER)}"
    if content.get("format_version", VERSION) != VERSION:
        yield f"format_version: must be {VERSION}, got {content['format_version']!r}; this copy of the code is too old or too new"
    for field in ("title", "author"):
        if not isinstance(content.get(field, ""), str):
            yield f"{field}: must be text, got {content[field]!r}"
    items = content.get("item", [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        yield "item: must be written as [[item]] tables, with two brackets"
        return
    for number, raw in enumerate(items):
        for line in _of_item(raw):
            yield f"{named(number, raw)}: {line}"


def _of_item(raw: Mapping[str, Any]) -> Iterator[str]:
    found = [kind for kind in KINDS if kind in raw]
    if len(found) != 1:
        yield f"needs exactly one of {', '.join(KINDS)}, got {' and '.join(found) or 'none of them'}"
        return
    try:
        item = MODELS[found[0]](**raw)
    except ValidationError as error:
        yield from explain(error).splitlines()
        return
    if isinstance(item, Markdown):
        return
    name, known = (item.figure, FIGURES) if isinstance(item, FigureItem) else (item.table, TABLES)
    if name not in known:
        yield f"there is no {found[0]} {name!r}; {_advice(name, known)}"
        return
    kind = known[name]
    if getattr(kind, "needs_study", True) and not item.study:
        yield "study: required, but not given"
    try:
        kind.options(**item.options)
    except ValidationError as error:
        yield from (f"options: {line}" for line in explain(error).splitlines())


def _kind(raw: Mapping[str, Any]) -> str:
    return next((kind for kind in KINDS if kind in raw), "")


def _advice(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def _toml(value: Any) -> str:
    """A value as TOML: text with line breaks over several lines, tables inline."""
    if isinstance(value, str) and "\n" in value:
        escaped = json.dumps(value, ensure_ascii=False)[1:-1].replace("\\n", "\n")
        return f'"""\n{_safe(escaped)}"""'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    return _safe(json.dumps(value, ensure_ascii=False))


def _safe(text: str) -> str:
    """JSON leaves one control character that TOML forbids."""
    return text.replace("\x7f", "\\u007f")
