"""Points that moved under a loss: what `core.losses.flow` returns, and the closed forms its end is compared with.

Pages import this module, so it uses numpy only; the flow itself needs torch.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.geometry.closed_forms import log_mean_exp_uniform

Space = Literal["circle", "sphere", "plane"]
DIMENSIONS: dict[Space, int] = {"circle": 2, "sphere": 3, "plane": 2}
ON_PLANE = frozenset({"swd_hypercube", "swd_normal"})  # objectives that leave rows unnormalised
POTENTIAL_T = 2.0  # width of the Gaussian potential in uniformity


class Identity(NamedTuple):
    """Both sides of 1 + tau NT-Xent = alignment + tau log-sum-exp, computed by separate code at the same points."""

    left: float  # 1 + tau * nt_xent
    right: float  # generalized(..., lam=tau).total
    gradient_ratio: float  # |gradient of the right side| / |gradient of NT-Xent|; tau when the identity holds
    gradient_cosine: float  # between the two gradients; 1


class Trajectory(NamedTuple):
    """Positions and loss parts of points that moved under a loss."""

    positions: NDArray[np.float32]  # (frames + 1, 2n, d); rows 0..n-1 are view a, n..2n-1 view b of the same images
    total: NDArray[np.float64]  # (frames + 1,) what was minimised
    alignment: NDArray[np.float64]  # (frames + 1,) unweighted pull, on the objective's own scale
    distribution: NDArray[np.float64]  # (frames + 1,) unweighted push
    steps: int  # accepted gradient steps
    converged: bool  # the gradient vanished, or no step could lower the loss any more
    identity: Identity | None  # at the last frame; None off the sphere


class Reference(NamedTuple):
    """Loss parts of a perfect arrangement."""

    alignment: float
    distribution: float
    exact: bool  # False: evenly spread points in the limit, which a finite number cannot reach exactly


def evenly_spread(
    objective: str, space: Space, n: int, tau: float, mask_self: bool = True, convention: str = "standard"
) -> Reference | None:
    """Loss parts when the views agree and n images are spread evenly over the circle or the sphere.

    On the circle this is n equally spaced points, summed exactly. On the sphere it is the value a perfectly even set would
    have, one whose mean kernel equals that of the uniform distribution; there is none where the kernel is narrower than the
    gaps. It is the least loss unless the push is so strong that the views of one image part.

    Args:
        objective: One of RunSpec's objectives with an alignment or uniformity on the sphere.
        space: "circle" or "sphere".
        n: Images, >= 2; the batch has 2n rows.
        tau: Temperature of the log-sum-exp objectives.
        mask_self: Whether a row is left out of its own sum.
        convention: "notebook" keeps the row in its own sum and subtracts log d.

    Returns:
        The parts, or None where no closed form is known: off the sphere, for the sliced Wasserstein losses, whose value
        depends on the random sample they compare with, and for narrow kernels on the sphere.
    """
    if space == "plane" or objective.startswith("swd"):
        return None
    potential = objective in ("uniformity", "align_uniform", "alignment")
    others = _mean_kernel_of_others(space, n, 1 / (2 * POTENTIAL_T) if potential else tau)
    if others is None:
        return None
    if potential:
        return Reference(0.0, math.log(others), space == "circle")
    notebook = convention == "notebook"
    own = 1 if mask_self and not notebook else 2  # the positive, and the row itself unless masked
    value = 1 / tau + math.log(own + 2 * (n - 1) * others)  # every other image appears twice
    return Reference(0.0, value - (math.log(DIMENSIONS[space]) if notebook else 0.0), space == "circle")


def _mean_kernel_of_others(space: Space, n: int, tau: float) -> float | None:
    """Mean over the other n - 1 evenly spread images of exp((cos - 1) / tau); None if it does not exist."""
    if space == "circle":
        angles = 2 * np.pi * np.arange(1, n) / n
        return float(np.exp((np.cos(angles) - 1) / tau).mean())
    mean = math.exp(log_mean_exp_uniform(DIMENSIONS[space], tau) - 1 / tau)  # over all n, the image itself included
    others = (n * mean - 1) / (n - 1)
    return others if others > 0 else None
