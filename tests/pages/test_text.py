"""What an address, a file or a visitor says is repeated as it is: never as a link, a picture or formatting, never endless."""

import pytest

from core.validation import LONGEST_SHOWN
from pages.parts.text import literal, quoted
from tests.pages.visit import texts

PICTURE = "![x](http://192.0.2.1/x.png)"
PAGES = {
    "pages/understand/temperature.py": {"tmp_crowd": PICTURE},
    "pages/experiments/feature_suppression.py": {"study": PICTURE, "run": PICTURE, "sup_spread": PICTURE},
    "pages/experiments/runs.py": {"study": PICTURE, "compare": PICTURE, "runs_pick": PICTURE, "runs_filter": f"{PICTURE}="},
    "pages/experiments/tau_lambda.py": {"study": PICTURE, "map_view": PICTURE},
    "pages/checkpoints/inspect.py": {"inspection": PICTURE, "ins_tab": PICTURE},
    "pages/present/report.py": {"report": PICTURE},
    "pages/present/show.py": {"report": PICTURE},
}


@pytest.mark.parametrize("page", PAGES)
def test_a_picture_in_an_address_is_not_fetched(page, filled, open_page):
    """Markdown in a value was drawn: a link that somebody sent fetched a picture, and offered links, in the app's own words."""
    app = open_page(page, **PAGES[page])
    said = [box.value for kind in (app.info, app.error, app.warning) for box in kind]
    assert any(r"!\[x\](http\://192" in text for text in said)
    assert "![x](" not in texts(app)


def test_a_value_without_end_is_not_repeated_in_full(filled, open_page):
    """A long value filled the screen, once for each mistake in the address."""
    app = open_page("pages/experiments/feature_suppression.py", study="x" * 5000, run="y" * 5000, sup_spread="z" * 5000)
    assert len(app.info) >= 3 and all(len(box.value) < LONGEST_SHOWN + 200 for box in app.info)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tmp_tau, bits>=10, 5 %", "tmp_tau, bits>=10, 5 %"),
        ("filter: there is no column 'x'", "filter: there is no column 'x'"),
        ("/data/my_[images]_*x*", r"/data/my\_\[images\]\_\*x\*"),
        ("$x$ :red[y] `z` <b>", r"\$x\$ \:red\[y\] \`z\` \<b>"),
        ("https://a.example www.b.example", r"https\://a.example www\.b.example"),
        ("a\x00b\n> c", "a\ufffdb\n\\> c"),
        ("_a_", r"\_a\_"),
    ],
)
def test_literal(text, shown):
    assert literal(text) == shown


def test_quoted():
    assert quoted("a'b") == '"a\'b"'
    assert quoted("x" * 5000) == "'" + "x" * LONGEST_SHOWN + "...'"
