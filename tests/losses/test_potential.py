"""Alignment + lam * uniformity as a loss."""

import math

import loss_oracles as oracle
import pytest
import torch
from torch.testing import assert_close

from core.losses import align_uniform


def views(n, d, seed=0):
    random = torch.Generator().manual_seed(seed)
    a = torch.randn(n, d, generator=random, dtype=torch.float64)
    return a, a + 0.5 * torch.randn(n, d, generator=random, dtype=torch.float64)


@pytest.mark.parametrize("lam", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("t", [0.5, 2, 3, 60])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (6, 4)])
def test_value_and_gradient_equal_the_slow_loop(lam, t, n, d):
    a, b = views(n, d)

    def slow(x, y):
        return 2 * oracle.alignment(x, y) + lam * (oracle.log_mean_potential(x, t) + oracle.log_mean_potential(y, t)) / 2

    ours = [a.clone().requires_grad_(), b.clone().requires_grad_()]
    terms = align_uniform(*ours, lam=lam, t=t)
    terms.total.backward()
    expected, grads = oracle.gradients(slow, a, b)
    assert_close(terms.total.detach(), expected, rtol=1e-9, atol=1e-11)
    assert_close([z.grad for z in ours], grads, rtol=1e-8, atol=1e-11)
    assert_close(terms.total, terms.alignment + lam * terms.distribution)


def test_collapsed_and_antipodal():
    same = torch.ones(5, 3, dtype=torch.float64)
    assert_close(tuple(align_uniform(same, same)), (torch.zeros((), dtype=torch.float64),) * 3, rtol=0, atol=1e-12)
    poles = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    assert float(align_uniform(poles, poles).distribution) == pytest.approx(-8, abs=1e-12)


def test_same_as_the_log_sum_exp_with_half_the_inverse_width():
    """Uniformity is a log-sum-exp with tau = 1 / (2t), up to the place of the outer mean."""
    a, _ = views(2, 3)  # two rows: one pair, so both means agree
    cosine = torch.nn.functional.cosine_similarity(a[:1], a[1:])
    assert float(align_uniform(a, a, t=2).distribution) == pytest.approx(float(4 * cosine - 4), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dict(z1=torch.ones(1, 3), z2=torch.ones(1, 3)), "z1 must have at least 2 rows and 1 dimension, got shape (1, 3)."),
        (dict(t=0), "t must be a finite number > 0, got 0."),
        (dict(lam=-0.5), "lam must be a finite number >= 0, got -0.5."),
    ],
)
def test_bad_input_is_named(change, text):
    with pytest.raises(ValueError) as error:
        align_uniform(**{"z1": torch.ones(4, 3), "z2": torch.ones(4, 3), **change})
    assert str(error.value) == text


def test_half_input_is_promoted():
    a, b = (z.half() for z in views(6, 4))
    terms = align_uniform(a, b)
    assert terms.total.dtype == torch.float32
    assert_close(tuple(terms), tuple(align_uniform(a.float(), b.float())), rtol=0, atol=0)
    assert math.isfinite(terms.total)
