"""Numbered reference values of the losses. Numbers are stable names; those missing here are in the file of their module.

4, 34-36, 38-40, 64-66: test_candidates; 5: test_decoupled; 14: test_family; 17: also test_reference;
37, 41, 42: test_softmax; 51-58: test_wasserstein; 23-33 and 59-63: tests/geometry; 49, 50, 70 belong to the data sets
and to training.
"""

import math

import pytest
import torch
from torch.testing import assert_close

from core.losses import cross_view, generalized, log_sum_exp, nt_xent, reference

TAUS = (0.1, 0.2, 0.5, 1.0)


def matrix(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def views(n=64, d=128, noise=None, seed=0):
    random = torch.Generator().manual_seed(seed)
    a = torch.randn(n, d, generator=random, dtype=torch.float64)
    b = torch.randn(n, d, generator=random, dtype=torch.float64)
    return (a, b) if noise is None else (a, a + noise * b)


def gradient(loss, a, b):
    a, b = a.clone().requires_grad_(), b.clone().requires_grad_()
    return torch.cat([grad.flatten() for grad in torch.autograd.grad(loss(a, b), (a, b))])


@pytest.mark.parametrize(
    ("n", "expected"), [(64, 4.8442), (128, 5.5413), (256, 6.2364), (512, 6.9305), (1000, 7.6004), (1024, 7.6241)]
)
def test_01_nt_xent_collapsed(n, expected):
    same = torch.full((n, 5), 0.3, dtype=torch.float64)
    for tau in (0.01, 0.1, 1.0):
        assert float(nt_xent(same, same, tau)) == pytest.approx(math.log(2 * n - 1), abs=1e-10)
    assert reference.chance(2 * n - 1) == pytest.approx(expected, abs=1e-4)


def test_02_unmasked_collapsed():
    same = torch.ones(64, 5, dtype=torch.float64)
    assert float(log_sum_exp(torch.cat([same, same]), 0.2, mask_self=False)) - 5 == pytest.approx(math.log(128), abs=1e-10)


@pytest.mark.parametrize("n", [2, 64, 1000])
def test_03_cross_view_collapsed(n):
    same = torch.ones(n, 5, dtype=torch.float64)
    assert float(cross_view(same, same, 0.1)) == pytest.approx(2 * math.log(n), abs=1e-10)


def test_06_one_image():
    a, b = views(1)
    for tau in TAUS:
        assert float(nt_xent(a, b, tau)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("tau", "expected"), [(0.1, 9.08e-5), (0.2, 0.013386), (0.5, 0.239545), (1, 0.551445)])
def test_07_two_orthogonal_aligned_pairs(tau, expected):
    z = torch.eye(2, dtype=torch.float64)
    assert float(nt_xent(z, z, tau)) == pytest.approx(math.log(1 + 2 * math.exp(-1 / tau)), abs=1e-12)
    assert float(nt_xent(z, z, tau)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("tau", "expected"), [(0.5, 0.035976), (1, 0.239545)])
def test_08_antipodal_pairs(tau, expected):
    z = matrix((1, 0), (-1, 0))
    assert float(nt_xent(z, z, tau)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("tau", "expected"), [(0.5, 2.239545), (1, 1.551445)])
def test_09_positives_swapped(tau, expected):
    z = torch.eye(2, dtype=torch.float64)
    assert float(nt_xent(z, z.flip(0), tau)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "expected", "tolerance"),
    [
        (8, (1.5e-4, 0.04514, 0.88534, 1.69831), 1e-5),
        (32, (0.00204, 0.30419, 2.18228, 3.13916), 1e-5),
        (128, (0.0106, 0.97281, 3.55071, 4.54019), 1e-4),
        (512, (0.04449, 2.05657, 4.93284, 5.93022), 1e-5),
    ],
)
def test_10_to_13_simplex(n, expected, tolerance):
    assert [reference.simplex(n, tau) for tau in TAUS] == pytest.approx(expected, abs=tolerance)
    if n <= 32:
        centred = torch.eye(n, dtype=torch.float64) - 1 / n
        assert [float(nt_xent(centred, centred, tau)) for tau in TAUS] == pytest.approx(expected, abs=tolerance)


def test_15_gcl_collapsed():
    same = torch.ones(64, 8, dtype=torch.float64)
    terms = generalized(same, same, tau=0.5, lam=1.0)
    assert float(terms.total) == pytest.approx(6.844187, abs=1e-6)
    assert float(terms.alignment) == 0


def test_16_notebook_alignment():
    a, b = views()
    cosines = torch.nn.functional.cosine_similarity(a, b)
    found = generalized(a, b, tau=0.5, lam=1.0, convention="notebook").alignment
    assert float(found) == pytest.approx(float((1 - cosines.mean()) / 128), abs=1e-12)


