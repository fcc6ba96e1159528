"""Alignment, uniformity and tolerance: closed forms, slow loops, memory."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from core import geometry
from core.geometry.alike import pair_uniformity
from core.losses import align_uniform
from core.losses import alignment as alignment_loss


def points(n, d, seed=0, dtype=torch.float64):
    """Not normalised; directions uniform."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return (z * (0.1 + 3 * torch.rand(n, 1, generator=generator, dtype=torch.float64))).to(dtype)


def slow_uniformity(z, t):
    """Loop over pairs in plain Python."""
    z = np.asarray(z, dtype=np.float64)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    values = [math.exp(-t * ((z[i] - z[j]) ** 2).sum()) for i in range(len(z)) for j in range(i)]
    return math.log(sum(values) / len(values))


@pytest.mark.parametrize("t", [0.5, 2, 5])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (17, 5)])
def test_uniformity_equals_the_slow_loop(n, d, t):
    z = points(n, d)
    assert geometry.uniformity(z, t) == pytest.approx(slow_uniformity(z, t), abs=1e-10)


def test_uniformity_equals_pdist():
    """The published one-liner, at 500 rows."""
    z = points(500, 16)
    unit = torch.nn.functional.normalize(z, dim=1)
    assert geometry.uniformity(z) == pytest.approx(float(torch.pdist(unit).pow(2).mul(-2).exp().mean().log()), abs=1e-10)


def test_uniformity_of_more_rows_than_a_tile(monkeypatch):
    from core.losses import kernel

    z = points(50, 6)
    expected = geometry.uniformity(z)
    monkeypatch.setattr(kernel, "CPU_TILE", 16)
    monkeypatch.setattr(kernel, "CPU_KEPT", 0)
    assert geometry.uniformity(z) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("t", [200, 1000.0])
def test_uniformity_of_a_narrow_potential(t):
    """exp(-4t) underflows; the logarithm does not."""
    poles = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    assert geometry.uniformity(poles, t) == pytest.approx(-4 * t)
    assert geometry.uniformity(points(300, 3), t) == pytest.approx(slow_uniformity(points(300, 3), t), abs=1e-8)


