"""Schedules and optimisers against values worked out by hand."""

import math

import pytest
import torch
from torch import nn

from core.training import RunSpec
from core.training.optimisation import build_optimizer, scaled_learning_rate, schedule


def test_published_learning_rates():
    """theory.md anchor 70: 0.2 * sqrt(128) and 0.075 * sqrt(1024)."""
    assert scaled_learning_rate(0.2, 128, "sqrt") == pytest.approx(2.263, abs=1e-3)
    assert scaled_learning_rate(0.075, 1024, "sqrt") == pytest.approx(2.4, abs=1e-3)
    assert scaled_learning_rate(0.3, 512, "linear") == pytest.approx(0.6)
    assert scaled_learning_rate(0.3, 512, "none") == 0.3


def test_linear_decay_reaches_zero_after_the_last_step():
    factor = schedule(RunSpec(schedule="linear", epochs=10), steps_per_epoch=60)
    assert [factor(step) for step in (0, 300, 599, 600)] == pytest.approx([1, 0.5, 1 / 600, 0])


def test_warm_up_then_cosine():
    factor = schedule(RunSpec(schedule="cosine", epochs=10, warmup_epochs=2), steps_per_epoch=5)
    assert [factor(step) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert factor(10) == 1.0
    assert factor(30) == pytest.approx(0.5 * (1 + math.cos(math.pi / 2)))
    assert factor(50) == pytest.approx(0.0, abs=1e-12)


def test_constant():
    assert schedule(RunSpec(schedule="constant"), 3)(1_000) == 1.0


@pytest.mark.parametrize("name", ["adam", "sgd", "lars"])
def test_decay_falls_on_weights_only(name):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(2, 2))
    optimizer = build_optimizer(RunSpec(optimizer=name, lr=0.5, weight_decay=0.01), [net])
    decays = {id(p): group["weight_decay"] for group in optimizer.param_groups for p in group["params"]}
    assert {n: decays[id(p)] for n, p in net.named_parameters()} == {
        "0.weight": 0.01,
        "0.bias": 0.0,
        "1.weight": 0.0,
        "1.bias": 0.0,
        "3.weight": 0.01,
        "3.bias": 0.0,
    }


def test_first_adam_step_with_coupled_decay_by_hand():
    """The first Adam step is lr * g / (|g| + eps) with g = gradient + decay * weight, so its sign decides."""
    net = nn.Linear(2, 1, bias=False)
    net.weight.data = torch.tensor([[2.0, -3.0]])
    optimizer = build_optimizer(RunSpec(lr=0.1, weight_decay=0.5), [net])
    (net.weight * torch.tensor([[-0.5, 0.0]])).sum().backward()  # g = (-0.5 + 1, -1.5)
    optimizer.step()
    torch.testing.assert_close(net.weight.data, torch.tensor([[1.9, -2.9]]), rtol=0, atol=1e-6)


def test_lars_step_by_hand():
    """Local rate 0.001 * |w| / (|g| + decay * |w|) for weights; plain momentum step for the bias."""
    net = nn.Linear(2, 1)
    net.weight.data, net.bias.data = torch.tensor([[3.0, 4.0]]), torch.tensor([1.0])
    optimizer = build_optimizer(RunSpec(optimizer="lars", lr=0.5, weight_decay=0.1), [net])
    net(torch.tensor([[1.0, 0.0]])).backward()  # g = (1, 0), bias 1
    optimizer.step()
    local = 0.001 * 5 / (1 + 0.1 * 5)
    expected = torch.tensor([[3.0, 4.0]]) - 0.5 * local * (torch.tensor([[1.0, 0.0]]) + 0.1 * torch.tensor([[3.0, 4.0]]))
    torch.testing.assert_close(net.weight.data, expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(net.bias.data, torch.tensor([0.5]), rtol=0, atol=1e-6)
