"""A report as slides: one figure a slide with a native title, notes for the speaker, and a picture at twice the screen's size."""

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE
from pptx.slide import Slide
from pptx.text.text import TextFrame
from pptx.util import Inches, Length, Pt

from core.figures.theme import LIGHT
from core.provenance import code_version
from core.report.images import Request, pictures
from core.report.markdown import Paragraph, to_paragraphs
from core.report.presets import PRESETS
from core.report.resolve import FigurePart, Resolved, TablePart, TextPart
from core.report.richtext import text_width
from core.report.sheet import Sheet, lay_out

WIDE, HIGH = Inches(40 / 3), Inches(7.5)
EDGE = 0.55  # inches beside the content
TITLE_TOP, TITLE_HIGH = 0.32, 0.95
BODY_TOP, BODY_HIGH = 1.32, 5.9
PIXELS_PER_INCH = 144  # 1920 px on a slide
SHARPNESS = 2  # pixels of the picture per pixel of a 1920 x 1080 screen
TITLE_SIZES = (30, 27, 24, 21, 18)  # points; the largest that fits into two lines
ROWS, COLUMNS = 14, 9  # of a table on a slide
PROPERTY = 255  # characters that the format allows in a property of the file
TITLE_ONLY, TITLE_SLIDE, BLANK_BODY = 5, 0, 5  # layouts of python-pptx's default template


def to_pptx(report: Resolved) -> bytes:
    """Write the slides.

    Args:
        report: What to show.

    Returns:
        A PPTX file, 16:9. Text becomes slides of text, tables native tables of at most 14 rows. Notes hold what the author
        wrote, how the numbers were made, and the settings as TOML.

    Raises:
        NoBrowser: If no Chrome or Chromium is installed.
        PictureError: If a figure could not be drawn.
    """
    drawn = _draw(report.figures)
    deck = Presentation()
    deck.slide_width, deck.slide_height = WIDE, HIGH
    deck.core_properties.title, deck.core_properties.author = _property(report.title), _property(report.author)
    deck.core_properties.comments = f"Made with Contrastive Lens {code_version()}"
    _title_slide(deck, report)
    for part in report.parts:
        if isinstance(part, FigurePart):
            _figure_slide(deck, part, *next(drawn))
        elif isinstance(part, TablePart):
            _table_slide(deck, part)
        else:
            _text_slide(deck, part)
    file = BytesIO()
    deck.save(file)
    return file.getvalue()


