"""What a loss returns when its parts are asked for."""

from typing import NamedTuple

from torch import Tensor


class LossTerms(NamedTuple):
    """Scalar parts of a contrastive loss, all differentiable."""

    total: Tensor  # what is minimised
    alignment: Tensor  # pull of the positive pairs, unweighted, on the scale its objective states
    distribution: Tensor  # push towards the prior, unweighted
