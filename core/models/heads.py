"""Projection heads: the small network between the representation h and the embedding z of the loss."""

from torch import nn

from core.models.conv import glorot_uniform
from core.training.spec import RunSpec


def build_head(spec: RunSpec, h_dim: int) -> nn.Module:
    """A head of `spec.head_layers` layers; 0 is the identity (the loss sees h), 1 is linear.

    Hidden layers are dense + batch norm + ReLU, the last one is dense without bias. `head_norm="all"` adds a
    batch norm after the last layer, as SimCLR's repository does; "none" leaves batch norm out and gives hidden
    layers a bias.

    Args:
        spec: Uses head_layers, head_hidden, head_dim, head_norm, bn_momentum and bn_eps.
        h_dim: Dimensions of h.

    Returns:
        A module [n, h_dim] -> [n, head_dim]; its attribute `z_dim` says how many dimensions come out.
    """
    if spec.head_layers == 0:
        return identity(h_dim)
    hidden = spec.head_hidden or (2 * h_dim if spec.encoder == "conv" else h_dim)
    norm = dict(momentum=spec.bn_momentum, eps=spec.bn_eps)
    layers: list[nn.Module] = []
    last = h_dim
    for _ in range(spec.head_layers - 1):
        layers.append(nn.Linear(last, hidden, bias=spec.head_norm == "none"))
        if spec.head_norm != "none":
            layers.append(nn.BatchNorm1d(hidden, **norm))
        layers.append(nn.ReLU(inplace=True))
        last = hidden
    layers.append(nn.Linear(last, spec.head_dim, bias=False))
    if spec.head_norm == "all":
        layers.append(nn.BatchNorm1d(spec.head_dim, **norm))
    head = nn.Sequential(*layers)
    head.apply(glorot_uniform)
    head.z_dim = spec.head_dim
    return head


def no_head(encoder: nn.Module) -> nn.Module:
    """For objectives that look at h itself: z is h."""
    return identity(encoder.h_dim)


def identity(dim: int) -> nn.Module:
    """Passes [n, dim] on, and says so in `z_dim`."""
    module = nn.Identity()
    module.z_dim = dim
    return module
