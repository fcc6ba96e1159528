"""SimCLR's Table 5 as drawn."""

import numpy as np
import pytest

from core import published
from core.figures.contrastive_accuracy import contrastive_accuracy
from core.figures.theme import LIGHT


def test_points_and_title():
    rows = published.rows(dataset="imagenet")
    fig = contrastive_accuracy(rows[rows["source"] == "simclr_2020_table5"], LIGHT)
    norm, plain = fig.data
    assert np.asarray(norm.x) == pytest.approx([0.905, 0.878, 0.682, 0.591])
    assert np.asarray(norm.y) == pytest.approx([0.597, 0.644, 0.607, 0.58])
    assert np.asarray(plain.x) == pytest.approx([0.917, 0.921])
    assert "(92.1%)" in fig.layout.title.text and "(57.0%)" in fig.layout.title.text
    assert {trace.marker.symbol for trace in fig.data} == {"diamond-open"}
