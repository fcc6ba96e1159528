"""Files that are never seen half written: what a reader sees around crashes, full disks and files that are replaced."""

import errno
import json
import os

import pytest

from core.studies import files
from core.studies.files import append_lines, read_json, read_lines, write_bytes, write_json


def test_write_replaces_as_a_whole(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"x": 1})
    write_json(path, {"x": 2})
    assert read_json(path) == {"format_version": 1, "x": 2}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def full_disk(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_trace(tmp_path, monkeypatch, where):
    path = tmp_path / "a.json"
    write_json(path, {"x": 1})
    monkeypatch.setattr(files.os, where, full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_json(path, {"x": 2})
    monkeypatch.undo()
    assert read_json(path) == {"format_version": 1, "x": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("content", [b"", b'{"x": 1', b"[1, 2]", b"\xff\xfe"])
def test_what_is_no_json_object_reads_as_nothing(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    assert read_json(tmp_path / "a.json") is None
    assert read_json(tmp_path / "missing.json") is None


def test_append_closes_a_half_written_line(tmp_path):
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"epoch": 1}\n{"epo')
    append_lines(path, [{"epoch": 2}])
    lines = read_lines(path)
    assert lines.records == [{"epoch": 1}, {"epoch": 2}]
    assert lines.broken == 1


def test_append_on_a_full_disk_takes_its_first_half_back(tmp_path, monkeypatch):
    """The write gets through, then the disk reports that it is full."""
    path = tmp_path / "m.jsonl"
    append_lines(path, [{"epoch": 1}])
    before = path.read_bytes()
    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        append_lines(path, [{"epoch": 2}], durable=True)
    assert path.read_bytes() == before


def test_reading_goes_on_where_it_was(tmp_path):
    path = tmp_path / "m.jsonl"
    append_lines(path, [{"epoch": 1}])
    first = read_lines(path)
    assert read_lines(path, first) is first  # nothing new: nothing read
    append_lines(path, [{"epoch": 2}, {"epoch": 3}])
    second = read_lines(path, first)
    assert [record["epoch"] for record in second.records] == [1, 2, 3]
    assert second.records[0] is first.records[0]  # the old lines were not parsed again


def test_a_half_written_last_line_is_left_for_the_next_time(tmp_path):
    path = tmp_path / "m.jsonl"
    text = json.dumps({"epoch": 1}) + "\n" + json.dumps({"epoch": 2}) + "\n"
    lines = None
    for end in range(len(text) + 1):  # a reader that looks after every single byte
        path.write_text(text[:end])
        lines = read_lines(path, lines)
        assert lines.broken == 0
        assert lines.records == [{"epoch": 1}, {"epoch": 2}][: text[:end].count("}")]


def test_a_replaced_file_is_read_anew(tmp_path):
    """Also when the new file has the same inode and is longer, as a file system may arrange."""
    path = tmp_path / "m.jsonl"
    append_lines(path, [{"epoch": 1, "of": "old"}, {"epoch": 2, "of": "old"}])
    lines = read_lines(path)
    path.write_text("".join(json.dumps({"epoch": n, "of": "new"}) + "\n" for n in range(5)))
    assert [record["of"] for record in read_lines(path, lines).records] == ["new"] * 5
    write_bytes(path, b'{"of": "short"}\n')
    assert read_lines(path, lines).records == [{"of": "short"}]
    path.unlink()
    assert read_lines(path, lines).records == []


def test_a_replaced_file_whose_lines_end_alike_is_read_anew(tmp_path):
    """The first line deleted, another of its length appended: the old reading position fits the new file to the byte."""
    path, rest = tmp_path / "lines.jsonl", "x" * 100
    append_lines(path, [{"run": "a", "rest": rest}])
    before = read_lines(path)
    write_bytes(path, b"")
    append_lines(path, [{"run": "b", "rest": rest}, {"run": "c", "rest": rest}])
    assert [record["run"] for record in read_lines(path, before).records] == ["b", "c"]
