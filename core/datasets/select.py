"""Stratified choices that stay the same: subsets of a split, and a split where there is none."""

import numpy as np

SEED = 0  # of every choice here; part of what a data set is


def stratified_order(labels: np.ndarray) -> np.ndarray:
    """An order of all rows in which every beginning has the classes in their overall shares.

    A beginning of length n holds each class within one image of its share, and at least one image of every class once n
    reaches the number of classes. Shorter beginnings are contained in longer ones.

    Args:
        labels: Class of each row, integers [n].

    Returns:
        Row numbers, int64 [n].
    """
    rng = np.random.default_rng(SEED)
    shuffled = rng.permutation(len(labels))
    _, classes, counts = np.unique(labels[shuffled], return_inverse=True, return_counts=True)
    by_class = np.argsort(classes, kind="stable")
    starts = np.cumsum(counts) - counts
    rank = np.empty(len(labels), np.int64)
    rank[by_class] = np.arange(len(labels)) - np.repeat(starts, counts)  # 0, 1, 2 ... within each class
    share = (rank + 0.5) / counts[classes]
    share[rank == 0] = 0  # the first of every class comes before all second ones
    return shuffled[np.argsort(share, kind="stable")]


def subset(labels: np.ndarray, n: int) -> np.ndarray:
    """Row numbers of a stratified subset of n rows, ascending, so that the data set's own order is kept."""
    return np.sort(stratified_order(labels)[:n])


def split(labels: np.ndarray, test_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Divide the rows of every class into training and test rows.

    Args:
        labels: Class of each row, integers [n]; every class needs at least 2 rows.
        test_share: Share of each class that goes to the test rows, 0 to 1; rounded, at least one image on either side.

    Returns:
        Training rows and test rows, both ascending.
    """
    rng = np.random.default_rng(SEED)
    test = []
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        test.append(rows[: min(max(round(test_share * len(rows)), 1), len(rows) - 1)])
    test_rows = np.sort(np.concatenate(test))
    return np.setdiff1d(np.arange(len(labels)), test_rows), test_rows