@pytest.mark.parametrize("tau", TAUS)
def test_17_notebook_value(tau):
    a, b = views()
    notebook = generalized(a, b, tau=tau, lam=0.7 / 128, convention="notebook").total
    ours = generalized(a, b, tau=tau, lam=0.7, mask_self=False).total
    assert float(128 * notebook) == pytest.approx(float(ours - 0.7 * math.log(128)), abs=1e-12)


@pytest.mark.parametrize("tau", TAUS)
def test_18_notebook_gradient(tau):
    a, b = views(noise=0.5)
    notebook = gradient(lambda x, y: generalized(x, y, tau=tau, lam=tau / 128, convention="notebook").total, a, b)
    unmasked = gradient(lambda x, y: generalized(x, y, tau=tau, lam=tau, mask_self=False).total / tau, a, b)
    assert float(torch.nn.functional.cosine_similarity(notebook, unmasked, dim=0)) == pytest.approx(1, abs=1e-6)
    assert float(notebook.norm() / unmasked.norm()) == pytest.approx(tau / 128, rel=1e-6)


def test_19_notebook_gradient_with_the_wrong_weight():
    """lam = tau in the notebook is not NT-Xent: at small tau it even points the other way."""
    a, b = views(noise=0.5)
    wrong = gradient(lambda x, y: generalized(x, y, tau=0.1, lam=0.1, convention="notebook").total, a, b)
    right = gradient(lambda x, y: nt_xent(x, y, 0.1), a, b)
    assert float(torch.nn.functional.cosine_similarity(wrong, right, dim=0)) == pytest.approx(-0.88, abs=0.05)


@pytest.mark.parametrize("tau", TAUS)
def test_20_official_objective_is_twice_ours(tau):
    """Two cross entropies, one per view, each a mean over n anchors; self-similarity pushed away by a large number."""
    a, b = (torch.nn.functional.normalize(z, dim=1) for z in views())
    diagonal = torch.eye(64, dtype=torch.float64) * 1e9
    official = 0.0
    for x, y in ((a, b), (b, a)):
        logits = torch.cat([x @ y.T, x @ x.T - diagonal], dim=1) / tau
        official = official + torch.nn.functional.cross_entropy(logits, torch.arange(64))
    assert float(official) == pytest.approx(2 * float(nt_xent(a, b, tau)), abs=1e-12)
    ours = generalized(a, b, tau=tau, lam=tau).total
    assert float(official) == pytest.approx(float(2 * (ours - 1) / tau), abs=1e-10)


