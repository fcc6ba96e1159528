"""Hand-written gradients stop at the first derivative, and say so."""

from collections.abc import Callable
from functools import wraps

import torch


def first_derivative_only(backward: Callable) -> Callable:
    """Refuse to be part of a graph of gradients, in which this one would silently count as a constant.

    Args:
        backward: The backward of an autograd function.

    Raises:
        RuntimeError: When it is called with create_graph=True.
    """

    @wraps(backward)
    def checked(ctx, *grads):
        if torch.is_grad_enabled():
            raise RuntimeError("The contrastive losses have first derivatives only. Call backward without create_graph=True.")
        return backward(ctx, *grads)

    return checked
