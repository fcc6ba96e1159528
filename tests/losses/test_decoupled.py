"""DCL, whose denominator leaves the positive out."""

import math

import loss_oracles as oracle
import pytest
import torch
from torch.testing import assert_close

from core.losses import dcl


def rows(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("tau", [0.005, 0.05, 0.5, 10.0])
@pytest.mark.parametrize(("n", "d"), [(2, 2), (5, 3)])
def test_dcl_equals_the_slow_loop(tau, n, d):
    a, b = rows(n, d), rows(n, d, seed=1)
    ours = [a.clone().requires_grad_(), b.clone().requires_grad_()]
    value = dcl(*ours, tau)
    value.backward()
    expected, grads = oracle.gradients(lambda x, y: oracle.dcl(x, y, tau), a, b)
    assert_close(value.detach(), expected, rtol=1e-10, atol=1e-12)
    assert_close([z.grad for z in ours], grads, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [2, 64, 256])
def test_anchor_05_dcl_collapsed(n):
    same = torch.ones(n, 4, dtype=torch.float64)
    assert float(dcl(same, same, 0.1)) == pytest.approx(math.log(2 * n - 2), abs=1e-10)


def test_dcl_needs_a_negative():
    with pytest.raises(ValueError) as error:
        dcl(torch.ones(1, 3), torch.ones(1, 3), 0.1)
    assert str(error.value) == "z1 must have at least 2 rows and 1 dimension, got shape (1, 3)."
