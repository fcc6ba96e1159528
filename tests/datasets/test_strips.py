"""What an encoder saw: the pictures of a strip are those that training makes, and no folder is decoded for it."""

import numpy as np
import pytest

from core.datasets import DataError, load, randbit
from core.datasets.strips import strip
from core.training import RunSpec


@pytest.fixture(autouse=True)
def forget():
    """Kept data sets belong to one cache folder."""
    from core.datasets import strips

    yield
    strips._loaded.cache_clear()
    strips._few_of_folder.cache_clear()


def test_without_augmentation_a_strip_shows_the_images_themselves_and_their_bits():
    shown = strip([dict(bits=bits, augment="none") for bits in (0, 3, 10)], images=2)
    assert shown.views.shape == (3, 2, 2, 28, 28, 3)
    data = load(RunSpec())
    for image in range(2):
        label = int(shown.names[image])
        row = int(np.flatnonzero(data.train.labels == label)[0])
        for view in range(2):
            for position in range(3):
                np.testing.assert_array_equal(shown.views[position, image, view, ..., 1], data.train.images[row, ..., 0])
        code = int(randbit.codes(np.asarray(data.train.images[row : row + 1]))[0])
        expected = [[code >> bit & 1 for bit in range(count)] for count in (0, 3, 10)]
        assert [bits[image].tolist() for bits in shown.bits] == expected


def test_crops_stay_the_same_along_the_dial():
    shown = strip([dict(bits=0), dict(bits=5)])
    np.testing.assert_array_equal(shown.views[0], shown.views[1])
    assert not np.array_equal(shown.views[0, 0, 0], shown.views[0, 0, 1])


def test_a_folder_is_shown_without_decoding_all_of_it(tmp_path, save_image, cache_root):
    for label in "ab":
        for number in range(4):
            save_image(tmp_path / "set" / label / f"{number}.png", np.full((40, 40, 3), 60 + number, np.uint8))
    (tmp_path / "set" / "a" / "broken.png").write_bytes(b"no image")
    settings = dict(dataset="folder", data_root=str(tmp_path / "set"), augment="none", batch_size=2)
    shown = strip([settings, settings | dict(digits=4, digit_size=10)])
    assert shown.views.shape == (2, 2, 2, 40, 40, 3) and set(shown.names) == {"a", "b"}
    assert (shown.views[1] >= shown.views[0]).all() and shown.views[1].max() > 200  # white digits over dark pictures
    assert not any("folder" in path.name for path in (cache_root / "decoded").glob("*"))


def test_what_is_not_here_is_named(tmp_path):
    with pytest.raises(DataError) as caught:
        strip([dict(dataset="cifar10")])
    assert str(caught.value) == "cifar10 is not on this machine; the first run of the study downloads it."
    with pytest.raises(DataError, match=r"^data_root: the folder .*gone does not exist"):
        strip([dict(dataset="folder", data_root=str(tmp_path / "gone"))])
    with pytest.raises(ValueError, match=r"^a strip needs at least one setting and one image, got 0 and 2\.$"):
        strip([])
    with pytest.raises(ValueError, match=r"^all pictures of a strip must have one size, got \[28, 32\] pixels\.$"):
        strip([dict(), dict(image_size=32)])
