"""A sheet: the plot with its title above, its legend and its provenance below, laid out for one size, as one SVG."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import plotly.graph_objects as go

from core.figures.theme import FONT, LIGHT, Theme
from core.report.legend import rows, svg_rows
from core.report.presets import Heading, Preset
from core.report.relay import Plot, fit_height, panels, relay
from core.report.richtext import BOLD, balanced, svg_lines, words, wrap

PAD = {"slide": 18.0, "single": 2.0, "double": 4.0}  # px around everything
TITLE, SUBTITLE, LEGEND = 17.0, 13.0, 13.0  # font sizes in px, as in core.figures.theme.style
LEADING = 1.32  # line height
FOOTER_COLOR = "#4D4D4D"  # 70 % grey on paper
WIDE_COLUMN = 240.0  # px that a panel beside others needs


class Sheet(NamedTuple):
    """Everything but the plot itself."""

    figure: go.Figure  # to be drawn at `plot_width` x `plot_height`
    width: float  # px of the figure, whole sheet
    height: float
    plot_x: float
    plot_y: float
    plot_width: float
    plot_height: float
    around: tuple[str, ...]  # SVG elements
    background: str
    preset: Preset
    alt: str

    @property
    def inches(self) -> tuple[float, float]:
        """Size on paper."""
        scale = self.preset.width / self.width
        return self.preset.width, self.height * scale

    @property
    def pixels(self) -> tuple[int, int]:
        """Size of the PNG."""
        return self.preset.png_width, round(self.preset.png_width * self.height / self.width)

    @property
    def text_points(self) -> float:
        """Size in points of the smallest text of the chart."""
        return self.preset.smallest_px * self.preset.width / self.width * 72


def lay_out(
    fig: go.Figure,
    preset: Preset,
    *,
    provenance: str = "",
    heading: Heading | None = None,
    theme: Theme = LIGHT,
    alt: str = "",
    height: float | None = None,
) -> Sheet:
    """Lay a figure out for a size.

    Args:
        fig: From a builder of core.figures, drawn in `theme`.
        preset: The size.
        provenance: Line at the foot.
        heading: What stands above the plot; None = as usual for the size.
        theme: Colours of the figure.
        alt: Text alternative that the SVG carries.
        height: Inches instead of the preset's own height.

    Returns:
        The sheet. A figure whose panels need more room than the size gives is drawn larger and scaled down as a whole, so its
        text is smaller than the preset's: see `Sheet.text_points`.
    """
    _, columns = panels(fig)
    width = max(preset.units, columns * WIDE_COLUMN + 40 if columns > 1 else 0)
    tall = height or preset.height
    for _ in range(4):
        sheet, missing = _placed(fig, preset, width, tall, provenance, heading, theme, alt)
        if missing <= 1:
            break
        width *= 1 + missing / (sheet.height or 1)  # a taller sheet of the same shape is a wider one
    return sheet


def compose(sheet: Sheet, plot: str) -> str:
    """The whole sheet as one SVG.

    Args:
        sheet: From `lay_out`.
        plot: SVG of its figure at its plot size.
    """
    wide, high = sheet.inches
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{wide:.4f}in" '
            f'height="{high:.4f}in" viewBox="0 0 {sheet.width:.2f} {sheet.height:.2f}" font-family="{escape(FONT)}" role="img">',
            f"<title>{escape(sheet.alt)}</title>" if sheet.alt else "",
            f'<rect width="100%" height="100%" fill="{sheet.background}"/>',
            f'<g transform="translate({sheet.plot_x:.2f} {sheet.plot_y:.2f})">{plot[plot.index("<svg") :]}</g>',
            *sheet.around,
            "</svg>",
        ]
    )


def _placed(
    fig: go.Figure,
    preset: Preset,
    width: float,
    tall: float | None,
    provenance: str,
    heading: Heading | None,
    theme: Theme,
    alt: str,
) -> tuple[Sheet, float]:
    """The sheet at a width, and the px of height that its panels lack."""
    pad = PAD[preset.name]
    inside = width - 2 * pad
    plot = relay(fig, preset, inside)
    head = list(_head(plot, inside, heading or preset.heading, theme))
    legend = rows(plot.legend, inside, LEGEND)
    foot = wrap(words(provenance), inside, preset.footer_px)
    head_height = sum(leading for _, _, leading, _, _ in head) + (6 if head else 0)
    legend_height = len(legend) * LEGEND * 1.5 + (8 if legend else 0)
    foot_leading = preset.footer_px * 1.25
    foot_height = len(foot) * foot_leading + (8 if foot else 0)
    around = 2 * pad + head_height + legend_height + foot_height
    wanted = preset.plot_share * inside
    if plot.rows > 1:
        wanted = max(0.8 * wanted, plot.rows * preset.panel_px + 60)
    least = max(plot.rows * preset.panel_px * 0.9 + 60, 200)
    height = width * tall / preset.width if tall else around + wanted
    plot_height = height - around
    top = pad
    drawn = []
    for line, size, leading, color, bold in head:
        drawn += svg_lines([line], x=pad, y=top, size=size, leading=leading, color=color, bold=bold)
        top += leading
    plot_y = pad + head_height
    below = plot_y + plot_height + (8 if legend else 0)
    drawn += svg_rows(legend, x=pad, y=below, size=LEGEND, leading=LEGEND * 1.5, color=theme.text)
    color = FOOTER_COLOR if theme.name == "light" else theme.muted
    foot_y = height - pad - len(foot) * foot_leading
    drawn += svg_lines(foot, x=pad, y=foot_y, size=preset.footer_px, leading=foot_leading, color=color)
    figure = fit_height(plot, inside, max(plot_height, 80))
    sheet = Sheet(
        figure, width, height, pad, plot_y, round(inside), round(max(plot_height, 80)), tuple(drawn), theme.paper, preset, alt
    )
    return sheet, max(0.0, least - plot_height)


def _head(plot: Plot, width: float, heading: Heading, theme: Theme) -> Iterator[tuple]:
    """Lines of title and subtitle: words, size, leading, colour, whether bold."""
    if heading == "full":
        title = [word._replace(bold=False) for word in words(plot.title) if word.text]  # breaks were made for another width
        for line in balanced(title, width, TITLE * BOLD):
            yield line, TITLE, TITLE * LEADING, theme.text, True
    if heading != "none":
        for line in wrap([word for word in words(plot.subtitle) if word.text], width, SUBTITLE):
            yield line, SUBTITLE, SUBTITLE * LEADING, theme.muted, False
