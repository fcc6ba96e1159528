"""The log-sum-exp term and the alignment on their own."""

import math

import loss_oracles as oracle
import pytest
import torch
from torch.testing import assert_close

from core.losses import NotFiniteError, alignment, log_sum_exp


def rows(n, d, seed=0, dtype=torch.float64):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("tau", [0.005, 0.05, 0.5, 10.0])
@pytest.mark.parametrize("mask_self", [True, False])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2), (7, 4)])  # an odd number of rows is fine too
def test_log_sum_exp_equals_the_slow_loop(tau, mask_self, n, d):
    z = rows(n, d)
    ours = z.clone().requires_grad_()
    value = log_sum_exp(ours, tau, mask_self)
    value.backward()
    expected, (grad,) = oracle.gradients(lambda z: oracle.log_sum_exp(z, tau, mask_self), z)
    assert_close(value.detach(), expected, rtol=1e-10, atol=1e-12)
    assert_close(ours.grad, grad, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tau", [0.01, 0.1, 3.0])
def test_identical_rows(tau):
    z = torch.ones(9, 4, dtype=torch.float64)
    assert float(log_sum_exp(z, tau)) == pytest.approx(1 / tau + math.log(8), abs=1e-10)
    assert float(log_sum_exp(z, tau, mask_self=False)) == pytest.approx(1 / tau + math.log(9), abs=1e-10)


def test_order_of_rows_does_not_matter():
    z = rows(9, 4)
    assert_close(log_sum_exp(z[torch.randperm(9)], 0.1), log_sum_exp(z, 0.1), rtol=1e-12, atol=1e-12)


def test_bfloat16_in_an_autocast_region():
    z = rows(9, 4, dtype=torch.bfloat16)
    z[3] = 0
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = log_sum_exp(z, 0.05)
    assert value.dtype == torch.float32 and value == log_sum_exp(z.float(), 0.05)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (dict(z=torch.ones(1, 3)), "z must have at least 2 rows and 1 dimension, got shape (1, 3)."),
        (dict(z=torch.ones(3)), "z must have shape (rows, d), got (3,)."),
        (dict(tau=-1), "tau must be a finite number > 0, got -1."),
    ],
)
def test_bad_input_is_named(arguments, text):
    with pytest.raises(ValueError) as error:
        log_sum_exp(**{"z": torch.ones(4, 3), "tau": 0.1, **arguments})
    assert str(error.value) == text


def test_rows_that_are_not_finite_are_counted():
    z = rows(4, 3)
    z[:3] = torch.nan
    with pytest.raises(NotFiniteError, match="3 of the 4 rows of z are not finite"):
        log_sum_exp(z, 0.1)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 4), (5, 3)])
def test_alignment_equals_the_slow_loop(n, d):
    a, b = rows(n, d), rows(n, d, seed=1)
    ours = [a.clone().requires_grad_(), b.clone().requires_grad_()]
    value = alignment(*ours)
    value.backward()
    expected, grads = oracle.gradients(oracle.alignment, a, b)
    assert_close(value.detach(), expected, rtol=1e-12, atol=1e-14)
    assert_close([z.grad for z in ours], grads, rtol=1e-10, atol=1e-13)


def test_alignment_by_hand():
    a = torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0], [0.0, 0.0]])
    b = torch.tensor([[5.0, 0.0], [0.0, -1.0], [0.0, 4.0], [1.0, 1.0]])
    assert [float(alignment(x[None], y[None])) for x, y in zip(a, b, strict=True)] == [0, 2, 1, 1]  # zeros: a right angle


def test_alignment_stays_exact_where_views_almost_agree():
    """1 - cosine in float32 would be lost in the rounding of 1."""
    a, angle = torch.tensor([[1.0, 0.0]]), 1e-5
    b = torch.tensor([[math.cos(angle), math.sin(angle)]])
    assert float(alignment(a, b)) == pytest.approx(angle**2 / 2, rel=1e-3)
    assert float(alignment(a, a)) == 0
