"""Markdown of reports: safe HTML, and paragraphs for slides."""

import pytest

from core.report.markdown import Run, to_html, to_paragraphs


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("<img src=x onerror=alert(1)>", "<img"),
        ("[x](javascript:alert(1))", "href"),
        ("[x](data:text/html;base64,AAAA)", "href"),
        ("![alt](http://example.com/a.png)", "http"),
        ('[x](https://a.org "onclick=\\"x\\"")', 'onclick="'),
        ("**a** <b onclick=alert(1)>c</b>", "<b "),
    ],
)
def test_nothing_active_and_nothing_to_fetch_passes(text, never):
    assert never not in to_html(text)


def test_what_markdown_is_for_works():
    html = to_html(
        "# Head\n\nSome **bold**, `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[paper](https://arxiv.org/abs/1)"
    )
    for part in (
        "<h1>Head</h1>",
        "<strong>bold</strong>",
        "<code>code</code>",
        "<li>two</li>",
        "<td>2</td>",
        'href="https://arxiv.org/abs/1"',
    ):
        assert part in html
    assert 'rel="noopener noreferrer"' in html


def test_an_image_becomes_its_description():
    assert to_html("before ![a cat & a dog](http://example.com/x.png) after") == "<p>before a cat &amp; a dog after</p>\n"


def test_paragraphs_of_a_slide():
    found = to_paragraphs("# Head\n\nSome **bold** and *slanted*\ntext.\n\n- one\n  - deeper\n- two\n\n```\ncode here\n```\n")
    assert [(paragraph.level, paragraph.heading) for paragraph in found] == [
        (0, True), (0, False), (0, False), (1, False), (0, False), (0, False),
    ]  # fmt: skip
    assert found[1].runs[:4] == (Run("Some "), Run("bold", bold=True), Run(" and "), Run("slanted", italic=True))
    assert "".join(run.text for run in found[1].runs) == "Some bold and slanted text."
    assert found[-1].runs == (Run("code here", code=True),)
