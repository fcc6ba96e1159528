"""Which test images are laid out to be looked at. numpy only."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

ANY, WRONG, LONELY = "any test images", "wrong for the linear probe", "fewest neighbours of their own class"
SHEETS = (LONELY, WRONG, ANY)


def choose(arrays: Mapping[str, NDArray], kind: str, classes: Sequence[str], count: int, seed: int) -> NDArray[np.int64]:
    """Rows to lay out.

    Args:
        arrays: labels [n], predicted [n] and neighbours [n, k] of an inspection.
        kind: One of SHEETS, or "class " and the name of a class.
        classes: Names of the classes.
        count: How many at most.
        seed: Of the choice where there are more.

    Returns:
        Row numbers, ascending; for the images with the fewest neighbours of their own class, those with the fewest first.
    """
    labels = np.asarray(arrays["labels"])
    rows = np.arange(len(labels))
    if kind == LONELY:
        own = (labels[arrays["neighbours"]] == labels[:, None]).mean(axis=1)
        return np.argsort(own, kind="stable")[:count]
    if kind == WRONG:
        rows = rows[labels != np.asarray(arrays["predicted"])]
    elif kind.startswith("class ") and kind.removeprefix("class ") in classes:
        rows = rows[labels == list(classes).index(kind.removeprefix("class "))]
    mixed = np.random.default_rng(seed).permutation(rows)[:count]
    return np.sort(mixed)


def share_of_class(labels: NDArray, neighbours: NDArray) -> float:
    """Mean share of an image's neighbours that are of its own class; NaN without neighbours."""
    return float((labels[neighbours] == labels[:, None]).mean()) if neighbours.size else float("nan")
