"""Noise-contrastive estimation: each sample on its own, data or noise."""

import torch
import torch.nn.functional as F
from torch import Tensor

from core.losses import checks
from core.losses.precision import full_precision


def nce(pos_score: Tensor, neg_scores: Tensor, log_noise_ratio: float | Tensor = 0.0) -> Tensor:
    """Binary cross entropy of data against noise, P(data | s) = sigmoid(s - log_noise_ratio).

    Args:
        pos_score: Log of the unnormalised model density at the data, shape (n,), floating.
        neg_scores: The same at K noise samples for each, shape (n, K).
        log_noise_ratio: log(K p_noise(u)), a number or a tensor that broadcasts to (n, 1 + K), data first. 0 gives
            negative sampling, which does not estimate a density.

    Returns:
        Scalar >= 0 in nats: mean over data of -log P(data) minus the sum over its noise of log P(noise).

    Raises:
        ValueError: If the shapes do not fit, there is no row, or a score is not finite.

    Source: Gutmann & Hyvärinen 2010, equation 8, with the noise ratio nu = K.
    """
    pos, neg = torch.as_tensor(pos_score), torch.as_tensor(neg_scores)
    if pos.ndim != 1 or neg.ndim != 2 or len(pos) != len(neg) or len(pos) == 0:
        raise ValueError(
            f"pos_score must have shape (n,) and neg_scores (n, K) with n >= 1, got {tuple(pos.shape)} and {tuple(neg.shape)}."
        )
    neg = checks.embeddings(neg, "neg_scores")
    with full_precision(neg):
        logits = torch.cat([pos.to(neg.dtype)[:, None], neg], dim=1) - log_noise_ratio  # (n, 1 + K)
        value = F.softplus(-logits[:, 0]).mean() + F.softplus(logits[:, 1:]).sum(dim=1).mean()
    checks.finite(value, logits=logits)
    return value
