"""One writer per study: live locks hold, dead ones are taken over, and of many at once exactly one wins."""

import os
import re
import subprocess
import sys
import time

import pytest

from core.studies.files import read_json, write_json
from core.studies.lock import FOREIGN_TIMEOUT, LOCK, holder, lock
from core.studies.names import StudyError
from core.studies.process import identity, is_running


def test_a_live_lock_holds_and_is_given_back(tmp_path):
    with lock(tmp_path):
        assert holder(tmp_path)["pid"] == os.getpid()
        text = rf"^study '{re.escape(tmp_path.name)}' is being run by process {os.getpid()} since [\d-]{{10}} [\d:]{{8}}; "
        with pytest.raises(StudyError, match=text + "stop that one first, or watch it$"), lock(tmp_path):
            pass
        assert holder(tmp_path)["pid"] == os.getpid()  # the one that was refused took nothing away
    assert holder(tmp_path) is None
    assert {path.name for path in tmp_path.iterdir()} <= {".lock.guard"}


@pytest.mark.parametrize("change", [{"pid": 2**22 + 1}, {"created": 1.0}])
def test_a_lock_of_a_dead_process_is_taken_over(tmp_path, change):
    """The number is free, or belongs to another process by now."""
    write_json(tmp_path / LOCK, {**identity(), **change, "since": 0})
    assert holder(tmp_path) is None
    with lock(tmp_path):
        assert holder(tmp_path)["pid"] == os.getpid()


def test_a_half_written_lock_is_taken_over(tmp_path):
    (tmp_path / LOCK).write_text('{"pid": 1')
    with lock(tmp_path):
        assert read_json(tmp_path / LOCK)["pid"] == os.getpid()


def test_a_lock_of_another_machine_holds_as_long_as_it_gives_signs_of_life(tmp_path):
    path = tmp_path / LOCK
    write_json(path, {**identity(), "host": "elsewhere", "since": 0})
    with pytest.raises(StudyError, match="on elsewhere since"), lock(tmp_path):
        pass
    old = time.time() - FOREIGN_TIMEOUT - 1
    os.utime(path, (old, old))
    with lock(tmp_path):
        assert holder(tmp_path)["host"] != "elsewhere"


def test_a_zombie_is_not_running():
    """A finished child that nobody has reaped still answers to its number."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    who = identity(child.pid)
    deadline = time.monotonic() + 10
    while is_running(who) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, 0)  # it answers
    assert not is_running(who)
    child.wait()


RACE = """
import sys, time
from pathlib import Path
from core.studies.lock import lock
from core.studies.names import StudyError
folder, start = Path(sys.argv[1]), float(sys.argv[2])
time.sleep(max(0, start - time.time()))
try:
    with lock(folder):
        print("won", flush=True)
        time.sleep(2)
except StudyError:
    print("lost", flush=True)
"""


def test_of_many_at_once_one_wins_even_over_a_stale_lock(tmp_path, root):
    """Each sees the same dead lock; the one that removes it last must not remove the winner's."""
    write_json(tmp_path / LOCK, {**identity(), "created": 1.0, "since": 0})
    start = str(time.time() + 1.5)
    racers = [
        subprocess.Popen([sys.executable, "-c", RACE, str(tmp_path), start], cwd=root, stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    said = sorted(racer.communicate(timeout=60)[0].strip() for racer in racers)
    assert said == ["lost"] * 5 + ["won"]
    assert {path.name for path in tmp_path.iterdir()} <= {".lock.guard"}
