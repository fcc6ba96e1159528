"""Image folders: train/<class>/* and test/<class>/*, in the formats and sizes that people have."""

import contextlib
import hashlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import UnidentifiedImageError

from core.datasets import cache, pictures, select
from core.datasets.dataset import DataError
from core.datasets.parallel import Progress, attempt, attempt_all
from core.validation import shortened

TEST_SHARE = 0.2  # of every class, where the folder has no test images
TEST_NAMES = ("test", "val", "validation")  # the first one that holds images counts
LOOKED_AT = 24  # images whose headers tell a folder's usual size before all of them are read
SCANNED = 1000  # files among which these images are looked for
LARGEST_DEFAULT = 224  # pixels a side; larger images are reduced to it unless a size is asked for
NAMED = 5  # how many files a note names
EXPECTED = "Expected: one folder for each class with its image files inside, or train/<class>/ and test/<class>/."



class File(NamedTuple):
    """One image file of a class."""

    name: str  # path below the data set's folder
    size: int  # bytes, -1 where the system does not tell (a dangling link)
    mtime_ns: int
    label: int  # class index


class Listing(NamedTuple):
    """The image files of a folder, before any is opened."""

    classes: tuple[str, ...]  # natural order
    train: tuple[File, ...]  # in a fixed mixed order
    test: tuple[File, ...]
    was_split: bool  # the test files were taken from the training files
    notes: tuple[str, ...]


class Decoded(NamedTuple):
    """What became of some files."""

    images: np.ndarray  # uint8 [n, h, w, c], files that failed left out
    labels: np.ndarray  # int64 [n]
    failed: tuple[tuple[str, Exception], ...]  # file name, what went wrong


