"""Image folders as people have them, good and bad."""

import os
import time

import numpy as np
import pytest
from PIL import Image

from core.datasets import load
from core.datasets.dataset import DataError
from core.datasets.folder import list_folder, natural_key, usual_side
from core.datasets.sources import raw_folders
from core.training.spec import RunSpec

EXPECTED = "Expected: one folder for each class with its image files inside, or train/<class>/ and test/<class>/."


def spec(root, **fields):
    return RunSpec(dataset="folder", data_root=str(root), **fields)


def shade(value, side=16, channels=3):
    return np.full((side, side, channels) if channels > 1 else (side, side), value, np.uint8)


def tinted(value, side=16):
    """Flat colour images whose red tells which image it is."""
    pixels = shade(0, side)
    pixels[..., 0], pixels[..., 2] = value, 255 - value
    return pixels


@pytest.fixture
def folder(tmp_path, save_image):
    """Three classes, 4 training and 2 test images each; red of an image: 40 * class + 10 * number (+ 5 in test)."""
    root = tmp_path / "birds"
    for label, name in enumerate(("crow", "jay", "wren")):
        for number in range(4):
            save_image(root / "train" / name / f"{number}.png", tinted(40 * label + 10 * number))
        for number in range(2):
            save_image(root / "test" / name / f"{number}.png", tinted(40 * label + 10 * number + 5))
    return root


