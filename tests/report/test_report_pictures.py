"""Pictures, PDF and slides as files: real ones through Chromium, and what happens without it or when it fails."""

import io
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import plotly.graph_objects as go
import pytest
from pptx import Presentation
from pptx.util import Emu

from core.figures.theme import LIGHT, style
from core.report import images, pdf, slides
from core.report.chrome import NoBrowser
from core.report.definition import FigureItem, Markdown, Report, TableItem
from core.report.images import PictureError, Request, picture, pictures, printed
from core.report.presets import PRESETS
from core.report.resolve import resolve
from core.report.sheet import lay_out
from tests.browser.serve import CHROMIUM, browser

ROOT = Path(__file__).resolve().parents[2]
needs_browser = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium or Chrome was found on the path"),
]
OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll("svg text")]
        .filter(text => text.textContent.trim())
        .map(text => ({text: text.textContent.trim(), box: text.getBoundingClientRect()}))
        .filter(({box}) => box.width > 0);
    const found = [];
    boxes.forEach((one, place) => boxes.slice(place + 1).forEach(other => {
        const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        const small = Math.min(one.box.height, other.box.height);
        if (wide > 2 && high > small * 0.45) found.push([one.text, other.text]);
    }));
    const outside = boxes.filter(({box}) => box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || box.left < -1);
    return {found, outside: outside.map(({text}) => text)};
}"""
SIZES = {"slide": (1920, 1080), "single": (1980, None), "double": (4140, None)}


@pytest.fixture
def line() -> go.Figure:
    return style(go.Figure(go.Scatter(x=[0, 1], y=[0, 1], name="a")), LIGHT, title="A line", subtitle="two points")


@pytest.fixture
def fake(monkeypatch):
    """A drawing process that answers at once with a picture of the asked size; keeps the jobs it got."""
    jobs = []

    def run(sheets, outputs):
        jobs.append((list(sheets), list(outputs)))
        return [png(round(output.get("pixels", 10)), 10) for output in outputs]

    monkeypatch.setattr(images, "run", run)
    monkeypatch.setattr(images, "required", lambda: "/usr/bin/browser")
    images._remembered.cache_clear()
    yield jobs
    images._remembered.cache_clear()


def png(width: int, height: int) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(file, "png")
    return file.getvalue()


def test_an_unknown_format_or_size_is_refused(line):
    with pytest.raises(ValueError, match="format: must be one of png, svg, pdf, got 'gif'"):
        picture(line, "gif")
    with pytest.raises(ValueError, match="size: must be one of slide, single, double, got 'poster'"):
        picture(line, "png", "poster")


def test_without_a_browser_every_kind_of_picture_says_why(line, monkeypatch, tmp_path, entries):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "none"))
    report = resolve(Report(item=(FigureItem(figure="suppression", study="randbit-mnist-5k"),)), entries)
    for make in (lambda: picture(line, "svg"), lambda: pdf.to_pdf(report), lambda: slides.to_pptx(report)):
        with pytest.raises(NoBrowser, match="HTML and CSV work without it"):
            make()


def test_the_same_picture_is_drawn_once(line, fake):
    first = picture(line, "png", provenance="p")
    assert picture(go.Figure(line), "png", provenance="p") == first and len(fake) == 1
    picture(line, "png", provenance="another day")
    line.data[0].y = [0, 2]
    picture(line, "png", provenance="p")
    assert len(fake) == 3


def test_pages_do_not_load_the_drawing(line):
    """kaleido starts an event loop and a browser: it belongs into a process of its own."""
    heavy = "[name for name in ('kaleido', 'choreographer', 'pptx') if name in sys.modules]"
    code = f"import sys; import core.report.images, core.report.html, core.report.catalogue; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_browser_that_does_not_work_is_named(line, monkeypatch, tmp_path):
    program = tmp_path / "broken-browser"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(program))
    with pytest.raises(PictureError, match=r"broken-browser could not draw: "):
        pictures([Request(lay_out(line, PRESETS["slide"]), "svg")])


def test_a_browser_that_hangs_is_ended_with_everything_it_started(line, monkeypatch, tmp_path):
    import psutil

    program = tmp_path / "hanging-browser"
    program.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER_PATH", str(program))
    monkeypatch.setattr(images, "START_SECONDS", 12)
    monkeypatch.setattr(images, "EACH_SECONDS", 0)
    with pytest.raises(PictureError, match=r"did not finish within 12 s|could not draw"):
        pictures([Request(lay_out(line, PRESETS["slide"]), "svg")])
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()] if (tmp_path / "pids").exists() else []
    assert not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids)


def test_slides_have_native_titles_notes_and_sharp_pictures(fake, entries):
    items = (
        Markdown(markdown="# Why\n\nBecause **bits** are easy.\n\n- one\n- two"),
        FigureItem(figure="suppression", study="randbit-mnist-5k", notes="Point at the crossing."),
        FigureItem(figure="contrastive_accuracy"),
        TableItem(table="runs", study="randbit-mnist-5k"),
    )
    report = resolve(Report(title="A talk", author="A. Reader", item=items), entries)
    deck = Presentation(io.BytesIO(slides.to_pptx(report)))
    assert (Emu(deck.slide_width).inches, Emu(deck.slide_height).inches) == (pytest.approx(40 / 3, abs=0.01), 7.5)
    titles = [slide.shapes.title.text for slide in deck.slides]
    assert titles[:2] == ["A talk", "Why"] and titles[2] == report.figures[0].title and titles[4].startswith("Runs: ")
    assert len(fake) == 1 and len(fake[0][0]) == 2  # one browser for all figures
    for slide, part in zip(list(deck.slides)[2:4], report.figures, strict=True):
        (shape,) = [shape for shape in slide.shapes if shape.shape_type == 13]
        assert shape.left >= 0 and shape.top > slide.shapes.title.top + slide.shapes.title.height - Emu(10)
        assert shape.left + shape.width <= deck.slide_width and shape.top + shape.height <= deck.slide_height
        width, _ = struct.unpack(">II", shape.image.blob[16:24])
        assert width == pytest.approx(2 * 1920 * shape.width / deck.slide_width, rel=0.01)
        assert shape._element.nvPicPr.cNvPr.get("descr") == part.drawing.alt
        notes = slide.notes_slide.notes_text_frame.text
        assert part.drawing.provenance in notes
    notes = deck.slides[2].notes_slide.notes_text_frame.text
    assert notes.startswith("Point at the crossing.") and "[[block]]" in notes and 'name = "randbit-mnist-5k"' in notes
    body = deck.slides[1].shapes[1].text_frame
    assert [paragraph.text for paragraph in body.paragraphs] == ["Because bits are easy.", "one", "two"]
    assert [run.font.bold for run in body.paragraphs[0].runs] == [False, True, False]
    (table,) = [shape.table for shape in deck.slides[4].shapes if shape.has_table]
    assert len(table.rows) == 15 and table.cell(0, 0).text == "status"
    assert any("Showing 14 of" in shape.text_frame.text for shape in deck.slides[4].shapes if shape.has_text_frame)


def test_slides_take_any_title_and_open_a_section_with_a_heading(fake):
    """Bug: a title of more than 255 characters could not be a property of the file, and there were no slides at all."""
    title = "Long / odd \u000b 🎉 <b>title</b> " * 20
    report = Report(title=title, author="a" * 300, item=(Markdown(markdown="## Part two"), Markdown(markdown=title)))
    deck = Presentation(io.BytesIO(slides.to_pptx(resolve(report, ()))))
    assert deck.core_properties.title == title.replace("\u000b", " ")[:255] and len(deck.core_properties.author) == 255
    section = deck.slides[1]
    assert section.shapes.title.text == "Part two" and len(section.shapes) == 1
    middle = Emu(section.shapes.title.top + section.shapes.title.height // 2).inches
    assert middle == pytest.approx(3.75, abs=0.1)


@pytest.fixture(scope="module")
def files(draw, tmp_path_factory) -> dict[tuple[str, str, str], bytes]:
    """Every figure of the catalogue that has something of its own, in every size: SVG of all, PNG and PDF of one."""
    names = (
        "suppression",
        "loss_floor",
        "curves",
        "embedding",
        "tau_lambda",
        "temperature_metrics",
        "head_depths",
        "full_softmax_cost",
    )
    wanted, requests = [], []
    for name in names:
        made = draw(name, LIGHT)
        for preset in PRESETS.values():
            sheet = lay_out(made.figure, preset, provenance=made.provenance, alt=made.alt)
            for format in ("svg", *(("png", "pdf") if name == "suppression" else ())):
                wanted.append((name, preset.name, format))
                requests.append(Request(sheet, format))
    return dict(zip(wanted, pictures(requests), strict=True))


class TestWithChromium:
    """One browser draws everything these tests look at."""

    pytestmark = needs_browser

    @pytest.mark.parametrize("size", list(PRESETS))
    def test_a_png_has_its_pixels(self, size, files):
        data = files["suppression", size, "png"]
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", data[16:24])
        wanted, high = SIZES[size]
        assert width == wanted and (high is None or height == high)

    @pytest.mark.parametrize("size", list(PRESETS))
    def test_a_pdf_is_one_page_of_its_size_in_vectors(self, size, files):
        data = files["suppression", size, "pdf"]
        assert data.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", data)) == 1
        box = [float(value) for value in re.search(rb"/MediaBox\s*\[([^\]]*)\]", data)[1].split()]
        assert box[2] / 72 == pytest.approx(PRESETS[size].width, abs=0.02)
        assert b"/Subtype /Image" not in data and b"/Subtype/Image" not in data

    def test_an_svg_names_what_it_shows_and_loads_nothing(self, files):
        svg = files["suppression", "single", "svg"].decode()
        assert 'width="3.3000in"' in svg and "<title>" in svg
        assert "seeds 0, 1" in " ".join(re.sub("<[^>]*>", " ", svg).split())  # the line at the foot may be broken anywhere
        assert not re.findall(r"""(?:href|src)=["']https?:""", svg)

    def test_no_text_lies_on_another_or_outside(self, files, tmp_path):
        """Boxes of all text elements of every figure in every size, as the browser lays them out."""
        wrong = {}
        with browser() as chromium:
            tab = chromium.new_page()
            tab.set_default_timeout(240_000)
            for (name, size, format), data in files.items():
                if format != "svg":
                    continue
                wide, high = (float(value) * 96 for value in re.search(rb'width="([\d.]+)in" height="([\d.]+)in"', data).groups())
                tab.set_viewport_size({"width": round(wide) + 1, "height": round(high) + 1})
                tab.set_content(f"<body style='margin:0'>{data.decode()}</body>")
                seen = tab.evaluate(OVERLAPS)
                if seen["found"] or seen["outside"]:
                    wrong[name, size] = seen
        assert wrong == {}, json.dumps({" ".join(key): value for key, value in wrong.items()}, indent=1, ensure_ascii=False)

    def test_a_report_as_pdf_has_its_pages_and_its_text(self, entries):
        items = (Markdown(markdown="# Heading\n\nSome text."), FigureItem(figure="suppression", study="randbit-mnist-5k"))
        items += (TableItem(table="runs", study="randbit-mnist-5k", options={"filter": "bits=0"}),)
        data = pdf.to_pdf(resolve(Report(title="A report", item=items), entries))
        boxes = [tuple(round(float(v)) for v in box.split()) for box in re.findall(rb"/MediaBox\s*\[([^\]]*)\]", data)]
        assert [box[2] < box[3] for box in boxes] == [True, False]  # the wide table has a page across

    def test_a_page_prints_its_pictures(self, line):
        sheet = lay_out(line, PRESETS["double"])
        data = printed([sheet], '<style>@page{size:A4}</style><img src="{{plot 0}}" style="width:6in">')
        bare = printed([sheet], "<style>@page{size:A4}</style>")  # bytes alone depend on the fonts of the machine
        assert data.startswith(b"%PDF") and len(data) > 8 * len(bare)
        assert len(re.findall(rb"/Type\s*/Page\b", data)) == 1 and not re.search(rb"/Subtype\s*/Image", data)  # in vectors
