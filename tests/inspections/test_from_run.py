"""A run of a study in the form of an inspection: the same numbers and arrays, parts that were not stored absent."""

import numpy as np
import pytest

from core import geometry
from core.inspections.runs import from_run
from core.studies import Store
from tests import fixtures


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    fixtures.fill(root, fixtures.study("randbit-quick"))
    return Store(root)


@pytest.fixture(scope="module")
def run(store):
    runs = store.table("randbit-quick")
    return runs[(runs["bits"] == 0) & (runs["objective"] == "nt_xent")].iloc[0]


def test_numbers_are_those_of_the_result_beside_the_exact_optimum(store, run):
    found = from_run(store, "randbit-quick", run["run_id"])
    assert found.spec is None and found.report == {}
    assert found.summary["h"]["linear_accuracy"] == run["linear_accuracy"]
    assert found.summary["h"]["rankme"] == run["rankme_h"] and found.summary["z"]["rankme"] == run["rankme"]
    assert found.summary["z"]["uniformity_optimum"] == geometry.uniform_optimum(16)
    assert found.summary["run"] == {"study": "randbit-quick", "run_id": run["run_id"]}


def test_arrays_agree_with_those_of_a_full_inspection(store, run):
    arrays = from_run(store, "randbit-quick", run["run_id"]).arrays
    z = arrays["z"].astype(np.float32)
    np.testing.assert_allclose(arrays["singular_z"], geometry.spectrum(z), atol=1e-5)
    full = geometry.similarity_histograms(z, arrays["labels"])
    for name, counts in (("same", full.same_class), ("different", full.different_class)):
        mine = arrays[f"cos_{name}_z"]
        assert mine.sum() == counts.sum() and np.abs(np.cumsum(mine) - np.cumsum(counts)).max() <= 3  # rounding at the edges
    assert np.trace(arrays["confusion"]) == (arrays["labels"] == arrays["predicted"]).sum()
    assert arrays["neighbours"].shape == (200, 10) and not (arrays["neighbours"] == np.arange(200)[:, None]).any()


def test_what_was_not_stored_is_absent(store, run):
    found = from_run(store, "randbit-quick", run["run_id"])
    assert not {"h", "singular_h", "tsne_z", "cos_positive_z"} & set(found.arrays)
    assert "competing" not in found.summary and "bits" not in found.summary


def test_no_embedding_is_none(store):
    runs = store.table("randbit-quick")
    supervised = runs[runs["objective"] == "supervised"].iloc[0]
    assert from_run(store, "randbit-quick", supervised["run_id"]) is None
    assert from_run(store, "randbit-quick", "0" * 12) is None


def test_the_reading_side_needs_no_torch():
    import subprocess
    import sys

    code = (
        "import sys; import core.inspections.runs, core.inspections.store, core.inspections.launch, core.inspections.suggest, "
        "core.inspections.findings, core.inspections.samples, core.inspections.sheet, core.commands.inspection, "
        "core.figures.competing, core.figures.thumbnails; print('torch' in sys.modules, 'streamlit' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["False", "False"]
