"""Which studies belong to one map, and which differ in the convention."""

from pathlib import Path

import pandas as pd
import pytest

from core.studies.catalogue import Entry
from core.studies.maps import convention, is_map, merged, same_map, settings, siblings
from core.studies.store import Store
from core.studies.study import StudySpec
from core.training.spec import RunSpec

ROOT = Path(__file__).resolve().parents[2]
MAPS = ("tau-lambda-mnist-5k", "tau-lambda-unmasked-mnist-5k", "tau-lambda-notebook-mnist-5k", "tau-lambda-cifar10")


@pytest.fixture
def entries(tmp_path) -> dict[str, Entry]:
    paths = sorted((ROOT / "data" / "studies").glob("*.toml"))
    specs = [StudySpec.from_toml(path) for path in paths]
    return {spec.name: Entry(spec.name, "defined", Store(tmp_path), spec) for spec in specs}


def test_the_shipped_maps_are_maps(entries):
    assert {name for name, entry in entries.items() if is_map(entry)} == set(MAPS)


def test_every_shipped_map_is_large_enough(entries):
    for name in MAPS:
        runs = entries[name].definition.expand()
        least = 6 if name.endswith("cifar10") else 7
        assert len({run.tau for run in runs}) >= least and len({run.lam for run in runs}) >= least
        assert settings(entries[name].definition) is not None
    assert len({run.seed for run in entries["tau-lambda-mnist-5k"].definition.expand()}) == 3


def test_conventions_are_siblings_and_other_data_are_not(entries):
    found = siblings(entries["tau-lambda-mnist-5k"], entries.values())
    assert {key: entry.name for key, entry in found.items()} == {
        "masked": "tau-lambda-mnist-5k", "kept": "tau-lambda-unmasked-mnist-5k", "notebook": "tau-lambda-notebook-mnist-5k",
    }  # fmt: skip
    assert list(siblings(entries["tau-lambda-cifar10"], entries.values())) == ["masked"]


def test_a_map_with_results_is_preferred_as_sibling(entries):
    kept = entries["tau-lambda-unmasked-mnist-5k"]
    run = kept._replace(origin="runs")
    found = siblings(entries["tau-lambda-mnist-5k"], [*entries.values(), run])
    assert found["kept"] is run


def test_a_refinement_is_the_same_map(entries):
    own = entries["tau-lambda-mnist-5k"]
    text = own.definition.to_toml().replace('"tau-lambda-mnist-5k"', '"finer"').replace("0.05, 0.1,", "0.07,")
    finer = own._replace(name="finer", origin="runs", definition=StudySpec.from_text(text))
    others = [*entries.values(), finer, entries["tau-lambda-unmasked-mnist-5k"]._replace(origin="runs")]
    assert same_map(own, others) == [finer]
    longer = finer._replace(definition=StudySpec.from_text(text.replace("epochs = 10", "epochs = 11")))
    assert longer.definition != finer.definition and same_map(own, [longer]) == []


def test_conventions_by_run():
    assert convention(RunSpec(objective="gcl")).key == "masked"
    assert convention(RunSpec(objective="gcl", mask_self=False)).key == "kept"
    assert convention(RunSpec(objective="gcl", convention="notebook")).key == "notebook"


def test_a_finished_run_wins_over_an_unfinished_copy():
    one = pd.DataFrame({"run_id": ["a", "b"], "status": ["running", "finished"]})
    two = pd.DataFrame({"run_id": ["a", "c"], "status": ["finished", "diverged"]})
    table = merged([one, two, pd.DataFrame()])
    assert dict(zip(table["run_id"], table["status"], strict=True)) == {"a": "finished", "b": "finished", "c": "diverged"}
    assert merged([]).empty
