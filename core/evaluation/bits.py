"""Which bits of the RandBit code the representation knows: one logistic probe per bit."""

from typing import NamedTuple

import numpy as np

from core.evaluation.linear_probe import fit_logistic, standardise

MAX_ROWS = 5_000  # training rows per bit; a bit is an easy question
C = 1.0


class BitKnowledge(NamedTuple):
    """How well each bit can be read from the features."""

    accuracies: tuple[float, ...]  # test accuracy per bit, bit 0 first; 0.5 is chance
    known: float  # sum over bits of 1 - H(accuracy): bits of the code that the probes recover, in bits


def entropy_bits(p: np.ndarray) -> np.ndarray:
    """Entropy of a coin that shows heads with probability p, in bits; 0 at p = 0 and 1."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return -(p * np.log2(p) + (1 - p) * np.log2(1 - p))


def bit_probes(
    h_train: np.ndarray, codes_train: np.ndarray, h_test: np.ndarray, codes_test: np.ndarray, bits: int
) -> BitKnowledge:
    """Test accuracy of a logistic probe for each of the first `bits` bits of the codes.

    Args:
        h_train: [n, d] float. codes_train: [n] unsigned int. h_test: [m, d] float. codes_test: [m] unsigned int.
        bits: Number of bits appended to the images, 1..32.

    Returns:
        Accuracies, and the information recovered. An accuracy below one half counts as no knowledge. A bit that is
        the same in all training images is predicted as that constant.
    """
    x, x_test = standardise(h_train[:MAX_ROWS], h_test)
    accuracies = []
    for bit in range(bits):
        y = (codes_train[:MAX_ROWS].astype(np.int64) >> bit) & 1
        y_test = (codes_test.astype(np.int64) >> bit) & 1
        if y.min() == y.max():
            accuracies.append(float((y_test == y[0]).mean()))
        else:
            accuracies.append(float(fit_logistic(x, y, C)[0].score(x_test, y_test)))
    known = float((1 - entropy_bits(np.maximum(accuracies, 0.5))).sum())
    return BitKnowledge(tuple(accuracies), known)
