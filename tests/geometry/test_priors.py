"""Priors: closed forms against samples, and the summary of an embedding that is the prior itself."""

import numpy as np
import pytest

from core.geometry.priors import (
    coordinate_density,
    coordinate_distance,
    coordinate_quantile,
    coordinate_sd,
    draw,
    norm_density,
    pair_cosine_density,
    reached,
    sample_distance,
)

PRIORS = ("hypersphere", "hypercube", "normal")


@pytest.mark.parametrize("prior", PRIORS)
def test_coordinates_of_a_sample_follow_the_density(prior):
    rows = draw(prior, 40_000, 8, seed=1)[:, 3]
    assert rows.std() == pytest.approx(coordinate_sd(prior, 8), rel=0.02)
    edges = np.quantile(rows, np.linspace(0, 1, 21))
    centers, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    mass = coordinate_density(prior, 8, centers)[1:-1] * widths[1:-1]
    assert mass == pytest.approx(np.full(18, 0.05), rel=0.08)
    assert coordinate_quantile(prior, 8, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(rows, [0.1, 0.5, 0.9]), abs=0.02)


@pytest.mark.parametrize("prior", ("hypercube", "normal"))
def test_norms_of_a_sample_follow_the_density(prior):
    norms = np.linalg.norm(draw(prior, 40_000, 16, seed=2), axis=1)
    r = np.linspace(norms.min(), norms.max(), 30)
    expected = np.histogram(norms, np.concatenate([r - (r[1] - r[0]) / 2, [r[-1] + (r[1] - r[0]) / 2]]), density=True)[0]
    assert norm_density(prior, 16, r) == pytest.approx(expected, abs=0.08 * expected.max())
    assert np.isnan(norm_density("hypersphere", 16, r)).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_cosines_of_a_sample_follow_the_density(prior):
    a, b = (draw(prior, 40_000, 8, seed) for seed in (3, 4))
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    c = np.linspace(-0.9, 0.9, 19)
    expected = np.histogram(cosines, np.concatenate([c - 0.05, [0.95]]))[0] / len(cosines) / 0.1
    assert pair_cosine_density(prior, 8, c) == pytest.approx(expected, abs=0.08)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_prior_itself_is_close_and_another_one_is_not(prior):
    rows = draw(prior, 1000, 16, seed=5)
    norms = np.linalg.norm(rows, axis=1)
    found = reached(rows / norms[:, None], norms, prior)
    assert found.distance == pytest.approx(sample_distance(prior, 1000, 16), rel=0.25)
    assert found.mean_norm == pytest.approx(norms.mean()) and found.rows == 1000
    for histogram in (found.norms, found.coordinates, found.cosines):
        assert (histogram.density * (histogram.centers[1] - histogram.centers[0])).sum() == pytest.approx(1, abs=0.01)
    assert (found.low <= found.high).all()
    collapsed = np.tile(rows[:1] / norms[0], (1000, 1))
    assert reached(collapsed, np.full(1000, norms[0]), prior).distance > 10 * found.distance


def test_wasserstein_by_hand():
    """A single dimension with two rows against the cube's quantiles at 1/4 and 3/4, which are -0.5 and 0.5."""
    assert coordinate_distance(np.array([[0.7], [-0.5]]), "hypercube") == pytest.approx(0.1 * np.sqrt(3))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"^norms must have shape \(3,\), got \(2,\)\.$"):
        reached(np.eye(3), np.ones(2), "normal")
    with pytest.raises(ValueError, match=r"^z must have shape \(n, d\) with n and d at least 2, got \(1, 3\)\.$"):
        reached(np.ones((1, 3)), None, "normal")
    with pytest.raises(ValueError, match="this run has diverged"):
        reached(np.full((3, 3), np.nan), None, "normal")
    with pytest.raises(ValueError, match="prior must be one of"):
        draw("torus", 2, 3)
