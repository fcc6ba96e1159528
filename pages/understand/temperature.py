"""Understand: what the temperature does, to one anchor, to a circle, to a real embedding, and across whole runs."""

import streamlit as st

from pages.parts.temperature.across_runs import across_runs
from pages.parts.temperature.circle import circle
from pages.parts.temperature.negatives import negatives
from pages.parts.temperature.one_anchor import one_anchor
from pages.parts.temperature.penalty import penalty
from pages.parts.temperature.real_embedding import real_embedding

# Name -> the question it answers, and the view.
VIEWS = {
    "One anchor": ("How does tau turn one anchor's scores into a loss and a gradient?", one_anchor),
    "Penalty curve": ("How much harder is a close negative pushed than a distant one?", penalty),
    "Hard and false": (
        "Which negatives does a small tau push: the hard ones, or those that should not be pushed at all?",
        negatives,
    ),
    "Circle": ("Where do the forces carry the points?", circle),
    "Real embedding": ("On a trained encoder, who receives the push at each tau?", real_embedding),
    "Across runs": ("Which tau gives the best features, and what does it cost?", across_runs),
}

st.title("What does the temperature do?")
name = st.segmented_control(
    "View", list(VIEWS), default="One anchor", required=True, key="tmp_view", bind="query-params", label_visibility="collapsed"
)
question, view = VIEWS[name]
st.markdown(question)
view()
