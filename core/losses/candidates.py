"""InfoNCE with explicit candidates: one positive key and a set of negatives, as in MoCo."""

import torch
from torch import Tensor

from core.losses import checks
from core.losses.kernel import row_log_sum_exp
from core.losses.normalise import unit_rows
from core.losses.precision import full_precision


def info_nce(query: Tensor, key: Tensor, queue: Tensor, tau: float) -> Tensor:
    """Find each query's key among K + 1 candidates: the key, at index 0, and K negatives.

    Args:
        query: Shape (n, d), floating; rows need not be normalised.
        key: The positive of each query, same shape. Receives a gradient unless it is detached.
        queue: Negatives, shape (K, d) shared by all queries or (n, K, d) for each its own; treated as constants.
        tau: Temperature, finite and > 0, no unit.

    Returns:
        Scalar >= 0 in nats, mean over queries; log(K + 1) when all embeddings are equal.

    Raises:
        ValueError: If shapes do not fit, there is no query or no negative, or tau is not > 0.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: van den Oord et al. 2018, equation 4; facebookresearch/moco, moco/builder.py.
    """
    tau = checks.temperature(tau)
    q, k = checks.pair(query, key, names=("query", "key"))
    negatives = torch.as_tensor(queue)
    own = negatives.ndim == 3
    shape = "(n, K, d)" if own else "(K, d)"
    flat = checks.embeddings(negatives.flatten(0, 1) if own else negatives, "queue")
    if flat.shape[1] != q.shape[1] or (own and len(negatives) != len(q)):
        raise ValueError(f"queue must have shape {shape} that fits the queries {tuple(q.shape)}, got {tuple(negatives.shape)}.")
    value = info_nce_value(q, k, negatives, tau)
    checks.finite(value, query=q, key=k, queue=flat)
    return value


def info_nce_value(query: Tensor, key: Tensor, queue: Tensor, tau: float) -> Tensor:
    """The same without checks."""
    dtype = torch.promote_types(query.dtype, torch.float32)
    with full_precision(query):
        q, k = unit_rows(query.to(dtype)), unit_rows(key.to(dtype))
        negatives = unit_rows(queue.detach().to(dtype).flatten(0, -2)).view(queue.shape)
        positive = (q * k).sum(dim=1) / tau  # (n,)
        if queue.ndim == 3:
            others = torch.logsumexp(torch.einsum("nd,nkd->nk", q, negatives) / tau, dim=1)  # (n,)
        else:
            others = row_log_sum_exp(q, negatives, tau)
        return torch.nn.functional.softplus(others - positive).mean()  # log(1 + sum / positive), never below 0
