"""What the hypersphere views need to know about an embedding, wherever it comes from."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from core.datasets.dataset import DataSet


class Source(NamedTuple):
    """One embedding."""

    id: str  # changes when the arrays change: figures are kept under it
    name: str  # of the encoder, as in titles
    about: str  # settings, for subtitles
    provenance: str  # how the numbers were made
    arrays: dict[str, np.ndarray]  # z [n, d], labels, index [n]; where known predicted, code [n], pca [n, 3], tsne [m, 2]
    classes: tuple[str, ...] = ()  # names; empty = their numbers
    total: int = 0  # test images there are; 0 = as many as points
    seed: int = 0  # of the choice of points
    bits: int = 0  # RandBit channels: that many bits of the code mean something
    images: Callable[[], DataSet | str] | None = None  # the data set, or why it cannot be shown

    @property
    def dim(self) -> int:
        """Dimensions of the embedding."""
        return int(self.arrays["z"].shape[1])
