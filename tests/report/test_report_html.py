"""The HTML file: complete in itself, safe, small enough, and alive in a browser without a network."""

import base64
import json
import re

import pytest

from core.report.definition import FigureItem, Markdown, Report, ReportError, TableItem
from core.report.html import render
from core.report.resolve import FigurePart, TextPart, resolve
from core.report.snapshot import report_on, snapshot
from core.studies.catalogue import find
from core.studies.study import StudySpec
from tests.browser.serve import CHROMIUM, browser

TEN = (
    ("suppression", "randbit-mnist-5k", {}),
    ("suppression", "randbit-mnist-5k", {"metric": "bits_known"}),
    ("loss_floor", "randbit-mnist-5k", {}),
    ("embedding_pair", "randbit-mnist-5k", {}),
    ("curves", "randbit-mnist-5k", {}),
    ("tau_lambda", "tau-lambda-mnist-5k", {}),
    ("tau_lambda_slices", "tau-lambda-mnist-5k", {}),
    ("temperature_metrics", "temperature-mnist-5k", {"beside": "cifar10"}),
    ("queue_size", "moco-queue-mnist-5k", {}),
    ("contrastive_accuracy", "", {}),
)
HOSTILE = "# Heading\n\n<script>window.broken = 1</script> ![x](http://example.com/x.png) </script>"


@pytest.fixture(scope="module")
def report() -> Report:
    items = [Markdown(markdown=HOSTILE), *(FigureItem(figure=name, study=study, options=options) for name, study, options in TEN)]
    items += [TableItem(table="cells", study="randbit-mnist-5k"), TableItem(table="runs", study="randbit-mnist-5k")]
    return Report(title="Ten <figures> & a table", author="A. Reader", item=tuple(items))


@pytest.fixture(scope="module")
def page(report, entries) -> str:
    return render(resolve(report, entries, both=True))


def test_ten_figures_with_one_copy_of_plotly_stay_below_eight_megabytes(page):
    assert 4.5e6 < len(page.encode()) < 8e6
    assert page.count("plotly.js v") == 1


def test_no_element_loads_anything(page):
    text = page.replace(page[page.index("plotly.js v") : page.index('<script type="application/json"')], "")
    assert not re.findall(r"""\b(?:src|srcset|poster|data)=["']?(?:https?:)?//""", text)
    assert not re.findall(r"""<(?:link|base|iframe|object|embed|meta http-equiv="refresh)[^>]*https?:""", text)
    assert "url(http" not in text and "@import" not in text
    assert "default-src 'none'" in text


def test_text_of_the_author_is_text(page):
    assert "<script>window.broken" not in page and "&lt;script&gt;window.broken" in page
    assert "<title>Ten &lt;figures&gt; &amp; a table</title>" in page
    data = page[page.index('<script type="application/json"') :]
    assert data.index("</script>") > data.index('"figure"')  # figures cannot close the element they stand in


def test_csv_and_toml_are_inside(page, entries):
    names = re.findall(r'download="([^"]+)"', page)
    assert names.count("randbit-mnist-5k-suppression.csv") == 2 and "tau-lambda-mnist-5k-tau-lambda.toml" in names
    found = re.search(r'download="randbit-mnist-5k-suppression.toml" href="data:application/toml;base64,([^"]+)"', page)
    study = StudySpec.from_text(base64.b64decode(found[1]).decode())
    entry = find(entries, "randbit-mnist-5k")
    assert {run.run_id for run in study.expand()} == set(entry.store.table(entry.name)["run_id"])
    csv = base64.b64decode(
        re.search(r'download="randbit-mnist-5k-runs.csv" href="data:text/csv;base64,([^"]+)"', page)[1]
    ).decode()
    assert csv.startswith("# randbit-mnist-5k · mnist-5k") and csv.count("\n") == 2 + len(entry.store.table(entry.name))


def test_every_figure_says_what_it_shows_and_how_it_was_made(page):
    assert page.count('role="img" aria-label="') == 10
    assert page.count("Contrastive Lens 0.1.0, torch 2.14.1") >= 10
    assert page.count('aria-label=""') == 0


def test_an_item_that_cannot_be_drawn_is_named_or_noted(entries):
    items = (FigureItem(figure="suppression", study="nowhere"), Markdown(markdown="rest"))
    with pytest.raises(
        ReportError, match=r"r.toml: item 1 \(figure 'suppression'\): there is no study 'nowhere'; with results there are:"
    ):
        resolve(Report(item=items), entries, source="r.toml")
    parts = resolve(Report(item=items), entries, strict=False).parts
    assert isinstance(parts[0], TextPart) and "could not be drawn" in parts[0].markdown and len(parts) == 2


