"""InfoNCE with explicit candidates: slow loop, the cross entropy it is, limits of the temperature, information."""

import math

import loss_oracles as oracle
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from core.losses import NotFiniteError, info_nce


def rows(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("tau", [0.005, 0.05, 0.2, 10.0])
@pytest.mark.parametrize("own", [False, True], ids=["shared", "own"])
@pytest.mark.parametrize(("n", "k", "d"), [(1, 1, 2), (3, 5, 4), (2, 3, 1)])
def test_info_nce_equals_the_slow_loop(tau, own, n, k, d):
    query, key = rows(n, d), rows(n, d, seed=1)
    queue = rows(n, k, d, seed=2) if own else rows(k, d, seed=2)
    ours = [query.clone().requires_grad_(), key.clone().requires_grad_()]
    value = info_nce(*ours, queue, tau)
    value.backward()
    negatives = queue if own else queue.expand(n, k, d)
    expected, grads = oracle.gradients(lambda q, p: oracle.info_nce(q, p, negatives, tau), query, key)
    assert_close(value.detach(), expected, rtol=1e-10, atol=1e-12)
    assert_close([z.grad for z in ours], grads, rtol=1e-9, atol=1e-12)


def test_info_nce_is_cross_entropy_with_target_0():
    query, key, queue = rows(6, 4), rows(6, 4, seed=1), rows(9, 4, seed=2)
    q, k, negatives = (F.normalize(z, dim=1) for z in (query, key, queue))
    logits = torch.cat([(q * k).sum(1, keepdim=True), q @ negatives.T], dim=1) / 0.07  # (n, 1 + K)
    assert_close(info_nce(query, key, queue, 0.07), F.cross_entropy(logits, torch.zeros(6, dtype=torch.long)))


def test_the_queue_is_a_constant():
    query, key, queue = (rows(4, 3, seed=i).requires_grad_() for i in range(3))
    info_nce(query, key, queue, 0.1).backward()
    assert query.grad is not None and key.grad is not None and queue.grad is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("autocast", [False, True])
def test_info_nce_narrow_inputs(dtype, autocast):
    query, key, queue = (rows(5, 4, seed=i, dtype=dtype) for i in range(3))
    key[2] = 0
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        value = info_nce(query, key, queue, 0.05)
    assert value.dtype == torch.float32
    query, key, queue = (z.double() for z in (query, key, queue))
    assert_close(value.double(), oracle.info_nce(query, key, queue.expand(5, 5, 4), 0.05), rtol=1e-5, atol=1e-5)


def test_anchor_04_moco_collapsed():
    same = torch.ones(2, 4, dtype=torch.float64)
    assert float(info_nce(same, same, torch.ones(65_536, 4, dtype=torch.float64), 0.07)) == pytest.approx(11.090370, abs=1e-6)
    assert float(info_nce(same, same, torch.ones(65_536, 4), 0.07)) == pytest.approx(math.log(65_537), abs=1e-5)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dict(key=torch.ones(3, 3)), "query and key must have the same shape (n, d), got (4, 3) and (3, 3)."),
        (dict(queue=torch.ones(5, 2)), "queue must have shape (K, d) that fits the queries (4, 3), got (5, 2)."),
        (dict(queue=torch.ones(2, 5, 3)), "queue must have shape (n, K, d) that fits the queries (4, 3), got (2, 5, 3)."),
        (dict(queue=torch.ones(0, 3)), "queue must have at least 1 row and 1 dimension, got shape (0, 3)."),
        (dict(query=torch.ones(0, 3), key=torch.ones(0, 3)), "query must have at least 1 row and 1 dimension, got shape (0, 3)."),
        (dict(tau=0), "tau must be a finite number > 0, got 0."),
    ],
)
def test_info_nce_bad_input_is_named(change, text):
    arguments = {"query": torch.ones(4, 3), "key": torch.ones(4, 3), "queue": torch.ones(5, 3), "tau": 0.1, **change}
    with pytest.raises(ValueError) as error:
        info_nce(**arguments)
    assert str(error.value) == text


def test_info_nce_counts_rows_that_are_not_finite():
    queue = torch.ones(5, 3)
    queue[:2] = torch.inf
    with pytest.raises(NotFiniteError, match="0 of the 4 rows of query, 0 of the 4 rows of key, 2 of the 5 rows of queue"):
        info_nce(torch.ones(4, 3), torch.ones(4, 3), queue, 0.1)


