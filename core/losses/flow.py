"""Points that move under the true gradient of a loss: the moving picture of the loss-family page.

The points themselves are the parameters, on the circle, the sphere or free in the plane; there is no encoder. Each step goes
along the Riemannian gradient (the gradient's part along the sphere) and back onto the sphere by normalising.

Step rule. No point moves further than `REACH` in one step, which keeps the picture smooth, and the step length comes from
  - losses without sampling: the Barzilai-Borwein length of the last two steps, halved until the loss falls by at least
    1e-4 of what the gradient promises (Armijo). The loss never rises, whatever tau, and no constant needs tuning to it.
  - sliced Wasserstein losses, whose value is new at each call: the mean of `DRAWS` fresh draws, and the step
    1 / (2 + k / 10) divided by a bound on the curvature, so that the noise averages out (Robbins and Monro).
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.losses import from_spec, generalized, nt_xent
from core.losses.terms import LossTerms
from core.losses.trajectory import DIMENSIONS, ON_PLANE, Identity, Space, Trajectory
from core.training.spec import RunSpec

REACH = 0.015  # the furthest a point moves in one step; radius of the sphere is 1
STEPS_PER_FRAME = 2
DRAWS = 4  # of the sliced Wasserstein distance in one evaluation
ARMIJO = 1e-4
STILL = 1e-7  # largest gradient of a point, times the number of points, at which nothing moves any more
HALVINGS = 40
MAX_POINTS = 1000
MAX_FRAMES = 1000
STARTS = ("cluster", "random", "collapsed")


class Objective(NamedTuple):
    """What is minimised, and which of its parts take part."""

    loss: object  # from core.losses.from_spec
    pull: bool
    push: bool
    weight: float  # of the distribution term
    sampled: bool

    def terms(self, x: Tensor, step: int, seed: int) -> LossTerms:
        """Terms at points x (2n, d), total replaced when a part is switched off; equal step and seed give equal draws."""
        a, b = x.chunk(2)
        if not self.sampled:
            return self._select(self.loss(a, b, None))
        generator = torch.Generator().manual_seed(seed * 1_000_003 + step)
        draws = [self._select(self.loss(a, b, generator)) for _ in range(DRAWS)]
        return LossTerms(*(torch.stack(part).mean() for part in zip(*draws, strict=True)))

    def _select(self, terms: LossTerms) -> LossTerms:
        if self.pull and self.push:
            return terms
        return terms._replace(total=terms.alignment if self.pull else self.weight * terms.distribution)


def trajectory(
    objective: str = "gcl",
    tau: float = 0.5,
    lam: float | None = None,
    *,
    space: Space = "circle",
    pull: bool = True,
    push: bool = True,
    mask_self: bool = True,
    convention: str = "standard",
    points: int = 200,
    frames: int = 150,
    start: str = "cluster",
    seed: int = 0,
) -> Trajectory:
    """Let points move under a loss.

    Args:
        objective: Objective of RunSpec with two views and no queue.
        tau: Temperature, > 0.
        lam: Weight of the distribution term, >= 0; None as in RunSpec.
        space: "circle", "sphere", or "plane" for the hypercube and normal priors, whose rows are not normalised.
        pull: Whether the alignment takes part.
        push: Whether the distribution term takes part.
        mask_self: Leave each row out of its own log-sum-exp.
        convention: "standard" or "notebook".
        points: Rows 2n, even, 4 to 1000.
        frames: Kept positions after the start, 1 to 1000.
        start: "cluster" (a loose arc, views apart), "random" (all over), or "collapsed" (almost one point).
        seed: Of the start and of the sampled losses.

    Returns:
        The trajectory; equal arguments give equal arrays.

    Raises:
        ValueError: If an option is out of range, or space and objective do not fit.
    """
    _check(objective, space, points, frames, start, pull, push)
    spec = RunSpec(objective=objective, tau=tau, lam=lam, mask_self=mask_self, convention=convention)
    goal = Objective(from_spec(spec), pull, push, spec.weight, objective.startswith("swd"))
    on_sphere = space != "plane"
    walk = (Sampled if goal.sampled else Descent)(goal, starting_points(space, points, start, seed), on_sphere, seed)
    positions, values = [walk.x], [walk.terms]
    for _ in range(frames):
        for _ in range(STEPS_PER_FRAME):
            walk.step()
        positions.append(walk.x)
        values.append(walk.terms)
    total, alignment, distribution = np.array(values).T
    identity = check_identity(walk.x, tau) if on_sphere else None
    kept = torch.stack(positions).numpy().astype(np.float32)
    return Trajectory(kept, total, alignment, distribution, walk.steps, walk.still, identity)


def starting_points(space: Space, points: int, start: str, seed: int) -> Tensor:
    """Rows (2n, d) in float64: n images, then their second views a little apart."""
    generator = torch.Generator().manual_seed(seed)
    n, d = points // 2, DIMENSIONS[space]
    flat = space == "plane"
    spread, jitter = {"cluster": (0.25 if flat else 0.55, 0.25), "random": (None, 0.25), "collapsed": (0.02, 0.01)}[start]
    centre = torch.zeros(n, d, dtype=torch.float64)
    centre[:, 0] = 1
    noise = torch.randn(n, d, dtype=torch.float64, generator=generator)
    images = 1.5 * noise if spread is None else centre + spread * noise
    if not flat:
        images = F.normalize(images, dim=1)
    views = [images + jitter * torch.randn(n, d, dtype=torch.float64, generator=generator) for _ in range(2)]
    both = torch.cat(views)
    return both if flat else F.normalize(both, dim=1)


def check_identity(x: Tensor, tau: float) -> Identity:
    """Compute both sides of 1 + tau NT-Xent = alignment + tau LSE, and both gradients, at points x (2n, d)."""
    left, left_gradient = _value_and_gradient(lambda a, b: nt_xent(a, b, tau), x)
    right, right_gradient = _value_and_gradient(lambda a, b: generalized(a, b, tau=tau, lam=tau).total, x)
    lengths = left_gradient.norm(), right_gradient.norm()
    cosine = (left_gradient * right_gradient).sum() / (lengths[0] * lengths[1])
    return Identity(1 + tau * left, right, float(lengths[1] / lengths[0]), float(cosine))


class Walk:
    """Points on their way down a loss: where they are, and the loss parts and gradient there."""

    def __init__(self, goal: Objective, x: Tensor, on_sphere: bool, seed: int) -> None:
        self.goal, self.on_sphere, self.seed = goal, on_sphere, seed
        self.steps = 0
        self._arrive(x, *self._look(x))

    def _arrive(self, x: Tensor, terms: tuple[float, float, float], gradient: Tensor) -> None:
        self.x, self.terms, self.gradient = x, terms, gradient
        self.longest = float(self.gradient.norm(dim=1).max())
        self.still = self.longest * len(x) < STILL

    def _look(self, x: Tensor) -> tuple[tuple[float, float, float], Tensor]:
        """Loss parts at x and the gradient of their total along the sphere."""
        leaf = x.clone().requires_grad_()
        terms = self.goal.terms(leaf, self.steps, self.seed)
        (gradient,) = torch.autograd.grad(terms.total, leaf)
        gradient = _along(x, gradient) if self.on_sphere else gradient
        return tuple(float(part.detach()) for part in terms), gradient

    def _moved(self, length: float) -> Tensor:
        x = self.x - length * self.gradient
        return F.normalize(x, dim=1) if self.on_sphere else x


class Descent(Walk):
    """Steps for losses without sampling: Barzilai-Borwein lengths under the Armijo rule."""

    length = float("inf")

    def step(self) -> None:
        """Move once, or find that no move lowers the loss."""
        if self.still:
            return
        slope = float((self.gradient**2).sum())
        length = min(self.length, REACH / self.longest)
        for _ in range(HALVINGS):
            x = self._moved(length)
            terms, gradient = self._look(x)
            if terms[0] <= self.terms[0] - ARMIJO * length * slope:
                break
            length /= 2
        else:
            self.still = True  # the fall is smaller than rounding
            return
        moved, bent = x - self.x, gradient - self.gradient
        curvature = float((moved * bent).sum())
        self.length = float((moved**2).sum()) / curvature if curvature > 0 else float("inf")
        self.steps += 1
        self._arrive(x, terms, gradient)


class Sampled(Walk):
    """Shrinking steps for losses that are new at each call."""

    def step(self) -> None:
        """Move once."""
        n_entries = self.x.numel()
        curvature = (8 * self.goal.pull + 2 * self.goal.weight * self.goal.push) / n_entries
        if self.still or curvature == 0:
            return
        length = min(REACH / self.longest, 1 / (2 + self.steps / 10) / curvature)
        self.steps += 1
        x = self._moved(length)
        self._arrive(x, *self._look(x))


def _value_and_gradient(loss, x: Tensor) -> tuple[float, Tensor]:
    leaf = x.detach().clone().requires_grad_()
    value = loss(*leaf.chunk(2))
    (gradient,) = torch.autograd.grad(value, leaf)
    return float(value.detach()), gradient


def _along(x: Tensor, gradient: Tensor) -> Tensor:
    """The part of each row's gradient along the sphere. Losses that normalise have no other; rounding has."""
    return gradient - (gradient * x).sum(dim=1, keepdim=True) * x


def _check(objective: str, space: str, points: int, frames: int, start: str, pull: bool, push: bool) -> None:
    if space not in DIMENSIONS:
        raise ValueError(f"space must be one of {', '.join(DIMENSIONS)}, got {space!r}.")
    if (objective in ON_PLANE) != (space == "plane"):
        where = "the plane: its rows are not normalised" if objective in ON_PLANE else "the circle or the sphere"
        raise ValueError(f"{objective} lives on {where}, got space {space!r}.")
    if not 4 <= points <= MAX_POINTS or points % 2:
        raise ValueError(f"points must be an even number from 4 to {MAX_POINTS} (two views of each image), got {points}.")
    if not 1 <= frames <= MAX_FRAMES:
        raise ValueError(f"frames must be from 1 to {MAX_FRAMES}, got {frames}.")
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, got {start!r}.")
    if not (pull or push):
        raise ValueError("at least one of the two terms must take part: the alignment (pull) or the distribution (push).")
