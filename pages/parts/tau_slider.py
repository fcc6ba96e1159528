"""The temperature slider: round numbers on a log scale, with the two limits at its ends where they make sense."""

import math

import streamlit as st

from core.figures.roles import tau_text
from core.glossary import help_text

ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)
ALL = (*(round(digit * 10.0**decade, 6) for decade in range(-3, 2) for digit in ROUND), 100.0)


def offered(low: float = 0.005, high: float = 100.0, limits: bool = False) -> tuple[float, ...]:
    """The temperatures on the slider, lowest first; 0 and infinity stand for the limits."""
    inside = tuple(tau for tau in ALL if low <= tau <= high)
    return (0.0, *inside, math.inf) if limits else inside


def tau_slider(
    key: str, default: float, *, low: float = 0.005, high: float = 100.0, limits: bool = False, label: str = "Temperature tau"
):
    """Draw the slider, bound to the address under its key. Returns the temperature.

    Args:
        key: Streamlit key and name in the address.
        default: One of the offered temperatures.
        low: Least temperature offered.
        high: Largest temperature offered.
        limits: Offer tau → 0 and tau → ∞ at the ends, and a button for each beside the slider.
        label: Of the widget.
    """
    options = offered(low, high, limits)
    if not limits:
        return _slider(key, default, options, label)
    left, middle, right = st.columns([3, 12, 3], vertical_alignment="bottom")
    left.button(
        "tau → 0", key=f"{key}_cold", on_click=_set, args=(key, 0.0), width="stretch", help="The hardest candidate takes all."
    )
    right.button(
        "tau → ∞", key=f"{key}_hot", on_click=_set, args=(key, math.inf), width="stretch", help="All candidates weigh the same."
    )
    with middle:
        return _slider(key, default, options, label)


def _slider(key: str, default: float, options: tuple[float, ...], label: str) -> float:
    return st.select_slider(
        label,
        options,
        default,
        format_func=tau_text,
        key=key,
        bind="query-params",
        persist_state="session",
        help=help_text("temperature"),
    )


def _set(key: str, tau: float) -> None:
    st.session_state[key] = tau
