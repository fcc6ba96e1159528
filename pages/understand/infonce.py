"""Understand: InfoNCE beside cross entropy and NCE, what each learns, what it costs, and what the queue is for."""

import streamlit as st

from core.glossary import help_text
from pages.parts.infonce.bound import bound
from pages.parts.infonce.full_softmax import full_softmax
from pages.parts.infonce.losses_side_by_side import losses_side_by_side
from pages.parts.infonce.queue import queue
from pages.parts.infonce.queue_study import queue_study
from pages.parts.infonce.reference_lines import reference_lines
from pages.parts.infonce.what_is_learned import what_is_learned

# Name -> the question it answers, and the view.
VIEWS = {
    "Three losses": ("What do cross entropy, NCE and InfoNCE make of the same scores?", losses_side_by_side),
    "What is learned": ("What does a score mean once its loss is minimal: a posterior, a density or a ratio?", what_is_learned),
    "Reference lines": ("When is a loss high, and when is it low?", reference_lines),
    "Information bound": ("How much mutual information can InfoNCE report?", bound),
    "Full softmax": ("Why not a softmax over every image of the data set?", full_softmax),
    "Queue": ("How does MoCo keep many negatives, and what is the momentum for?", queue),
    "Queue study": ("How many negatives does an encoder need?", queue_study),
}

st.title("How are InfoNCE and cross entropy related?", help=help_text("info_nce", "nce"))
name = st.segmented_control(
    "View", list(VIEWS), default="Three losses", required=True, key="nce_view", bind="query-params", label_visibility="collapsed"
)
question, view = VIEWS[name]
st.markdown(question)
view()
