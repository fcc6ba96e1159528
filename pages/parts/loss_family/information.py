"""View: the two parts read as entropies, and how far the bound on mutual information carries."""

import streamlit as st

from pages.parts.infonce.bound import bound

READING = (
    r"I(U;V) = \underbrace{H(U)}_{\text{role of } -L_\text{distribution}} - "
    r"\underbrace{H(U \mid V)}_{\text{role of } L_\text{alignment}}, \qquad I \ge \log N - L_N"
)


def information() -> None:
    """The reading in one formula, then the bound where the true value is known."""
    st.latex(READING)
    st.markdown(
        "Minus the log-sum-exp is an entropy estimate with a kernel of width tau, so lowering the term raises **H(U)**; "
        "pulling views together lowers **H(U | V)**. The weight lambda has no place in this identity: it is NT-Xent, lambda = "
        "tau, that bounds the information, and the bound ends at **log N**, N counting the positive. Below are pairs whose "
        "information is known."
    )
    bound()
