"""Colours that must be read: numbers on coloured cells, by the contrast rule of WCAG 2 computed here from its definition."""

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from core.figures.cka import cka_matrix
from core.figures.theme import ACCURACY_SCALE, DARK, LIGHT, OTHER_SCALE, ink_on


def luminance(color: tuple[float, float, float]) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in color]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("scale", [ACCURACY_SCALE, OTHER_SCALE])
def test_numbers_on_cells_have_the_contrast_of_normal_text(scale):
    shares = np.linspace(0, 1, 101)
    for cell, ink in zip(sample_colorscale(scale, shares, colortype="tuple"), ink_on(scale, shares), strict=True):
        low, high = sorted((luminance(cell), luminance(tuple(int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)))))
        assert (high + 0.05) / (low + 0.05) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_cka_matrix_writes_every_value_in_a_colour_that_stands_out(theme):
    figure = cka_matrix(np.array([[1.0, 0.5, np.nan], [0.5, 1.0, 0.1], [np.nan, 0.1, 1.0]]), ["a", "b", "c"], theme)
    (numbers,) = [trace for trace in figure.data if trace.type == "scatter"]
    assert list(numbers.text) == ["1.00", "0.50", "–", "0.50", "1.00", "0.10", "–", "0.10", "1.00"]
    assert list(zip(numbers.x, numbers.y, strict=True))[1] == (1, 0)
    assert numbers.textfont.color[0] == "#000000" and numbers.textfont.color[5] == "#FFFFFF"
    assert numbers.textfont.color[2] == theme.muted  # no cell behind it
