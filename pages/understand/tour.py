"""Understand: the guided tour, eight pictures with one question each."""

import streamlit as st

from pages.parts.chart import current_theme
from pages.parts.tour.steps import INFONCE, STEPS, TEMPERATURE

KEY = "tour_step"
VIEW_KEYS = {TEMPERATURE: "tmp_view", INFONCE: "nce_view"}  # the name of the view in each page's address


def go(by: int) -> None:
    """Move by a number of steps, within the tour."""
    st.session_state[KEY] = min(max(st.session_state[KEY] + by, 1), len(STEPS))


st.title("What does a contrastive loss do?")
with st.container(horizontal=True, vertical_alignment="center"):
    number = st.segmented_control(
        "Step", range(1, len(STEPS) + 1), default=1, required=True, key=KEY, bind="query-params", label_visibility="collapsed"
    )
    st.button("Back", icon=":material/arrow_back:", on_click=go, args=(-1,), disabled=number == 1, key="tour_back")
    last = number == len(STEPS)
    st.button("Next", icon=":material/arrow_forward:", on_click=go, args=(1,), disabled=last, key="tour_next", type="primary")
step = STEPS[number - 1]


@st.fragment
def station() -> None:
    """One picture with one control, its question, and the answer behind a click."""
    step.draw(current_theme())
    st.markdown(f"**{step.question}**")
    with st.expander("Show the answer", icon=":material/lightbulb:", key=f"tour_answer_{number}"):
        st.markdown(step.answer())
        st.page_link(
            step.page, label=f"Try more: {step.view}", icon=":material/science:", query_params={VIEW_KEYS[step.page]: step.view}
        )


st.subheader(f"{number} of {len(STEPS)}. {step.title}")
st.markdown(step.text)
station()
