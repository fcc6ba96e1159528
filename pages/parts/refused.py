"""Say which values of the address the widgets of a page did not take: Streamlit drops or clamps them without a word."""

import math
from typing import Any

import streamlit as st

from pages.parts import address
from pages.parts.text import quoted

ASKED = "address_asked"  # in the session: the page, and what the address gave when it was opened


def begin(page: str) -> None:
    """Keep what the address says before the widgets of a page that has just been opened put it right.

    Args:
        page: Its path in the address.
    """
    opened, _ = st.session_state.get(ASKED, (None, {}))
    # Only a page's first run can tell: where it stopped before its end, the next one may follow a widget that was moved.
    asked = {name: st.query_params.get_all(name) for name in st.query_params} if opened != page else {}
    st.session_state[ASKED] = (page, asked)


def end() -> None:
    """Leave a notice for each value that a widget did not take, once. Names that no widget has are left alone."""
    page, asked = st.session_state[ASKED]
    st.session_state[ASKED] = (page, {})
    for name, texts in asked.items():
        taken = name not in st.session_state or st.query_params.get_all(name) == texts
        if taken or address.was_checked(name) or means(texts, st.session_state[name]):
            continue
        address.notice(
            f"The address gives {name} the value {quoted(', '.join(texts))}, which does not exist here; showing "
            f"{spoken(st.session_state[name])!r} instead."
        )


def means(texts: list[str], value: Any) -> bool:
    """Whether the texts of an address are a way of writing a widget's value."""
    if isinstance(value, list | tuple):
        return len(texts) == len(value) and all(means([text], part) for text, part in zip(texts, value, strict=True))
    text = texts[-1].strip()
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, int | float):
        try:
            return float(text.removeprefix("→ ").replace(",", "").replace("∞", "inf")) == value
        except ValueError:
            return False
    return text == str(value)


def spoken(value: Any) -> str:
    """A widget's value as a person would write it."""
    if isinstance(value, list | tuple):
        return ", ".join(map(spoken, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return "∞" if math.isinf(value) else f"{value:g}"
    return str(value)
