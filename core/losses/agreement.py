"""How far the gradient of the generalized loss points in the direction of NT-Xent's, for each weight and convention.

Runs in the analysis process. The answer to "is lambda = tau NT-Xent?": in our convention yes, with the self term nearly,
in the notebook's only at lambda = tau / d.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.losses import generalized, nt_xent

# Rows of the answer: options of `generalized`, in this order.
CONVENTIONS = (dict(mask_self=True), dict(mask_self=False), dict(convention="notebook"))
MAX_IMAGES, MAX_DIM = 512, 512


def gradient_agreement(
    tau: float, lams: NDArray[np.float64], n: int = 64, dim: int = 128, noise: float = 0.5, seed: int = 0
) -> NDArray[np.float64]:
    """Cosine between the gradients of the generalized loss and of NT-Xent, at random embeddings.

    Args:
        tau: Temperature of both, > 0.
        lams: Weights, shape (m,), all >= 0; the notebook's are meant on its own scale.
        n: Images, 2 to 512.
        dim: Dimension of the embeddings, 2 to 512.
        noise: The second view is the first plus this times standard normal noise.
        seed: Of the embeddings.

    Returns:
        Shape (3, m): self-similarity masked, kept, and the authors' notebook. Gradients are with respect to rows before
        they are normalised, all rows in one vector.

    Raises:
        ValueError: If n or dim is out of range, or tau or a weight is.
    """
    if not 2 <= n <= MAX_IMAGES or not 2 <= dim <= MAX_DIM:
        raise ValueError(f"n must be from 2 to {MAX_IMAGES} and dim from 2 to {MAX_DIM}, got {n} and {dim}.")
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(n, dim, dtype=torch.float64, generator=generator)
    b = a + noise * torch.randn(n, dim, dtype=torch.float64, generator=generator)
    x = torch.cat([a, b])
    target = _gradient(lambda left, right: nt_xent(left, right, tau), x)
    target = target / target.norm()
    rows = []
    for options in CONVENTIONS:
        # The gradient is linear in lam: pull + lam * push, so two derivatives serve all weights.
        pull = _gradient(lambda left, right, o=options: generalized(left, right, tau=tau, lam=0.0, **o).total, x)
        push = _gradient(lambda left, right, o=options: generalized(left, right, tau=tau, lam=1.0, **o).total, x) - pull
        rows.append([_cosine(pull + lam * push, target) for lam in lams])
    return np.array(rows)


def _gradient(loss, x: Tensor) -> Tensor:
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(*leaf.chunk(2)), leaf)
    return gradient


def _cosine(gradient: Tensor, unit: Tensor) -> float:
    return float((gradient * unit).sum() / gradient.norm())
