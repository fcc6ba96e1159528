"""Distribution term of the contrastive loss: log-sum-exp of the similarities."""

from torch import Tensor

from core.losses import checks
from core.losses.kernel import self_log_sum_exp
from core.losses.normalise import unit_rows
from core.losses.precision import full_precision


def log_sum_exp(z: Tensor, tau: float, mask_self: bool = True) -> Tensor:
    """Mean over rows of the log-sum-exp of cosine similarities to the other rows.

    Args:
        z: Both views stacked, shape (2n, d), floating; rows need not be normalised.
        tau: Temperature, finite and > 0, no unit.
        mask_self: Leave each row out of its own sum (NT-Xent). False keeps it, as the authors' notebook does.

    Returns:
        Scalar in nats; float64 for float64 input, float32 otherwise.

    Raises:
        ValueError: If z is not a matrix of floats with at least 2 rows, or tau is not > 0.
        NotFiniteError: If rows are not finite (on the CPU; elsewhere the value is NaN).

    Source: Chen, Luo, Li, "Intriguing Properties of Contrastive Losses", 2021. Deviations: self term masked by
        default, no constant subtracted.
    """
    tau = checks.temperature(tau)
    z = checks.embeddings(z, rows=2)
    with full_precision(z):
        value = self_log_sum_exp(unit_rows(z), tau, mask_self).mean()
    checks.finite(value, z=z)
    return value