def test_every_image_keeps_its_pixels_and_label(folder):
    data = load(spec(folder))
    assert data.name == "folder" and data.classes == ("crow", "jay", "wren") and data.notes == ()
    assert data.train.images.shape == (12, 16, 16, 3) and data.test.images.shape == (6, 16, 16, 3)
    assert isinstance(data.train.images, np.memmap) and not data.train.images.flags.writeable
    red = data.train.images[:, 0, 0, 0]
    assert sorted(red) == [40 * label + 10 * number for label in range(3) for number in range(4)]
    assert (red // 40 == data.train.labels).all() and (data.test.images[:, 0, 0, 0] // 40 == data.test.labels).all()
    assert (data.train.images[:, 0, 0, 0] + data.train.images[:, 3, 3, 2] == 255).all()


def test_training_images_are_mixed_and_always_alike(folder):
    """Class after class would be no order to train in without shuffling."""
    first = load(spec(folder)).train.labels
    assert first.tolist() != sorted(first) and (load(spec(folder)).train.labels == first).all()


def test_natural_class_order(tmp_path, save_image):
    """Pitfall 30: "10" sorted before "2" permutes the labels."""
    root = tmp_path / "numbers"
    for number in range(12):
        for copy in range(2):
            save_image(root / "train" / str(number) / f"{copy}.png", tinted(number * 20))
        save_image(root / "test" / str(number) / "0.png", tinted(number * 20))
    data = load(spec(root))
    assert data.classes == tuple(map(str, range(12)))
    assert (data.train.images[:, 0, 0, 0] // 20 == data.train.labels).all() and data.train.labels.max() == 11


def test_natural_key():
    names = ["img12", "img2", "IMG1", "b", "A", "2", "10", "01", "1a2", "1a10", "", "é"]
    assert sorted(names, key=natural_key) == ["", "01", "1a2", "1a10", "2", "10", "A", "b", "IMG1", "img2", "img12", "é"]


def test_a_second_load_is_instant_and_changed_files_are_noticed(folder, save_image):
    load(spec(folder))
    records = []
    load(spec(folder), records.append)
    assert records == []
    save_image(folder / "train" / "crow" / "0.png", tinted(7))
    os.utime(folder / "train" / "crow" / "0.png", ns=(1, time.time_ns() + 10**9))
    assert 7 in load(spec(folder), records.append).train.images[:, 0, 0, 0] and records
    (folder / "train" / "jay" / "3.png").unlink()
    assert len(load(spec(folder)).train.labels) == 11
    save_image(folder / "train" / "jay" / "new.png", tinted(47))
    assert len(load(spec(folder)).train.labels) == 12


def test_progress_counts_files(folder):
    records = []
    load(spec(folder), records.append)
    assert [(r["kind"], r["done"], r["total"]) for r in records] == [("scan", 18, 18), ("decode", 12, 12), ("decode", 6, 6)]
    assert all(r["rate"] > 0 for r in records)


def test_two_folders_do_not_share_an_entry(folder, tmp_path, save_image):
    other = tmp_path / "elsewhere"
    for path in folder.rglob("*.png"):
        save_image(other / path.relative_to(folder), tinted(99))
    assert (load(spec(other)).train.images[..., 0] == 99).all() and (load(spec(folder)).train.images[..., 0] != 99).all()


def test_a_relative_folder_starts_at_the_data_folder(folder, monkeypatch):
    monkeypatch.setenv("CONTRASTIVE_LENS_DATA", str(folder.parent))
    assert load(spec("birds")).classes == ("crow", "jay", "wren")


# Test images that are not where they are expected


@pytest.mark.parametrize("name", ["~nobody-of-this-name/pictures", "no\0path"])
def test_a_folder_that_no_system_has_is_told(name):
    with pytest.raises(DataError, match="does not exist"):
        load(RunSpec(dataset="folder", data_root=name))
    assert usual_side(raw_folders(name)[0]) is None


def test_without_test_images_a_fixed_fifth_serves(tmp_path, save_image):
    root = tmp_path / "set"
    for name, count in (("a", 10), ("b", 20), ("c", 2)):
        for number in range(count):
            save_image(root / "train" / name / f"{number}.png", tinted(number))
    data = load(spec(root))
    assert np.bincount(data.train.labels).tolist() == [8, 16, 1] and np.bincount(data.test.labels).tolist() == [2, 4, 1]
    assert data.notes == ("There are no test images: a fixed 20% of every class serves as such.",)
    assert (load(spec(root)).test.images == data.test.images).all()


def test_class_folders_may_lie_directly_inside(tmp_path, save_image):
    for name in ("cat", "dog"):
        for number in range(5):
            save_image(tmp_path / "pets" / name / f"{number}.jpg", tinted(9))
    data = load(spec(tmp_path / "pets"))
    assert data.classes == ("cat", "dog") and len(data.train.labels) == 8 and len(data.test.labels) == 2


@pytest.mark.parametrize("name", ["val", "validation"])
def test_validation_images_serve_as_test_images(folder, name):
    (folder / "test").rename(folder / name)
    data = load(spec(folder))
    assert len(data.test.labels) == 6 and data.notes == (f"{name}/ serves as the test images.",)


def test_unlabelled_test_images_are_told(folder):
    """As competitions publish them: test images without class folders cannot be used, and that is said."""
    for number, path in enumerate(sorted((folder / "test").rglob("*.png"))):
        path.rename(folder / "test" / f"{number}.png")
    data = load(spec(folder))
    assert data.notes == (
        "test/: no image files in 3 folders, left out: crow, jay, wren.",
        "test/: 6 files outside a class folder or of another kind left out: 0.png, 1.png, 2.png, 3.png, 4.png and 1 more.",
        "There are no test images: a fixed 20% of every class serves as such.",
    )
    assert len(data.train.labels) == 9 and len(data.test.labels) == 3


def test_classes_without_test_images_are_fine(folder):
    for path in (folder / "test" / "jay").iterdir():
        path.unlink()
    data = load(spec(folder))
    assert data.classes == ("crow", "jay", "wren") and set(data.test.labels.tolist()) == {0, 2}
    assert data.notes == ("test/: no image files in 1 folder, left out: jay.",)


# Sizes and kinds of images


def test_all_gray_images_have_one_channel(tmp_path, save_image):
    """However they are stored: grey, grey with alpha, 16 bits, RGB with equal channels, a grey palette."""
    root = tmp_path / "gray"
    palette = Image.fromarray(shade(1, channels=1), "P")
    palette.putpalette([0, 0, 0, 50, 50, 50])
    kinds = [shade(50, channels=1), shade(50), palette, np.full((16, 16), 50 * 257, np.uint16),
             Image.merge("LA", [Image.fromarray(shade(50, channels=1)), Image.fromarray(shade(255, channels=1))])]
    for part in ("train", "test"):
        for name in ("a", "b"):
            for number, pixels in enumerate(kinds):
                save_image(root / part / name / f"{number}.png", pixels)
    data = load(spec(root))
    assert data.train.images.shape == (10, 16, 16, 1) and (data.train.images == 50).all() and (data.test.images == 50).all()


def test_one_color_image_makes_all_of_them_rgb(folder, save_image):
    for path in folder.rglob("*.png"):
        save_image(path, shade(50, channels=1))
    save_image(folder / "test" / "wren" / "1.png", tinted(60))
    data = load(spec(folder))
    assert data.train.images.shape == (12, 16, 16, 3) and (data.train.images == 50).all()


def test_mixed_sizes_take_the_most_common_one(folder, save_image):
    save_image(folder / "train" / "crow" / "0.png", tinted(0, side=40))
    save_image(folder / "train" / "jay" / "0.png", tinted(40, side=1))
    data = load(spec(folder))
    assert data.train.images.shape[1:] == (16, 16, 3)
    assert sorted(data.train.images[:, 8, 8, 0]) == [40 * label + 10 * number for label in range(3) for number in range(4)]
    assert data.notes == (
        "2 of 12 training images have another size and were stretched to 16 x 16 px "
        "(most common size: 16 x 16; set image_size for another).",
    )


def test_a_wanted_size_is_taken(folder):
    data = load(spec(folder, image_size=24))
    assert data.train.images.shape == (12, 24, 24, 3) and data.test.images.shape == (6, 24, 24, 3)
    assert data.notes == ("12 of 12 training images have another size and were stretched to 24 x 24 px.",)


def test_oblong_and_large_images_become_squares(tmp_path, save_image):
    root = tmp_path / "photos"
    for part in ("train", "test"):
        for name in ("a", "b"):
            for number in range(2):
                pixels = np.zeros((300, 400, 3), np.uint8)
                pixels[:, :200, 0] = 200  # the left half is red, also after stretching
                save_image(root / part / name / f"{number}.png", pixels)
    data = load(spec(root))
    assert data.train.images.shape == (4, 224, 224, 3)
    assert (data.train.images[:, :, :110, 0] == 200).all() and (data.train.images[:, :, 114:, 0] == 0).all()
    assert data.notes == (
        "4 of 4 training images have another size and were stretched to 224 x 224 px "
        "(most common size: 400 x 300; set image_size for another).",
    )


def test_turned_photos_count_with_the_size_they_are_shown_in(tmp_path, save_image):
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = np.zeros((20, 30, 3), np.uint8)
    pixels[:10] = [250, 0, 0]  # the upper half of the file is the right half of the photo
    for name in ("a", "b"):
        for number in range(5):
            save_image(tmp_path / "phone" / name / f"{number}.png", pixels, exif=exif)
    data = load(spec(tmp_path / "phone"))
    assert data.train.images.shape == (8, 20, 20, 3) and "most common size: 20 x 30" in data.notes[1]
    assert (data.train.images[:, :, 12:, 0] == 250).all() and (data.train.images[:, :, :8, 0] == 0).all()


# Files that are damaged, or no images


def test_unreadable_files_are_counted_and_named(folder, save_image):
    (folder / "train" / "crow" / "0.png").write_bytes(b"this is no image")
    photo = save_image(folder / "train" / "wren" / "9.jpg", np.random.default_rng(0).integers(0, 256, (16, 16, 3), np.uint8))
    photo.write_bytes(photo.read_bytes()[:-200])
    (folder / "test" / "jay" / "1.png").write_bytes(b"")
    data = load(spec(folder))
    (note,) = data.notes
    assert note.startswith("3 of 19 files could not be read and were left out: ")
    named = [os.path.join(*path) for path in (("test", "jay", "1.png"), ("train", "crow", "0.png"), ("train", "wren", "9.jpg"))]
    assert [note.index(name) for name in named] == sorted(note.index(name) for name in named), "in their natural order"
    assert f"{named[0]} (not an image), {named[1]} (not an image), {named[2]} (" in note and "runcated" in note
    assert sorted(data.train.images[:, 0, 0, 0]) == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110]
    assert (data.train.images[:, 0, 0, 0] // 40 == data.train.labels).all()
    assert sorted(data.test.images[:, 0, 0, 0]) == [5, 15, 45, 85, 95]
    assert load(spec(folder)).notes == data.notes, "the cache remembers what was left out"


def test_of_many_unreadable_files_the_first_are_named(folder):
    for number in range(30):
        (folder / "train" / "crow" / f"bad{number}.jpg").write_bytes(b"no")
    (note,) = load(spec(folder)).notes
    assert note.startswith("30 of 48 files could not be read and were left out: ") and note.endswith(" and 25 more.")


@pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights on Windows")
def test_links(folder, tmp_path):
    """A linked file counts; a dangling link is an unreadable file; a linked class folder counts; circles do not hang."""
    real = tmp_path / "real"
    (folder / "train" / "jay").rename(real)
    (folder / "train" / "jay").symlink_to(real, target_is_directory=True)
    (folder / "train" / "crow" / "dangling.png").symlink_to(tmp_path / "nowhere.png")
    (folder / "train" / "crow" / "circle").symlink_to(folder, target_is_directory=True)
    data = load(spec(folder))
    assert len(data.train.labels) == 12
    assert data.notes == (f"1 of 19 files could not be read and were left out: {os.path.join('train', 'crow', 'dangling.png')} "
                          "(no such file or directory).",)


@pytest.mark.skipif(os.name != "posix", reason="symbolic links and named pipes")
@pytest.mark.timeout(60)
def test_links_to_themselves_and_pipes_are_counted_not_followed(folder):
    """One odd entry costs neither the whole folder nor an endless wait for a pipe that nobody writes to."""
    (folder / "train" / "crow" / "self.png").symlink_to("self.png")
    (folder / "train" / "round").symlink_to("round")
    os.mkfifo(folder / "train" / "crow" / "pipe.png")
    data = load(spec(folder))
    assert data.classes == ("crow", "jay", "wren") and len(data.train.labels) == 12
    left_out, unread = data.notes
    assert left_out == "train/: 1 file outside a class folder or of another kind left out: round."
    assert unread.startswith("2 of 20 files could not be read and were left out: ")
    assert "pipe.png (not a regular file)" in unread and "self.png (too many levels of symbolic links)" in unread


def test_other_files_are_told_and_hidden_ones_ignored(folder):
    (folder / "train" / "crow" / "notes.txt").write_text("caw")
    (folder / "train" / "crow" / ".DS_Store").write_text("")
    (folder / "train" / "crow" / "._0.png").write_text("")
    (folder / "train" / ".cache").mkdir()
    (folder / "train" / "labels.csv").write_text("")
    (folder / "train" / "empty").mkdir()
    data = load(spec(folder))
    assert data.classes == ("crow", "jay", "wren") and len(data.train.labels) == 12
    assert data.notes == (
        "train/: no image files in 1 folder, left out: empty.",
        f"train/: 2 files outside a class folder or of another kind left out: {os.path.join('crow', 'notes.txt')}, labels.csv.",
    )


def test_images_in_subfolders_of_a_class_count(folder, save_image):
    save_image(folder / "train" / "crow" / "summer" / "1.PNG", tinted(33))
    assert 33 in load(spec(folder)).train.images[:, 0, 0, 0]


# Folders that cannot be used


def refused(root, **fields):
    with pytest.raises(DataError) as error:
        load(spec(root, **fields))
    return str(error.value)


def test_a_missing_folder(tmp_path):
    root = tmp_path / "nowhere"
    assert refused(root) == f"data_root: the folder {root} does not exist. {EXPECTED}"


def test_an_archive_in_place_of_a_folder(tmp_path):
    (tmp_path / "images.zip").write_text("")
    root = tmp_path / "images.zip"
    assert refused(root) == f"data_root: the folder {root} is a file; unpack it and name the folder. {EXPECTED}"


def test_an_empty_folder(tmp_path):
    assert refused(tmp_path) == f"data_root: there are no class folders with images in {tmp_path}. {EXPECTED}"
    (tmp_path / "train").mkdir()
    assert refused(tmp_path) == f"data_root: there are no class folders with images in {tmp_path / 'train'}. {EXPECTED}"


def test_one_class_only(tmp_path, save_image):
    save_image(tmp_path / "train" / "cat" / "1.png", tinted(1))
    train = tmp_path / "train"
    assert refused(tmp_path) == f"data_root: {train} holds one class only (cat); at least two are needed. {EXPECTED}"


def test_a_class_with_one_image(folder, tmp_path, save_image):
    for number in range(1, 4):
        (folder / "train" / "jay" / f"{number}.png").unlink()
    assert refused(folder) == (
        f"data_root: each class needs at least 2 readable training images in {folder}; too few in jay (1). "
        "Add images, or remove the folder of the class."
    )
    for name, count in (("a", 3), ("b", 1)):
        for number in range(count):
            save_image(tmp_path / "unsplit" / name / f"{number}.png", tinted(number))
    assert refused(tmp_path / "unsplit") == (
        "data_root: each class needs at least 2 images; there is only 1 in b. Add images, or remove the folder of the class."
    )


def test_a_class_with_one_readable_image(folder):
    for number in range(1, 4):
        (folder / "train" / "jay" / f"{number}.png").write_bytes(b"no")
    assert "too few in jay (1)" in refused(folder)
    assert "too few in jay (1)" in refused(folder), "a failed load must not leave something usable in the cache"


def test_no_readable_image(folder):
    for path in folder.rglob("*.png"):
        path.write_bytes(b"no")
    message = refused(folder)
    assert message.startswith(f"data_root: none of the 12 training images in {folder} can be read: train")
    assert message.endswith("(not an image) and 7 more.")


def test_no_readable_test_image(folder):
    for path in (folder / "test").rglob("*.png"):
        path.write_bytes(b"no")
    message = refused(folder)
    assert message.startswith(f"data_root: none of the 6 test images in {folder} can be read: test")


def test_a_class_of_test_images_only(folder, save_image):
    save_image(folder / "test" / "owl" / "1.png", tinted(1))
    assert refused(folder) == (
        f"data_root: the test images have 1 class without training images: owl. "
        f"Add them to {folder / 'train'}, or remove them from the test images."
    )


def test_more_images_asked_for_than_there_are(folder):
    message = refused(folder, n_train=300)
    assert message == "n_train: folder has 12 training images, got 300. Lower n_train, or leave it out for all."


def test_listing_opens_no_file(folder):
    for path in folder.rglob("*.png"):
        path.write_bytes(b"no")
    listing = list_folder(folder)
    assert len(listing.train) == 12 and len(listing.test) == 6 and {file.label for file in listing.test} == {0, 1, 2}


def test_a_path_that_the_system_refuses_is_told_in_words(tmp_path):
    """Where a folder was only listed, a name that is too long came through as the system's own error."""
    with pytest.raises(DataError, match=r"^data_root: /x{199}\.\.\. cannot be read \(file name too long\)\.$"):
        list_folder(tmp_path.joinpath("/" + "x" * 5000))
