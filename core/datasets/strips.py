"""What an encoder saw: both views of a few images at each value of a dial. Pages call `strip` through `core.analysis`.

Pages import this module for the shape of the answer, so torch is imported inside.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from core.datasets import randbit
from core.datasets.dataset import DataError, DataSet, Split
from core.training.spec import RunSpec

ON_EVERY_MACHINE = frozenset({"mnist-5k"})  # others are shown only where they need no download
VIEW_SEED = 7  # of crops and colours: the same at every value of the dial, so that only the dial differs
TURN = 0  # training step whose digits are shown


class Strip(NamedTuple):
    """Views as the encoder got them."""

    views: np.ndarray  # uint8 [positions, images, 2, side, side, 3]
    bits: tuple[np.ndarray, ...]  # per position uint8 [images, b]: values of the appended planes
    names: tuple[str, ...]  # class of each image


def strip(settings: list[dict[str, Any]], images: int = 2) -> Strip:
    """Both views of the same images under several settings.

    Args:
        settings: RunSpec fields of each position, in the order of the dial; all of one data set and picture size.
        images: How many images, of different classes.

    Returns:
        The views, in the first training step.

    Raises:
        DataError: If the data set is not on this machine.
        ValueError: If there is nothing to show, or the settings give pictures of different sizes.
    """
    if not settings or images < 1:
        raise ValueError(f"a strip needs at least one setting and one image, got {len(settings)} and {images}.")
    shown = [_position(RunSpec(**fields), images) for fields in settings]
    sizes = {views.shape[2:] for views, _, _ in shown}
    if len(sizes) > 1:
        raise ValueError(f"all pictures of a strip must have one size, got {sorted(size[0] for size in sizes)} pixels.")
    return Strip(np.stack([views for views, _, _ in shown]), tuple(bits for _, bits, _ in shown), shown[0][2])


def _position(spec: RunSpec, images: int) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    import torch

    from core.datasets.augment import two_views
    from core.datasets.rivals import Occasion, build_rival

    if spec.dataset == "folder":
        data, rows = _few_of_folder(spec.data_root, spec.image_size, images), np.arange(images)
        rows = rows[: len(data.train.labels)]
    else:
        data = _loaded(spec.dataset, spec.data_root, spec.n_train, spec.n_test, spec.image_size, spec.scene)
        rows = np.sort(np.unique(data.train.labels, return_index=True)[1])[:images]
    pictures = torch.tensor(data.train.images[rows]).permute(0, 3, 1, 2)
    codes = randbit.codes(np.asarray(data.train.images[rows]))
    rival = build_rival(spec, data.train, data.test, torch.device("cpu"))
    if rival is not None:
        keys = torch.tensor(codes.astype(np.int64))
        raw = pictures
        pictures, others = (
            rival.draw(raw, torch.tensor(rows), keys, Occasion(turn=TURN, view=view)).images for view in (0, 1)
        )
    generator = torch.Generator().manual_seed(VIEW_SEED)
    a, b = two_views(pictures, spec.augment, spec.color_strength, generator, gray=spec.gray)
    if spec.digit_draw == "views":
        _, b = two_views(others, spec.augment, spec.color_strength, generator, gray=spec.gray)
    views = torch.stack((a, b), 1)  # [n, 2, c, side, side]
    colored = views[:, :, :3] if views.shape[2] >= 3 else views[:, :, :1].expand(-1, -1, 3, -1, -1)
    pixels = (colored * 255).round().to(torch.uint8).permute(0, 1, 3, 4, 2).numpy()
    names = tuple(data.classes[label] for label in data.train.labels[rows])
    return pixels, randbit.bit_matrix(codes, spec.bits), names


@lru_cache(maxsize=4)
def _few_of_folder(data_root: str, size: int | None, images: int) -> DataSet:
    """The first training image of each of some classes: a strip need not decode a whole folder."""
    from core.datasets import pictures
    from core.datasets.folder import LARGEST_DEFAULT, list_folder
    from core.datasets.sources import raw_folders

    root = raw_folders(data_root)[0]
    listing = list_folder(root)
    first: dict[int, np.ndarray] = {}
    for file in listing.train:
        if len(first) == min(images, len(listing.classes)):
            break
        if file.label in first:
            continue
        try:
            header = pictures.read_header(root / file.name)
            side = size or min(header.height, header.width, LARGEST_DEFAULT)
            first[file.label] = pictures.read_pixels(root / file.name, 3, (side, side))
        except Exception:  # whatever Pillow raises for a file it cannot read; a run names such files
            continue
        size = side
    if not first:
        raise DataError(f"data_root: no training image in {root} can be read.")
    shown = Split(np.stack(list(first.values())), np.array(list(first), np.int64))
    return DataSet("folder", shown, shown, listing.classes, ())


@lru_cache(maxsize=4)
def _loaded(
    dataset: str, data_root: str | None, n_train: int | None, n_test: int | None, size: int | None, scene: str
) -> DataSet:
    """One data set for all positions of a strip."""
    from core.datasets.sources import is_here, load

    if dataset not in ON_EVERY_MACHINE and not is_here(dataset):
        raise DataError(f"{dataset} is not on this machine; the first run of the study downloads it.")
    fields = dict(dataset=dataset, data_root=data_root, n_train=n_train, n_test=n_test, image_size=size, scene=scene)
    return load(RunSpec(**fields, batch_size=2, objective="untrained"))
