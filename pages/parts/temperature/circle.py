"""View: points on a circle, the forces of one anchor on them, and where all forces together lead."""

import numpy as np
import streamlit as st

from core.figures.circle_forces import circle_flow, circle_forces
from core.losses.forces import anchor_forces, partner
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE
from pages.parts.tau_slider import tau_slider

# Degrees; points 2k and 2k + 1 are two views of image k.
ARRANGEMENTS: dict[str, tuple[float, ...]] = {
    "Two groups": (20, 38, 48, 62, 72, 95, 200, 215, 228, 246, 255, 280),
    "Spread evenly": (0, 0, 60, 60, 120, 120, 180, 180, 240, 240, 300, 300),
    "One close intruder": (90, 70, 82, 250, 180, 200, 300, 320, 0, 340, 140, 225),
    "Nearly collapsed": (0, 4, 7, 12, 14, 18, 22, 25, 27, 31, 34, 38),
    "Scattered": (12, 171, 64, 133, 301, 250, 95, 344, 207, 28, 160, 275),
}
NAMES = [f"{letter}{view}" for letter in "ABCDEF" for view in ("", "′")]  # in the order of the points
PICTURE = "tmp_circle_picture"


@st.fragment
def circle() -> None:
    """Arrangement, anchor and temperature beside the circle; the animation under it."""
    controls, picture = st.columns([2, 3], gap="large")
    with controls:
        name = st.selectbox("Arrangement", list(ARRANGEMENTS), key="tmp_circle", bind="query-params", persist_state="session")
        chosen = st.selectbox(
            "Anchor",
            NAMES,
            key="tmp_circle_anchor",
            bind="query-params",
            persist_state="session",
            help="A and A′ are two views of one image. A click on a point of the circle chooses it too.",
        )
        anchor = NAMES.index(chosen)
        tau = tau_slider("tmp_circle_tau", 0.2, low=0.03, high=5.0)
        moved = st.slider(
            "Turn the anchor by (degrees)",
            -180,
            180,
            0,
            2,
            key="tmp_circle_turn",
            bind="query-params",
            persist_state="session",
            help="Move the anchor along the circle and watch who is pushed.",
        )
        angles = np.deg2rad(np.asarray(ARRANGEMENTS[name], dtype=float))
        angles[anchor] += np.deg2rad(moved)
    with picture:
        show(
            circle_forces(angles, anchor, tau, current_theme()),
            key=PICTURE,
            on_select=_choose_clicked,
            selection_mode="points",
            alt=(
                "Twelve points on a circle with one anchor; arrows show how the anchor's loss pulls its positive and pushes "
                "the negatives."
            ),
            save=HERE,
        )
    _numbers(angles, anchor, tau)
    if st.toggle("Let all points follow the forces", key="tmp_circle_follow", bind="query-params", persist_state="session"):
        show(
            circle_flow(angles, tau, current_theme()),
            key="tmp_circle_flow",
            alt=(
                "Animation: the points follow the sum of all forces for 60 steps, with the loss beside them; press play to "
                "start it."
            ),
            save=HERE,
        )


def _numbers(angles: np.ndarray, anchor: int, tau: float) -> None:
    """The force on the anchor, term by term, with the formula."""
    forces = anchor_forces(angles, anchor, tau)
    positive = partner(anchor, len(angles))
    pull = forces.on_anchor[positive]
    push = forces.on_points[anchor] - pull
    st.latex(r"F_\theta = \tfrac1\tau\Bigl[(1 - P^+)\sin(\theta^+ - \theta) - \textstyle\sum_j P_j \sin(\theta_j - \theta)\Bigr]")
    st.latex(rf"= {pull:.3f} {push:+.3f} = {pull + push:.3f} \text{{ nats per radian}}")
    st.markdown(
        f"The pull of {NAMES[positive]} turns the anchor by {_signed(pull)} nats per radian, the push of the negatives by "
        f"{_signed(push)}."
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _choose_clicked() -> None:
    """Make the clicked point the anchor; the picture changes with it, which ends the selection."""
    clicked = clicked_point(st.session_state.get(PICTURE))
    if clicked is not None:
        st.session_state["tmp_circle_anchor"] = NAMES[clicked]


def clicked_point(event: dict | None) -> int | None:
    """The index in a selection event of the chart; None where nothing, or something else, was clicked."""
    points = (event or {}).get("selection", {}).get("points", [])
    return int(points[0]["customdata"]) if points and points[0].get("customdata") is not None else None
