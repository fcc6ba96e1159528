"""Keep what is expensive to build, such as a figure, until something that it depends on changes."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.studies.catalogue import Entry

T = TypeVar("T")
MOST = 256  # things kept for all sessions together


def kept(make: Callable[[], T], *depends_on: str | float | bool | None) -> T:
    """The thing, built at most once for the same dependencies and shared by all sessions. It must not be changed.

    Args:
        make: Builds it, from nothing but what is named in `depends_on`.
        depends_on: A name for what it is, then everything it depends on: ids, a `version`, choices, the theme's name. Never
            arrays or tables, which are too large to compare.
    """
    return _kept(make, depends_on)


@st.cache_resource(max_entries=MOST, show_spinner=False)
def _kept(_make: Callable[[], T], depends_on: tuple) -> T:
    return _make()


def version(entry: Entry) -> str:
    """Changes whenever a study's results change or a run begins: its files as they are now."""
    folder = entry.store.folder(entry.name)
    stamps = []
    for name in ("results.jsonl", "study.toml"):
        try:
            found = (folder / name).stat()
            stamps.append(f"{found.st_mtime_ns}-{found.st_size}")
        except OSError:
            stamps.append("none")
    return f"{folder} {' '.join(stamps)}"
