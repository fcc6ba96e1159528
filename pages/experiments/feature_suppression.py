"""Feature suppression: two features tell images apart; which one does a contrastive encoder learn, and which does it drop?"""

from functools import partial

import streamlit as st

from core.glossary import help_text
from core.studies.own import is_own
from pages.parts import address, studies
from pages.parts.suppression.local import local
from pages.parts.suppression.own import own
from pages.parts.suppression.pair import pair
from pages.parts.suppression.randbit import randbit

RANDBIT = "RandBit"
OWN = "Your own data"
QUESTION = (
    "Both views of an image carry the same random bits. **How many does it take until the encoder stops learning the class?**"
)
TABS = {
    RANDBIT: randbit,
    "Digit on image": partial(pair, "digits"),
    "Digit size": partial(pair, "digit_size"),
    "Colour": partial(pair, "color_strength"),
    OWN: own,
    "Local features": local,
}
DIALS = {"digits": "Digit on image", "digit_size": "Digit size", "color_strength": "Colour"}


def usual_tab() -> str:
    """The tab of the study that the address names; RandBit otherwise."""
    entry = studies.named(address.recall("study"))
    if entry is not None and is_own(entry.name):
        return OWN
    if entry is None or entry.varies("bits"):
        return RANDBIT
    return next((tab for dial, tab in DIALS.items() if entry.varies(dial)), RANDBIT)


def leave() -> None:
    """Another experiment has other studies and runs."""
    address.forget("study")
    address.forget("run")


st.title("Feature suppression", help=help_text("feature_suppression", "randbit"))
address.check("sup_tab", list(TABS), RANDBIT)
tab = st.segmented_control(
    "Experiment",
    list(TABS),
    default=usual_tab(),
    required=True,
    key="sup_tab",
    bind="query-params",
    on_change=leave,
    label_visibility="collapsed",
)
if tab == RANDBIT:
    st.markdown(QUESTION)
TABS[tab]()
