"""Full precision inside a loss, whatever the caller's autocast region says."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def full_precision(z: Tensor) -> AbstractContextManager:
    """A context in which matrix products keep the dtype of their inputs.

    Promoting half types to float32 is not enough: autocast would cast the product back to half.
    """
    device = z.device.type
    if not torch.amp.is_autocast_available(device):
        return nullcontext()  # the meta device, for one
    return torch.autocast(device, enabled=False)
