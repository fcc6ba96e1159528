"""View: the bound on mutual information, and why it cannot report more than log N."""

from math import log

import streamlit as st

from core.figures.information_bound import information_bound
from core.glossary import help_text
from core.losses.information_table import ANCHORS, DIMENSIONS, RHOS, SIZES
from core.losses.information_table import bounds as bounds_of
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE
from pages.parts.slip import slip


@st.fragment
def bound() -> None:
    """Correlation dial; the measured bound for three dimensions under the cap."""
    rho = st.select_slider(
        "Correlation of the two views in each coordinate",
        RHOS,
        0.9,
        key="nce_rho",
        bind="query-params",
        help=help_text("information_bound"),
    )
    bounds, truths = bounds_of(rho)
    show(
        information_bound(bounds, truths, SIZES, rho, current_theme()),
        key="nce_bound",
        alt="Measured log N minus loss against the number of candidates for three dimensions; every line stays below log N.",
        save=HERE,
    )
    most, last = DIMENSIONS[-1], SIZES[-1]
    reported = bounds[most][-1].estimate
    st.latex(
        rf"\log N - L \;\le\; \min(I, \log N), \qquad I = -\tfrac{{d}}{{2}}\log(1 - \rho^2) = {truths[most]:.3f} \text{{ for "
        rf"}} d = {most}"
    )
    slip(
        "bound_n",
        f"at N = {last:,} there are {last - 1:,} negatives and one positive; the bound for {most} dimensions reports "
        f"{reported:.2f} of {truths[most]:.2f} nats, and log N is {log(last):.2f}.",
    )
    slip("upper_bound", f"there L = {log(last) - reported:.2f}, and it falls as the bound rises. The points are log N − L.")
    st.caption(f"Sampled with seed 0 from at least {ANCHORS:,} anchors a point, or one batch of N where that is more.")
