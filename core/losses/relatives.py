"""The same scores read by the relatives of InfoNCE: cross entropy over classes and binary noise-contrastive estimation.

Pages import this module, so it uses numpy and scipy only. `core.losses` has the trainable forms.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_softmax, softmax

Floats = NDArray[np.float64]


class Reading(NamedTuple):
    """What one loss makes of a row of scores."""

    loss: float  # nats
    probabilities: Floats  # (N,) softmax shares (sum 1), or for NCE the separate chance of each to be data
    gradient: Floats  # (N,) derivative of the loss with respect to each logit


def class_cross_entropy(logits: ArrayLike, target: int) -> Reading:
    """Softmax cross entropy of one sample over classes.

    Args:
        logits: Shape (classes,).
        target: Index of the right class, 0 to classes - 1.

    Raises:
        ValueError: If target is not an index of logits.
    """
    logits = np.asarray(logits, dtype=np.float64)
    if not 0 <= target < len(logits):
        raise ValueError(f"target must be from 0 to {len(logits) - 1}, got {target}.")
    probabilities = softmax(logits)
    gradient = probabilities.copy()
    gradient[target] = -(probabilities[:target].sum() + probabilities[target + 1 :].sum())
    return Reading(-float(log_softmax(logits)[target]), probabilities, gradient)


def nce(positive: float, negatives: ArrayLike, log_noise_ratio: float = 0.0) -> Reading:
    """Binary noise-contrastive estimation: is this sample data or noise, one sigmoid per sample.

    P(data | s) = sigmoid(s - log_noise_ratio); the loss is -log P(data) of the positive minus the sum over the
    negatives of log P(noise).

    Args:
        positive: Score of the data sample.
        negatives: Scores of the noise samples, shape (K,).
        log_noise_ratio: log(k p_noise), k noise samples per data sample; 0 is negative sampling.

    Source: Gutmann & Hyvärinen, "Noise-Contrastive Estimation", 2010 and 2012; as written for language models by
        Mnih & Teh 2012: P(data) = u / (u + k p_noise).
    """
    shifted = np.concatenate([[positive], np.asarray(negatives, dtype=np.float64)]) - log_noise_ratio
    probabilities = expit(shifted)
    loss = np.logaddexp(0, -shifted[0]) + np.logaddexp(0, shifted[1:]).sum()
    gradient = probabilities.copy()
    gradient[0] = -expit(-shifted[0])
    return Reading(float(loss), probabilities, gradient)
