"""Every format of the reference: named right, all tensors matched, features equal bit for bit, branch and head reported."""

import pytest
import torch
from checkpoint_cases import all_cases
from checkpoint_reference import images

from core.checkpoints import PRESETS, CheckpointReport, Limits, load_encoder
from core.checkpoints.loading import rebuild
from core.checkpoints.report import Choices
from core.checkpoints.sandbox import Job, run

CASES = {case.id: case for case in all_cases()}
BRANCHES = [(case.id, branch) for case in CASES.values() for branch in case.others]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """All files and branches, read one after the other in one process, which also shows that none disturbs the next."""
    folder = tmp_path_factory.mktemp("formats")
    keys = [(name, None) for name in CASES] + BRANCHES
    jobs = []
    for number, (name, branch) in enumerate(keys):
        case, path, out = CASES[name], folder / f"{list(CASES).index(name)}.pth", folder / f"out{number}"
        out.mkdir()
        if not path.exists():
            case.save(case.content, path)
        jobs.append(Job(path, Choices(branch=branch, **case.choices), out))
    answers = run(jobs, Limits())
    return {key: (answer, job) for key, answer, job in zip(keys, answers, jobs, strict=True)}


def features(encoder, case):
    channels = next(p for p in case.encoder.parameters() if p.ndim == 4).shape[1]
    with torch.no_grad():
        return encoder(images(case.side, channels))


@pytest.mark.parametrize("name", CASES)
def test_format(name, loaded):
    case = CASES[name]
    report, job = loaded[name, None]
    assert isinstance(report, CheckpointReport), report
    assert report.layout == case.layout and report.refusal is None
    assert report.matched == report.expected > 0 and report.share_matched == 1.0
    assert not report.missing and not report.unexpected and not report.mismatched
    encoder = rebuild(report, job.out)
    assert torch.equal(features(encoder, case), features(case.encoder, case))  # bit for bit
    assert report.h_dim == encoder.h_dim == features(case.encoder, case).shape[1]
    assert not encoder.training and not any(p.requires_grad for p in encoder.parameters())
    assert tuple(branch.name for branch in report.branches) == (case.branches or (report.branch,))
    assert report.branch == report.branches[0].name
    assert case.projector is None or report.projector.text == case.projector
    assert case.heads.items() <= {head.prefix: head.role for head in report.heads}.items()
    assert set(case.ignored) <= set(report.ignored_globals)
    assert report.normalisation_guess == case.preset and (case.preset is None or case.preset in PRESETS)
    assert set(case.extras) <= set(report.extras)
    assert len(report.dropped) == case.dropped
    for piece in case.notes:
        assert any(piece in note for note in report.notes), report.notes


@pytest.mark.parametrize(("name", "branch"), BRANCHES)
def test_other_branch(name, branch, loaded):
    """The branch that is asked for decides the features (pitfall 24)."""
    case = CASES[name]
    report, job = loaded[name, branch]
    encoder = rebuild(report, job.out)
    assert report.branch != report.branches[0].name
    assert torch.equal(features(encoder, case), features(case.others[branch], case))
    assert not torch.equal(features(encoder, case), features(case.encoder, case))


@pytest.mark.parametrize("name", ["moco_v2", "separius", "dino vit", "vissl", "whole module, legacy"])
def test_load_encoder_does_the_same(name, loaded):
    """The public function, a process of its own for each file."""
    case = CASES[name]
    report, job = loaded[name, None]
    encoder, again = load_encoder(job.path, **case.choices)
    assert again == report and torch.equal(features(encoder, case), features(case.encoder, case))
