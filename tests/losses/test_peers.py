"""Parity with public implementations, each in its own convention."""

import pytest
import torch
from torch.testing import assert_close

from core.losses import dcl, info_nce, nt_xent

lightly_loss = pytest.importorskip("lightly.loss", reason="needs lightly, a developer's requirement")
metric_losses = pytest.importorskip("pytorch_metric_learning.losses", reason="needs pytorch-metric-learning")

TAUS = [0.02, 0.05, 0.1, 0.5, 1.0]


def views(n=24, d=16, dtype=torch.float64):
    random = torch.Generator().manual_seed(0)
    a = torch.randn(n, d, generator=random, dtype=torch.float64)
    return a.to(dtype), (a + torch.randn(n, d, generator=random, dtype=torch.float64)).to(dtype)


def both(ours, theirs, dtype):
    found = []
    for loss in (ours, theirs):
        a, b = (z.requires_grad_() for z in views(dtype=dtype))
        value = loss(a, b)
        value.backward()
        found.append((value.detach(), a.grad, b.grad))
    return found


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(("dtype", "rtol", "atol"), [(torch.float64, 1e-9, 1e-11), (torch.float32, 1e-4, 1e-5)])
def test_nt_xent_equals_lightly(tau, dtype, rtol, atol):
    ours, theirs = both(lambda a, b: nt_xent(a, b, tau), lightly_loss.NTXentLoss(temperature=tau), dtype)
    assert_close(ours, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(("dtype", "rtol", "atol"), [(torch.float64, 1e-9, 1e-11), (torch.float32, 1e-4, 1e-5)])
def test_nt_xent_equals_pytorch_metric_learning(tau, dtype, rtol, atol):
    """Its log adds a small number to the share, which shows where the share itself is small."""
    theirs = metric_losses.NTXentLoss(temperature=tau)
    labels = torch.arange(24).repeat(2)
    ours, theirs = both(lambda a, b: nt_xent(a, b, tau), lambda a, b: theirs(torch.cat([a, b]), labels), dtype)
    assert_close(ours, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize("tau", TAUS)
def test_dcl_equals_lightly(tau):
    ours, theirs = both(lambda a, b: dcl(a, b, tau), lightly_loss.DCLLoss(temperature=tau), torch.float64)
    assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("tau", TAUS)
def test_info_nce_equals_lightly_with_a_memory_bank(tau):
    torch.manual_seed(0)
    theirs = lightly_loss.NTXentLoss(temperature=tau, memory_bank_size=(48, 16))
    query, key = views(dtype=torch.float32)
    theirs(query.requires_grad_(), key)  # the bank now exists and holds the first keys
    bank = theirs.memory_bank.bank.clone()
    expected = theirs(query, key)
    queue = bank if bank.shape == (48, 16) else bank.T
    assert_close(info_nce(query, key, queue, tau), expected, rtol=1e-5, atol=1e-5)
