"""The published data sets we know by name: which files they consist of, and how to read them.

Folders and file names are torchvision's, so data that were downloaded for torchvision are found.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.datasets import readers
from core.datasets.cache import Entry
from core.datasets.dataset import DataError
from core.datasets.download import RemoteFile

OnBytes = Callable[[int], None]


class Published(NamedTuple):
    """A data set that is published as a few files."""

    folder: str  # where the published files lie, below a data folder
    files: tuple[RemoteFile, ...]
    locate: Callable[[Path], list[Path] | None]  # data folder -> files that are enough to read it, None if some are missing
    read: Callable[[Sequence[Path], OnBytes], Entry]
    also: str  # which unpacked form is understood as well, for the message that says what to place by hand


IDX_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
CIFAR10_TRAIN = tuple(f"data_batch_{number}" for number in range(1, 6))
STL10_FILES = ("train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin", "class_names.txt")
STL10_NOTE = "STL-10's 100,000 images without labels are not used: 5,000 training and 8,000 test images have labels."
DIGITS = tuple("0123456789")
FASHION = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")


def _idx_set(name: str, mirrors: Sequence[str], md5s: Sequence[str], classes: tuple[str, ...]) -> Published:
    """A set in MNIST's four files."""
    folder = f"{name}/raw"
    files = tuple(
        RemoteFile(f"{file}.gz", tuple(f"{mirror}{file}.gz" for mirror in mirrors), md5)
        for file, md5 in zip(IDX_FILES, md5s, strict=True)
    )

    def locate(root: Path) -> list[Path] | None:
        return _all_there([[root / folder / file, root / folder / f"{file}.gz"] for file in IDX_FILES])

    def read(paths: Sequence[Path], on_bytes: OnBytes) -> Entry:
        train_images, train_labels, test_images, test_labels = (readers.read_idx(path) for path in paths)
        for images, labels, path in ((train_images, train_labels, paths[0]), (test_images, test_labels, paths[2])):
            if images.ndim != 3 or labels.shape != images.shape[:1]:
                raise DataError(
                    f"{path} and its labels do not belong together: shapes {list(images.shape)} and {list(labels.shape)}. "
                    "Replace both files."
                )
        return Entry(train_images[..., None], train_labels.astype(np.int64), test_images[..., None],
                     test_labels.astype(np.int64), classes, ())

    return Published(folder, files, locate, read, also="or the same files without .gz")


def _cifar(archive: RemoteFile, unpacked: str, train: Sequence[str], test: str, meta: str, label: str, names: str) -> Published:
    """CIFAR-10 or CIFAR-100, from the archive or its unpacked folder."""
    wanted = (*train, test, meta)

    def read(paths: Sequence[Path], on_bytes: OnBytes) -> Entry:
        contents = readers.read_members(paths, wanted, on_bytes)
        return Entry(*readers.read_cifar(contents, train, label), *readers.read_cifar(contents, [test], label),
                     readers.read_cifar_classes(meta, contents[meta], names), ())

    locate = _archive_or_folder(archive.name, unpacked, wanted)
    return Published("", (archive,), locate, read, also=f"or the unpacked {unpacked}/")


def _read_stl10(paths: Sequence[Path], on_bytes: OnBytes) -> Entry:
    contents = readers.read_members(paths, STL10_FILES, on_bytes)
    classes = tuple(contents["class_names.txt"].decode("ascii", "replace").split())
    return Entry(*readers.read_stl10(contents["train_X.bin"], contents["train_y.bin"]),
                 *readers.read_stl10(contents["test_X.bin"], contents["test_y.bin"]), classes, (STL10_NOTE,))


def _archive_or_folder(archive: str, unpacked: str, wanted: Sequence[str]) -> Callable[[Path], list[Path] | None]:
    def locate(root: Path) -> list[Path] | None:
        return _all_there([[root / unpacked / name] for name in wanted]) or _all_there([[root / archive]])

    return locate


def _all_there(choices: Sequence[Sequence[Path]]) -> list[Path] | None:
    """The first existing file of each choice; None if a choice has none."""
    found = [next((path for path in paths if path.is_file()), None) for paths in choices]
    return None if None in found else found


CIFAR_URL = "https://www.cs.toronto.edu/~kriz/"
CIFAR10_ARCHIVE = RemoteFile(
    "cifar-10-python.tar.gz", (f"{CIFAR_URL}cifar-10-python.tar.gz",), "c58f30108f718f92721af3b95e74349a"
)
CIFAR100_ARCHIVE = RemoteFile(
    "cifar-100-python.tar.gz", (f"{CIFAR_URL}cifar-100-python.tar.gz",), "eb9058c3a382ffc7106e4002c42a8d85"
)
STL10_ARCHIVE = RemoteFile(
    "stl10_binary.tar.gz", ("http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",), "91f7769df0f17e558f3565bffb0c7dfb"
)

PUBLISHED: dict[str, Published] = {
    "mnist": _idx_set(
        "MNIST",
        ("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"),
        ("f68b3c2dcbeaaa9fbdd348bbdeb94873", "d53e105ee54ea40749a09fcbcd1e9432",
         "9fb629c4189551a2d022fa330f9573f3", "ec29112dd5afa0611ce80d1b7f02629c"),
        DIGITS,
    ),
    "fashion-mnist": _idx_set(
        "FashionMNIST",
        ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
        ("8d4fb7e6c68d591d4c3dfef9ec88bf0d", "25c81989df183df01b3e8a0aad5dffbe",
         "bef4ecab320f06d8554ea6380940ec79", "bb300cfdad3c16e7a12a480ee83cd310"),
        FASHION,
    ),
    "cifar10": _cifar(
        CIFAR10_ARCHIVE, "cifar-10-batches-py", CIFAR10_TRAIN, "test_batch", "batches.meta", "labels", "label_names"
    ),
    "cifar100": _cifar(CIFAR100_ARCHIVE, "cifar-100-python", ["train"], "test", "meta", "fine_labels", "fine_label_names"),
    "stl10": Published(
        "", (STL10_ARCHIVE,), _archive_or_folder(STL10_ARCHIVE.name, "stl10_binary", STL10_FILES), _read_stl10,
        also="or the unpacked stl10_binary/",
    ),
}
