"""The tiled log-sum-exp: tiles equal the whole, in value, gradient and memory."""

import subprocess
import sys

import pytest
import torch
from torch.testing import assert_close

from core.losses import kernel
from core.losses.normalise import unit_rows

TAUS = [0.005, 0.0156, 0.0157, 0.1, 2.0]


def unit(n, d, seed=0, dtype=torch.float64):
    return unit_rows(torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=dtype))


def whole(z, tau, offsets):
    """The same with the whole matrix."""
    logits = z @ z.T / tau
    for offset in offsets:
        if abs(offset) < len(z):
            logits = logits.masked_fill(torch.ones_like(logits).diagonal(offset).diag(offset).bool(), -torch.inf)
    return torch.logsumexp(logits, dim=1)


@pytest.fixture(params=[(3, 0), (4, 0), (100, 0), (4, 10**6), (100, 10**6)], ids=lambda p: f"tile{p[0]}-kept{p[1]}")
def tiling(request, monkeypatch):
    """Small tiles that do not divide the rows, recomputed or kept."""
    monkeypatch.setattr(kernel, "CPU_TILE", request.param[0])
    monkeypatch.setattr(kernel, "CPU_KEPT", request.param[1])


def gradient(function, *tensors):
    """Outputs and the gradients of a fixed random combination of them."""
    copies = [tensor.clone().requires_grad_() for tensor in tensors]
    outputs = function(*copies)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    weights = [torch.randn(o.shape, generator=torch.Generator().manual_seed(5), dtype=o.dtype) for o in outputs]
    sum((o * w).sum() for o, w in zip(outputs, weights, strict=True)).backward()
    return [o.detach() for o in outputs], [copy.grad for copy in copies]


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("mask_self", [True, False])
@pytest.mark.parametrize("leave_out", [0, 3, 5])
def test_self_equals_the_whole_matrix(tiling, tau, mask_self, leave_out):
    z = unit(10, 3)
    offsets = (0,) * mask_self + (leave_out, -leave_out) * bool(leave_out)
    ours = gradient(lambda z: kernel.self_log_sum_exp(z, tau, mask_self, leave_out), z)
    assert_close(ours, gradient(lambda z: whole(z, tau, offsets), z), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(("n", "m"), [(7, 7), (10, 4), (1, 9)])
def test_cross_equals_the_whole_matrix(tiling, tau, n, m):
    def direct(x, y):
        logits = x @ y.T / tau
        return torch.logsumexp(logits, dim=1), torch.logsumexp(logits, dim=0)

    ours = gradient(lambda x, y: kernel.cross_log_sum_exp(x, y, tau), unit(n, 3), unit(m, 3, seed=1))
    assert_close(ours, gradient(direct, unit(n, 3), unit(m, 3, seed=1)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("tau", TAUS)
def test_rows_equal_the_whole_matrix(tiling, tau):
    x, y = unit(7, 3), unit(11, 3, seed=1)
    ours = gradient(lambda x, y: kernel.row_log_sum_exp(x, y, tau), x, y)
    assert_close(ours, gradient(lambda x, y: torch.logsumexp(x @ y.T / tau, dim=1), x, y), rtol=1e-10, atol=1e-12)


def test_rows_without_a_gradient_for_the_candidates(tiling):
    x, y = unit(7, 3).requires_grad_(), unit(11, 3, seed=1)
    kernel.row_log_sum_exp(x, y, 0.1).sum().backward()
    expected = x.detach().clone().requires_grad_()
    torch.logsumexp(expected @ y.T / 0.1, dim=1).sum().backward()
    assert_close(x.grad, expected.grad, rtol=1e-10, atol=1e-12)
    assert y.grad is None


@pytest.mark.parametrize("tau", [0.01, 0.1])
def test_finite_differences(tiling, tau):
    z = unit(6, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: kernel.self_log_sum_exp(z, tau, True), (z,), eps=1e-7, atol=1e-4)
    x, y = unit(5, 3).requires_grad_(), unit(4, 3, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, y: kernel.cross_log_sum_exp(x, y, tau), (x, y), eps=1e-7, atol=1e-4)


@pytest.mark.parametrize("tau", [0.01, 0.1])
def test_backward_twice_over_the_same_graph(tiling, tau):
    """Kept tiles must survive the first backward pass."""
    z = unit(10, 3).requires_grad_()
    value = kernel.self_log_sum_exp(z, tau, True).sum()
    (first,) = torch.autograd.grad(value, z, retain_graph=True)
    (second,) = torch.autograd.grad(value, z)
    assert_close(second, first, rtol=0, atol=0)


def test_second_derivatives_are_refused_aloud():
    """A graph of gradients would take the hand-written ones for constants and be silently wrong."""
    z = unit(4, 3).requires_grad_()
    for value in (kernel.self_log_sum_exp(z, 0.1, True).sum(), unit_rows(z).sum()):
        with pytest.raises(RuntimeError) as error:
            torch.autograd.grad(value, z, create_graph=True)
        assert str(error.value) == "The contrastive losses have first derivatives only. Call backward without create_graph=True."


def test_nothing_is_kept_without_a_gradient(monkeypatch):
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: saved.append(tensor) or tensor, lambda tensor: tensor):
        kernel.self_log_sum_exp(unit(50, 3), 0.1, True)
        assert not [tensor for tensor in saved if tensor.shape == (50, 50)]
        kernel.self_log_sum_exp(unit(50, 3).requires_grad_(), 0.1, True)
        assert [tensor.shape for tensor in saved if tensor.shape == (50, 50)]


MEASURE = """
import resource, sys, torch
torch.set_num_threads(1)
from core.losses import nt_xent
n = int(sys.argv[1])
z1, z2 = (torch.randn(n, 128, requires_grad=True) for _ in range(2))
nt_xent(z1[:64], z2[:64], 0.1).backward()  # libraries loaded, threads started
z1.grad = z2.grad = None
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nt_xent(z1, z2, float(sys.argv[2])).backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("tau", ["0.1", "0.01"])
def test_memory_of_4096_pairs(root, tau):
    """The whole matrix alone would be 256 MB; plain implementations hold several of it."""
    out = subprocess.run([sys.executable, "-c", MEASURE, "4096", tau], capture_output=True, text=True, check=True, cwd=root)
    extra = int(out.stdout) / (1 if sys.platform == "darwin" else 1 / 1024)  # bytes on macOS, kilobytes elsewhere
    assert extra < 80e6
