"""View: how hard a negative is pushed, by its similarity, for several temperatures at once."""

import streamlit as st

from core.figures.penalty_curve import penalty_curve
from core.losses.softmax import effective_number_uniform
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE

SHOWN = (0.02, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0)
DEFAULT = [0.05, 0.1, 0.2, 0.5, 1.0]


@st.fragment
def penalty() -> None:
    """The curve r(s), its formula, and the effective number of negatives at each temperature."""
    taus = st.pills(
        "Temperatures, up to six",
        SHOWN,
        default=DEFAULT,
        selection_mode="multi",
        format_func=lambda tau: f"{tau:g}",
        key="tmp_curve_taus",
        bind="query-params",
        persist_state="session",
    )
    if not taus:
        st.info("Pick at least one temperature above to draw its curve.", icon=":material/touch_app:")
        return
    if len(taus) > 6:
        st.caption(f"Showing the first six of {len(taus)} temperatures.")
    taus = sorted(taus)[:6]
    show(
        penalty_curve(taus, current_theme()),
        key="tmp_penalty",
        alt=(
            "Push on a negative in multiples of the average against its similarity, one line per temperature; small "
            "temperatures are steep."
        ),
        save=HERE,
    )
    st.latex(
        r"r(s) = \frac{e^{s/\tau}}{\sum_k e^{s_k/\tau}}, \qquad"
        r" \frac{r(s)}{\text{average}} = \frac{e^{s/\tau}}{\tau \sinh(1/\tau)}"
    )
    rows = ", ".join(f"{effective_number_uniform(4096, tau):,.0f} at tau {tau:g}" for tau in taus)
    st.markdown(f"Of 4,096 evenly spread negatives, this many do the work: {rows}.")
