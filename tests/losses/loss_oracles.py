"""Losses written as slowly and plainly as possible: one anchor and one candidate at a time, in float64.

Gradients come from torch's own differentiation of these loops, which share no code with core.losses.
"""

import torch


def unit(row):
    """A row divided by its norm; a row of zeros stays."""
    norm = torch.sqrt((row * row).sum())
    return row / norm if norm.detach() > 0 else row * 0


def cosine(x, y):
    return (unit(x) * unit(y)).sum()


def log_sum(values):
    """log of the sum of exponentials of a list of scalars."""
    top = max(float(value.detach()) for value in values)
    return top + torch.log(sum(torch.exp(value - top) for value in values))


def nt_xent(z1, z2, tau):
    rows, n = [*z1, *z2], len(z1)
    losses = []
    for i in range(2 * n):
        positive = (i + n) % (2 * n)
        logits = {k: cosine(rows[i], rows[k]) / tau for k in range(2 * n) if k != i}
        losses.append(log_sum([*logits.values()]) - logits[positive])
    return sum(losses) / (2 * n)


def cross_view(z1, z2, tau):
    n, total = len(z1), 0.0
    for first, second in ((z1, z2), (z2, z1)):
        for i in range(n):
            logits = [cosine(first[i], second[k]) / tau for k in range(n)]
            total = total + (log_sum(logits) - logits[i]) / n
    return total


def dcl(z1, z2, tau):
    rows, n = [*z1, *z2], len(z1)
    losses = []
    for i in range(2 * n):
        positive = (i + n) % (2 * n)
        negatives = [cosine(rows[i], rows[k]) / tau for k in range(2 * n) if k not in (i, positive)]
        losses.append(log_sum(negatives) - cosine(rows[i], rows[positive]) / tau)
    return sum(losses) / (2 * n)


def alignment(z1, z2):
    return sum(1 - cosine(x, y) for x, y in zip(z1, z2, strict=True)) / len(z1)


def log_sum_exp(z, tau, mask_self=True):
    total = 0.0
    for i in range(len(z)):
        total = total + log_sum([cosine(z[i], z[k]) / tau for k in range(len(z)) if k != i or not mask_self])
    return total / len(z)


def squared_differences(z1, z2):
    """Sum over pairs and dimensions."""
    return sum(((x - y) ** 2).sum() for x, y in zip(z1, z2, strict=True))


def sliced_wasserstein(z, sample, directions, normalise):
    """The unnormalised sum of Algorithm 1 for a given prior sample (b, d) and directions (d, d')."""
    rows = [unit(row) for row in z] if normalise else list(z)
    total = 0.0
    for j in range(directions.shape[1]):
        ours = sorted(((row * directions[:, j]).sum() for row in rows), key=lambda value: float(value.detach()))
        theirs = sorted(float((row * directions[:, j]).sum()) for row in sample)
        total = total + sum((a - b) ** 2 for a, b in zip(ours, theirs, strict=True))
    return total


def log_mean_potential(z, t):
    """log of the mean of exp(-t |x - y|^2) over pairs i < j."""
    values = [-t * ((unit(z[i]) - unit(z[j])) ** 2).sum() for i in range(len(z)) for j in range(i)]
    return log_sum(values) - torch.log(torch.tensor(float(len(values)), dtype=torch.float64))


def info_nce(query, key, negatives, tau):
    """negatives: (n, K, d)."""
    losses = []
    for q, k, others in zip(query, key, negatives, strict=True):
        logits = [cosine(q, k) / tau, *(cosine(q, other.detach()) / tau for other in others)]
        losses.append(log_sum(logits) - logits[0])
    return sum(losses) / len(losses)


def gradients(function, *tensors):
    """Value and gradients of a scalar function with respect to float64 copies of these tensors."""
    copies = [tensor.detach().double().requires_grad_() for tensor in tensors]
    value = function(*copies)
    if not (torch.is_tensor(value) and value.requires_grad):
        return value, [torch.zeros_like(copy) for copy in copies]
    found = torch.autograd.grad(value, copies, allow_unused=True)
    return value.detach(), [torch.zeros_like(c) if g is None else g for g, c in zip(found, copies, strict=True)]
