"""Uploads: stored once under their hash, in pieces, within the limit; names never become paths."""

import hashlib
import io
import os
import stat
import time

import pytest

from core.checkpoints import CheckpointError, UploadStore
from core.checkpoints.uploads import CHUNK, clean_name


@pytest.fixture
def store(tmp_path):
    return UploadStore(tmp_path / "uploads", limit=3 * CHUNK)


def files(store):
    return sorted(str(path.relative_to(store.root)) for path in store.root.rglob("*") if path.is_file())


def test_content_decides_the_place(store):
    content = os.urandom(CHUNK + 5)
    progress = []
    upload = store.add(io.BytesIO(content), "mine.pth", progress.append)
    digest = hashlib.sha256(content).hexdigest()
    assert upload.sha256 == digest and upload.path == store.root / digest / "content" and upload.path.read_bytes() == content
    assert progress == [CHUNK, CHUNK + 5] and upload.bytes == CHUNK + 5
    assert files(store) == [f"{digest}/about.json", f"{digest}/content"]
    assert not stat.S_IMODE(upload.path.stat().st_mode) & 0o177  # readable by the owner, executable by nobody


def test_twice_is_once(store):
    """Pitfall 65: the same file uploaded twice lies on the disk once."""
    store.add(io.BytesIO(b"weights"), "a.pth")
    store.add(io.BytesIO(b"weights"), "b.pth")
    assert len(store.all()) == 1 and store.all()[0].name == "b.pth" and len(files(store)) == 2


@pytest.mark.parametrize(
    ("size", "text"),
    [(3 * CHUNK + 1, "The file has more than 13 MB, the limit for uploads."), (0, "The file is empty (0 bytes).")],
)
def test_refused_and_nothing_kept(store, size, text):
    with pytest.raises(CheckpointError) as refused:
        store.add(io.BytesIO(bytes(size)), "a.pth")
    assert text in str(refused.value)
    assert files(store) == []


def test_exactly_the_limit_is_allowed(store):
    assert store.add(io.BytesIO(bytes(3 * CHUNK)), "a.pth").bytes == 3 * CHUNK


def test_an_interrupted_upload_leaves_nothing(store):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            if self.tell():
                raise ConnectionError("gone")
            return super().read(10)

    with pytest.raises(ConnectionError):
        store.add(Broken(bytes(100)), "a.pth")
    assert files(store) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\model.pth", "model.pth"),
        ("/", "checkpoint"),
        ("", "checkpoint"),
        ("..", "checkpoint"),
        ("a\x00b\n.pth", "ab.pth"),
        ("x" * 300 + ".pth", "x" * 116 + ".pth"),
        ("Größe – 1.pth", "Größe – 1.pth"),
        ("\u202egnp.pth", "gnp.pth"),
    ],
)
def test_names_are_for_display_only(store, name, shown):
    assert clean_name(name) == shown
    upload = store.add(io.BytesIO(b"x"), name)
    assert upload.name == shown == store.get(upload.sha256).name
    assert {path.parent for path in store.root.rglob("*") if path.is_file()} == {store.root / upload.sha256}


@pytest.mark.parametrize("key", ["../uploads", "", "a" * 63, "A" * 64, "g" * 64, "a" * 64])
def test_only_hashes_find_files(store, key):
    assert store.get(key) is None and store.remove(key) is False


def test_list_and_remove(store):
    first = store.add(io.BytesIO(b"one"), "one.pth")
    time.sleep(0.01)
    second = store.add(io.BytesIO(b"two"), "two.pth")
    assert [upload.name for upload in store.all()] == ["two.pth", "one.pth"]
    assert store.remove(second.sha256) and store.all() == [first] and not second.path.exists()


def test_broken_descriptions_and_old_leftovers(store):
    upload = store.add(io.BytesIO(b"one"), "one.pth")
    (upload.path.parent / "about.json").write_text('{"name": ')
    assert store.get(upload.sha256) is None and store.all() == []
    old, young = store.root / ".partial-old", store.root / ".partial-young"
    old.touch(), young.touch()
    os.utime(old, (0, 0))
    store.add(io.BytesIO(b"two"), "two.pth")
    assert not old.exists() and young.exists()
