"""NCE: slow loop, what it learns, edges."""

import math

import loss_oracles as oracle
import pytest
import torch
from torch.testing import assert_close

from core.losses import NotFiniteError, nce


def rows(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("offset", [0.0, -1.5, 2.0])
def test_nce_equals_the_slow_loop(offset):
    pos, neg = rows(5), rows(5, 7, seed=1)
    ours = [pos.clone().requires_grad_(), neg.clone().requires_grad_()]
    value = nce(*ours, log_noise_ratio=offset)
    value.backward()

    def slow(pos, neg):
        total = 0.0
        for p, noise in zip(pos, neg, strict=True):
            total = total - torch.log(torch.sigmoid(p - offset)) - sum(torch.log(1 - torch.sigmoid(s - offset)) for s in noise)
        return total / 5

    expected, grads = oracle.gradients(slow, pos, neg)
    assert_close(value.detach(), expected, rtol=1e-10, atol=1e-12)
    assert_close([z.grad for z in ours], grads, rtol=1e-9, atol=1e-12)


def test_nce_offset_per_sample():
    pos, neg, offset = rows(5), rows(5, 7, seed=1), rows(5, 8, seed=2)
    assert_close(nce(pos, neg, offset), nce(pos - offset[:, 0], neg - offset[:, 1:]))


def test_nce_finds_the_normalised_density():
    """With the offset, free scores converge to log p: NCE learns a density. Without it they are off by the noise."""
    data = torch.tensor([0] * 5 + [1] * 3 + [2] * 2)  # three outcomes with probabilities 0.5, 0.3, 0.2
    noise = torch.tensor([0, 0, 1, 1, 2, 2]).expand(10, 6)  # K = 6 of a uniform noise: K p_noise = 2
    log_density = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log()
    for offset, expected in ((math.log(2), log_density), (0.0, log_density - math.log(2))):
        scores = torch.zeros(3, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([scores], max_iter=200, line_search_fn="strong_wolfe", tolerance_grad=1e-12)

        def closure(scores=scores, offset=offset, optimizer=optimizer):
            optimizer.zero_grad()
            loss = nce(scores[data], scores[noise], offset)
            loss.backward()
            return loss

        optimizer.step(closure)
        assert_close(scores.detach(), expected, rtol=0, atol=1e-4)


def test_nce_extreme_scores_are_finite():
    assert float(nce(torch.tensor([-1000.0]), torch.tensor([[1000.0, -1000.0]]))) == pytest.approx(2000)
    assert float(nce(torch.tensor([1000.0]), torch.tensor([[-1000.0]]))) == 0


@pytest.mark.parametrize(
    ("pos", "neg"), [(torch.ones(3), torch.ones(4, 2)), (torch.ones(3, 1), torch.ones(3, 2)), (torch.ones(0), torch.ones(0, 2))]
)
def test_nce_bad_shapes_are_named(pos, neg):
    with pytest.raises(ValueError) as error:
        nce(pos, neg)
    assert str(error.value) == (
        f"pos_score must have shape (n,) and neg_scores (n, K) with n >= 1, got {tuple(pos.shape)} and {tuple(neg.shape)}."
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_nce_narrow_inputs(dtype):
    pos, neg = rows(5).to(dtype), rows(5, 7, seed=1).to(dtype)
    value = nce(pos, neg, 0.5)
    assert value.dtype == torch.float32
    assert_close(value.double(), nce(pos.double(), neg.double(), 0.5), rtol=1e-6, atol=1e-6)


def test_nce_counts_rows_that_are_not_finite():
    pos = torch.zeros(3)
    pos[1] = torch.nan
    with pytest.raises(NotFiniteError, match="1 of the 3 rows of logits are not finite"):
        nce(pos, torch.zeros(3, 2))
