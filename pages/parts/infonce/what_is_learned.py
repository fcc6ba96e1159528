"""View: what a free score means once each loss is minimal, in a small world with known densities."""

import streamlit as st

from core.figures.learned_optimum import learned_optimum
from core.figures.text import signed
from core.losses import optima
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE


@st.fragment
def what_is_learned() -> None:
    """Dials for the noise and the candidates; fitted scores on their closed forms."""
    cells = st.grid(3, min_column_width=220)
    with cells.cell():
        noise = st.select_slider(
            "Noise samples k for each data sample (NCE)", (1, 2, 5, 10, 20, 50), 5, key="nce_k", bind="query-params"
        )
    with cells.cell():
        candidates = st.segmented_control(
            "Candidates N (InfoNCE)",
            (2, 3),
            default=2,
            required=True,
            key="nce_candidates",
            bind="query-params",
            help="The expected loss is summed exactly, over all pairs or all triples.",
        )
    with cells.cell():
        offset = st.toggle(
            "Subtract log(k pₙ) in NCE",
            True,
            key="nce_subtract",
            bind="query-params",
            help="Without it NCE is negative sampling, which word vectors use.",
        )
    world = optima.small_world()
    posterior, density, ratio = _learn(noise, candidates, offset)
    show(
        learned_optimum(world, posterior, density, ratio, current_theme(), offset=offset),
        key="nce_learned",
        alt="Scores fitted under three losses lie on the class posterior, on the density, and on the ratio of densities.",
        save=HERE,
    )
    cells = st.grid(3, min_column_width=220)
    cells.metric(
        "Sum of the learned density", f"{density.fitted.sum():.4f}", help="A density sums to 1. Nobody computed a normaliser."
    )
    cells.metric("Largest distance to the closed form, NCE", signed(abs(density.fitted - density.theory).max(), 2))
    cells.metric("Largest distance to the closed form, InfoNCE", signed(abs(ratio.fitted - ratio.theory).max(), 2))
    st.markdown(
        "The world is small: two contexts, equally likely, each with its own density over 41 values of x; all scores are "
        "learned for context 1. A table of them, one for each x, is fitted to each loss; the expected loss is summed exactly, so "
        "nothing is random. Change N from 2 to 3: the InfoNCE scores stay where they are, because the best score does not "
        "depend on the number of candidates. Change k without the offset: the negative-sampling scores move."
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _learn(noise: int, candidates: int, offset: bool) -> tuple[optima.Learned, optima.Learned, optima.Learned]:
    """Fit all three."""
    world = optima.small_world()
    return optima.learn_posterior(world), optima.learn_density(world, noise, offset), optima.learn_ratio(world, candidates)
