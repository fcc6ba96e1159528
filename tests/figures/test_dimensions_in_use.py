"""Uniformity against dimensions in use: the curve is that of points drawn on smaller spheres, the points are the runs."""

import numpy as np
import pandas as pd
import pytest

from core.figures.dimensions_in_use import dimensions_in_use, more_uniform_with_fewer, takeaway
from core.figures.theme import DARK, LIGHT
from core.geometry import rankme, uniformity

DIM = 64


@pytest.fixture
def runs() -> pd.DataFrame:
    """Two seeds, made up."""
    rows = [
        ("nt_xent", 0.02, 28.0, -1.8),
        ("nt_xent", 0.1, 42.0, -3.5),
        ("nt_xent", 2.0, 13.0, -2.4),
        ("untrained", 0.1, 34.0, -0.9),
    ]
    return pd.DataFrame(
        dict(objective=objective, tau=tau, rankme=rank + seed, uniformity=even, linear_accuracy=0.9, seed=seed, status="finished")
        for objective, tau, rank, even in rows
        for seed in (0, 1)
    )


@pytest.mark.parametrize("used", [2, 16, 64])
def test_the_curve_is_what_points_on_smaller_spheres_measure(used):
    """Sampled on the sphere of the first dimensions, measured by the geometry code in the whole space."""
    z = np.zeros((2000, DIM))
    z[:, :used] = np.random.default_rng(0).normal(size=(2000, used))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    curve = dimensions_in_use(pd.DataFrame(), DIM, LIGHT).data[0]
    place = list(curve.x).index(used)
    assert uniformity(z) == pytest.approx(curve.y[place], abs=5e-3)
    assert rankme(z) == pytest.approx(used, rel=0.02)


def test_a_quarter_of_the_dimensions_keeps_most_of_the_uniformity():
    assert takeaway(128) == "Points spread over 32 of 128 dimensions keep 95% of the best uniformity"
    assert takeaway(64) == "Points spread over 16 of 64 dimensions keep 91% of the best uniformity"


def test_points_are_means_of_the_runs(runs):
    _, ours, untrained = dimensions_in_use(runs, DIM, DARK).data
    assert np.asarray(ours.x) == pytest.approx([28.5, 42.5, 13.5]) and np.asarray(ours.y) == pytest.approx([-1.8, -3.5, -2.4])
    assert list(ours.text) == ["0.02", "0.1", "2"] and list(untrained.text) == ["untrained"]
    assert len(dimensions_in_use(runs[:0], DIM, DARK).data) == 1


def test_a_pair_that_uniformity_orders_against_the_rank(runs):
    said = more_uniform_with_fewer(runs)
    assert said.startswith("the encoder of tau 2 is more uniform than that of tau 0.02 (−2.4 against −1.8)")
    assert said.endswith("14 dimensions in use against 28")
    assert more_uniform_with_fewer(runs[runs["tau"] == 0.1]) == "" == more_uniform_with_fewer(pd.DataFrame())
