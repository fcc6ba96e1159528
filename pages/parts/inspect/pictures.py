"""Pixels of the images an inspection was made on, for thumbnails. Never downloads anything."""

import numpy as np

from core.datasets.dataset import DataSet
from core.inspections.spec import InspectionSpec
from pages.parts.hypersphere.images import images_of, is_here

__all__ = ["data_of", "is_here", "pixels"]


def data_of(spec: InspectionSpec) -> DataSet | str:
    """The data set of an inspection, or why it cannot be shown."""
    return images_of(spec.data_spec())


def pixels(data: DataSet, index: int) -> np.ndarray | None:
    """One test image, uint8 [h, w, c]; None if the data set is another one than the inspection saw."""
    images = data.test.images
    return np.asarray(images[index]) if 0 <= index < len(images) else None
