"""Markdown of reports as safe HTML and as paragraphs for slides: no HTML from the author passes, nothing is fetched."""

from functools import lru_cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token


class Run(NamedTuple):
    """A stretch of text in one style."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


class Paragraph(NamedTuple):
    """One paragraph of a slide."""

    runs: tuple[Run, ...]
    level: int = 0  # of a list
    heading: bool = False


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """CommonMark with tables; HTML is shown as text, links with unsafe schemes are dropped, images become their descriptions."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("image", lambda self, tokens, index, options, env: _escape(tokens[index].content))
    parser.add_render_rule("link_open", _link)
    return parser


def to_html(text: str) -> str:
    """Markdown as HTML that can be put into a page as it is."""
    return _parser().render(text)


def to_paragraphs(text: str) -> list[Paragraph]:
    """Markdown as paragraphs: headings, text, list entries; rules, code blocks and tables keep their text only."""
    found: list[Paragraph] = []
    depth, heading = 0, False
    for token in _parser().parse(text):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type in ("heading_open", "heading_close"):
            heading = token.type == "heading_open"
        elif token.type == "inline":
            found.append(Paragraph(tuple(_runs(token)), max(depth - 1, 0), heading))
        elif token.type in ("fence", "code_block"):
            found.append(Paragraph((Run(token.content.rstrip(), code=True),)))
    return [paragraph for paragraph in found if any(run.text.strip() for run in paragraph.runs)]


def _runs(inline: Token) -> list[Run]:
    bold = italic = 0
    runs = []
    for token in inline.children or ():
        if token.type in ("strong_open", "strong_close"):
            bold += 1 if token.nesting > 0 else -1
        elif token.type in ("em_open", "em_close"):
            italic += 1 if token.nesting > 0 else -1
        elif token.type in ("text", "code_inline", "image"):
            runs.append(Run(token.content, bold > 0, italic > 0, token.type == "code_inline"))
        elif token.type in ("softbreak", "hardbreak"):
            runs.append(Run(" "))
    return runs


def _link(self, tokens: list[Token], index: int, options, env) -> str:
    """Links leave the report in a new tab and tell the other side nothing."""
    tokens[index].attrSet("rel", "noopener noreferrer")
    tokens[index].attrSet("target", "_blank")
    return self.renderToken(tokens, index, options, env)


def _escape(text: str) -> str:
    from markdown_it.common.utils import escapeHtml

    return escapeHtml(text)
