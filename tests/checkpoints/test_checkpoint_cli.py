"""`python -m core inspect`: text for people, JSON for programs, exit codes 0, 1 and 2."""

import json

import pytest
import torch
from checkpoint_reference import mlp, prefixed, resnet

from core.__main__ import main


@pytest.fixture
def moco(tmp_path):
    tensors = prefixed("module.encoder_q.", resnet(0)) | prefixed("module.encoder_k.", resnet(1))
    tensors |= prefixed("module.encoder_q.fc.", mlp([64, 64, 12]))
    path = tmp_path / "moco.pth.tar"
    torch.save({"epoch": 200, "arch": "resnet18", "state_dict": tensors}, path)
    return path


def test_text(moco, capsys):
    assert main(["inspect", str(moco)]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if not line.startswith(" "))
    assert lines["format"] == "MoCo v2"
    count = sum(parameter.numel() for parameter in resnet(0).parameters())
    assert lines["encoder"] == f"ResNet-10 ×0.125, {count:,} parameters, h has 64 dimensions"
    assert lines["branch"] == "encoder_q (query encoder); encoder_k (key encoder (moving average)); described: encoder_q"
    assert lines["matched"] == "60 of 60 tensors (100%)" and lines["projector"] == "module.encoder_q.fc.  64 → 64 → 12"
    assert "sha256" in lines["file"]


def test_json_and_branch(moco, capsys):
    assert main(["inspect", str(moco), "--json", "--branch", "k"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["branch"] == "encoder_k" and report["layout"] == "moco_v2" and report["plan"]["family"] == "resnet"
    assert report["facts"] == {"epoch": "200", "arch": "resnet18"}


def test_no_encoder_is_code_1(tmp_path, capsys):
    torch.save({"weight": torch.zeros(2, 2)}, tmp_path / "other.pth")
    assert main(["inspect", str(tmp_path / "other.pth")]) == 1
    assert "not loadable" in capsys.readouterr().out


def test_a_prefix_is_named_as_it_can_be_given_again(tmp_path, capsys):
    path = tmp_path / "odd.pth"
    torch.save(prefixed("mystery.part.", resnet(0)), path)
    assert main(["inspect", str(path)]) == 1
    assert "name it as the prefix 'mystery.part.'." in capsys.readouterr().out
    assert main(["inspect", str(path), "--prefix", "nonsense."]) == 1
    out = capsys.readouterr().out
    assert "No encoder lies under the given prefix 'nonsense.'. One lies under another: name it as the prefix 'mystery." in out
    assert "prefix=" not in out
    assert main(["inspect", str(path), "--set", "prefix=mystery.part."]) == 0


@pytest.mark.parametrize(
    ("content", "choices", "text"),
    [
        (None, [], "There is no such file. Check the path."),
        (b"<html></html>", [], "This is a web page (HTML), not a checkpoint."),
        (b"", [], "The file is empty (0 bytes)."),
    ],
)
def test_unreadable_is_code_2_and_one_line(tmp_path, capsys, content, choices, text):
    path = tmp_path / "file.pth"
    if content is not None:
        path.write_bytes(content)
    assert main(["inspect", str(path), *choices]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"error: {path}: {text}") and errors.count("\n") == 1


def test_one_channel_is_singular(tmp_path, capsys):
    """It said "1 channels: grey"."""
    path = tmp_path / "grey.pth"
    torch.save(resnet(0, channels=1).state_dict(), path)
    assert main(["inspect", str(path)]) == 0
    assert "\ninput          1 channel: grey\n" in capsys.readouterr().out