def test_a_title_of_ones_own_replaces_the_figures(entries):
    (part,) = resolve(Report(item=(FigureItem(figure="suppression", study="randbit-mnist-5k", title="Mine"),)), entries).parts
    assert isinstance(part, FigurePart) and part.title == "Mine" and part.subtitle.startswith("MNIST-5k")


def test_a_snapshot_holds_the_question_the_key_figures_and_all_runs(entries):
    entry = find(entries, "randbit-mnist-5k")
    wanted = [getattr(item, "figure", getattr(item, "table", "text")) for item in report_on(entry).item]
    assert wanted == ["text", "suppression", "loss_floor", "embedding_pair", "curves", "embedding", "cells", "runs"]
    made = snapshot(entry, entries)
    assert len(made.figures) == 5 and entry.definition.question in made.parts[0].markdown
    assert Report.from_text(report_on(entry).to_toml()) == report_on(entry)
    heads = snapshot(find(entries, "priors-heads-mnist-5k"), entries)
    assert [part.name for part in heads.figures] == ["priors-heads-mnist-5k-head-depths", "priors-heads-mnist-5k-curves"]


LOOK = """() => ({
    drawn: document.querySelectorAll(".js-plotly-plot .main-svg").length > 0,
    plots: document.querySelectorAll(".js-plotly-plot").length,
    marks: [...document.querySelectorAll(".js-plotly-plot")].filter(plot => plot.querySelector(".trace, .hm")).length,
    background: getComputedStyle(document.documentElement).backgroundColor,
    broken: window.broken,
})"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path")
def test_it_opens_without_a_network_and_without_an_error(page, tmp_path):
    """From file://, in both themes; every figure is drawn, nothing is asked of anyone, the console stays silent."""
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    with browser() as chromium:
        for theme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 22, 28)")):
            context = chromium.new_context(color_scheme=theme, offline=True)
            tab = context.new_page()
            tab.set_default_timeout(240_000)
            said, asked = [], []
            tab.on("console", lambda message, said=said: said.append(message.text))
            tab.on("pageerror", lambda error, said=said: said.append(str(error)))
            tab.on("request", lambda request, asked=asked: asked.append(request.url))
            tab.goto(file.as_uri())
            tab.evaluate("document.querySelectorAll('[data-figure]:not([data-drawn])').forEach(draw)")
            tab.wait_for_timeout(2000)
            seen = tab.evaluate(LOOK)
            assert seen["plots"] == seen["marks"] == 10 and seen["drawn"]
            assert seen["background"] == paper and seen["broken"] is None
            assert said == [] and [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
            tab.click("#theme")
            assert tab.evaluate(LOOK)["background"] != paper
            first = "() => document.querySelector('table:last-of-type tbody tr td').textContent"
            tab.locator("thead button", has_text="seed").last.click()
            assert tab.evaluate(first) is not None
            context.close()


def test_pictures_take_the_place_of_figures_for_print(report, entries):
    html = render(resolve(report, entries), pictures=True)
    assert [f"{{{{plot {number}}}}}" in html for number in range(11)] == [True] * 10 + [False]
    assert "plotly.js v" not in html and "@page" in html and len(html) < 2e6


def test_figures_for_the_script_are_json(page):
    start = page.index('<script type="application/json" id="figures">') + len('<script type="application/json" id="figures">')
    figures = json.loads(page[start : page.index("</script>", start)])
    assert len(figures) == 10 and all(change[0] for figure in figures for change in figure["dark"])


def test_a_legend_in_a_subtitle_keeps_its_colours_in_both_themes(draw):
    """Bug: reports wrote subtitles as plain text, and "● every instance a class · ● queue of keys" said nothing any more."""
    item = FigureItem(figure="full_softmax_cost")
    html = render(resolve(Report(item=(item,)), (), both=True))
    subtitle = re.search(r'<p class="subtitle">(.*?)</p>', html)[1]
    marks = re.findall(r'<span class="mark" style="--light:(#\w{6});--dark:(#\w{6})">● ([^<]+)</span>', subtitle)
    assert [name for *_, name in marks] == ["every instance a class", "queue of keys (MoCo)"]
    assert len({light for light, *_ in marks}) == 2 and all(light != dark for light, dark, _ in marks)
    printed = re.search(r'<p class="subtitle">(.*?)</p>', render(resolve(Report(item=(item,)), ()), pictures=True))[1]
    assert re.findall(r'style="color:(#\w{6})"', printed) == [light for light, *_ in marks]
