"""examine: the shipped samples under few images. Slow oracles from the stored arrays; what each sample must show."""

import hashlib
import json

import numpy as np
import pytest
import torch
import torchvision

from core import geometry
from core.checkpoints.report import CheckpointError
from core.inspections import samples
from core.inspections.examine import Stopped, examine
from core.inspections.findings import findings
from core.inspections.spec import InspectionSpec

N_TRAIN, N_TEST = 200, 50


def asked(name: str, **changes) -> InspectionSpec:
    sample = next(sample for sample in samples.SAMPLES if sample.name == name)
    if not sample.path.is_file():
        pytest.skip("the sample checkpoints are not there")
    digest = hashlib.sha256(sample.path.read_bytes()).hexdigest()
    values = dict(source=str(sample.path), sha256=digest, name=sample.title, n_train=N_TRAIN, n_test=N_TEST)
    return InspectionSpec(**values | {"bits": 15 if name == "suppressed" else 0} | changes)


@pytest.fixture(scope="module")
def found():
    """Each sample, examined once."""
    return {name: examine(spec, spec.source, device="cpu") for name in ("clean", "suppressed") for spec in [asked(name)]}


def test_numbers_are_those_of_the_stored_embeddings(found):
    """z is stored in half precision, so the values agree to about three digits."""
    summary, arrays = found["clean"].summary, found["clean"].arrays
    for space in ("h", "z"):
        z = torch.from_numpy(arrays[space].astype(np.float32))
        assert summary[space]["uniformity"] == pytest.approx(geometry.uniformity(z), abs=5e-3)
        assert summary[space]["rankme"] == pytest.approx(geometry.rankme(z), rel=5e-3)
        assert summary[space]["tolerance"] == pytest.approx(geometry.tolerance(z, arrays["labels"]), abs=5e-3)
        assert summary[space]["dim"] == z.shape[1]
        np.testing.assert_allclose(arrays[f"singular_{space}"], geometry.spectrum(z), atol=1e-3)
        assert arrays[f"cos_same_{space}"].sum() + arrays[f"cos_different_{space}"].sum() == N_TEST * (N_TEST - 1) // 2
        assert arrays[f"cos_positive_{space}"].sum() == N_TEST
    assert summary["z"]["uniformity_optimum"] == geometry.uniform_optimum(64)


def test_the_probe_is_what_the_confusion_and_the_predictions_say(found):
    summary, arrays = found["clean"].summary, found["clean"].arrays
    right = float((arrays["predicted"] == arrays["labels"]).mean())
    assert summary["h"]["linear_accuracy"] == pytest.approx(right)
    assert np.trace(arrays["confusion"]) == round(right * N_TEST) and arrays["confusion"].sum() == N_TEST


def test_each_sample_shows_what_it_is_for(found):
    clean, suppressed = found["clean"].summary, found["suppressed"].summary
    assert clean["h"]["linear_accuracy"] > 0.6
    assert suppressed["h"]["linear_accuracy"] < 0.3 and suppressed["bits"]["known"] > 3
    assert suppressed["z"]["alignment"] < 0.1 * clean["z"]["alignment"]
    swapped = next(entry for entry in suppressed["competing"] if entry["name"] == "other_bits")
    assert swapped["z"]["same_feature"] > 0.9 > 0.2 > swapped["z"]["same_image"]


def test_rows_are_stratified_and_name_images_of_the_test_split(found):
    arrays = found["clean"].arrays
    assert np.unique(arrays["labels"], return_counts=True)[1].tolist() == [5] * 10
    assert len(np.unique(arrays["index"])) == N_TEST and arrays["index"].max() < 1000


def test_time_is_accounted_for(found):
    summary = found["clean"].summary
    parts = summary["seconds"]
    assert set(parts) >= {"reading the checkpoint", "encoding", "probes", "geometry", "maps", "forward pass", "total"}
    assert parts["forward pass"] <= parts["encoding"] <= parts["total"]
    assert summary["forward_share"] == pytest.approx(parts["forward pass"] / parts["total"], abs=0.01)


def test_the_same_settings_give_the_same_result(found):
    spec = asked("clean")
    again = examine(spec, spec.source, device="cpu")
    for name, array in found["clean"].arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array, err_msg=name)


def test_progress_never_goes_back_and_a_stop_is_heard():
    seen = []
    spec = asked("clean", n_train=40, n_test=30)
    examine(spec, spec.source, lambda part, share, rate: seen.append(share), device="cpu")
    assert seen == sorted(seen) and seen[0] == 0 and seen[-1] > 0.85
    with pytest.raises(Stopped):
        examine(spec, spec.source, should_stop=lambda: True, device="cpu")


def test_wrong_choices_are_named():
    spec = asked("clean")
    with pytest.raises(ValueError, match="image_size: this ConvN takes images of 23 to 30 pixels a side, the images have 32"):
        examine(spec.model_copy(update={"image_size": 32}), spec.source, device="cpu")
    with pytest.raises(ValueError, match="has changed since it was looked at"):
        examine(spec.model_copy(update={"sha256": "0" * 64}), spec.source, device="cpu")
    with pytest.raises(ValueError, match="bits: the encoder has 1 input channels"):
        examine(spec.model_copy(update={"bits": 1}), spec.source, device="cpu")
    with pytest.raises(CheckpointError, match="normalisation: must be one of"):
        examine(spec.model_copy(update={"normalisation": "odd"}), spec.source, device="cpu")


def test_an_encoder_of_zeros_is_a_failure_and_not_the_best_of_spheres(tmp_path):
    weights = torchvision.models.resnet18(num_classes=10).state_dict()
    path = tmp_path / "zeros.pth"
    torch.save({name: torch.zeros_like(value) for name, value in weights.items()}, path)
    spec = asked("clean").model_copy(
        update=dict(source=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest(), name="zeros", n_train=40, n_test=30)
    )
    found = examine(spec, path, device="cpu")
    h = found.summary["h"]
    assert h["zero_rows"] == h["rows"] == 30 and h["uniformity"] is h["alignment"] is h["tolerance"] is h["rankme"] is None
    said = findings(found.summary)
    assert said[0].kind == "failure" and said[0].text.startswith("The encoder returns zero for all images (30 of 30)")
    assert {finding.kind for finding in said[1:]} == {"warning"}
    assert any("batch norm still has its initial statistics" in finding.text for finding in said)
    json.dumps(found.summary, allow_nan=False)


def test_no_checkpoint_at_all(tmp_path):
    page = tmp_path / "page.pth"
    page.write_text("<html><body>Sign in</body></html>")
    with pytest.raises(CheckpointError):
        examine(asked("clean"), page, device="cpu")
