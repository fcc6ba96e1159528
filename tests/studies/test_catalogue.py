"""The catalogue: one entry per place, addresses that work on another machine, times from measured runs."""

import pytest

from core.studies import Store
from core.studies.catalogue import catalogue, find, read_definition, timed
from core.studies.study import estimate
from tests import fixtures


@pytest.fixture
def entries(tmp_path):
    fixtures.fill(tmp_path / "results", fixtures.study(), embeddings=False)
    fixtures.fill(tmp_path / "runs", fixtures.study(), runs=3, embeddings=False)
    return catalogue(Store(tmp_path / "results"), Store(tmp_path / "runs"), fixtures.STUDIES)


def test_shipped_and_own_runs_of_a_study_are_two_entries_and_hide_its_definition(entries):
    ids = [entry.id for entry in entries]
    assert [found for found in ids if "randbit-mnist-5k" in found] == ["results/randbit-mnist-5k", "runs/randbit-mnist-5k"]
    assert "defined/randbit-quick" in ids


def test_dials_are_read_from_the_definition(entries):
    assert find(entries, "randbit-mnist-5k").varies("bits") and not find(entries, "randbit-mnist-5k").varies("digits")


def test_addresses_find_the_study_here_or_elsewhere(entries):
    assert find(entries, "runs/randbit-mnist-5k").origin == "runs"
    assert find(entries, "randbit-mnist-5k").origin == "results"  # a bare name: the first one
    assert find(entries, "runs/randbit-quick").origin == "defined"  # a link from a machine that has run it
    assert find(entries, "results/unknown") is None and find(entries, None) is None
    assert find(entries, "results/../../etc/passwd") is None


def test_times_come_from_finished_runs(entries):
    known = timed([find(entries, "results/randbit-mnist-5k")])
    assert len(known) == 150 and all(20 < seconds < 25 for _, seconds in known)
    left = estimate(fixtures.study("randbit-quick"), known, workers=2)
    assert left.runs == 6 and 45 < left.seconds < 90


def test_a_changed_definition_is_read_again_and_a_broken_one_is_none(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(fixtures.study().to_toml())
    first = read_definition(path)
    assert first.name == "randbit-mnist-5k" and read_definition(path) is first
    path.write_text("name = ")
    assert read_definition(path) is None and read_definition(tmp_path / "none.toml") is None
