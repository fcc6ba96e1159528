"""The two kinds of online probe: how they start, and what decays in them."""

import math

import pytest
import torch

from core.training import RunSpec
from core.training.online_probe import build_online_probe, build_probe_optimizer


@pytest.mark.parametrize(
    ("kind", "bound"),
    [("standard", 1 / math.sqrt(128)), ("notebook", math.sqrt(6 / (128 + 10)))],  # torch's and Glorot's uniform start
)
def test_the_start_fills_its_range(kind, bound):
    torch.manual_seed(0)
    probe = build_online_probe(RunSpec(online_probe=kind), 128, 10)
    assert 0.98 * bound < float(probe.weight.detach().abs().max()) <= bound
    assert (probe.bias == 0).all() == (kind == "notebook")


@pytest.mark.parametrize(("kind", "expected"), [("standard", 0.0), ("notebook", 0.3)])
def test_only_the_notebook_s_probe_decays_and_only_its_weight(kind, expected):
    spec = RunSpec(online_probe=kind, weight_decay=0.3, lr=0.5)
    probe = build_online_probe(spec, 8, 3)
    groups = build_probe_optimizer(spec, probe).param_groups
    assert [(group["params"][0] is probe.weight, group["weight_decay"], group["lr"]) for group in groups] == [
        (True, expected, 1e-3),
        (False, 0.0, 1e-3),
    ]
