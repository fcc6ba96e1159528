"""View: 1 + tau NT-Xent = alignment + tau log-sum-exp, in numbers, and for which lambda each convention agrees with NT-Xent."""

import numpy as np
import streamlit as st

from core import analysis
from core.figures.gradient_agreement import gradient_agreement
from core.figures.self_share import self_share_curve
from core.figures.text import signed
from pages.parts.chart import current_theme, show
from pages.parts.save import HERE
from pages.parts.tau_slider import tau_slider
from pages.parts.text import literal

LAMS = np.geomspace(1e-4, 10, 121)
IMAGES, NOISE = 64, 0.5


@st.fragment
def identity() -> None:
    """Temperature and dimension; the identity at random points, and the two pictures of what conventions change."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            tau = tau_slider("fam_id_tau", 0.1, low=0.02, high=5.0)
        dim = st.select_slider(
            "Dimension d",
            (2, 8, 32, 64, 128, 256),
            128,
            key="fam_id_dim",
            bind="query-params",
            persist_state="session",
            width=240,
        )
    left_and_right = st.grid(2, min_column_width=440)
    try:
        cosines, both = _agreement(tau, dim), _identity(tau)
    except (analysis.AnalysisError, ValueError) as error:
        st.error(f"The gradients could not be compared. {literal(str(error))}", icon=":material/error:")
        return
    with left_and_right.cell():
        show(
            gradient_agreement(
                LAMS,
                cosines,
                tau,
                dim,
                current_theme(),
                subtitle=f"{IMAGES} random pairs in d = {dim}, second view = first + {NOISE:g} noise",
            ),
            key="fam_agreement",
            alt="Cosine between the gradient of the generalized loss and of NT-Xent against lambda, for three conventions.",
            save=HERE,
        )
    with left_and_right.cell():
        show(
            self_share_curve(2 * IMAGES, dim, tau, current_theme()),
            key="fam_self",
            alt="Share of the self term in a row's log-sum-exp against the temperature.",
            save=HERE,
        )
    st.latex(r"1 + \tau\,L_{\text{NT-Xent}} \;=\; L_\text{alignment} + \tau\, L_\text{log-sum-exp}")
    rows = {
        "1 + tau × NT-Xent": f"{both.left:.15f}",
        "alignment + tau × log-sum-exp": f"{both.right:.15f}",
        "difference": signed(both.left - both.right, 2),
        "length of the two gradients, ratio": f"{both.gradient_ratio:.12f} (tau = {tau:g})",
        "cosine of the two gradients": f"{both.gradient_cosine:.15f}",
    }
    points = {"At 200 points that have moved a little": list(rows), "": list(rows.values())}
    st.table(points, border="horizontal", hide_index=True, width="content")
    st.caption("Both sides come from separate functions, nt_xent and generalized, in double precision. Computed here, seed 0.")


@st.cache_data(max_entries=32, show_spinner=False)
def _agreement(tau: float, dim: int) -> np.ndarray:
    return analysis.call("core.losses.agreement:gradient_agreement", tau=tau, lams=LAMS, n=IMAGES, dim=dim, noise=NOISE)


@st.cache_data(max_entries=32, show_spinner=False)
def _identity(tau: float):
    return analysis.call("core.losses.flow:trajectory", objective="nt_xent", tau=tau, frames=10).identity
