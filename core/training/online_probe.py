"""The linear classifier that is trained beside the encoder, on h without gradient."""

import torch
from torch import nn

from core.models.conv import glorot_uniform
from core.training.optimisation import adam, decayed
from core.training.spec import RunSpec

LR = 1e-3  # always Adam


def build_online_probe(spec: RunSpec, h_dim: int, classes: int) -> nn.Linear:
    """A classifier [n, h_dim] -> [n, classes].

    Args:
        spec: Uses online_probe. "standard" starts as torch does. "notebook" starts Glorot-uniform, as Keras does, whose wider
            weights end some hundredths lower after 600 steps (google-research/simclr, randbits_mnist.ipynb).
        h_dim: Dimensions of h.
        classes: Number of classes.
    """
    probe = nn.Linear(h_dim, classes)
    if spec.online_probe == "notebook":
        glorot_uniform(probe)
    return probe


def build_probe_optimizer(spec: RunSpec, probe: nn.Linear) -> torch.optim.Optimizer:
    """Adam on the probe; in the notebook its weights decay as the encoder's do."""
    return adam(decayed([probe], spec.weight_decay if spec.online_probe == "notebook" else 0.0), LR)