def _property(text: str) -> str:
    """Text as a property of the file takes it: short, and without control characters."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:PROPERTY]


def _draw(figures: Sequence[FigurePart]):
    """Pictures of all figures, drawn with one browser: pairs of sheet and PNG."""
    if not figures:
        return iter(())
    wide = 40 / 3 - 2 * EDGE
    preset = PRESETS["slide"]._replace(width=wide, height=BODY_HIGH, png_width=round(wide * PIXELS_PER_INCH))
    sheets = [
        lay_out(part.drawing.figure, preset, provenance=part.drawing.provenance, heading="subtitle", alt=part.drawing.alt)
        for part in figures
    ]
    images = pictures([Request(sheet, "png", preset.png_width * SHARPNESS) for sheet in sheets])
    return iter(zip(sheets, images, strict=True))


def _title_slide(deck: Presentation, report: Resolved) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_SLIDE])
    title, below = slide.shapes.title, slide.placeholders[1]
    _place(title, EDGE + 0.4, 2.1, 40 / 3 - 2 * EDGE - 0.8, 1.7)
    _place(below, EDGE + 0.4, 3.95, 40 / 3 - 2 * EDGE - 0.8, 1.2)
    _write(title.text_frame, report.title or "Report", 40, bold=True, anchor=MSO_ANCHOR.BOTTOM)
    made = f"Contrastive Lens {code_version()} · {datetime.now(UTC).date().isoformat()}"
    _write(below.text_frame, "\n".join(filter(None, (report.author, made))), 18, color=LIGHT.muted)


def _figure_slide(deck: Presentation, part: FigurePart, sheet: Sheet, image: bytes) -> None:
    slide = _new(deck, part.title)
    wide, high = sheet.inches
    picture = slide.shapes.add_picture(BytesIO(image), Inches(EDGE), Inches(BODY_TOP), Inches(wide), Inches(high))
    picture.name = part.name
    picture._element.nvPicPr.cNvPr.set("descr", part.drawing.alt)  # python-pptx has no public name for the text alternative
    settings = f"Settings, ready for python -m core sweep:\n{part.drawing.settings()}" if part.drawing.settings else ""
    _notes(slide, part.notes, part.drawing.alt, part.drawing.provenance, settings)


def _table_slide(deck: Presentation, part: TablePart) -> None:
    slide = _new(deck, part.title)
    frame = part.frame.iloc[:ROWS, :COLUMNS]
    cut = [f"{len(frame)} of {len(part.frame)} rows"] if len(frame) < len(part.frame) else []
    cut += [f"{frame.shape[1]} of {part.frame.shape[1]} columns"] if frame.shape[1] < part.frame.shape[1] else []
    rows = [list(frame.columns), *frame.to_numpy().tolist()]
    size = min(14.0, 5.2 * 72 / len(rows) / 1.7)
    shape = slide.shapes.add_table(
        len(rows), frame.shape[1], Inches(EDGE), Inches(BODY_TOP), Inches(40 / 3 - 2 * EDGE), Inches(min(5.2, 0.36 * len(rows)))
    )
    shape.name = part.name
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            cell = shape.table.cell(row, column)
            cell.margin_top = cell.margin_bottom = Inches(0.03)
            cell.text = str(text)
            cell.text_frame.paragraphs[0].runs[0].font.size = Pt(size) if str(text) else None
    line = " · ".join([*(f"Showing {text}" for text in cut), part.provenance])
    _caption(slide, line)
    _notes(slide, part.notes, part.provenance)


def _text_slide(deck: Presentation, part: TextPart) -> None:
    paragraphs = to_paragraphs(part.markdown)
    head = next((paragraph for paragraph in paragraphs if paragraph.heading), None)
    slide = _new(deck, "".join(run.text for run in head.runs) if head else "")
    body = [paragraph for paragraph in paragraphs if paragraph is not head]
    if not body:  # a heading alone opens a section
        _place(slide.shapes.title, EDGE, 2.6, 40 / 3 - 2 * EDGE, 2.3)
        return
    box = slide.shapes.add_textbox(Inches(EDGE), Inches(BODY_TOP), Inches(40 / 3 - 2 * EDGE), Inches(BODY_HIGH))
    letters = sum(len(run.text) for paragraph in body for run in paragraph.runs)
    _fill(box.text_frame, body, 24 if letters < 500 else 20 if letters < 900 else 16)


def _new(deck: Presentation, title: str) -> Slide:
    """A slide with a native title that fits into two lines."""
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    wide = 40 / 3 - 2 * EDGE
    _place(slide.shapes.title, EDGE, TITLE_TOP, wide, TITLE_HIGH)
    size = next((size for size in TITLE_SIZES if text_width(title, size, bold=True) < 2 * wide * 72 * 0.95), TITLE_SIZES[-1])
    one_line = text_width(title, size, bold=True) < wide * 72 * 0.97
    _write(slide.shapes.title.text_frame, title, size if one_line else min(size, 26), bold=True, anchor=MSO_ANCHOR.MIDDLE)
    return slide


def _place(shape, left: float, top: float, wide: float, high: float) -> None:
    shape.left, shape.top, shape.width, shape.height = (Length(Inches(value)) for value in (left, top, wide, high))


def _write(frame: TextFrame, text: str, size: float, *, bold: bool = False, color: str = LIGHT.text, anchor=None) -> None:
    frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
    frame.margin_left = frame.margin_right = 0
    if anchor is not None:
        frame.vertical_anchor = anchor
    frame.text = text
    for paragraph in frame.paragraphs:
        paragraph.alignment = 1  # left
        for run in paragraph.runs:
            run.font.size, run.font.bold, run.font.color.rgb = Pt(size), bold, RGBColor.from_string(color.lstrip("#"))


def _fill(frame: TextFrame, paragraphs: Sequence[Paragraph], size: float) -> None:
    frame.word_wrap = True
    frame.margin_left = frame.margin_right = 0
    for number, paragraph in enumerate(paragraphs):
        shown = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        shown.level, shown.space_after = min(paragraph.level, 4), Pt(size * 0.5)
        for part in paragraph.runs:
            run = shown.add_run()
            run.text = part.text
            run.font.size, run.font.bold, run.font.italic = Pt(size), part.bold or paragraph.heading, part.italic
            run.font.color.rgb = RGBColor.from_string(LIGHT.text.lstrip("#"))
            if part.code:
                run.font.name = "Courier New"


def _caption(slide: Slide, text: str) -> None:
    box = slide.shapes.add_textbox(Inches(EDGE), Inches(6.85), Inches(40 / 3 - 2 * EDGE), Inches(0.45))
    _write(box.text_frame, text, 12, color="#4D4D4D")


def _notes(slide: Slide, *parts: str) -> None:
    slide.notes_slide.notes_text_frame.text = "\n\n".join(part.strip() for part in parts if part.strip())
