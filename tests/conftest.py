"""Shared test settings: one thread per process, no network, real data only where it lies."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAIN = sys.modules["__main__"]

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests measure results, not speed; one thread keeps them reproducible


@pytest.fixture(autouse=True)
def own_main_module():
    """Streamlit's test runner leaves the page as the program's main module, which a worker process started later would import."""
    yield
    sys.modules["__main__"] = MAIN


@pytest.fixture
def root() -> Path:
    """The repository's root folder."""
    return ROOT


@pytest.fixture
def real_data() -> Path:
    """The folder with the complete data sets; the test is skipped where there is none."""
    folder = os.environ.get("CONTRASTIVE_LENS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("CONTRASTIVE_LENS_DATA does not name a folder with the complete data sets")
    return Path(folder)