def scores_as_embeddings(positive, negatives):
    """A query e1 and candidates on the circle that have exactly these cosines with it."""
    cosines = torch.tensor([1.0, positive, *negatives], dtype=torch.float64)
    points = torch.stack([cosines, (1 - cosines.square()).sqrt()], dim=1)
    return points[:1], points[1:2], points[2:]


def test_anchor_34_softmax_shares():
    """exp(-loss) is the positive's share."""
    for tau, share in ((0.05, 0.7309), (0.1, 0.5438), (0.5, 0.0154)):
        loss = info_nce(*scores_as_embeddings(0.8, [0.75] + [0.1] * 255), tau)
        assert math.exp(-loss) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize(
    ("tau", "expected", "tolerance"),
    [
        (0.5, (-1.501089, 0.909076, 0.408474, 0.183539), 1e-6),
        (0.1, (-9.534020, 9.359456, 0.171424, 0.003140), 1e-5),
    ],
)
def test_anchors_35_and_36_gradient_weights(tau, expected, tolerance):
    """dL/ds read through the chain rule: along the tangent of the circle, ds = -sin(angle) d(angle)."""
    query, key, negatives = scores_as_embeddings(0.2, [0.5, 0.1, -0.3])
    candidates = torch.cat([key, negatives])
    found = []
    for i in range(4):
        step = 1e-6
        losses = []
        for sign in (1, -1):
            moved = candidates.clone()
            angle = torch.atan2(moved[i, 1], moved[i, 0]) + sign * step
            moved[i] = torch.stack([torch.cos(angle), torch.sin(angle)])
            losses.append(info_nce(query, moved[:1], moved[1:], tau))
        found.append(float((losses[0] - losses[1]) / (2 * step) / -candidates[i, 1]))
    assert found == pytest.approx(expected, abs=tolerance * 5)
    assert sum(found) == pytest.approx(0, abs=tolerance * 5)


def test_anchor_38_cold_limit():
    scores = scores_as_embeddings(0.2, [0.5, 0.1, -0.3])
    for tau, expected in ((0.1, 0.306620), (0.05, 0.300141), (0.01, 0.300000), (0.001, 0.3)):
        assert tau * float(info_nce(*scores, tau)) == pytest.approx(expected, abs=1e-6)


def test_anchor_39_cold_limit_where_the_positive_wins():
    assert 0.005 * float(info_nce(*scores_as_embeddings(0.6, [0.5, 0.1, -0.3]), 0.005)) == pytest.approx(0, abs=1e-6)


def test_anchor_40_hot_limit():
    scores = scores_as_embeddings(0.2, [0.5, 0.1, -0.3])
    for tau, expected in ((1, -0.035309), (10, -0.070916), (100, -0.074591), (1000, -0.074959)):
        assert tau * (float(info_nce(*scores, tau)) - math.log(4)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("dim", "candidates", "expected", "tolerance"),
    [
        (1, 8, 0.679, 0.06), (1, 64, 0.816, 0.06), (1, 512, 0.830, 0.06),
        (4, 8, 1.776, 0.02), (4, 64, 2.841, 0.07), (4, 512, 3.175, 0.08),
        (10, 8, 2.071, 0.01), (10, 64, 4.088, 0.03), (10, 512, 5.900, 0.03),
    ],
)
def test_anchors_64_to_66_information_bound(dim, candidates, expected, tolerance):
    """log N - L of the optimal critic on correlated Gaussians stays below log N and below the true information."""
    random, rho, anchors = np.random.default_rng(dim * 1000 + candidates), 0.9, 4000
    x = random.normal(size=(anchors, 1, dim))
    y = random.normal(size=(anchors, candidates, dim))
    y[:, :1] = rho * x + math.sqrt(1 - rho**2) * y[:, :1]
    critic = torch.from_numpy(-((y - rho * x) ** 2).sum(-1) / (2 * (1 - rho**2)) + (y**2).sum(-1) / 2)  # log p(y|x)/p(y)
    loss = F.cross_entropy(critic, torch.zeros(anchors, dtype=torch.long))
    estimate = math.log(candidates) - float(loss)
    assert estimate == pytest.approx(expected, abs=tolerance)
    assert estimate < min(math.log(candidates), -dim / 2 * math.log(1 - rho**2) + tolerance)