def test_uniformity_ignores_lengths_rotations_and_order():
    z = points(40, 5)
    turn = torch.linalg.qr(points(5, 5, seed=1)).Q
    expected = geometry.uniformity(z)
    for other in (z * 100, z @ turn, z[torch.randperm(40)]):
        assert geometry.uniformity(other) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_uniformity_of_narrow_types(dtype):
    """torch.pdist does not exist for half types."""
    z = points(60, 8, dtype=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = geometry.uniformity(z)
    assert isinstance(found, float)
    assert found == pytest.approx(slow_uniformity(z.double(), 2), abs=2e-6)


@pytest.mark.parametrize("dim", [2, 3, 8, 16, 32, 64, 128, 256, 512, 2048])
def test_anchor_24_uniform_points_reach_the_optimum(dim):
    z = points(4000, dim, seed=dim, dtype=torch.float32)
    assert geometry.uniformity(z) == pytest.approx(geometry.uniform_optimum(dim), abs=3e-3)


def test_anchor_25_special_sets():
    assert geometry.uniformity(torch.full((9, 4), 2.0, dtype=torch.float64)) == pytest.approx(0, abs=1e-10)
    assert geometry.uniformity(torch.eye(7, dtype=torch.float64)) == pytest.approx(-4, abs=1e-10)
    assert geometry.uniformity(np.array([[1.0, 0.0], [-3.0, 0.0]])) == pytest.approx(-8, abs=1e-10)


def test_sampled_uniformity_stays_above_the_finite_sample_bound():
    for seed in range(20):
        z = points(6, 3, seed)
        assert geometry.uniformity(z) >= geometry.finite_sample_bound(6, 3)


def test_anchor_28_alignment():
    z = points(4000, 32)
    assert geometry.alignment(z, z * 5) == pytest.approx(0, abs=1e-10)
    assert geometry.alignment(z, -z) == pytest.approx(4, abs=1e-10)
    assert geometry.alignment(z, points(4000, 32, seed=1)) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("alpha", [0.5, 1, 2, 3])
def test_alignment_equals_the_slow_loop(alpha):
    a, b = points(7, 3).numpy(), points(7, 3, seed=1).numpy()
    distances = [np.linalg.norm(x / np.linalg.norm(x) - y / np.linalg.norm(y)) for x, y in zip(a, b, strict=True)]
    assert geometry.alignment(a, b, alpha) == pytest.approx(np.mean(np.power(distances, alpha)), abs=1e-12)


def test_metrics_and_losses_agree():
    a, b = points(30, 6), points(30, 6, seed=1)
    terms = align_uniform(a, b)
    assert geometry.alignment(a, b) == pytest.approx(float(terms.alignment), abs=1e-12)
    assert geometry.alignment(a, b) == pytest.approx(2 * float(alignment_loss(a, b)), abs=1e-12)
    assert (geometry.uniformity(a) + geometry.uniformity(b)) / 2 == pytest.approx(float(terms.distribution), abs=1e-12)


def slow_tolerance(z, labels):
    z = np.asarray(z, dtype=np.float64)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    same = [z[i] @ z[j] for i in range(len(z)) for j in range(i) if labels[i] == labels[j]]
    return np.mean(same)


def test_tolerance_equals_the_slow_loop():
    z, labels = points(40, 5), np.random.default_rng(0).integers(0, 6, 40) * 10 - 7
    assert geometry.tolerance(z, labels) == pytest.approx(slow_tolerance(z, labels), abs=1e-12)
    assert geometry.tolerance(z.float().numpy(), torch.from_numpy(labels)) == pytest.approx(slow_tolerance(z, labels), abs=1e-6)


def test_tolerance_of_unequal_classes_weighs_pairs():
    """One class of 5 equal rows has 10 pairs, one of 2 opposite rows has 1."""
    z = torch.tensor([[1.0, 0.0]] * 5 + [[0.0, 1.0], [0.0, -1.0]])
    assert geometry.tolerance(z, [0] * 5 + [1] * 2) == pytest.approx((10 * 1 + 1 * -1) / 11)


def test_anchor_29_tolerance():
    same = torch.ones(8, 3, dtype=torch.float64)
    assert geometry.tolerance(same, [0, 0, 0, 1, 1, 1, 2, 3]) == pytest.approx(1, abs=1e-10)
    orthogonal = torch.eye(2, dtype=torch.float64).repeat_interleave(4, 0)
    assert geometry.tolerance(orthogonal, [0] * 4 + [1] * 4) == pytest.approx(1, abs=1e-10)


def test_tolerance_keeps_its_digits_with_many_rows():
    """Squared class sums of tens of thousands of float32 rows would lose them."""
    z = points(20_000, 8, dtype=torch.float32)
    labels = torch.zeros(20_000, dtype=torch.long)
    unit = torch.nn.functional.normalize(z.double(), dim=1)
    exact = (unit.sum(0).square().sum() - 20_000) / (20_000 * 19_999)
    assert geometry.tolerance(z, labels) == pytest.approx(float(exact), abs=1e-8)


def test_zero_rows_are_counted_and_stand_at_right_angles():
    z = torch.tensor([[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    assert geometry.zero_rows(z) == 1 and geometry.zero_rows(z[:0]) == 0
    assert geometry.uniformity(z) == pytest.approx(math.log((1 + 2 * math.exp(-4)) / 3), abs=1e-6)


@pytest.mark.parametrize("d", [1, 3, 512])
def test_without_a_direction_there_is_no_value(d):
    """-4 would be better than the uniform distribution, an alignment of 0 perfect."""
    zero, labels = torch.zeros(20, d), np.arange(20) % 4
    assert math.isnan(geometry.uniformity(zero)) and math.isnan(pair_uniformity(zero.numpy()))
    assert math.isnan(geometry.alignment(zero, zero)) and math.isnan(geometry.alignment(zero, zero + 1))
    assert math.isnan(geometry.tolerance(zero, labels))
    one = zero.clone()
    one[3] = 1
    assert math.isnan(geometry.uniformity(one)) and math.isnan(geometry.tolerance(one, labels))
    two = one.clone()
    two[7] = 2  # of the same class as row 3
    assert geometry.alignment(two, two) == 0 and geometry.tolerance(two, labels) == pytest.approx(1 / (4 * 10))
    assert geometry.uniformity(two) == pytest.approx(math.log((1 + 189 * math.exp(-4)) / 190), abs=1e-6)
    assert pair_uniformity(two.numpy() / d**0.5 / np.r_[np.ones(7), 2, np.ones(12)][:, None]) == pytest.approx(
        geometry.uniformity(two), abs=1e-6
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: geometry.uniformity(torch.ones(1, 3)),
            "uniformity is a mean over pairs of points and needs at least 2 rows, got 1.",
        ),
        (
            lambda: geometry.uniformity(torch.ones(0, 3)),
            "uniformity is a mean over pairs of points and needs at least 2 rows, got 0.",
        ),
        (lambda: geometry.uniformity(torch.ones(3, 3), 0), "t must be a finite number > 0, got 0."),
        (lambda: geometry.uniformity(torch.ones(3)), "z must have shape (n, d) with d >= 1, got (3,)."),
        (
            lambda: geometry.uniformity(np.ones((3, 2), int)),
            "z must hold floating-point numbers, got torch.int64. Convert it to float first.",
        ),
        (
            lambda: geometry.uniformity(torch.tensor([[1.0, math.nan], [1.0, 1.0]])),
            "1 of the 2 rows of z are not finite (NaN or infinity). Leave them out first.",
        ),
        (
            lambda: geometry.alignment(torch.ones(3, 2), torch.ones(2, 2)),
            "z1 and z2 must have the same shape (n, d), got (3, 2) and (2, 2).",
        ),
        (lambda: geometry.alignment(torch.ones(3, 2), torch.ones(3, 2), 0), "alpha must be > 0, got 0."),
        (lambda: geometry.alignment(torch.ones(0, 2), torch.ones(0, 2)), "z1 must have at least 1 row, got 0."),
        (lambda: geometry.tolerance(torch.ones(3, 2), [1, 2]), "labels must have shape (3,), one per row of z, got (2,)."),
        (
            lambda: geometry.tolerance(torch.ones(3, 2), [1, 2, 3]),
            "tolerance needs two rows of the same class, got 3 rows of 3 different classes.",
        ),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text


MEASURE = """
import resource, torch
torch.set_num_threads(1)
from core import geometry
z = torch.randn(10_000, 128)
geometry.uniformity(z[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
geometry.uniformity(z)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_of_10_000_rows(root):
    """All their distances at once would be 200 MB."""
    out = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True, cwd=root)
    assert int(out.stdout) / (1 if sys.platform == "darwin" else 1 / 1024) < 60e6


def test_arrays_and_tensors_give_the_same():
    z = points(20, 4)
    assert geometry.uniformity(z.numpy()) == geometry.uniformity(z)
    assert_close(geometry.spectrum(z.numpy()), geometry.spectrum(z))
