"""Nearest-neighbour classification on frozen features: cosine similarity, weighted votes."""

from typing import NamedTuple

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

K = 20
VOTE_TEMPERATURE = 0.1  # votes weigh exp(cosine / T), as in the MoCo CIFAR-10 notebook


class KnnResult(NamedTuple):
    """What the vote reached."""

    accuracy: float  # share of correct test images, 0..1
    k: int  # neighbours used; clamped to the number of training rows


def unit_rows(x: np.ndarray) -> np.ndarray:
    """Rows divided by their length, float32; zero rows stay zero."""
    x = np.asarray(x, dtype=np.float32)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def knn(h_train: np.ndarray, y_train: np.ndarray, h_test: np.ndarray, y_test: np.ndarray, k: int = K) -> KnnResult:
    """Test accuracy of a weighted vote among the k most similar training images.

    Args:
        h_train: [n, d] float. y_train: [n] int. h_test: [m, d] float. y_test: [m] int.
        k: Neighbours, at least 1; clamped to n.

    Raises:
        ValueError: If k < 1 or features are not finite.
    """
    if k < 1:
        raise ValueError(f"k: must be at least 1, got {k}.")
    if not (np.isfinite(h_train).all() and np.isfinite(h_test).all()):
        raise ValueError("h_train and h_test must be finite.")
    k = min(k, len(h_train))
    # On unit rows the squared Euclidean distance is 2 - 2 cosine, and the brute-force search is one matrix product.
    model = KNeighborsClassifier(k, algorithm="brute", weights=lambda distance: np.exp((1 - distance**2 / 2) / VOTE_TEMPERATURE))
    model.fit(unit_rows(h_train), y_train)
    return KnnResult(float((model.predict(unit_rows(h_test)) == y_test).mean()), k)
