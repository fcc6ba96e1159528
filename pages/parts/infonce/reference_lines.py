"""View: a loss between its own collapsed value and its own optimum, which move with tau and K."""

import math

import streamlit as st

from core.figures.anchor_softmax import Candidates
from core.figures.floor_gap import floor_gap
from core.figures.loss_reference import loss_reference
from core.glossary import help_text
from core.losses.reference import chance, information_line, randbit_floor, simplex
from core.losses.softmax import info_nce
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept
from pages.parts.save import HERE
from pages.parts.slip import slip
from pages.parts.tau_slider import tau_slider

BATCH, BITS = 250, 5  # images and shared bits at which the information line is compared with the exact floor
SIZES = (1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 4095, 16383, 65535)


@st.fragment
def reference_lines() -> None:
    """Sliders for the scores, K and tau; the loss with its lines."""
    cells = st.grid(4, min_column_width=170)
    with cells.cell():
        tau = tau_slider("nce_ref_tau", 0.2, low=0.02, high=10.0)
    with cells.cell():
        count = st.select_slider(
            "Negatives K",
            SIZES,
            255,
            format_func=lambda size: f"{size:,}",
            key="nce_ref_k",
            bind="query-params",
            help=help_text("candidates"),
        )
    with cells.cell():
        positive = st.slider("Score of the positive", -1.0, 1.0, 0.9, 0.05, key="nce_ref_pos", bind="query-params")
    with cells.cell():
        negative = st.slider("Score of every negative", -1.0, 1.0, 0.1, 0.05, key="nce_ref_neg", bind="query-params")
    candidates = Candidates(positive, (), count, negative)
    show(
        loss_reference(candidates, tau, current_theme()),
        key="nce_reference",
        alt=(
            "Loss of one anchor against the temperature, with the collapsed value log(K + 1) and the simplex optimum as thin "
            "lines."
        ),
        save=HERE,
    )
    loss, guess, best = (
        info_nce(positive, candidates.all_negatives, tau),
        chance(count + 1),
        simplex(count + 1, tau, kind="cross_view"),
    )
    st.latex(
        r"\begin{aligned}"
        rf"\text{{collapsed}} &= \log N = \log {count + 1} = {guess:.4f} \\[2pt]"
        rf"\text{{these scores}} &= \log\bigl(1 + K e^{{(s^- - s^+)/\tau}}\bigr) = {loss:.4f} \\[2pt]"
        rf"\text{{simplex}} &= \log\bigl(1 + K e^{{-N/((N-1)\tau)}}\bigr) = {best:.4f}"
        r"\end{aligned}"
    )
    st.markdown(
        "**Collapsed:** all embeddings are equal, the positive is one guess among N. **Simplex optimum:** views agree and the "
        "N images sit as far apart as they can, every cosine at −1/(N − 1); it needs at least N − 1 = K dimensions."
        + ("" if loss >= best else " **One anchor can beat it, all cannot:** no embedding gives every image such scores.")
    )
    other = max(size for size in SIZES if size < count) if count > SIZES[0] else SIZES[1]
    elsewhere = info_nce(positive, Candidates(positive, (), other, negative).all_negatives, tau)
    slip(
        "comparable",
        f"these scores have loss {loss:.3f} with K = {count:,} and {elsewhere:.3f} with K = {other:,}, and nothing about them "
        f"is better or worse: the collapsed values are {guess:.3f} and {math.log(other + 1):.3f}.",
    )
    st.markdown(
        "**A line that looks like a floor.** Let both views of every image carry the same b random bits. Telling images apart by "
        "these bits alone should save b ln 2 nats of the collapsed loss, which gives the *information line* log(2n − 1) − b ln 2 "
        "for n images. What such an encoder really reaches is the *exact floor*:"
    )
    theme = current_theme()
    show(
        kept(lambda: floor_gap(BATCH, theme), "floor gap", BATCH, theme.name),
        key="nce_floor_gap",
        alt="Exact floor of NT-Xent minus the information line against the number of shared bits; every bar is below zero.",
        save=HERE,
    )
    line, floor = information_line(BATCH, BITS), randbit_floor(BATCH, BITS)
    slip(
        "hard_floor",
        f"with {BATCH} images and {BITS} shared bits the line is at {line:.4f}, the exact floor at {floor:.4f}. "
        "The bars above show the difference; Feature suppression draws the exact floor.",
    )
