"""Test files are collected by their bare names: two of one name would hide each other."""

from collections import Counter


def test_every_test_file_has_a_name_of_its_own(root):
    counts = Counter(path.name for path in (root / "tests").rglob("test_*.py"))
    assert [name for name, count in counts.items() if count > 1] == []
