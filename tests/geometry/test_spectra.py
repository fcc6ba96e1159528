"""Spectra and the four rank measures: known matrices, uniform points."""

import math

import numpy as np
import pytest
import torch

from core import geometry


def with_singular_values(values, n=40, seed=0):
    """An n x len(values) matrix with exactly these singular values."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(n, len(values))))[0]
    right = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    return left * values @ right


def uniform(n, d=128, seed=0):
    z = torch.randn(n, d, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(z, dim=1)


def test_singular_values_are_those_of_the_matrix_itself():
    values = [5.0, 3.0, 2.0, 1e-3, 0.0]
    assert geometry.singular_values(with_singular_values(values)) == pytest.approx(values, abs=1e-6)
    for shape in ((30, 7), (5, 12), (1, 4)):
        z = np.random.default_rng(1).normal(size=shape)
        assert geometry.singular_values(z) == pytest.approx(np.linalg.svd(z, compute_uv=False), rel=1e-9)


def test_anchor_59_rankme_of_equal_singular_values():
    assert geometry.rankme(with_singular_values([2.0] * 10)) == pytest.approx(10, abs=1e-4)
    assert geometry.rankme(with_singular_values([2.0] * 10), epsilon=0) == pytest.approx(10, abs=1e-9)
    assert geometry.rankme(with_singular_values([2.0] * 10)) == pytest.approx(10.000013, abs=2e-6)


def test_anchor_60_small_examples():
    assert geometry.rankme(with_singular_values([3.0, 1.0])) == pytest.approx(1.754765, abs=1e-5)
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) * np.sqrt([3.0, 1.0])  # covariance diag(3, 1)
    assert geometry.participation_ratio(corners) == pytest.approx(1.6, abs=1e-5)
    shares = np.array([0.75, 0.25])
    assert geometry.eigenvalue_rank(corners) == pytest.approx(np.exp(-(shares * np.log(shares)).sum()), abs=1e-9)


@pytest.mark.parametrize(
    ("n", "rankme", "participation", "eigenvalue"),
    [
        (512, (123.7, 0.4), (102.5, 1.5), (113.1, 1.0)),
        (2048, (127.0, 0.1), (120.5, 0.7), (124.1, 0.4)),
        (10_000, (127.8, 0.05), (126.4, 0.1), (127.2, 0.1)),
    ],
)
def test_anchors_61_to_63_uniform_points(n, rankme, participation, eigenvalue):
    z = uniform(n)
    assert geometry.rankme(z) == pytest.approx(rankme[0], abs=rankme[1])
    assert geometry.participation_ratio(z) == pytest.approx(participation[0], abs=participation[1])
    assert geometry.participation_ratio(z) == pytest.approx(128 / (1 + 128 / n), abs=participation[1])
    assert geometry.eigenvalue_rank(z) == pytest.approx(eigenvalue[0], abs=eigenvalue[1])


def test_one_direction():
    """A rank-1 matrix has RankMe 1; an offset shared by all rows counts for RankMe and not for the centred measures."""
    line = np.outer(np.linspace(-1, 2, 30), [1.0, 2.0, 2.0])
    assert geometry.rankme(line) == pytest.approx(1, abs=1e-5)
    assert geometry.participation_ratio(line) == pytest.approx(1, abs=1e-9)
    assert geometry.eigenvalue_rank(line) == pytest.approx(1, abs=1e-9)
    moved = line + np.array([0.0, 50.0, -50.0])
    assert geometry.rankme(moved) > 1.05
    assert geometry.participation_ratio(moved) == pytest.approx(1, abs=1e-9)


def test_nothing_varies():
    same = torch.full((6, 3), 0.7)
    assert geometry.rankme(same) == pytest.approx(1, abs=1e-5)
    assert math.isnan(geometry.participation_ratio(same)) and math.isnan(geometry.eigenvalue_rank(same))
    assert math.isnan(geometry.rankme(torch.zeros(6, 3)))
    assert not geometry.spectrum(same).any()


def test_spectrum_is_that_of_the_covariance_of_unit_rows():
    z = np.random.default_rng(0).normal(size=(50, 6)) * [1, 2, 3, 4, 5, 0]
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    expected = np.sort(np.linalg.eigvalsh(np.cov(unit.T, bias=True)))[::-1]
    assert geometry.spectrum(z) == pytest.approx(expected, abs=1e-12)
    assert geometry.spectrum(z)[-1] == 0  # a dead dimension is an exact zero, not rounding of either sign
    raw = np.sort(np.linalg.eigvalsh(np.cov(z.T, bias=True)))[::-1]
    assert geometry.spectrum(z, normalise=False) == pytest.approx(raw, abs=1e-9)
    assert geometry.spectrum(uniform(20_000, 16)) == pytest.approx(np.full(16, 1 / 16), rel=0.1)


def test_more_rows_than_a_block(monkeypatch):
    from core.geometry import spectra

    z = uniform(1000, 8)
    expected = geometry.spectrum(z)
    monkeypatch.setattr(spectra, "BLOCK_ROWS", 300)
    assert geometry.spectrum(z) == pytest.approx(expected, rel=1e-10)


def test_dead_dimensions():
    z = torch.randn(100, 6, generator=torch.Generator().manual_seed(0))
    z[:, 1] = 0
    z[:, 4] = 3 + 1e-6 * z[:, 4]
    assert geometry.dead_dimensions(z) == 2
    assert geometry.dead_dimensions(torch.ones(5, 3)) == 3


@pytest.mark.parametrize("measure", [geometry.rankme, geometry.participation_ratio, geometry.eigenvalue_rank])
def test_rotation_and_scale_do_not_matter(measure):
    z = np.random.default_rng(0).normal(size=(50, 6)) * [1, 2, 3, 4, 5, 6]
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    assert measure(z @ turn * 37) == pytest.approx(measure(z), rel=1e-9)


def test_half_input():
    z = uniform(300, 8).half()
    assert geometry.rankme(z) == pytest.approx(geometry.rankme(z.double()), abs=1e-6)
