"""The publishers' formats: what is read from them, and how damage is told."""

import gzip
import os
import pickle

import numpy as np
import pytest
from published import cifar10_files, idx, mnist_files, stl10_files, tar_gz

from core.datasets import readers
from core.datasets.catalogue import CIFAR10_TRAIN, PUBLISHED, STL10_FILES
from core.datasets.dataset import DataError


def nothing(_):
    pass


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("shape", [(3, 28, 28), (5,), (0, 2)])
def test_idx_files_come_back_as_written(tmp_path, zipped, shape):
    array = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    path = tmp_path / ("file.gz" if zipped else "file")
    path.write_bytes(gzip.compress(idx(array)) if zipped else idx(array))
    assert np.array_equal(readers.read_idx(path), array)


@pytest.mark.parametrize(
    ("content", "suffix", "message"),
    [
        (b"", "", "{path} is not an IDX file of bytes: it starts with nothing. Replace the file."),
        (b"<html>", "", "{path} is not an IDX file of bytes: it starts with 3c 68 74 6d. Replace the file."),
        (idx(np.zeros((3, 2), np.uint8))[:-1], "", "{path} is incomplete: its 17 bytes do not fit its header. Replace the file."),
        (bytes([0, 0, 8, 3, 0]), "", "{path} is incomplete: its 5 bytes do not fit its header. Replace the file."),
        (gzip.compress(idx(np.zeros(9, np.uint8)), mtime=0)[:20], ".gz",
         "{path} cannot be read (Compressed file ended before the end-of-stream marker was reached). Replace the file."),
    ],
)
def test_damaged_idx_files_are_named(tmp_path, content, suffix, message):
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        readers.read_idx(path)
    assert str(error.value) == message.format(path=path)


def test_mnist_5k_reader_on_two_lines(tmp_path):
    path = tmp_path / "digits.csv.gz"
    rows = [[*range(200), *[0] * 584, 7], [*[255] * 784, 0]]
    path.write_bytes(gzip.compress("".join(",".join(map(str, row)) + "\n" for row in rows).encode()))
    images, labels = readers.read_digits_csv(path)
    assert images.shape == (2, 28, 28, 1) and labels.tolist() == [7, 0]
    assert images[0, 0, :, 0].tolist() == list(range(28)) and images[0, 1, 0, 0] == 28 and (images[1] == 255).all()


def test_cifar_pixels_are_placed_as_published(tmp_path):
    """Planes of rows in the file; [h, w, c] afterwards."""
    images, labels = readers.read_cifar(cifar10_files(3), CIFAR10_TRAIN, "labels")
    assert images.shape == (15, 32, 32, 3) and labels.tolist() == [0, 1, 2] * 5
    assert images[4, 5, 5].tolist() == [10, 1, 200], "second batch, second image"
    assert images[0, 0, 1, 2] == 99 and images[0, 1, 0, 2] == 200