def load_folder(root: Path, image_size: int | None, on_progress: Progress) -> cache.Entry:
    """Decode an image folder, or take it from the cache if no file in it has changed.

    Args:
        root: Folder with train/<class>/ and test/<class>/ (or val/). Without a test folder, or with the class folders
            directly inside, a fixed fifth of every class becomes the test images.
        image_size: Side of the square all images are stretched to, pixels; None: the side that is most common among the
            training images (their shorter one), at most 224.
        on_progress: Called with records of kind "scan" (headers) and "decode", each for training and test images; see
            `core.datasets.parallel.attempt_all`.

    Returns:
        Images with 1 channel if all of them are grey to look at, else 3; training images in a fixed mixed order.

    Raises:
        DataError: If the folder is missing or holds no readable image, one class only, a class with fewer than two
            images, or a test class without training images.
    """
    listing = list_folder(root)
    name = hashlib.sha256(str(root.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    key = f"folder-{name}-{image_size or 'native'}"
    sources = [cache.Source(file.name, file.size, file.mtime_ns) for file in (*listing.train, *listing.test)]
    return cache.cached(key, sources, lambda allocate: _build(root, listing, image_size, allocate, on_progress))


def list_folder(root: Path) -> Listing:
    """Find the image files and classes of a folder.

    Raises:
        DataError: See `load_folder`.
    """
    try:
        return _listed(root)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"data_root: {shortened(str(error.filename or root))} cannot be read ({reason}).") from error


def _listed(root: Path) -> Listing:
    if not root.is_dir():
        what = "is a file; unpack it and name the folder" if root.is_file() else "does not exist"
        raise DataError(f"data_root: the folder {root} {what}. {EXPECTED}")
    notes: list[str] = []
    inside = (root / "train").is_dir()
    train = _class_files(root, "train" if inside else "", notes, skip=() if inside else TEST_NAMES)
    test: dict[str, list[File]] = {}
    for name in TEST_NAMES:
        if (root / name).is_dir() and (test := _class_files(root, name, notes)):
            if name != "test":
                notes.append(f"{name}/ serves as the test images.")
            break
    _check_classes(root / "train" if inside else root, train, test)
    classes = tuple(sorted(train, key=natural_key))
    train_files, test_files = (_labelled(classes, part) for part in (train, test))
    was_split = not test_files
    if was_split:
        train_files, test_files = _split(classes, train_files)
        notes.append(f"There are no test images: a fixed {TEST_SHARE:.0%} of every class serves as such.")
    mixed = np.random.default_rng(select.SEED).permutation(len(train_files))  # class after class is no order to train in
    return Listing(classes, tuple(train_files[row] for row in mixed), tuple(test_files), was_split, tuple(notes))


def usual_side(root: Path) -> int | None:
    """Shorter side in pixels that is most common among the first images of a folder, found without listing all of them.

    Args:
        root: As for `load_folder`.

    Returns:
        The side; None if there is no image that can be read.
    """
    inside = root / "train"
    with contextlib.suppress(OSError, ValueError):  # no such folder, or no possible name of one
        top = inside if inside.is_dir() else root
        files = itertools.islice(_walk(str(top), ""), SCANNED)
        names = (file.name for file in files if os.path.splitext(file.name)[1].lower() in pictures.SUFFIXES)
        headers = [attempt(lambda name: pictures.read_header(top / name), name) for name in itertools.islice(names, LOOKED_AT)]
        sides = Counter(min(found.height, found.width) for found in headers if not isinstance(found, Exception))
        return max(sides, key=sides.get, default=None)
    return None


def _labelled(classes: tuple[str, ...], files: dict[str, list[File]]) -> list[File]:
    return [file._replace(label=label) for label, name in enumerate(classes) for file in files.get(name, ())]


def natural_key(name: str) -> tuple:
    """Sort key in which numbers count as numbers: 2 before 10. Upper and lower case sort together."""
    parts = re.split(r"(\d+)", name)  # text, number, text, ...: positions compare like with like
    return tuple(int(part) if position % 2 else part.casefold() for position, part in enumerate(parts)), name


def _class_files(root: Path, below: str, notes: list[str], skip: Sequence[str] = ()) -> dict[str, list[File]]:
    """Image files by class, natural order; classes without any are left out and noted, as are files that are no images."""
    folder = root / below
    found: dict[str, list[File]] = {}
    empty: list[str] = []
    others: list[str] = []
    for entry in sorted(os.scandir(folder), key=lambda entry: natural_key(entry.name)):
        if entry.name.startswith(".") or entry.name in skip:
            continue
        if not _is_folder(entry):
            others.append(entry.name)
            continue
        images = []
        for file in _walk(entry.path, os.path.join(below, entry.name)):
            if os.path.splitext(file.name)[1].lower() in pictures.SUFFIXES:
                images.append(file)
            else:
                others.append(os.path.relpath(file.name, below or "."))
        if images:
            found[entry.name] = sorted(images, key=lambda file: natural_key(file.name))
        else:
            empty.append(entry.name)
    where = folder.name
    if empty:
        notes.append(f"{where}/: no image files in {_count(len(empty), 'folder')}, left out: {_names(empty)}.")
    if others:
        what = _count(len(others), "file")
        notes.append(f"{where}/: {what} outside a class folder or of another kind left out: {_names(others)}.")
    return found


def _walk(folder: str, name: str) -> Iterator[File]:
    """All files below a folder, hidden ones left out; `name` is the folder's own name below the data set's folder."""
    for entry in os.scandir(folder):
        inner = os.path.join(name, entry.name)
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):  # a link to a folder could lead round in a circle
            yield from _walk(entry.path, inner)
        elif not _is_folder(entry):
            try:
                state = entry.stat()
                yield File(inner, state.st_size, state.st_mtime_ns, -1)
            except OSError:  # a dangling link: counted as unreadable when it is to be decoded
                yield File(inner, -1, 0, -1)


