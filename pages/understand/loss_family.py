"""Understand: the generalized contrastive loss, watched at work, taken apart, and written in other people's conventions."""

import streamlit as st

from core import analysis
from core.glossary import help_text
from pages.parts.loss_family.conventions import conventions
from pages.parts.loss_family.identity import identity
from pages.parts.loss_family.information import information
from pages.parts.loss_family.motion import motion

# Name -> the question it answers, and the view.
VIEWS = {
    "Motion": ("Alignment draws two views together, uniformity parts all points. **Where does a loss take them?**", motion),
    "NT-Xent inside": ("**For which weight is the generalized loss NT-Xent**, and whose convention is it?", identity),
    "Conventions": ("**What does a lambda from a paper or a notebook mean here?**", conventions),
    "Information": ("**What do the two parts say about mutual information**, and where does that reading end?", information),
}

analysis.warm_up()
st.title("The loss family", help=help_text("gcl", "log_sum_exp", "swd"))
name = st.segmented_control(
    "View", list(VIEWS), default="Motion", required=True, key="fam_view", bind="query-params", label_visibility="collapsed"
)
question, view = VIEWS.get(name, VIEWS["Motion"])
st.markdown(question)
view()
