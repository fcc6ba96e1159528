"""The TOML that a page saves runs the same runs again: equal ids, for every study that ships."""

from pathlib import Path

import pytest

from core.report.settings import settings_of
from core.studies.catalogue import catalogue
from core.studies.store import Store
from core.studies.study import StudySpec

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = ROOT / "none"
SHIPPED = [entry for entry in catalogue(Store(ROOT / "data" / "results"), Store(NOWHERE), NOWHERE) if entry.definition]


def exported(entry, runs):
    """As the menu under a chart writes it: the provenance in a comment, then the settings."""
    text = f"# {entry.title} · {len(runs)} runs · 2026-11-30\n{settings_of(entry, runs)}"
    return {run.run_id for run in StudySpec.from_text(text, "saved.toml").expand()}


def test_studies_ship():
    assert SHIPPED


@pytest.mark.parametrize("entry", SHIPPED, ids=lambda entry: entry.name)
def test_exported_settings_run_the_same_runs(entry):
    runs = entry.store.table(entry.name)
    assert exported(entry, runs) == set(runs["run_id"])
    some = runs.iloc[[0, len(runs) // 2, -1]]
    assert exported(entry, some) == set(some["run_id"])
