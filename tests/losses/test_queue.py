"""MoCo's queue and momentum encoder, and five training steps against a slow oracle."""

import copy

import loss_oracles as oracle
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from core.losses import KeyQueue, info_nce, momentum_update


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def rows(n, d, seed=0):
    return torch.randn(n, d, generator=seeded(seed))


def test_starts_with_random_directions():
    queue = KeyQueue(12, 5, 4, 100, generator=seeded())
    assert queue.keys.shape == (12, 5)
    assert_close(queue.keys.norm(dim=1), torch.ones(12))
    assert len(queue.keys.unique(dim=0)) == 12
    assert_close(KeyQueue(12, 5, 4, 100, generator=seeded()).keys, queue.keys)


def test_first_in_first_out():
    queue = KeyQueue(6, 3, 2, 100, generator=seeded())
    start = queue.keys.clone()
    batches = [torch.nn.functional.normalize(rows(2, 3, seed), dim=1) for seed in range(5)]
    queue.enqueue(batches[0] * 7)  # normalised on the way in
    assert_close(queue.keys, torch.cat([batches[0], start[2:]]))
    for batch in batches[1:]:
        queue.enqueue(batch)
    assert_close(queue.keys, torch.cat([batches[3], batches[4], batches[2]]))
    assert int(queue.position) == 4


def test_keys_carry_no_gradient_and_old_graphs_stay_valid():
    queue = KeyQueue(4, 3, 2, 100, generator=seeded())
    query, key = rows(2, 3).requires_grad_(), rows(2, 3, 1).requires_grad_()
    loss = info_nce(query, key, queue.keys, 0.1)
    expected = torch.autograd.grad(loss, query, retain_graph=True)
    queue.enqueue(key)
    assert not queue.keys.requires_grad
    assert_close(torch.autograd.grad(loss, query), expected)


def test_content_is_saved_and_restored():
    queue, other = KeyQueue(4, 3, 2, 100, generator=seeded()), KeyQueue(4, 3, 2, 100, generator=seeded(1))
    queue.enqueue(rows(2, 3))
    other.load_state_dict(queue.state_dict())
    for one in (queue, other):
        one.enqueue(rows(2, 3, 5))
    assert_close(other.state_dict(), queue.state_dict())
    assert [*queue.state_dict()] == ["keys", "position"]
    assert not [*queue.parameters()]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((100, 3, 50, 100), "queue: must be smaller than the 100 training images, or positives sit in it as negatives, got 100"),
        ((150, 3, 50, 100), "queue: must be smaller than the 100 training images, or positives sit in it as negatives, got 150"),
        ((10, 3, 4, 100), "queue: must be a multiple of the batch size 4, got 10"),
        ((0, 3, 4, 100), "size, dim and batch_size of the queue must be >= 1, got 0, 3 and 4."),
    ],
)
def test_sizes_that_do_not_fit_are_refused(arguments, text):
    with pytest.raises(ValueError) as error:
        KeyQueue(*arguments)
    assert str(error.value) == text


@pytest.mark.parametrize("shape", [(1, 3), (2, 4), (3, 3)])
def test_batches_that_do_not_fit_are_refused(shape):
    with pytest.raises(ValueError) as error:
        KeyQueue(4, 3, 2, 100).enqueue(torch.ones(shape))
    assert str(error.value) == f"The queue takes keys of shape (2, 3), got {shape}. Leave the last incomplete batch out."


def test_half_keys_are_stored_in_full():
    queue = KeyQueue(4, 3, 2, 100)
    queue.enqueue(rows(2, 3).bfloat16())
    assert queue.keys.dtype == torch.float32 and queue.keys.isfinite().all()


def encoder(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))


@pytest.mark.parametrize("m", [0.0, 0.9, 0.999, 1.0])
def test_momentum_update(m):
    query, key = encoder(0), encoder(1)
    query[1].running_mean.fill_(5)
    before = copy.deepcopy(key)
    momentum_update(query, key, m)
    for q, k, old in zip(query.parameters(), key.parameters(), before.parameters(), strict=True):
        assert_close(k, m * old + (1 - m) * q, rtol=1e-5, atol=1e-7)
    assert_close(dict(key.named_buffers()), dict(before.named_buffers()))  # batch norm's statistics are its own


@pytest.mark.parametrize("m", [-0.1, 1.1, float("nan")])
def test_momentum_out_of_range_is_refused(m):
    with pytest.raises(ValueError) as error:
        momentum_update(encoder(), encoder(), m)
    assert str(error.value) == f"m must be from 0 to 1, got {m}."


def test_momentum_between_different_encoders_is_refused():
    with pytest.raises(ValueError) as error:
        momentum_update(encoder(), nn.Linear(4, 3), 0.9)
    assert str(error.value) == "The query and key encoders must have the same parameters. Make one a deep copy of the other."


def test_five_steps_equal_a_slow_oracle():
    """Queue content, momentum weights, losses and query weights, with everything in plain lists on the other side."""
    torch.manual_seed(0)
    query, m, tau, lr = nn.Linear(4, 3).double(), 0.8, 0.2, 0.5
    key = copy.deepcopy(query).requires_grad_(False)
    queue = KeyQueue(6, 3, 2, 50, generator=seeded()).double()
    slow_query, slow_key = ([p.detach().clone() for p in query.parameters()] for _ in range(2))
    slow_queue = [row.clone() for row in queue.keys]

    for step in range(5):
        a, b = rows(2, 4, 2 * step).double(), rows(2, 4, 2 * step + 1).double()

        momentum_update(query, key, m)
        keys = key(b)
        loss = info_nce(query(a), keys, queue.keys, tau)
        query.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in query.parameters():
                p -= lr * p.grad
        queue.enqueue(keys)

        slow_key = [m * k + (1 - m) * q for k, q in zip(slow_key, slow_query, strict=True)]
        leaves = [p.clone().requires_grad_() for p in slow_query]
        slow_keys = [slow_key[0] @ row + slow_key[1] for row in b]
        slow_loss = oracle.info_nce([leaves[0] @ row + leaves[1] for row in a], slow_keys, [slow_queue] * 2, tau)
        grads = torch.autograd.grad(slow_loss, leaves)
        slow_query = [p - lr * g for p, g in zip(slow_query, grads, strict=True)]
        slow_queue = [*slow_queue[2:], *(oracle.unit(k) for k in slow_keys)]  # oldest first

        assert_close(loss.detach(), slow_loss.detach(), rtol=1e-10, atol=1e-12)
        assert_close([p.detach() for p in query.parameters()], slow_query, rtol=1e-10, atol=1e-12)
        assert_close([*key.parameters()], slow_key, rtol=1e-10, atol=1e-12, check_stride=False)
        oldest_first = queue.keys.roll(-int(queue.position), dims=0)
        assert_close(oldest_first, torch.stack(slow_queue), rtol=1e-10, atol=1e-12)
