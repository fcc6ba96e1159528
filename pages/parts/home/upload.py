"""The way on: bring one's own checkpoint, once the page for it is there."""

from pathlib import Path

import streamlit as st

from core.glossary import help_text

INSPECT = "pages/checkpoints/inspect.py"


def upload_step() -> None:
    """One line that leads to the checkpoint page."""
    if (Path(__file__).resolve().parents[3] / INSPECT).is_file():
        label = "Bring your own checkpoint and ask it the same questions"
        st.page_link(INSPECT, label=label, icon=":material/upload_file:", help=help_text("checkpoint"))
