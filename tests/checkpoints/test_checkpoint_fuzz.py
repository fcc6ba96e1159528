"""Mutated files: whatever the bytes, the answer is a report or a reason, and the process that asks lives on.

200 mutations by default; CONTRASTIVE_LENS_FUZZ=2000 makes it 2,000.
"""

import io
import os
import random
import zipfile

import pytest
import safetensors.torch
import torch
from checkpoint_reference import mlp, prefixed, resnet

from core.checkpoints import CheckpointError, CheckpointReport, Limits, inspect_many
from core.checkpoints.sandbox import Job, run

MUTATIONS = int(os.environ.get("CONTRASTIVE_LENS_FUZZ", "200"))
BATCH = 100
LIMITS = Limits(memory_bytes=2**29, seconds=20)
INTERESTING = (
    0,
    1,
    127,
    128,
    255,
    46,
    0x52,
    0x62,
    0x63,
    0x71,
    0x72,
    0x80,
    0x81,
    0x85,
    0x8A,
    0x93,
    0x94,
    0x95,
    0x96,
)  # opcodes too


def seeds():
    """One file of every container, as small as an encoder can be."""
    content = {
        "epoch": 3,
        "state_dict": prefixed("module.encoder_q.", resnet(0, width=1)) | prefixed("module.encoder_q.fc.", mlp([8, 4])),
    }
    new, old, safe = io.BytesIO(), io.BytesIO(), safetensors.torch.save(content["state_dict"])
    torch.save(content, new)
    torch.save(content, old, _use_new_zipfile_serialization=False)
    return new.getvalue(), old.getvalue(), safe


def mutated(rng, data):
    """One to eight changes: flipped bits, other bytes, cuts, doublings, swaps, large numbers; often where the structure is."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        place = (
            rng.randrange(len(data))
            if rng.random() < 0.5
            else rng.choice((rng.randrange(min(4000, len(data))), -rng.randrange(1, min(4000, len(data)))))
        )
        place %= len(data)
        kind = rng.randrange(7)
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place] = rng.choice(INTERESTING)
        elif kind == 2:
            del data[place : place + rng.randint(1, 50)]
        elif kind == 3:
            piece = data[place : place + rng.randint(1, 50)]
            data[place:place] = piece
        elif kind == 4:
            data[place : place + 4] = rng.choice(
                (b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x00")
            )
        elif kind == 5:
            other = rng.randrange(len(data))
            data[place : place + 8], data[other : other + 8] = data[other : other + 8], data[place : place + 8]
        else:
            data = data[: max(1, len(data) - rng.randint(1, 2000))]
    return bytes(data)


def mutated_inside(rng, data):
    """The description changed inside an archive that stays whole, so that the change gets as far as it can."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        records = {info.filename: archive.read(info) for info in archive.infolist()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in records.items():
            archive.writestr(name, mutated(rng, content) if name.endswith("data.pkl") else content)
    return target.getvalue()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_mutated_files_crash_nothing(tmp_path):
    rng = random.Random(2024)
    originals = seeds()
    outcomes = {"report": 0}
    for start in range(0, MUTATIONS, BATCH):
        paths = []
        for number in range(start, min(start + BATCH, MUTATIONS)):
            path = tmp_path / f"{number}.pth"
            change = mutated_inside if number % 6 == 0 else mutated
            path.write_bytes(change(rng, originals[number % 3]))
            paths.append(path)
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        answers = run([Job(path, out=out) for path in paths], LIMITS)
        assert len(answers) == len(paths)
        for path, answer in zip(paths, answers, strict=True):
            assert isinstance(answer, CheckpointReport | CheckpointError)
            kind = "report" if isinstance(answer, CheckpointReport) else answer.problem
            outcomes[kind] = outcomes.get(kind, 0) + 1
            assert kind != "crashed", (path.name, str(answer))  # no unexpected exception, no dead process
            path.unlink()
    print(outcomes)
    assert outcomes["report"] > 0.05 * MUTATIONS and outcomes["damaged"] > 0.1 * MUTATIONS


def test_the_seeds_are_good(tmp_path):
    """Without mutations all three files load, else the test above would prove little."""
    for number, data in enumerate(seeds()):
        (tmp_path / f"{number}.pth").write_bytes(data)
    reports = inspect_many([tmp_path / f"{number}.pth" for number in range(3)])
    assert [report.kind for report in reports] == ["zip", "legacy", "safetensors"]
    assert all(report.refusal is None and report.matched == report.expected for report in reports)
