"""A report as it is written down: round trip, and errors that name the file, the item, the field and the value."""

import pytest

from core.report.definition import FigureItem, Markdown, Report, ReportError, TableItem

TEXT = '''
format_version = 1
title = "What ten \\"bits\\" do"
author = "A. Reader"

[[item]]
markdown = """
# Heading

A back\\\\slash, a "quote", three \\"\\"\\" of them, a tab\\t and \\u007f."""

[[item]]
figure = "suppression"
study = "results/randbit-mnist-5k"
options = { metric = "knn_accuracy", zoom = true }
notes = "First line.\\nSecond."

[[item]]
figure = "curves"
study = "randbit-mnist-5k"
options = { runs = ["0123456789ab"], metrics = ["loss"] }

[[item]]
table = "runs"
study = "randbit-mnist-5k"
'''


def test_written_and_read_again_it_is_the_same():
    report = Report.from_text(TEXT)
    assert [type(item) for item in report.item] == [Markdown, FigureItem, FigureItem, TableItem]
    assert 'three """ of them' in report.item[0].markdown and report.item[0].markdown.endswith("\x7f.")
    assert report.item[1].options == {"metric": "knn_accuracy", "zoom": True}
    assert Report.from_text(report.to_toml()) == report
    assert Report.from_text(Report().to_toml()) == Report()


def test_text_over_several_lines_is_written_readably():
    written = Report(item=(Markdown(markdown="One.\n\nTwo."),)).to_toml()
    assert '"""\nOne.\n\nTwo."""' in written


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (
            'figure = "supression"\nstudy = "x"',
            "item 1 (figure 'supression'): there is no figure 'supression'; did you mean 'suppression'?",
        ),
        ('figure = "suppression"', "item 1 (figure 'suppression'): study: required, but not given"),
        (
            'figure = "loss_floor"\nstudy = "x"\noptions = { spred = "sd" }',
            "item 1 (figure 'loss_floor'): options: spred: unknown field (value 'sd'); remove it or check its spelling",
        ),
        (
            'figure = "loss_floor"\nstudy = "x"\noptions = { spread = "se" }',
            "item 1 (figure 'loss_floor'): options: spread: input should be 'sd', 'range' or 'seeds', got 'se'",
        ),
        ('markdown = 3', "item 1 (text): markdown: input should be a valid string, got 3"),
        (
            'markdown = "a"\ntable = "runs"',
            "item 1 (text): needs exactly one of markdown, figure, table, got markdown and table",
        ),
        ('text = "a"', "item 1: needs exactly one of markdown, figure, table, got none of them"),
        ('table = "run"\nstudy = "x"', "item 1 (table 'run'): there is no table 'run'; did you mean 'runs'?"),
    ],
)  # fmt: skip
def test_a_mistake_in_an_item_is_named(item, line):
    with pytest.raises(ReportError) as raised:
        Report.from_text(f"[[item]]\n{item}\n", "report.toml")
    assert str(raised.value) == f"report.toml: {line}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('titel = "x"', "r: titel: unknown field; did you mean 'title'?"),
        ("title = 1", "r: title: must be text, got 1"),
        ("format_version = 2", "r: format_version: must be 1, got 2; this copy of the code is too old or too new"),
        ("item = 1", "r: item: must be written as [[item]] tables, with two brackets"),
        ("title = ", "r: not valid TOML: invalid value (at end of document)"),
        (f"title = {'[' * 5000}{']' * 5000}", "r: not valid TOML: too deeply nested"),
        (f"title = 1{'0' * 5000}", "r: not valid TOML: a number has too many digits"),
    ],
)
def test_a_mistake_in_the_header_is_named(text, line):
    with pytest.raises(ReportError) as raised:
        Report.from_text(text, "r")
    assert str(raised.value) == line


def test_all_mistakes_are_named_at_once():
    text = '[[item]]\nfigure = "x"\n[[item]]\nmarkdown = "fine"\n[[item]]\ntable = "y"\n'
    with pytest.raises(ReportError) as raised:
        Report.from_text(text, "r")
    assert [line.split(":")[1].strip() for line in str(raised.value).splitlines()] == [
        "item 1 (figure 'x')",
        "item 3 (table 'y')",
    ]


def test_a_missing_or_binary_file_is_named(tmp_path):
    with pytest.raises(ReportError, match=r"none\.toml: cannot be read"):
        Report.from_toml(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ReportError, match=r"binary\.toml: not UTF-8 text"):
        Report.from_toml(tmp_path / "binary.toml")
