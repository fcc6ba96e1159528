"""Masks of local features for some checkpoints on some images. Pages call `local_features` through `core.analysis`.

Pages import this module for the shape of the answer, so torch is imported inside.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.datasets.dataset import DataError

GROUPED, SHOWN = 64, 5  # images whose places are grouped together; images that are shown
SIDE = 64  # px: image folders, unless the encoder asks for another size
DIGITS = "mnist-5k"


class Masks(NamedTuple):
    """Groups of places of one feature map."""

    source: str  # name of the checkpoint, or "pixels"
    stage: str
    groups: np.ndarray  # uint8 [shown, side, side]


class LocalFeatures(NamedTuple):
    """The shown images with all their masks."""

    images: np.ndarray  # uint8 [shown, side, side, 3]
    masks: tuple[Masks, ...]
    notes: tuple[str, ...]  # what could not be shown, and why


def local_features(checkpoints: Sequence[tuple[str, str]], data: str, k: int) -> LocalFeatures:
    """Group the places of images by the feature maps of encoders, and by raw pixels.

    Args:
        checkpoints: Name and path of each.
        data: "mnist-5k", or an image folder.
        k: Number of groups, 2 to 8.

    Returns:
        Masks of the pixels first, then of each encoder from its finest to its coarsest stage.

    Raises:
        ValueError: If the images cannot be read, or k is out of range.
    """
    import torch

    from core.checkpoints import load_encoder
    from core.checkpoints.report import CheckpointError
    from core.evaluation.parts import groups, pixel_stage, stage_maps

    pixels, codes = _images(data)
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    masks, notes = [], []
    finest = 0
    for name, path in checkpoints:
        try:
            encoder, report = load_encoder(path)
            if report.normalisation_guess not in (None, "none"):
                encoder, report = load_encoder(path, normalisation=report.normalisation_guess)
        except CheckpointError as error:
            notes.append(f"{name}: {error}")
            continue
        fitted = _fit(images, codes, report.in_channels)
        if fitted is None:
            notes.append(f"{name}: takes {report.in_channels} channels, the images have {images.shape[1]}.")
            continue
        try:
            stages = stage_maps(encoder, fitted)
        except RuntimeError as error:  # images of a size that the network was not built for
            notes.append(f"{name}: does not take images of {images.shape[-1]} px ({str(error).splitlines()[0]}).")
            continue
        if not stages:
            notes.append(f"{name}: has no spatial feature maps.")
            continue
        finest = max(finest, stages[0].maps.shape[-1])
        masks += [Masks(name, stage.name, groups(stage.maps, k)[:SHOWN]) for stage in stages]
    side = finest or min(images.shape[-1], 14)
    baseline = pixel_stage(images, side)
    masks.insert(0, Masks("pixels", f"{side} x {side}", groups(baseline.maps, k, normalise=False)[:SHOWN]))
    shown = pixels[:SHOWN] if pixels.shape[3] == 3 else pixels[:SHOWN].repeat(3, axis=3)
    return LocalFeatures(np.ascontiguousarray(shown), tuple(masks), tuple(notes))


def _images(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 [n, side, side, c] of all classes in turn, and their RandBit codes."""
    from core.datasets import load, randbit
    from core.datasets.select import stratified_order
    from core.training.spec import RunSpec

    if data == DIGITS:
        test = load(RunSpec(dataset=DIGITS)).test
        pixels = np.asarray(test.images[stratified_order(test.labels)[:GROUPED]])
    else:
        pixels = _folder(data)
    return pixels, randbit.codes(pixels).astype(np.int64)


def _folder(data: str) -> np.ndarray:
    from core.datasets import pictures
    from core.datasets.folder import list_folder
    from core.datasets.sources import raw_folders

    root: Path = raw_folders(data)[0]
    files = list_folder(root).test
    chosen = [files[place] for place in np.unique(np.linspace(0, len(files) - 1, GROUPED).round().astype(int))]
    read = []
    for file in chosen:
        try:
            read.append(pictures.read_pixels(root / file.name, 3, (SIDE, SIDE)))
        except Exception:  # whatever Pillow raises for a file it cannot read
            continue
    if not read:
        raise DataError(f"data_root: no test image in {root} can be read.")
    step = max(1, len(read) // SHOWN)
    order = [*range(0, len(read), step)][:SHOWN]  # the shown ones first, spread over the classes
    return np.stack([read[row] for row in (*order, *(row for row in range(len(read)) if row not in order))])


def _fit(images, codes: np.ndarray, channels: int):
    """The images with the channels that an encoder takes: grey as colour, and RandBit planes; None where that cannot be."""
    import torch

    from core.datasets.randbit import MAX_BITS, append_bits

    own = images.shape[1]
    if own == 1 and channels == 3:
        return images.repeat(1, 3, 1, 1)
    if own == 3 and channels == 1:
        return images.mean(1, keepdim=True)
    if own <= channels <= own + MAX_BITS:
        return append_bits(images, torch.from_numpy(codes), channels - own)
    return None
