"""The images of an inspection, as batches that fit the encoder's input. Needs torch."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from core import datasets
from core.datasets import randbit
from core.datasets.augment import to_float, two_views
from core.datasets.colors import LUMA
from core.evaluation.linear_probe import stratified_rows
from core.inspections.alter import Change
from core.inspections.spec import InspectionSpec

BATCH_PIXELS = 2**20  # image positions in a batch: 256 images of 64 x 64
MOST = 500  # images in a batch

Batch = tuple[Tensor, Tensor | None]


class ShownImages:
    """Stratified training and test images of a data set, in the channels that the encoder takes.

    Args:
        spec: Names the data set, how many images, and the views.
        data: All of its images.
        image_channels: Input channels of the encoder that are the image, 1 or 3.
        device: Where batches are made.
    """

    def __init__(self, spec: InspectionSpec, data: datasets.DataSet, image_channels: int, device: torch.device):
        self.spec, self.data, self.channels, self.device = spec, data, image_channels, device
        self.side = data.train.images.shape[1]
        self.own_channels = data.train.images.shape[3]
        self.train_rows = stratified_rows(data.train.labels, spec.n_train, spec.seed)
        self.test_rows = stratified_rows(data.test.labels, spec.n_test, spec.seed)
        self.train_labels, self.test_labels = data.train.labels[self.train_rows], data.test.labels[self.test_rows]
        self.batch = int(np.clip(BATCH_PIXELS // (self.side * data.train.images.shape[2]), 8, MOST))
        self.train_codes, self.test_codes = (
            randbit.codes(split.images[rows]) if spec.bits else None
            for split, rows in ((data.train, self.train_rows), (data.test, self.test_rows))
        )

    def plain(self, train: bool) -> Iterator[Batch]:
        """Batches without augmentation, in order."""
        split, rows, codes = self._part(train)
        for part in self._parts(len(rows)):
            yield self._fit(to_float(self._pixels(split, rows[part]))), self._planes(codes, part)

    def changed(self, change: Change) -> Iterator[Batch]:
        """The test images under an alteration, in order."""
        split, rows, own = self._part(train=False)
        codes = own if change.codes is None else change.codes
        for part in self._parts(len(rows)):
            x = change.image(to_float(self._pixels(split, rows[part])), part)
            yield self._fit(x), self._planes(codes, part)

    def views(self) -> Iterator[Batch]:
        """Two augmented views of the test images; each batch holds the first views of some images, then their second ones."""
        split, rows, codes = self._part(train=False)
        generator = torch.Generator(self.device).manual_seed(self.spec.seed)
        for part in self._parts(len(rows)):
            a, b = two_views(self._pixels(split, rows[part]), self.spec.augment, self.spec.color_strength, generator)
            planes = self._planes(codes, part)
            yield self._fit(torch.cat([a, b])), None if planes is None else torch.cat([planes, planes])

    def split_views(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """What the encoder made of `views`, as the first views and the second ones, each [n, d]."""
        sizes = [part.stop - part.start for part in self._parts(len(self.test_rows))]
        parts = features.split([2 * size for size in sizes])
        halves = [part.split(size) for part, size in zip(parts, sizes, strict=True)]
        return torch.cat([first for first, _ in halves]), torch.cat([second for _, second in halves])

    def _part(self, train: bool) -> tuple[datasets.Split, np.ndarray, np.ndarray | None]:
        if train:
            return self.data.train, self.train_rows, self.train_codes
        return self.data.test, self.test_rows, self.test_codes

    def _parts(self, count: int) -> Iterator[slice]:
        for start in range(0, count, self.batch):
            yield slice(start, min(start + self.batch, count))

    def _pixels(self, split: datasets.Split, rows: np.ndarray) -> Tensor:
        """uint8 [n, c, h, w] on the device."""
        return torch.from_numpy(np.ascontiguousarray(split.images[rows])).to(self.device).permute(0, 3, 1, 2)

    def _planes(self, codes: np.ndarray | None, part: slice) -> Tensor | None:
        if codes is None:
            return None
        return randbit.bit_planes(torch.from_numpy(codes[part].astype(np.int64)).to(self.device), self.spec.bits)

    def _fit(self, x: Tensor) -> Tensor:
        """Grey images for an encoder of colours, and the other way round."""
        if x.shape[1] == self.channels:
            return x
        if x.shape[1] == 1:
            return x.expand(-1, self.channels, -1, -1)
        weights = torch.tensor(LUMA, device=x.device).view(1, 3, 1, 1)
        return (x[:, :3] * weights).sum(dim=1, keepdim=True)
