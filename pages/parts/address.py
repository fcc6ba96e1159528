"""What the address says beside bound widgets: a study, a run. Kept in the session, so that it survives a page switch."""

import math
from collections.abc import Sequence

import streamlit as st

from pages.parts.text import literal, quoted

NOTICES = "address_notices"
CHECKED = "address_checked"
MOST_NAMED = 8  # choices that a notice names


def recall(name: str) -> str | None:
    """The value that the address gives; without one, the value of this session, which is then written into the address."""
    kept = f"address_{name}"
    value = st.query_params.get(name)
    if value is None and st.session_state.get(kept):
        value = st.query_params[name] = st.session_state[kept]
    st.session_state[kept] = value
    return value


def remember(name: str, value: str) -> None:
    """Write a value into the address and the session."""
    st.session_state[f"address_{name}"] = value
    if st.query_params.get(name) != value:  # setting it sends the whole address to the browser
        st.query_params[name] = value


def forget(name: str) -> None:
    """Remove a value from the address and the session."""
    st.session_state[f"address_{name}"] = None
    if name in st.query_params:
        del st.query_params[name]


def place(name: str, options: Sequence[str]) -> int:
    """Place of the option that the address names, for the first draw of a selector; 0 where it names none, or another page's."""
    value = recall(name)
    return list(options).index(value) if value in options else 0


def keep(name: str, key: str) -> None:
    """Write what a widget holds into the address, a list with commas; nothing chosen leaves it. For widget callbacks."""
    value = st.session_state.get(key)
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
    if text:
        remember(name, text)
    else:
        forget(name)


def tidy() -> None:
    """Drop values that no widget can take, before one is drawn: nothing at all, and numbers without end.

    Streamlit hands an empty value to a bound selector as None, and an infinite one to a number field, which cannot hold it.
    """
    found = {name: value for name, value in st.query_params.to_dict().items() if not value.strip() or _is_endless(value)}
    for name, value in found.items():
        del st.query_params[name]
        notice(f"The address gives {name} no usable value ({quoted(value)}); showing what is usual instead.")
    if found:
        st.rerun()  # widgets take their values from the address as it was when this run began


def _is_endless(value: str) -> bool:
    try:
        return not math.isfinite(float(value))
    except ValueError:
        return False


def check(name: str, allowed: list[str], fallback: str) -> None:
    """Tell the visitor when a bound widget's value in the address does not exist. Call before the widget is drawn."""
    value = st.query_params.get(name)
    st.session_state.setdefault(CHECKED, set()).add(name)
    if value is not None and value not in allowed:
        choice = ", ".join(map(repr, allowed[:MOST_NAMED])) + (", ..." if len(allowed) > MOST_NAMED else "")
        said = f"The address asks for {quoted(value)}, which does not exist here; showing {fallback!r} instead."
        notice(f"{said} {name} can be {choice}.")


def was_checked(name: str) -> bool:
    """Whether a page has looked at a value with `check`."""
    return name in st.session_state.get(CHECKED, ())


def notice(text: str) -> None:
    """Keep a notice for `show_notices`."""
    st.session_state.setdefault(NOTICES, []).append(text)


def show_notices() -> None:
    """Show what was wrong with the address, once."""
    for text in st.session_state.pop(NOTICES, []):
        st.info(literal(text), icon=":material/link_off:")
