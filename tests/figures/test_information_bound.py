"""The bound stays below its cap and the truth, as drawn."""

import numpy as np
import pytest

from core.figures.information_bound import information_bound
from core.figures.theme import LIGHT
from core.losses.mutual_information import gaussian_information, info_nce_bound

SIZES = (2, 8, 64)


def test_lines_and_title():
    dims = (1, 10)
    bounds = {dim: [info_nce_bound(dim, 0.9, size, anchors=2000) for size in SIZES] for dim in dims}
    truths = {dim: gaussian_information(dim, 0.9) for dim in dims}
    cap, low_truth, low, high_truth, high = information_bound(bounds, truths, SIZES, 0.9, LIGHT).data
    assert np.asarray(cap.y) == pytest.approx(np.log(SIZES), rel=1e-6)
    assert list(low_truth.y) == pytest.approx([0.8304] * 2, abs=1e-4)
    assert list(high_truth.y) == pytest.approx([8.3037] * 2, abs=1e-4)
    assert (np.asarray(high.y) < np.asarray(cap.y)).all()
    assert np.asarray(low.error_y.array) == pytest.approx([2 * bound.spread for bound in bounds[1]], rel=1e-5)
    title = information_bound(bounds, truths, SIZES, 0.9, LIGHT).layout.title.text
    assert f"8.3 nats are shared, 64 candidates report {bounds[10][-1].estimate:.1f}" in title
