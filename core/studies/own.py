"""A small suppression study of somebody's own image folder: settings from the number of images, nothing to tune."""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from core.studies.study import StudySpec

PREFIX = "own-"
SIDES = (32, 64, 96)  # px to choose from
BITS = (0, 2, 4, 6, 8, 12, 16)
LARGEST_BATCH, SMALLEST_BATCH = 250, 8
MOST_IMAGES = 5_000  # training images of such a study; more take long and say little more
VIEWS_WORTH = 40_000  # training images seen, all epochs together
FEWEST_EPOCHS, MOST_EPOCHS = 10, 120


class OwnImages(NamedTuple):
    """What is known of a folder."""

    root: Path  # absolute
    classes: int
    n_train: int
    n_test: int


def is_own(name: str) -> bool:
    """Whether a study is one of an own image folder."""
    return name.startswith(PREFIX)


def own_study(images: OwnImages, side: int, most_bits: int = BITS[-1], seeds: int = 1) -> StudySpec:
    """A RandBit study of a folder: NT-Xent, with labels, and untrained.

    Args:
        images: The folder.
        side: Pixels a side that all images are stretched to.
        most_bits: End of the dial, one of `BITS`.
        seeds: Runs of each setting, at least 1; two or more give a spread.

    Returns:
        The study; its name tells folder and settings, so that other settings are another study.

    Raises:
        ValueError: If the folder holds too few images to train on.
    """
    n_train = min(images.n_train, MOST_IMAGES)
    batch = min(LARGEST_BATCH, max(n_train // 4, 2))
    if batch < SMALLEST_BATCH:
        needed = 4 * SMALLEST_BATCH
        raise ValueError(f"{images.root} has {images.n_train} training images; at least {needed} are needed to contrast them.")
    base = {
        "dataset": "folder",
        "data_root": str(images.root),
        "image_size": side,
        "encoder": "conv",
        "augment": "simclr",
        "batch_size": batch,
        "epochs": min(MOST_EPOCHS, max(FEWEST_EPOCHS, VIEWS_WORTH // n_train)),
        "lr": 2e-3,
    }
    if n_train < images.n_train:
        base["n_train"] = n_train
    grid = {"bits": [bits for bits in BITS if bits <= most_bits]}
    blocks = [
        {"label": "NT-Xent", "objective": "nt_xent", "tau": 0.1, "grid": grid},
        {"label": "Supervised", "objective": "supervised", "grid": grid},
        {"label": "Untrained", "objective": "untrained", "grid": grid},
    ]
    content = {
        "title": f"Bits against the classes of {images.root.name}",
        "question": "How many shared bits does it take before an encoder stops learning these classes?",
        "seeds": list(range(seeds)),
        "base": base,
        "block": blocks,
    }
    return StudySpec.from_dict({"name": _name(images.root, content), **content}, "own images")


def _name(root: Path, content: dict) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-")[:30] or "images"
    mark = hashlib.sha256(f"{root}{sorted(content.items(), key=str)}".encode()).hexdigest()[:6]
    return f"{PREFIX}{slug}-{mark}"
