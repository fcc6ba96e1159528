"""The cache of decoded arrays: atomic, checked, rebuilt when stale or damaged, and never in the way."""

import contextlib
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import pytest

from core.datasets import cache
from core.datasets.cache import Entry, Source, cached

SOURCES = [Source("a.bin", 10, 1), Source("b.bin", 20, 2)]
CONTEXT = multiprocessing.get_context("spawn")


def entry(value=1):
    return Entry(np.full((3, 4, 4, 1), value, np.uint8), np.arange(3), np.full((2, 4, 4, 1), value, np.uint8), np.arange(2),
                 ("zero", "one", "two"), ("a note",))


class Builder:
    """Builds an entry and counts how often; allocates its training images through the cache."""

    def __init__(self, value=1):
        self.value, self.calls = value, 0

    def __call__(self, allocate):
        self.calls += 1
        made = entry(self.value)
        images = allocate("train_images", made.train_images.shape)
        images[:] = made.train_images
        return made._replace(train_images=images)


def same(left, right):
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in Entry._fields)


def files_below(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_second_time_comes_from_disk(cache_root):
    build = Builder()
    first = cached("set", SOURCES, build)
    second = cached("set", SOURCES, build)
    assert build.calls == 1 and same(first, entry()) and same(second, entry())
    assert isinstance(second.train_images, np.memmap) and not second.train_images.flags.writeable
    assert not first.train_images.flags.writeable
    folder = cache_root / "decoded" / "set"
    assert files_below(folder) == ["manifest.json", "test_images.npy", "test_labels.npy", "train_images.npy", "train_labels.npy"]
    assert json.loads((folder / "manifest.json").read_text())["format_version"] == cache.FORMAT_VERSION
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == ["set"], "no temporary folder is left"


def test_order_of_sources_does_not_matter():
    build = Builder()
    cached("set", SOURCES, build)
    cached("set", SOURCES[::-1], build)
    assert build.calls == 1


@pytest.mark.parametrize(
    "sources",
    [
        [Source("a.bin", 11, 1), SOURCES[1]],
        [Source("a.bin", 10, 9), SOURCES[1]],
        [Source("c.bin", 10, 1), SOURCES[1]],
        SOURCES[:1],
        [*SOURCES, Source("c.bin", 1, 1)],
    ],
    ids=["size", "time", "name", "removed", "added"],
)
def test_changed_sources_mean_a_new_entry(sources):
    cached("set", SOURCES, Builder(1))
    rebuilt = cached("set", sources, Builder(2))
    assert rebuilt.train_images[0, 0, 0, 0] == 2
    assert cached("set", sources, Builder(3)).train_images[0, 0, 0, 0] == 2


def test_open_arrays_survive_a_rebuild():
    """A process that has the old entry mapped keeps its pixels."""
    old = cached("set", SOURCES, Builder(1))
    cached("set", SOURCES[:1], Builder(2))
    assert (old.train_images == 1).all()


def damage_manifest_missing(folder):
    (folder / "manifest.json").unlink()


def damage_manifest_half(folder):
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text[: len(text) // 2])


def damage_manifest_list(folder):
    (folder / "manifest.json").write_text("[]")


def damage_version(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format_version": 0}))


def damage_shape(folder):
    np.save(folder / "train_images.npy", np.zeros((2, 4, 4, 1), np.uint8))


def damage_side(folder):
    np.save(folder / "train_images.npy", np.zeros((3, 5, 4, 1), np.uint8))


def damage_truncated(folder):
    with open(folder / "train_images.npy", "r+b") as file:
        file.truncate(150)


def damage_empty(folder):
    (folder / "test_labels.npy").write_bytes(b"")


def damage_pickle(folder):
    np.save(folder / "test_labels.npy", np.array([{}, {}], dtype=object), allow_pickle=True)


def damage_missing(folder):
    (folder / "train_labels.npy").unlink()


@pytest.mark.parametrize("damage", [value for name, value in sorted(globals().items()) if name.startswith("damage_")])
def test_damaged_entries_are_rebuilt(cache_root, damage):
    cached("set", SOURCES, Builder(1))
    damage(cache_root / "decoded" / "set")
    build = Builder(2)
    assert same(cached("set", SOURCES, build), entry(2)) and build.calls == 1
    assert same(cached("set", SOURCES, build), entry(2)) and build.calls == 1


def test_a_file_in_place_of_the_entry_is_replaced(cache_root):
    (cache_root / "decoded").mkdir(parents=True)
    (cache_root / "decoded" / "set").write_text("not a folder")
    assert same(cached("set", SOURCES, Builder()), entry())
    assert (cache_root / "decoded" / "set").is_dir()


def test_folders_of_killed_processes_are_cleared(cache_root):
    abandoned = cache_root / "decoded" / ".set-killed.tmp"
    abandoned.mkdir(parents=True)
    (abandoned / "train_images.npy").write_bytes(b"half")
    cached("set", SOURCES, Builder())
    assert not abandoned.exists()


def test_rows_to_spare_are_cut_off(cache_root):
    """Files that could not be decoded leave allocated rows unused."""

    def build(allocate):
        images = allocate("train_images", (5, 4, 4, 1))
        images[:3] = 1
        return entry()._replace(train_images=images[:3])

    assert same(cached("set", SOURCES, build), entry()) and same(cached("set", SOURCES, build), entry())
    assert np.load(cache_root / "decoded" / "set" / "train_images.npy").shape == (5, 4, 4, 1)


def test_what_build_raises_comes_through_and_leaves_nothing(cache_root):
    def build(allocate):
        allocate("train_images", (3, 4, 4, 1))
        raise ValueError("the images are bad")

    with pytest.raises(ValueError, match="the images are bad"):
        cached("set", SOURCES, build)
    assert not [path for path in (cache_root / "decoded").iterdir() if path.is_dir()]


def test_without_sources_any_complete_entry_will_do():
    cached("set", SOURCES, Builder(1))
    assert cached("set", [], Builder(2)).train_images[0, 0, 0, 0] == 1


def note_of(root, reason):
    return (
        f"The decoded images could not be stored in {root} ({reason}); they are kept in memory and decoded again next time. "
        "Set CONTRASTIVE_LENS_CACHE to a folder with free space that can be written."
    )


def test_a_cache_that_cannot_be_made_means_memory_and_a_note(tmp_path, monkeypatch):
    """The cache path leads through a file: no folder can be made there, whoever asks."""
    (tmp_path / "file").write_text("")
    root = tmp_path / "file" / "cache"
    monkeypatch.setenv("CONTRASTIVE_LENS_CACHE", str(root))
    made = cached("set", SOURCES, Builder())
    assert same(made._replace(notes=()), entry()._replace(notes=()))
    assert made.notes == ("a note", note_of(root, "Not a directory"))
    assert not made.train_images.flags.writeable and not isinstance(made.train_images, np.memmap)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_means_memory_and_a_note(cache_root):
    cache_root.mkdir()
    cache_root.chmod(0o500)
    assert cached("set", SOURCES, Builder()).notes[1] == note_of(cache_root, "Permission denied")


def test_a_full_disk_means_memory_and_a_note(cache_root, monkeypatch):
    """Space is reserved before pixels are written, so that a full disk is an error here and not a bus error later."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    made = cached("set", SOURCES, Builder())
    assert made.notes[1] == note_of(cache_root, "No space left on device") and (made.train_images == 1).all()
    assert not [path for path in (cache_root / "decoded").iterdir() if path.is_dir()]


def test_space_is_reserved_where_the_system_has_no_call_for_it(cache_root, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    assert same(cached("set", SOURCES, Builder()), entry())
    blocks = (cache_root / "decoded" / "set" / "train_images.npy").stat()
    assert blocks.st_blocks * 512 >= 48


def slow_build_in_process(root, value, started, calls):
    """One of several processes that ask for the same entry at once."""
    os.environ["CONTRASTIVE_LENS_CACHE"] = root

    def build(allocate):
        Path(calls, str(os.getpid())).touch()
        time.sleep(0.5)
        return Builder(value)(allocate)

    Path(started, str(value)).touch()
    made = cached("set", SOURCES, build)
    assert (made.train_images == made.test_images[0, 0, 0, 0]).all()
    assert list(made.classes) == ["zero", "one", "two"]


def test_two_processes_decode_at_once(cache_root, tmp_path):
    """Both get a whole entry; the second one waits for the first one's instead of doing the work again."""
    calls, started = tmp_path / "calls", tmp_path / "started"
    calls.mkdir()
    started.mkdir()
    processes = [
        CONTEXT.Process(target=slow_build_in_process, args=(str(cache_root), value, str(started), str(calls))) for value in (1, 2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(list(calls.iterdir())) == 1


def killed_while_building(root):
    os.environ["CONTRASTIVE_LENS_CACHE"] = root

    def build(allocate):
        allocate("train_images", (3, 4, 4, 1))[:2] = 9
        os._exit(9)

    cached("set", SOURCES, build)


def test_a_process_killed_while_decoding_leaves_no_entry_and_no_lock(cache_root):
    process = CONTEXT.Process(target=killed_while_building, args=(str(cache_root),))
    process.start()
    process.join(60)
    assert process.exitcode == 9
    assert cache.read(cache_root / "decoded" / "set", SOURCES) is None
    assert same(cached("set", SOURCES, Builder()), entry())
    assert not list((cache_root / "decoded").glob(".set-*.tmp"))


def test_another_process_was_first(cache_root, monkeypatch):
    """Without locks (some network file systems) both build; the one that comes second uses the first one's entry."""
    monkeypatch.setattr(cache, "locked", lambda folder: contextlib.nullcontext(False))

    def build(allocate):
        cached("set", SOURCES, Builder(1))
        return Builder(2)(allocate)

    assert (cached("set", SOURCES, build).train_images == 1).all()
