"""The reading process: limits hold, the second wall stands, a death costs one file, nothing heavy is imported."""

import os
import subprocess
import sys
import time

import psutil
import pytest
import torch
from checkpoint_reference import resnet

from core.checkpoints import CheckpointError, Limits, inspect, inspect_many
from core.checkpoints.sandbox import CHILD, Job, run


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.pth"
    torch.save(resnet(0).state_dict(), path)
    return path


def in_child(code, tmp_path):
    """Run code in a fresh process after the child's own preparations."""
    prepare = (
        f"import sys; sys.path.insert(0, {str(CHILD.parents[2])!r})\n"
        "from core.checkpoints import child\nfrom core.checkpoints.report import Limits\nimport os, subprocess, socket, numpy\n"
        f"child.warm_up()\nchild.seal({{{str(tmp_path / 'in')!r}}}, {{{str(tmp_path / 'out')!r}}})\n"
    )
    return subprocess.run([sys.executable, "-I", "-c", prepare + code], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "action",
    [
        "os.system('touch {canary}')",
        "subprocess.run(['touch', '{canary}'])",
        ("os.posix_spawn('/usr/bin/touch', ['touch', '{canary}'], {{}})"),
        "os.fork()",
        "socket.create_connection(('127.0.0.1', 9))",
        "import antigravity",
        "eval('1')",
        "exec('pass')",
        "open('/etc/passwd')",
        "open('{outside}', 'w')",
        "open('{inside}', 'w')",
        "os.open('{inside}', os.O_WRONLY)",
        "os.open('{canary}', os.O_CREAT)",
        "os.remove('{inside}')",
        "os.rename('{inside}', '{canary}')",
        "os.mkdir('{canary}')",
        "__import__('ctypes').CDLL(None)",
    ],
)
def test_second_wall(action, tmp_path):
    """Even code that ran in the reading process could not do this."""
    inside = tmp_path / "in"
    inside.write_text("x")
    canary = tmp_path / "canary"
    result = in_child(action.format(canary=canary, inside=inside, outside=tmp_path.parent / "outside"), tmp_path)
    assert result.returncode != 0 and "Forbidden" in result.stderr
    assert not canary.exists() and inside.read_text() == "x" and not (tmp_path.parent / "outside").exists()


def test_second_wall_lets_work_through(tmp_path):
    (tmp_path / "in").write_text("x")
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "file"
    result = in_child(f"print(open({str(tmp_path / 'in')!r}).read()); open({str(target)!r}, 'w').write('y')", tmp_path)
    assert (result.returncode, result.stdout) == (0, "x\n") and target.read_text() == "y"


def test_reader_imports_no_torch():
    """The whole reading side, and what pages import of it, stays light."""
    code = (
        f"import sys; sys.path.insert(0, {str(CHILD.parents[2])!r})\n"
        "import core.checkpoints.child, core.checkpoints.sandbox, core.checkpoints.inspection, core.checkpoints.uploads\n"
        "from core.checkpoints import CheckpointError, CheckpointReport, Limits, PRESETS, inspect\n"
        "print([name for name in ('torch', 'torchvision', 'timm', 'dask', 'streamlit', 'safetensors') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_report_alone_needs_no_numpy():
    code = (
        f"import sys; sys.path.insert(0, {str(CHILD.parents[2])!r})\nimport "
        "core.checkpoints\nfrom core.checkpoints import CheckpointReport\n"
        "print([name for name in ('torch', 'numpy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces a limit on the address space")
def test_memory_limit_holds(tmp_path):
    """A pickle that builds three million lists ends at the limit, and the parent lives on."""
    path = tmp_path / "fat.pkl"
    path.write_bytes(b"\x80\x02](" + b"]" * 3_000_000 + b"e.")
    with pytest.raises(CheckpointError) as refused:
        inspect(path, limits=Limits(memory_bytes=2**26))
    assert refused.value.problem == "too_large"
    assert str(refused.value) == "Reading the file needs more than the allowed 67 MB of memory. It was not opened further."


def test_time_limit_holds(tmp_path):
    """Numbers chosen so that all their hashes collide make a dictionary slow; the process is ended on time."""
    path = tmp_path / "slow.pkl"
    prime = 2**61 - 1
    keys = b"".join(b"\x8a\x0a" + (number * prime).to_bytes(10, "little") + b"N" for number in range(1, 30_000))
    path.write_bytes(b"\x80\x02}(" + keys + b"u.")
    start = time.monotonic()
    with pytest.raises(CheckpointError) as refused:
        inspect(path, limits=Limits(seconds=1.0))
    assert refused.value.problem == "too_slow" and "took longer than 1 s and was stopped" in str(refused.value)
    assert time.monotonic() - start < 60


def test_a_dead_process_costs_its_own_file(good, monkeypatch, tmp_path):
    """A child that dies on one file is replaced for the next ones."""
    program = tmp_path / "child.py"
    program.write_text(
        CHILD.read_text()
        .replace(
            "    try:\n        opened = open_checkpoint(",
            ("    if 'deadly' in job['path']: os.abort()\n    try:\n        opened = open_checkpoint("),
            1,
        )
        .replace("Path(__file__).resolve().parents[2]", f"Path({str(CHILD)!r}).resolve().parents[2]")
    )
    monkeypatch.setattr("core.checkpoints.sandbox.CHILD", program)
    deadly = tmp_path / "deadly.pth"
    deadly.write_bytes(good.read_bytes())
    first, second, third = inspect_many([good, deadly, good])
    assert isinstance(second, CheckpointError) and second.problem == "crashed"
    assert str(second) == (
        "The process that read the file ended without an answer (signal "
        "6). The file is damaged or hostile; nothing else was affected."
    )
    assert first == third and first.architecture == "ResNet-10 ×0.125"


def test_no_process_is_left(good):
    before = set(psutil.Process().children())
    inspect(good)
    assert set(psutil.Process().children()) == before


def test_one_file_in_under_a_second_of_processor_time(good):
    """A fresh process without torch: a quarter of a second (measured), three with torch."""
    before = os.times()
    run([Job(good)], Limits())
    after = os.times()
    assert after.children_user - before.children_user < 1.0
