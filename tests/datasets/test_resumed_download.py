"""Downloads from a local web server: interrupted, resumed, damaged, refused."""

import hashlib
import os
import shutil
import socket
import threading
import urllib.error

import pytest
from published import Server

from core.datasets import download
from core.datasets.download import DownloadError, RemoteFile, fetch

CONTENT = os.urandom(3_000_000)
NAME = "set.bin"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0)


@pytest.fixture
def server():
    with Server({f"/{NAME}": CONTENT}) as running:
        yield running


def nothing(_):
    pass


def closed_port() -> str:
    """An address on this machine where nothing answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/{NAME}"


def test_a_file_arrives_with_progress(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "RECORD_EVERY", 0)
    records = []
    path = fetch(server.remote(NAME), tmp_path / "new" / "folder", records.append)
    assert path == tmp_path / "new" / "folder" / NAME and path.read_bytes() == CONTENT
    assert [set(record) for record in records] == [{"kind", "file", "done", "total", "rate"}] * len(records)
    assert all(record["kind"] == "download" and record["file"] == NAME for record in records)
    done = [record["done"] for record in records]
    assert len(done) > 5 and done == sorted(done) and done[-1] == records[-1]["total"] == len(CONTENT)
    assert all(record["rate"] > 0 for record in records)
    assert not (path.parent / f"{NAME}.part").exists()


def test_records_are_rare(server, tmp_path):
    records = []
    fetch(server.remote(NAME), tmp_path, records.append)
    assert 1 <= len(records) <= 3 and records[-1]["done"] == len(CONTENT)


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    fetch(server.remote(NAME), tmp_path, nothing)
    fetch(server.remote(NAME), tmp_path, nothing)
    assert len(server.requests) == 1


def test_a_broken_connection_is_resumed_at_once(server, tmp_path):
    server.break_after[f"/{NAME}"] = [1_000_000, 500_000]
    path = fetch(server.remote(NAME), tmp_path, nothing)
    assert path.read_bytes() == CONTENT
    assert [wanted for _, wanted in server.requests] == [None, "bytes=1000000-", "bytes=1500000-"]


def test_a_later_call_goes_on_where_an_earlier_one_stopped(server, tmp_path):
    """The program was closed in the middle: the part file is what is left."""

    class Closed(BaseException):
        pass

    def close(record):
        raise Closed

    server.break_after[f"/{NAME}"] = [1_234_567]
    with pytest.raises(Closed):
        fetch(server.remote(NAME), tmp_path, close)
    left = (tmp_path / f"{NAME}.part").stat().st_size
    assert 0 < left <= 1_234_567 and not (tmp_path / NAME).exists()
    records = []
    path = fetch(server.remote(NAME), tmp_path, records.append)
    assert path.read_bytes() == CONTENT and server.requests[-1] == (f"/{NAME}", f"bytes={left}-")
    assert records[-1]["done"] == records[-1]["total"] == len(CONTENT)


def test_a_server_that_cannot_resume_starts_over(server, tmp_path):
    server.ignore_range = True
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT[:100])
    assert fetch(server.remote(NAME), tmp_path, nothing).read_bytes() == CONTENT


def test_a_complete_part_file_only_needs_its_name(server, tmp_path):
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT)
    assert fetch(server.remote(NAME), tmp_path, nothing).read_bytes() == CONTENT
    assert server.requests == [(f"/{NAME}", f"bytes={len(CONTENT)}-")]


@pytest.mark.parametrize("part", [b"of another version", CONTENT + b"too long"])
def test_a_wrong_part_file_is_thrown_away_and_fetched_anew(server, tmp_path, part):
    (tmp_path / f"{NAME}.part").write_bytes(part)
    assert fetch(server.remote(NAME), tmp_path, nothing).read_bytes() == CONTENT
    assert server.requests[-1] == (f"/{NAME}", None)


def test_a_wrong_checksum_leaves_nothing(server, tmp_path):
    wrong = RemoteFile(NAME, (server.url(NAME),), "0" * 32)
    with pytest.raises(DownloadError) as error:
        fetch(wrong, tmp_path, nothing)
    assert str(error.value) == (
        f"{NAME} arrived with another checksum than the published one ({'0' * 32}); it was deleted"
    )
    assert not (tmp_path / NAME).exists() and not (tmp_path / f"{NAME}.part").exists()
    assert len(server.requests) == 1, "fetching the same wrong file again would not help"


def test_the_second_address_is_tried(server, tmp_path):
    missing = server.url("missing.bin")
    assert fetch(server.remote(NAME, missing, closed_port()), tmp_path, nothing).read_bytes() == CONTENT
    assert [path for path, _ in server.requests] == ["/missing.bin", f"/{NAME}"]


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.answer[f"/{NAME}"] = [503, 503]
    assert fetch(server.remote(NAME), tmp_path, nothing).read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_a_server_that_stays_busy_is_given_up(server, tmp_path):
    server.answer[f"/{NAME}"] = [503] * 20
    with pytest.raises(DownloadError) as error:
        fetch(server.remote(NAME), tmp_path, nothing)
    assert str(error.value) == f"{server.url(NAME)}: the server answers 503 Service Unavailable"
    assert len(server.requests) == download.RETRIES + 1


def test_a_refusal_is_final(server, tmp_path):
    server.answer[f"/{NAME}"] = [403]
    with pytest.raises(DownloadError) as error:
        fetch(server.remote(NAME), tmp_path, nothing)
    assert str(error.value) == f"{server.url(NAME)}: the server answers 403 Forbidden" and len(server.requests) == 1


def test_no_connection_at_all_is_told_soon(tmp_path):
    url = closed_port()
    with pytest.raises(DownloadError) as error:
        fetch(RemoteFile(NAME, (url,), "0" * 32), tmp_path, nothing)
    assert str(error.value).startswith(f"{url}: ") and "refused" in str(error.value)


def test_offline_is_told_without_numbers_of_the_system(tmp_path, monkeypatch):
    def unknown(*_, **__):
        raise urllib.error.URLError(socket.gaierror(-2, "Name or service not known"))

    monkeypatch.setattr("urllib.request.urlopen", unknown)
    with pytest.raises(DownloadError) as error:
        fetch(RemoteFile(NAME, (closed_port(),), "0" * 32), tmp_path, nothing)
    assert str(error.value).endswith("the address of the server was not found; this machine may be offline")


def test_a_full_disk_is_told_before_it_is_full(server, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 2_000_000))
    with pytest.raises(DownloadError) as error:
        fetch(server.remote(NAME), tmp_path, nothing)
    assert str(error.value) == (
        f"{server.url(NAME)}: 3 MB are still to come and the disk with {tmp_path} has 2 MB free; "
        "free some space, or name another folder with CONTRASTIVE_LENS_CACHE"
    )


def test_two_callers_download_once(server, tmp_path):
    paths = []
    remote = server.remote(NAME)
    threads = [threading.Thread(target=lambda: paths.append(fetch(remote, tmp_path, nothing))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [tmp_path / NAME] * 3 and len(server.requests) == 1
    assert hashlib.md5((tmp_path / NAME).read_bytes()).hexdigest() == remote.md5
