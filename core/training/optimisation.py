"""Optimisers and learning-rate schedules of a RunSpec."""

import math
from collections.abc import Callable, Iterable

import torch
from torch import nn

from core.training.spec import RunSpec


def scaled_learning_rate(lr: float, batch_size: int, scaling: str) -> float:
    """Base rate times sqrt(batch) ("sqrt"), batch / 256 ("linear") or 1 ("none").

    Source: google-research/simclr, model_util.py.
    """
    return lr * {"none": 1.0, "sqrt": math.sqrt(batch_size), "linear": batch_size / 256}[scaling]


def schedule(spec: RunSpec, steps_per_epoch: int) -> Callable[[int], float]:
    """Factor on the learning rate at a step: linear warm-up to 1, then cosine or linear decay to 0, or constant."""
    total = max(1, spec.epochs * steps_per_epoch)
    warmup = min(total, round(spec.warmup_epochs * steps_per_epoch))

    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        share = min(1.0, (step - warmup) / max(1, total - warmup))
        if spec.schedule == "cosine":
            return 0.5 * (1 + math.cos(math.pi * share))
        return 1 - share if spec.schedule == "linear" else 1.0

    return factor


def adam(parameters: Iterable, lr: float) -> torch.optim.Adam:
    """Adam with one call per step for all parameters: with tensors as small as ours, calls take longer than sums."""
    return torch.optim.Adam(parameters, lr=lr, fused=True)


def decayed(modules: Iterable[nn.Module], weight_decay: float) -> list[dict]:
    """The trainable parameters in groups: decay for convolution and dense weights, none for biases and batch norm."""
    parameters = [parameter for module in modules for parameter in module.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def build_optimizer(spec: RunSpec, modules: list[nn.Module]) -> torch.optim.Optimizer:
    """Adam, SGD with momentum 0.9, or LARS over the trainable parameters.

    Weight decay falls on convolution and dense weights only; biases and batch norm are left out of it, and of
    LARS' adaptation (google-research/simclr, lars_optimizer.py). Adam's decay is the coupled L2 term.
    """
    groups = decayed(modules, spec.weight_decay)
    lr = scaled_learning_rate(spec.lr, spec.batch_size, spec.lr_scaling)
    if spec.optimizer == "adam":
        return adam(groups, lr)
    if spec.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=lr, momentum=0.9)
    from timm.optim import Lars

    # always_adapt=False: groups without weight decay take plain momentum steps, as in the SimCLR code
    return Lars(groups, lr=lr, momentum=0.9, trust_coeff=0.001, always_adapt=False)
