"""How a study is doing, also one that exists as a definition only."""

import streamlit as st

from core.studies.catalogue import Entry
from pages.parts import live


def watch(entry: Entry, key: str) -> None:
    """Say how the study is doing and offer what helps; a definition that was never started can be started.

    Args:
        entry: The study.
        key: Start of the widget keys, unique on the page.
    """
    if entry.origin != "defined" or entry.store.state(entry.name).status != "missing":
        live.watch(entry, key)
        return
    live.show_problem()
    st.info("This study has not been run here. Its curves appear point by point once it runs.", icon=":material/hourglass_empty:")
    live.run_button(entry, key, "Run this study")
