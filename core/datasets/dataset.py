"""The shape every data set has once it is loaded, whatever it was read from."""

from typing import NamedTuple

import numpy as np


class DataError(ValueError):
    """A data set cannot be used. The text says what is wrong, where, and what to do."""


class Split(NamedTuple):
    """Training or test images with their labels."""

    images: np.ndarray  # uint8 [n, h, w, c], read-only, memory-mapped where nothing had to be selected
    labels: np.ndarray  # int64 [n], index into `classes`


class DataSet(NamedTuple):
    """A loaded data set."""

    name: str
    train: Split
    test: Split
    classes: tuple[str, ...]
    notes: tuple[str, ...]  # what was left out, resized, split or could not be cached: to be shown, never dropped
