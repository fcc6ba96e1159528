"""View: the MoCo dictionary, step by step."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.figures.moco_queue import moco_queue
from core.figures.theme import THEMES
from core.glossary import help_text
from core.losses.queue_trace import trace
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE

STEPS, BATCH = 80, 256

RULES = """
1. The key encoder moves first: k ← m k + (1 − m) q. It never receives a gradient.
2. The new keys are encoded with it, and normalised.
3. Logits: the query with its own key at index 0, then with all K keys of the queue. The label of every row is 0.
4. Only then the new keys replace the oldest batch: first in, first out. A key never meets its own query as a negative.
5. K is a multiple of the batch size, and smaller than the data set; otherwise each image would sit in the queue as its own
   negative.
"""


@st.fragment
def queue() -> None:
    """Dials for length and momentum, the animation, the rules."""
    cells = st.grid(3, min_column_width=220)
    with cells.cell():
        slots = st.select_slider(
            "Batches in the queue, K / B",
            (2, 4, 8, 16, 32, 64),
            16,
            key="nce_slots",
            bind="query-params",
            help=help_text("queue"),
        )
    with cells.cell():
        momentum = st.select_slider(
            "Momentum m",
            (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999),
            0.9,
            key="nce_m",
            bind="query-params",
            help="How much of itself the key encoder keeps at each step; the rest comes from the query encoder. 0 copies it.",
        )
    with cells.cell():
        step = st.slider(
            "Step shown",
            0,
            STEPS - 1,
            20,
            key="nce_step",
            bind="query-params",
            help=(
                "The buttons and the slider under the picture play it in the browser; this slider does the same for the keyboard."
            ),
        )
    show(
        _figure(slots, momentum, step, current_theme().name),
        key="nce_queue",
        alt=(
            "Left: the slots of the queue with the age of their keys. Right: a picture's place under the query and the key "
            "encoder."
        ),
        save=HERE,
    )
    run = trace(slots, momentum, STEPS)
    cells = st.grid(4, min_column_width=170)
    known = run.age[step][run.age[step] >= 0]
    cells.metric("Negatives, K", f"{slots * BATCH:,}", help=help_text("candidates"))
    cells.metric("Slots filled", f"{len(known)} of {slots}")
    cells.metric("Oldest key", f"{known.max()} steps")
    cells.metric(
        "Key encoder trails by", f"{np.rad2deg(run.lag[step]):.1f}°", help="Distance between the two encoders at this step."
    )
    st.markdown(
        "**Look:** with m = 0 the key encoder is the query encoder, and the stored keys of one picture scatter, because every "
        "batch was encoded by a different network. With a large m they agree, and trail. A longer queue holds older keys."
    )
    st.markdown(RULES)


@st.cache_data(max_entries=32, show_spinner=False)
def _figure(slots: int, momentum: float, step: int, theme: str) -> go.Figure:
    """The animation; once for each setting."""
    return moco_queue(trace(slots, momentum, STEPS), momentum, BATCH, THEMES[theme], step)
