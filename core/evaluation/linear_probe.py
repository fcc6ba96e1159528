"""Linear probe: L-BFGS logistic regression on standardised frozen features."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

C_GRID = (0.01, 0.1, 1.0)  # inverse regularisation strengths to choose from
MAX_ITER = 1000
MAX_ROWS = 20_000  # training rows; more change accuracies by less than their spread and take minutes
TUNE_ROWS = 5_000  # rows that choose C


class ProbeResult(NamedTuple):
    """What the probe reached."""

    accuracy: float  # share of correct test images, 0..1
    c: float  # inverse regularisation strength that was chosen
    converged: bool  # False: L-BFGS stopped at its iteration limit
    predicted: np.ndarray  # [n_test] int64, class of each test image
    n_train: int  # rows used; below the number given when capped


def standardise(train: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """Zero mean and unit variance per dimension, measured on the training rows; constant dimensions become 0."""
    scaler = StandardScaler().fit(train)
    return tuple(scaler.transform(rows).astype(np.float32) for rows in (train, *others))


def fit_logistic(x: np.ndarray, y: np.ndarray, c: float) -> tuple[LogisticRegression, bool]:
    """One logistic regression and whether it converged."""
    model = LogisticRegression(C=c, max_iter=MAX_ITER)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(x, y)
    return model, not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def stratified_rows(labels: np.ndarray, limit: int, seed: int = 0) -> np.ndarray:
    """At most `limit` row numbers, sorted, with class shares kept; all rows where they fit."""
    if len(labels) <= limit:
        return np.arange(len(labels))
    counts = np.unique(labels, return_counts=True)[1]
    if counts.min() < 2 or limit < len(counts):
        return np.sort(np.random.default_rng(seed).permutation(len(labels))[:limit])
    rows, _ = next(StratifiedShuffleSplit(1, train_size=limit, random_state=seed).split(labels, labels))
    return np.sort(rows)


def choose_c(x: np.ndarray, y: np.ndarray) -> float:
    """The C of the grid with the best accuracy on a held-out fifth of the training rows; ties go to the smaller one."""
    rows = stratified_rows(y, TUNE_ROWS)
    x, y = x[rows], y[rows]
    counts = np.unique(y, return_counts=True)[1]
    if counts.min() < 2 or len(y) < 5 * len(counts):
        return C_GRID[-1]
    inner, held = next(StratifiedShuffleSplit(1, test_size=0.2, random_state=0).split(x, y))
    scores = [fit_logistic(x[inner], y[inner], c)[0].score(x[held], y[held]) for c in C_GRID]
    return C_GRID[int(np.argmax(scores))]


def linear_probe(h_train: np.ndarray, y_train: np.ndarray, h_test: np.ndarray, y_test: np.ndarray) -> ProbeResult:
    """Test accuracy of a linear classifier on frozen features.

    Args:
        h_train: Features of training images, [n, d] float.
        y_train: Their classes, [n] int.
        h_test: Features of test images, [m, d] float; every row counts.
        y_test: Their classes, [m] int; classes absent from training count as wrong.

    Returns:
        Accuracy, the chosen regularisation, and whether L-BFGS converged.

    Raises:
        ValueError: If features are not finite, or the training rows hold one class only.
    """
    for name, rows in (("h_train", h_train), ("h_test", h_test)):
        if not np.isfinite(rows).all():
            raise ValueError(f"{name}: {int((~np.isfinite(rows)).any(1).sum())} of {len(rows)} rows are not finite.")
    if len(np.unique(y_train)) < 2:
        raise ValueError(f"y_train: a probe needs at least 2 classes, got {len(np.unique(y_train))}.")
    rows = stratified_rows(y_train, MAX_ROWS)
    x, x_test = standardise(h_train[rows], h_test)
    y = y_train[rows]
    c = choose_c(x, y)
    model, converged = fit_logistic(x, y, c)
    predicted = model.predict(x_test).astype(np.int64)
    return ProbeResult(float((predicted == y_test).mean()), c, converged, predicted, len(rows))
