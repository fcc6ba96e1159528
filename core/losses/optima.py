"""What a free score learns under cross entropy, NCE and InfoNCE: a posterior, a density, a ratio.

A small world with known answers: x takes M values, two contexts each have their own density over them. For each loss
the exact expected value is minimised over a table of M scores, and the table can be compared with the closed form.
Pages import this module, so it uses numpy and scipy only.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]


class World(NamedTuple):
    """Densities over M cells; each sums to 1."""

    x: Floats  # (M,) cell centres
    first: Floats  # (M,) p(x | context 1), the context the scores are learned for
    second: Floats  # (M,) p(x | context 2)
    marginal: Floats  # (M,) p(x), contexts equally likely


class Learned(NamedTuple):
    """What the scores came to mean, beside the closed form."""

    fitted: Floats  # (M,) from minimising the loss
    theory: Floats  # (M,)


def small_world(cells: int = 41) -> World:
    """Two overlapping bumps on [-1, 1], the first one wider, with a second small bump of its own."""
    x = np.linspace(-1, 1, cells)
    first = np.exp(-((x + 0.25) ** 2) / 0.08) + 0.5 * np.exp(-((x - 0.7) ** 2) / 0.02) + 0.02
    second = np.exp(-((x - 0.35) ** 2) / 0.05) + 0.02
    first, second = first / first.sum(), second / second.sum()
    return World(x, first, second, (first + second) / 2)


def _minimise(value_and_slope, size: int) -> Floats:
    """Scores at the minimum of a convex expected loss, from a start at zero."""
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10}
    return minimize(value_and_slope, np.zeros(size), jac=True, method="L-BFGS-B", options=options).x


def learn_posterior(world: World) -> Learned:
    """Cross entropy over the two classes; the score is the difference of their logits. Theory: P(context 1 | x)."""
    joint_first, joint_second = world.first / 2, world.second / 2

    def loss(score: Floats) -> tuple[float, Floats]:
        value = (joint_first * np.logaddexp(0, -score) + joint_second * np.logaddexp(0, score)).sum()
        return value, world.marginal * expit(score) - joint_first

    fitted = expit(_minimise(loss, len(world.x)))
    return Learned(fitted, joint_first / world.marginal)


def learn_density(world: World, noise_per_sample: int, offset: bool = True) -> Learned:
    """NCE against uniform noise. Theory: exp(score) = p(x | context 1), with no normaliser computed anywhere.

    Args:
        world: Densities.
        noise_per_sample: Noise samples k for each data sample, >= 1.
        offset: Subtract log(k p_noise) inside the sigmoid. Without it (negative sampling) exp(score) becomes
            p(x | context 1) / (k p_noise): a ratio that depends on k.
    """
    noise = np.full(len(world.x), 1 / len(world.x))
    log_ratio = np.log(noise_per_sample * noise) if offset else np.zeros(len(world.x))

    def loss(score: Floats) -> tuple[float, Floats]:
        logit = score - log_ratio
        value = (world.first * np.logaddexp(0, -logit) + noise_per_sample * noise * np.logaddexp(0, logit)).sum()
        return value, (world.first + noise_per_sample * noise) * expit(logit) - world.first

    fitted = np.exp(_minimise(loss, len(world.x)))
    return Learned(fitted, world.first if offset else world.first / (noise_per_sample * noise))


def learn_ratio(world: World, candidates: int) -> Learned:
    """InfoNCE with negatives from p(x). Theory: exp(score) = p(x | context 1) / p(x), up to one constant.

    Both results are scaled to mean 1 under p(x), because the constant is free.

    Args:
        world: Densities.
        candidates: N including the positive: 2 or 3, for which the expectation is summed exactly.

    Raises:
        ValueError: For another number of candidates.
    """
    if candidates not in (2, 3):
        raise ValueError(f"candidates must be 2 or 3, the sizes summed exactly, got {candidates}.")
    positive, negative = world.first, world.marginal

    def loss(score: Floats) -> tuple[float, Floats]:
        e = np.exp(score - score.max())
        if candidates == 2:
            weight = positive[:, None] * negative[None, :]  # (positive, negative)
            total = e[:, None] + e[None, :]
            share = weight / total
            value = (weight * np.log(total)).sum() - positive @ np.log(e)
            return value, e * (share.sum(1) + share.sum(0)) - positive
        weight = positive[:, None, None] * negative[None, :, None] * negative[None, None, :]
        total = e[:, None, None] + e[None, :, None] + e[None, None, :]
        share = weight / total
        value = (weight * np.log(total)).sum() - positive @ np.log(e)
        return value, e * (share.sum((1, 2)) + share.sum((0, 2)) + share.sum((0, 1))) - positive

    fitted = np.exp(_minimise(loss, len(world.x)))
    return Learned(fitted / (negative @ fitted), positive / negative)  # the ratio's mean under p(x) is 1 already