def test_cifar_batches_of_python_2_are_read():
    """The real files were pickled by Python 2: byte strings as keys, NumPy 1 names."""
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\np2\n(cnumpy\nndarray\np3\n(I0\ntp4\nS'b'\np5\ntp6\nRp7\n"
        b"(I1\n(I1\nI3072\ntp8\ncnumpy\ndtype\np9\n(S'u1'\np10\nI0\nI1\ntp11\nRp12\n"
        b"(I3\nS'|'\np13\nNNNI-1\nI-1\nI0\ntp14\nbI00\nS'" + b"\\xc8" * 3072 + b"'\np15\ntp16\nb"
    )
    batch = b"(dp0\nS'data'\np1\n" + array + b"sS'labels'\np17\n(lp18\nI4\nas."
    images, labels = readers.read_cifar({"data_batch_1": batch}, ["data_batch_1"], "labels")
    assert images.shape == (1, 32, 32, 3) and (images == 200).all() and labels.tolist() == [4]


class Evil:
    def __reduce__(self):
        return os.system, ("touch should-not-exist",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps({"data": Evil(), "labels": [1]}),
         f"test_batch cannot be read (it asks for {os.system.__module__}.system, which a data file has no need of). "
         "Replace it by the published file."),
        (b"garbage", None),
        (pickle.dumps([1, 2]), None),
        (pickle.dumps({"data": np.zeros((2, 3072), np.uint8)}, protocol=2),
         "test_batch is not a CIFAR batch ('labels'). Replace it by the published file."),
        (pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [1]}, protocol=2),
         "test_batch holds 2 images but 1 labels. Replace it by the published file."),
    ],
)
def test_damaged_or_hostile_batches_are_refused(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as error:
        readers.read_cifar({"test_batch": content}, ["test_batch"], "labels")
    if message:
        assert str(error.value) == message
    assert str(error.value).startswith("test_batch ") and str(error.value).endswith("Replace it by the published file.")
    assert not list(tmp_path.iterdir())


def test_stl10_columns_become_rows():
    files = stl10_files(4)
    images, labels = readers.read_stl10(files["train_X.bin"], files["train_y.bin"])
    assert images.shape == (4, 96, 96, 3) and labels.tolist() == [0, 1, 2, 3]
    assert images[2, 9, 9, 0] == 2 and images[0, 0, 1, 1] == 77 and images[0, 1, 0, 1] == 0
    with pytest.raises(DataError) as error:
        readers.read_stl10(files["train_X.bin"][:-1], files["train_y.bin"])
    assert str(error.value) == "STL-10: 110,591 bytes of pixels do not fit 4 labels. Replace the files."


def test_archives_are_read_without_unpacking(tmp_path):
    """Members are found whatever folder they lie in; what is not asked for is skipped; reading is reported."""
    path = tmp_path / "stl10_binary.tar.gz"
    path.write_bytes(tar_gz({f"stl10_binary/{name}": content for name, content in stl10_files(4).items()}))
    seen = []
    contents = readers.read_members([path], STL10_FILES, seen.append)
    assert set(contents) == set(STL10_FILES) and contents["train_X.bin"] == stl10_files(4)["train_X.bin"]
    assert seen == sorted(seen) and 0 < seen[-1] <= path.stat().st_size
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_archives_are_named(tmp_path):
    path = tmp_path / "cifar-10-python.tar.gz"
    whole = tar_gz({"test_batch": os.urandom(20_000)})
    for content, message in (
        (b"garbage", f"{path} cannot be read (not a gzip file). Replace it by the published archive."),
        (whole[:-9000], f"{path} cannot be read (unexpected end of data). Replace it by the published archive."),
        (whole, f"{path} lacks batches.meta. Replace it by the published archive."),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError) as error:
            readers.read_members([path], ["test_batch", "batches.meta"], nothing)
        assert str(error.value) == message


def test_addresses_and_checksums_are_torchvisions():
    """Folders, file names, addresses and checksums agree with the installed torchvision, which keeps them up to date."""
    from torchvision import datasets as peer

    for name, theirs in (("mnist", peer.MNIST), ("fashion-mnist", peer.FashionMNIST)):
        ours = PUBLISHED[name]
        assert ours.folder == f"{theirs.__name__}/raw"
        assert [(file.name, file.md5) for file in ours.files] == theirs.resources
        assert all(file.urls == tuple(mirror + file.name for mirror in theirs.mirrors) for file in ours.files)
    for name, theirs in (("cifar10", peer.CIFAR10), ("cifar100", peer.CIFAR100), ("stl10", peer.STL10)):
        (file,) = PUBLISHED[name].files
        assert (file.name, file.md5, file.urls) == (theirs.filename, theirs.tgz_md5, (theirs.url,))


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
def test_idx_sets_that_do_not_belong_together(tmp_path, name):
    published = PUBLISHED[name]
    files = mnist_files()
    files["t10k-labels-idx1-ubyte"] = idx(np.zeros(19, np.uint8))
    folder = tmp_path / published.folder
    folder.mkdir(parents=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)
    with pytest.raises(DataError) as error:
        published.read(published.locate(tmp_path), nothing)
    assert str(error.value) == (
        f"{folder / 't10k-images-idx3-ubyte'} and its labels do not belong together: shapes [20, 28, 28] and [19]. "
        "Replace both files."
    )
