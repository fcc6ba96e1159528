"""The real app from its entrypoint, on temporary stores."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from streamlit.testing.v1 import AppTest

from tests import fixtures
from tests.pages.visit import HOME

TIMEOUT = 90  # seconds; generous, the first run imports everything


class Stores(NamedTuple):
    """Where the app under test reads and writes."""

    results: Path
    runs: Path


@pytest.fixture
def stores(tmp_path, monkeypatch) -> Stores:
    """Two empty stores that the app uses instead of the repository's."""
    found = Stores(tmp_path / "results", tmp_path / "runs")
    monkeypatch.setenv("CONTRASTIVE_LENS_RESULTS", str(found.results))
    monkeypatch.setenv("CONTRASTIVE_LENS_RUNS", str(found.runs))
    return found


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A filled pair of stores, made once and copied for each test."""
    root = tmp_path_factory.mktemp("template")
    fixtures.fill(root / "results", fixtures.study())
    fixtures.fill(root / "runs", fixtures.study("randbit-quick"), folders=True)
    return root


@pytest.fixture
def filled(stores, template) -> Stores:
    """The shipped study and a finished run of the small one."""
    shutil.copytree(template / "results", stores.results)
    shutil.copytree(template / "runs", stores.runs)
    return stores


@pytest.fixture
def open_page(root) -> Callable[..., AppTest]:
    """Open a page as a visitor would: the app first, then the page, with an address."""

    def opened(page: str = HOME, **address: str) -> AppTest:
        app = AppTest.from_file(str(root / "app.py"), default_timeout=TIMEOUT)
        if page != HOME:
            app.run()
            app.switch_page(page)
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, [error.value for error in app.exception]
        return app

    return opened
