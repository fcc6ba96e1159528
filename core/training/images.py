"""The images of a run as batches on its device: pixels with their rival, RandBit planes, labels."""

import warnings
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from core.datasets import DataSet, randbit
from core.datasets.augment import to_float, two_views
from core.datasets.rivals import Occasion, build_rival
from core.training.spec import RunSpec

EVAL_BATCH = 500  # a third faster on CPUs than 1,000, whose first feature maps leave the cache
DEVICE_SHARE = 0.4  # of the free GPU memory that the training images may take


class Images:
    """Training and test images as uint8 batches on the device, with labels, RandBit codes and what competes with the class."""

    def __init__(self, data: DataSet, spec: RunSpec, device: torch.device):
        self.device = device
        self.train, self.test = shared_tensor(data.train.images), shared_tensor(data.test.images)  # [n, h, w, c]
        self.train_labels, self.test_labels = (torch.tensor(split.labels).to(device) for split in (data.train, data.test))
        self.n_train, self.n_test = len(self.train), len(self.test)
        self.classes = len(data.classes)
        self.rival = build_rival(spec, data.train, data.test, device)
        self.side = self.rival.side if self.rival else self.train.shape[1]
        self.image_channels = (self.rival.channels if self.rival else None) or self.train.shape[3]
        self.channels = self.image_channels + spec.bits
        self.bits = spec.bits
        if spec.batch_size > self.n_train and spec.objective != "untrained":
            raise ValueError(
                f"batch_size: must not exceed the {self.n_train} training images, got {spec.batch_size}. "
                "Lower batch_size, or use more images (n_train)."
            )
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            if self.train.numel() + self.test.numel() < DEVICE_SHARE * free:
                self.train, self.test = self.train.to(device), self.test.to(device)
        self.train_codes, self.test_codes = (
            (torch.from_numpy(randbit.codes(split.images).astype(np.int64)).to(device) for split in (data.train, data.test))
            if spec.bits or self.rival
            else (None, None)
        )

    def rows(self, rows: Tensor, train: bool = True, turn: int | None = None, view: int = 0, probe: bool = False) -> Tensor:
        """Pictures of these rows, uint8 [n, c, side, side] on the device; strides stay channels-last.

        Args:
            rows: Row numbers, int64 [n].
            train: Of the training split, else of the test split.
            turn: Training step; None = evaluation, the same pictures every time.
            view: 0 or 1; differs only where the rival is drawn for each view.
            probe: The pictures that the rival's own probe looks at.
        """
        pixels = self._raw(rows, train)
        return pixels if self.rival is None else self._drawn(pixels, rows, Occasion(train, turn, view, probe)).images

    def views(
        self, rows: Tensor, spec: RunSpec, generator: torch.Generator, train: bool = True, turn: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Two augmented views of these rows, floats [n, c, side, side]; arguments as in `rows`.

        The rival is drawn before the views are made, so both carry the same; with digit_draw "views" its places differ.
        """
        augmented = (spec.augment, spec.color_strength, generator)
        a, b = two_views(self.rows(rows, train, turn), *augmented, gray=spec.gray)
        if spec.digit_draw == "views":
            _, b = two_views(self.rows(rows, train, turn, view=1), *augmented, gray=spec.gray)
        return a, b

    def planes(self, rows: Tensor, train: bool = True) -> Tensor | None:
        """What the RandBit channels of these rows hold, [n, bits]; None without bits."""
        codes = self.train_codes if train else self.test_codes
        return randbit.bit_planes(codes[rows], self.bits) if self.bits else None

    def plain(self, train: bool, rows: Tensor | None = None, probe: bool = False) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Batches without augmentation, in order: float images and their planes. Arguments as in `rows`."""
        for part in self._all(train, rows).split(EVAL_BATCH):
            yield to_float(self.rows(part, train, probe=probe)), self.planes(part, train)

    def rival_labels(self, train: bool, rows: Tensor | None = None, probe: bool = False) -> np.ndarray:
        """Class of the rival in each picture that `plain` yields, int64 [n]."""
        parts = self._all(train, rows).split(EVAL_BATCH)
        drawn = (self._drawn(self._raw(part, train), part, Occasion(train, probe=probe)).labels for part in parts)
        return torch.cat(list(drawn)).cpu().numpy()

    def _all(self, train: bool, rows: Tensor | None) -> Tensor:
        return torch.arange(self.n_train if train else self.n_test, device=self.device) if rows is None else rows

    def _raw(self, rows: Tensor, train: bool) -> Tensor:
        source = self.train if train else self.test
        return source[rows.to(source.device)].to(self.device, non_blocking=True).permute(0, 3, 1, 2)

    def _drawn(self, pixels: Tensor, rows: Tensor, occasion: Occasion):
        codes = self.train_codes if occasion.train else self.test_codes
        return self.rival.draw(pixels, rows, codes[rows], occasion)


def in_batches(pictures: Tensor, planes: Tensor | None) -> list[tuple[Tensor, Tensor | None]]:
    """Pictures [n, ...] and their planes [n, bits], cut into what is encoded at a time."""
    parts = pictures.split(EVAL_BATCH)
    return list(zip(parts, planes.split(EVAL_BATCH) if planes is not None else [None] * len(parts), strict=True))


def shared_tensor(array: np.ndarray) -> Tensor:
    """A tensor over the same memory. Memory maps are read-only, which torch warns about; nothing here writes to them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
