"""`python -m core inspect FILE --dataset NAME`: text, JSON, and mistakes on one line."""

import json
from pathlib import Path

import pytest
import torch

from core.__main__ import main
from core.checkpoints.inspection import inspect
from core.commands.inspection import settings
from core.inspections import samples
from core.inspections.store import InspectionStore
from tests.checkpoints.checkpoint_reference import resnet
from tests.inspections import made_up

FEW = ["--dataset", "mnist-5k", "--n-train", "60", "--n-test", "40"]


@pytest.fixture
def clean():
    path = samples.SAMPLES[1].path
    if not path.is_file():
        pytest.skip("the sample checkpoints are not there")
    return str(path)


def test_text_then_json_of_the_same_inspection(clean, tmp_path, capsys):
    assert main(["inspect", clean, *FEW, "--store", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "linear accuracy\t" in out and "h tells the classes apart" in out and "in the encoder; kept in" in out
    assert "normalisation: none (usual for this format, Contrastive Lens run)" in out
    assert main(["inspect", clean, *FEW, "--store", str(tmp_path), "--json"]) == 0  # not done a second time
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_test"] == 40 and summary["z"]["dim"] == 64
    assert summary["choices"]["normalisation"]["value"] == "none"
    assert [listed.id for listed in InspectionStore(tmp_path / "inspections").list()] == [summary["inspection"]]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--dataset", "imagenet"], "error: dataset: input should be 'mnist-5k'"),
        ([*FEW, "--set", "colour=1"], "error: colour: unknown field (value 1); must be one of source, sha256"),
        ([*FEW, "--set", "dataset=[1]"], "error: dataset: input should be 'mnist-5k'"),
        ([*FEW, "--set", "color_strength=nan"], "error: color_strength: input should be less than or equal to 2, got nan"),
        ([*FEW, "--set", "image_size=nan"], "error: image_size: "),
        ([*FEW, "--set", "bits=many"], "error: bits: "),
        ([*FEW, "--set", "augment=none"], "error: augment: input should be 'crop' or 'simclr', got 'none'"),
        ([*FEW, "--set", "sha256=nonsense"], "error: sha256: string should match pattern"),
        ([*FEW, "--set", "source=''"], "error: source: string should have at least 1 character"),
        ([*FEW, "--set", "name=1"], "error: name: input should be a valid string, got 1"),
        ([*FEW, "--set", "stem"], "error: --set: must be name=value, got 'stem'"),
        (["--set", "stem"], "error: --set: must be name=value, got 'stem'"),
        (["--set", "nonsense=1"], "error: nonsense: unknown field (value 1); must be one of source, sha256"),
        (["--n-test", "50"], "error: n_test: needs --dataset NAME; without one the encoder is shown no images"),
        (["--set", "image_size=64"], "error: image_size: needs --dataset NAME; without one the encoder is shown no images"),
        (
            [*FEW, "--set", "image_size=64"],
            "error: image_size: this ConvN takes images of 23 to 30 pixels a side, the images have 64.",
        ),
    ],
)
def test_mistakes_are_one_line_and_code_2(clean, tmp_path, capsys, options, text):
    assert main(["inspect", clean, *options, "--store", str(tmp_path)]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(text) and errors.count("\n") == 1
    assert not (tmp_path / "inspections").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--normalisation", "nonsense"], "normalisation: must be one of none, imagenet"),
        (["--set", "stem=nonsense"], "stem: input should be 'imagenet' or 'cifar', got 'nonsense'"),
        (["--set", "heads=3"], "heads"),
    ],
)
def test_choices_about_the_weights_count_without_a_data_set(clean, capsys, options, text):
    assert main(["inspect", clean, *options]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"error: {clean}: {text}") and errors.count("\n") == 1


@pytest.mark.parametrize("name", ["", "  "])
def test_no_name_is_not_the_current_folder(capsys, name):
    assert main(["inspect", name]) == 2
    assert capsys.readouterr().err == f"error: FILE: must name a checkpoint, got {name!r}\n"


def test_what_is_set_goes_before_what_would_be_filled_in(clean):
    report = inspect(clean)
    filled = settings(Path(clean), report, {"dataset": "mnist-5k", "bits": None})
    given = {
        "source": "/elsewhere/a.pth", "sha256": "cd" * 32, "name": "mine", "image_size": 24, "bits": 0, "augment": "simclr",
        "color_strength": 1.25,
    }  # fmt: skip
    assert filled.name == Path(clean).name and filled.sha256 == report.sha256
    assert settings(Path(clean), report, {"dataset": "mnist-5k", **given}).model_dump() == {**filled.model_dump(), **given}


@pytest.mark.parametrize(
    ("given", "used", "why"),
    [
        ({}, "imagenet", "usual for this format, torchvision's names"),
        ({"normalisation": "none"}, "none", "as asked"),
        ({"normalisation": "half"}, "half", "as asked"),
    ],
)
def test_what_the_format_expects_is_used_and_said_unless_asked_otherwise(tmp_path, capsys, given, used, why):
    path = tmp_path / "encoder.pth"
    torch.save(resnet(0).state_dict(), path)
    spec = settings(path, inspect(path, **given), {"dataset": "cifar10", **given})
    assert (spec.normalisation or "none", spec.stem, spec.padding, spec.max_pool) == (used, "imagenet", 3, True)
    assert main(["inspect", str(path), *(word for name in given for word in (f"--{name}", given[name]))]) == 0
    assert f"normalisation = {used} ({why}); one of" in capsys.readouterr().out


@pytest.mark.parametrize("writer", ["write_json", "write_bytes", "InspectionStore.write_state"])
def test_a_full_disk_names_the_folder_and_says_what_to_do(tmp_path, capsys, monkeypatch, clean, writer):
    def full(*given, **__):
        if getattr(given[0], "name", "") != "spec.json":
            raise OSError(28, "No space left on device")

    made = made_up.arrays()
    monkeypatch.setattr("core.inspections.examine.examine", lambda *_, **__: ({}, made_up.summary(made), made))
    monkeypatch.setattr(f"core.inspections.store.{writer}", full)
    assert main(["inspect", clean, *FEW, "--store", str(tmp_path)]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"error: the folder {tmp_path / 'inspections'}") and errors.count("\n") == 1
    assert errors.endswith("cannot be written (no space left on device); choose another, or make room\n")


@pytest.mark.parametrize("name", ["arrays.npz", "summary.json"])
def test_a_damaged_result_is_made_again(tmp_path, capsys, monkeypatch, clean, name):
    made = made_up.arrays()
    monkeypatch.setattr("core.inspections.examine.examine", lambda *_, **__: ({}, made_up.summary(made), made))
    command = ["inspect", clean, *FEW, "--store", str(tmp_path), "--json"]
    assert main(command) == 0
    store = InspectionStore(tmp_path / "inspections")
    inspection = store.list()[0].id
    file = store.folder(inspection) / name
    file.write_bytes(file.read_bytes()[:200])
    assert store.load(inspection) is None and store.state(inspection).status == "finished"
    assert main(command) == 0 and store.load(inspection) is not None
    capsys.readouterr()
