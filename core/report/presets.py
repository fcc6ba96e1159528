"""Sizes that pictures are made in: a slide, one column and two columns of a paper."""

from typing import Literal, NamedTuple

Heading = Literal["full", "subtitle", "none"]  # what stands above the plot in a picture

POINTS = 72  # points in an inch
PIXELS = 96  # CSS pixels in an inch


class Preset(NamedTuple):
    """A size, and how large the text of a chart is printed in it."""

    name: str
    title: str  # in selectors
    width: float  # inches
    height: float | None  # inches; None = as high as the figure needs
    text_px: int  # text of this many px in a chart ...
    text_pt: float  # ... is printed at this many points
    smallest_px: int  # smaller text is raised to this
    footer_px: float  # px of the provenance line
    png_width: int  # pixels of the PNG
    heading: Heading  # papers have it in the caption
    plot_share: float  # height of a plot, as a share of the picture's width
    panel_px: int  # least height of each of several panels

    @property
    def on_paper(self) -> bool:
        """Whether it is printed in a paper, perhaps without colours."""
        return self.height is None

    @property
    def units(self) -> float:
        """Chart pixels that fit into the width."""
        return self.width * POINTS / self.text_pt * self.text_px

    @property
    def inches_per_unit(self) -> float:
        """Inches that one chart pixel takes."""
        return self.width / self.units


# A slide of 13.33 x 7.5 in has 1920 x 1080 px; its smallest text, 12 px in a chart, is 14 pt. In a paper 13 px become 8 pt.
PRESETS = {
    preset.name: preset
    for preset in (
        Preset("slide", "Slide, 16:9", 40 / 3, 7.5, 12, 14.0, 12, 12.0, 1920, "full", 0.42, 110),
        Preset("single", "Single column, 3.3 in", 3.3, None, 13, 8.0, 13, 10.0, 1980, "none", 0.68, 120),
        Preset("double", "Double column, 6.9 in", 6.9, None, 13, 8.0, 13, 10.0, 4140, "none", 0.42, 130),
    )
}
