"""The analysis process: what passes, what is refused, and that it comes back after it died."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from core import analysis
from core.analysis import AnalysisError


@pytest.fixture(autouse=True)
def fresh():
    analysis.stop()
    yield
    analysis.stop()


def test_a_call_returns_numpy_and_keeps_one_process():
    first = analysis.call("core.losses.mutual_information:gaussian_information", dim=4, rho=0.9)
    pid = analysis.process_id()
    second = analysis.call("core.losses.mutual_information:optimal_critic", x=np.zeros((2, 1)), y=np.ones((3, 1)), rho=0.5)
    assert np.isclose(first, 3.3215, atol=1e-4)
    assert second.shape == (2, 3) and np.allclose(second, -0.5 * np.log(0.75) - 0.125 / 0.75)
    assert pid is not None and analysis.process_id() == pid


def test_a_killed_process_is_replaced():
    analysis.warm_up()
    pid = analysis.process_id()
    os.kill(pid, 9)
    deadline = time.monotonic() + 10
    while analysis.process_id() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert analysis.call("core.losses.mutual_information:gaussian_information", dim=1, rho=0.0) == 0.0
    assert analysis.process_id() != pid


def test_death_in_the_middle_of_a_call_is_told_at_once():
    analysis.warm_up()
    pid = analysis.process_id()
    threading.Timer(0.2, os.kill, (pid, 9)).start()  # the child still imports torch
    start = time.monotonic()
    with pytest.raises(AnalysisError, match=r"ended in the middle of the call \(exit code -9\)"):
        analysis.call("core.losses.mutual_information:gaussian_information", dim=1, rho=0.5)
    assert time.monotonic() - start < 10


def test_a_call_past_its_time_is_ended_and_the_next_one_works():
    with pytest.raises(AnalysisError, match=r"no answer after 0\.05 s\. The analysis process was ended"):
        analysis.call("core.losses.mutual_information:gaussian_information", timeout=0.05, dim=1, rho=0.5)
    assert analysis.process_id() is None
    assert analysis.call("core.losses.mutual_information:gaussian_information", dim=1, rho=0.0) == 0.0


def test_bad_input_keeps_its_text_and_the_process():
    with pytest.raises(ValueError, match=r"^rho must lie between -1 and 1, got 2\.$"):
        analysis.call("core.losses.mutual_information:gaussian_information", dim=1, rho=2)
    pid = analysis.process_id()
    with pytest.raises(AnalysisError, match=r"gaussian_information: TypeError: .*unexpected keyword argument 'nonsense'"):
        analysis.call("core.losses.mutual_information:gaussian_information", nonsense=1)
    with pytest.raises(AnalysisError, match="AttributeError"):
        analysis.call("core.losses.mutual_information:no_such_function")
    assert analysis.process_id() == pid


@pytest.mark.parametrize("target", ["os:getpid", "core:x", "core.analysis", "core.analysis:a.b", "corex.y:z", ""])
def test_only_functions_of_core_are_called(target):
    with pytest.raises(ValueError, match=r"^target must be 'core\.<module>:<function>', got "):
        analysis.call(target)
    assert analysis.process_id() is None


def test_results_that_need_an_import_are_refused():
    with pytest.raises(AnalysisError, match=r"returned core\.training\.spec\.RunSpec, but only numpy arrays"):
        run_light(
            "from core import analysis\n"
            "analysis.call('core.training.spec:RunSpec')\n"
        )


def test_the_calling_process_stays_light():
    run_light(
        "import sys\n"
        "from core import analysis\n"
        "assert analysis.call('core.losses.mutual_information:gaussian_information', dim=2, rho=0.5) > 0\n"
        "import numpy\n"
        "try:\n"
        "    analysis.call('core.losses.checks:embeddings', z=numpy.zeros((2, 2)))\n"
        "except analysis.AnalysisError as error:\n"
        "    assert 'returned torch' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('a tensor came through')\n"
        "heavy = {'torch', 'timm', 'dask', 'distributed', 'torchvision'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )


def run_light(code: str) -> None:
    """Run code in a fresh interpreter; an AnalysisError in it is raised here."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    if last.startswith("core.analysis.AnalysisError"):
        raise AnalysisError(last)
    assert done.returncode == 0, done.stderr