def test_21_symmetry():
    a, b = views()
    order = torch.randperm(64, generator=torch.Generator().manual_seed(1))
    for loss in (nt_xent, cross_view):
        assert_close(loss(b, a, 0.1), loss(a, b, 0.1), rtol=0, atol=1e-12)
        assert_close(loss(a[order], b[order], 0.1), loss(a, b, 0.1), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("tau", "share"), [(0.05, 1.0), (0.07, 0.999), (0.1, 0.967), (0.2, 0.208), (0.3, 0.050), (0.5, 0.014), (1.0, 0.005)]
)
def test_22_share_of_the_self_term(tau, share):
    """512 uniform points: what exp(1/tau) makes up of each row's sum."""
    z = torch.nn.functional.normalize(views(512)[0], dim=1)
    weights = torch.softmax(z @ z.T / tau, dim=1)
    assert float(weights.diagonal().mean()) == pytest.approx(share, abs=2e-3)
    both = [float(log_sum_exp(z, tau, mask_self=mask)) for mask in (True, False)]
    assert both[1] - both[0] == pytest.approx(float(-torch.log(1 - weights.diagonal()).mean()), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n", [128, 256, 512, 1000])
def test_43_to_45_randbit_floor(n):
    bits = (0, 2, 4, 5, 6, 8, 10, 12, 16)
    table = {
        128: (5.5413, 4.1549, 2.7678, 2.0734, 1.4077, 0.4807, 0.1319, 0.0338, 0.0021),
        256: (6.2364, 4.8501, 3.4636, 2.7697, 2.0754, 0.8600, 0.2564, 0.0673, 0.0043),
        512: (6.9305, 5.5442, 4.1579, 3.4646, 2.7707, 1.4111, 0.4829, 0.1326, 0.0085),
        1000: (7.6004, 6.2141, 4.8278, 4.1346, 3.4413, 2.0533, 0.8457, 0.2514, 0.0167),
    }
    assert [reference.randbit_floor(n, b) for b in bits] == pytest.approx(table[n], abs=1e-4)
    saturation = {128: 7.9944, 256: 8.9972, 512: 9.9986, 1000: 10.9651}
    assert reference.saturation_bits(n) == pytest.approx(saturation[n], abs=1e-4)


def test_46_the_information_line_is_not_a_bound():
    assert reference.randbit_floor(256, 6) == pytest.approx(2.0754, abs=1e-4)
    assert reference.information_line(256, 6) == pytest.approx(2.0775, abs=1e-4)
    lines = [reference.information_line(256, bits) for bits in (0, 2, 4, 5, 6, 8, 10)]
    assert lines == pytest.approx((6.2364, 4.8501, 3.4638, 2.7706, 2.0775, 0.6912, 0), abs=1e-4)


@pytest.mark.parametrize(
    ("tau", "expected"),
    [
        (0.05, (4.8559, 3.4927, 2.1937, 1.0960, 0.4042, 0.0078)),
        (0.1, (4.8561, 3.4934, 2.1963, 1.1037, 0.4195, 0.0305)),
        (0.2, (4.8758, 3.5862, 2.5138, 1.8587, 1.5956, 1.4916)),
        (0.5, (5.1944, 4.5807, 4.3427, 4.2731, 4.2549, 4.2489)),
    ],
)
def test_47_orthogonal_codes(tau, expected):
    found = [reference.randbit_floor_finite_tau(256, bits, tau) for bits in (2, 4, 6, 8, 10, 16)]
    assert found == pytest.approx(expected, abs=1e-4)


def test_48_cross_view_floor():
    found = [reference.randbit_floor(1000, bits, "cross_view") for bits in (0, 5, 10, 15, 20)]
    assert found == pytest.approx((6.9078, 3.4576, 0.5619, 0.0210, 0.0007), abs=1e-4)


def test_67_mean_field():
    taus = (0.07, 0.1, 0.2, 0.5, 1)
    assert [reference.mean_field(128, 128, t) for t in taus] == pytest.approx((0.0004, 0.0169, 1.0602, 3.5812, 4.5518), abs=1e-4)
    assert [reference.mean_field(512, 128, t) for t in taus] == pytest.approx((0.0014, 0.0662, 2.1508, 4.9522, 5.9361), abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("tau", [1e-3, 1e-2, 0.1, 1.0])
def test_68_numerical_safety(dtype, tau):
    a, b = (z[:, :16].to(dtype) for z in views(noise=0.5))
    a[3] = 0
    for loss in (nt_xent, cross_view, lambda x, y, t: generalized(x, y, tau=t, lam=1.0).total):
        narrow, wide = loss(a, b, tau), loss(a.double(), b.double(), tau)
        assert narrow.isfinite() and narrow.dtype == torch.float32
        assert float(narrow) == pytest.approx(float(wide), rel=1e-5, abs=2e-7 / tau)


def test_69_masked_not_subtracted():
    """exp(1/tau) taken off afterwards gives the same value, but a gradient that also pulls on each row's own product.

    With respect to unit rows its norm is 0.94 times as large; the normalisation, whose gradient has no part along the
    row, takes the difference out again. Masking is right in both places, and does not overflow.
    """
    a, b = views(64, 128, noise=0.5)
    rows = torch.nn.functional.normalize(torch.cat([a, b]), dim=1)

    def masked(z):
        logits = (z @ z.T / 0.5).masked_fill(torch.eye(128, dtype=torch.bool), -torch.inf)
        return torch.logsumexp(logits, dim=1).mean() - (z[:64] * z[64:]).sum(dim=1).mean() / 0.5

    def subtracted(z):
        sums = torch.exp(z @ z.T / 0.5).sum(dim=1) - math.exp(1 / 0.5)
        return torch.log(sums).mean() - (z[:64] * z[64:]).sum(dim=1).mean() / 0.5

    assert float(subtracted(rows)) == pytest.approx(float(nt_xent(a, b, 0.5)), abs=1e-10)
    free = [torch.autograd.grad(loss(z := rows.clone().requires_grad_()), z)[0].norm() for loss in (subtracted, masked)]
    assert float(free[0] / free[1]) == pytest.approx(0.94, abs=0.02)

    def on_sphere(loss):
        return gradient(lambda x, y: loss(torch.nn.functional.normalize(torch.cat([x, y]), dim=1)), a, b)

    ours = gradient(lambda x, y: nt_xent(x, y, 0.5), a, b)
    assert_close(on_sphere(masked), ours, rtol=1e-8, atol=1e-11)
    assert_close(on_sphere(subtracted), ours, rtol=1e-8, atol=1e-11)
