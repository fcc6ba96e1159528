"""A common misconception beside the picture that corrects it."""

import streamlit as st

from core.misconceptions import SLIPS


def slip(name: str, look: str) -> None:
    """Draw one misconception with its correction.

    Args:
        name: Key of core.misconceptions.SLIPS.
        look: What on this page shows it, with the numbers of now; one sentence.
    """
    entry = SLIPS[name]
    st.markdown(f":material/visibility: **Often said:** “{entry.claim}” {entry.right} **Look:** {look}")