def _is_folder(entry: os.DirEntry) -> bool:
    """Whether it is a folder, or leads to one; a link that leads round to itself, for which the system gives an error, is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _check_classes(folder: Path, train: dict[str, list[File]], test: dict[str, list[File]]) -> None:
    if not train:
        raise DataError(f"data_root: there are no class folders with images in {folder}. {EXPECTED}")
    if len(train) == 1:
        raise DataError(f"data_root: {folder} holds one class only ({next(iter(train))}); at least two are needed. {EXPECTED}")
    unknown = sorted(set(test) - set(train), key=natural_key)
    if unknown:
        raise DataError(
            f"data_root: the test images have {_count(len(unknown), 'class', 'classes')} without training images: "
            f"{_names(unknown)}. Add them to {folder}, or remove them from the test images."
        )


def _split(classes: tuple[str, ...], files: Sequence[File]) -> tuple[list[File], list[File]]:
    labels = np.array([file.label for file in files])
    small = [classes[label] for label, count in enumerate(np.bincount(labels)) if count < 2]
    if small:
        raise DataError(
            f"data_root: each class needs at least 2 images; there is only 1 in {_names(small)}. "
            "Add images, or remove the folder of the class."
        )
    train, test = select.split(labels, TEST_SHARE)
    return [files[row] for row in train], [files[row] for row in test]


def _build(root: Path, listing: Listing, image_size: int | None, allocate: cache.Allocate, on_progress: Progress) -> cache.Entry:
    everything = [file.name for file in (*listing.train, *listing.test)]
    headers = attempt_all(lambda name: pictures.read_header(root / name), everything, "scan", on_progress)
    sizes = Counter((h.height, h.width) for h in headers[: len(listing.train)] if not isinstance(h, Exception))
    if not sizes:
        failed = list(zip(everything, headers, strict=True))[: len(listing.train)]
        raise DataError(
            f"data_root: none of the {_count(len(failed), 'training image')} in {root} can be read: {_failures(failed)}."
        )
    side, notes = _choose_side(sizes, image_size)
    channels = 1 if all(_looks_gray(root / name, header) for name, header in zip(everything, headers, strict=True)) else 3
    train, test = (
        _decode(root, files, allocate(f"{name}_images", (len(files), side, side, channels)), on_progress)
        for name, files in (("train", listing.train), ("test", listing.test))
    )
    failed = [*train.failed, *test.failed]
    if failed:
        share = f"{len(failed):,} of {_count(len(everything), 'file')}"
        notes.append(f"{share} could not be read and were left out: {_failures(failed)}.")
    _check_counts(root, listing, train, test)
    return cache.Entry(train.images, train.labels, test.images, test.labels, listing.classes, (*listing.notes, *notes))


def _choose_side(sizes: Counter, image_size: int | None) -> tuple[int, list[str]]:
    """Side of the square for all images, and what to tell about it."""
    height, width = max(sizes, key=lambda size: (sizes[size], size))
    side = image_size or min(height, width, LARGEST_DEFAULT)
    changed = sum(count for size, count in sizes.items() if size != (side, side))
    if not changed:
        return side, []
    share = f"{changed:,} of {_count(sum(sizes.values()), 'training image')}"
    reason = "" if image_size else f" (most common size: {width} x {height}; set image_size for another)"
    return side, [f"{share} have another size and were stretched to {side} x {side} px{reason}."]


def _looks_gray(path: Path, header: pictures.Header | Exception) -> bool:
    """False for images with colour; files that cannot be read do not count."""
    if isinstance(header, Exception) or header.gray:
        return True
    pixels = attempt(lambda path: pictures.read_pixels(path, 3), path)
    return isinstance(pixels, Exception) or pictures.is_gray(pixels)


def _decode(root: Path, files: Sequence[File], out: np.ndarray, on_progress: Progress) -> Decoded:
    """Decode all files into the rows of an array; failed ones leave no gap, but rows to spare at the end."""
    size, channels = out.shape[1:3], out.shape[3]

    def decode(row: int) -> None:
        out[row] = pictures.read_pixels(root / files[row].name, channels, size)

    results = attempt_all(decode, range(len(files)), "decode", on_progress)
    good = [row for row, error in enumerate(results) if error is None]
    for target, row in enumerate(good):
        if target != row:
            out[target] = out[row]
    failed = tuple((files[row].name, error) for row, error in enumerate(results) if error is not None)
    return Decoded(out[: len(good)], np.array([files[row].label for row in good], np.int64), failed)


def _check_counts(root: Path, listing: Listing, train: Decoded, test: Decoded) -> None:
    """Every class needs two readable images in training (one, where another went to the test images); some must test."""
    counts = np.bincount(train.labels, minlength=len(listing.classes))
    needed = 1 if listing.was_split else 2
    small = [f"{listing.classes[label]} ({counts[label]})" for label in np.flatnonzero(counts < needed)]
    if small:
        raise DataError(
            f"data_root: each class needs at least {needed} readable training image{'s' * (needed > 1)} in {root}; "
            f"too few in {_names(small)}. Add images, or remove the folder of the class."
        )
    if not len(test.labels):
        raise DataError(
            f"data_root: none of the {_count(len(listing.test), 'test image')} in {root} can be read: {_failures(test.failed)}."
        )


def _reason(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):  # its text repeats the path
        return "not an image"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error).split("\n")[0] or type(error).__name__


def _failures(failed: Sequence[tuple[str, Exception]]) -> str:
    in_order = sorted(failed, key=lambda failure: natural_key(failure[0]))
    return _names(f"{name} ({_reason(error)})" for name, error in in_order)


def _names(names: Iterable[str]) -> str:
    """The first few of some names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
