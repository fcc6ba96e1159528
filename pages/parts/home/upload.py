"""The way on: bring one's own checkpoint, once the page for it is there."""

from pathlib import Path

import streamlit as st

INSPECT = "pages/checkpoints/inspect.py"


def upload_step() -> None:
    """One line that leads to the checkpoint page."""
    if (Path(__file__).resolve().parents[3] / INSPECT).is_file():
        st.page_link(INSPECT, label="Bring your own checkpoint and ask it the same questions", icon=":material/upload_file:")
