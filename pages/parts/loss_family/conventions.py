"""View: one weight in three conventions, the published settings, and the four alignment terms."""

import pandas as pd
import streamlit as st

from core.figures.text import signed
from core.losses.conversion import NAMES, convert

WRITINGS = {"Our convention": "standard", "The authors' notebook": "notebook", "The paper's formulas": "paper"}
KINDS = {"Log-sum-exp": "log_sum_exp", "Sliced Wasserstein": "sliced_wasserstein"}
# Chen, Luo, Li 2021, figure 1 and appendix: dimension, images in a batch, kind, lambda.
PUBLISHED = (
    ("CIFAR-10, SWD", 64, 128, "sliced_wasserstein", 5.0),
    ("ImageNet, SWD", 128, 1024, "sliced_wasserstein", 5.0),
    ("CIFAR-10, decoupled NT-Xent, tau 1", 64, 128, "log_sum_exp", 0.1),
    ("ImageNet, decoupled NT-Xent, tau 1", 128, 1024, "log_sum_exp", 0.1),
)


@st.fragment
def conventions() -> None:
    """A converter, what the published weights are on our scale, and the alignment terms on the sphere."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Distribution term",
            list(KINDS),
            default="Log-sum-exp",
            required=True,
            key="fam_kind",
            bind="query-params",
            persist_state="session",
        )
        source = st.selectbox(
            "lambda is written in", list(WRITINGS), 1, key="fam_source", bind="query-params", persist_state="session", width=230
        )
        lam = st.number_input(
            "lambda", 0.0, 1e6, 1.0, format="%g", key="fam_c_lam", bind="query-params", persist_state="session", width=140
        )
        dim = st.number_input(
            "Dimension d", 1, 100_000, 64, key="fam_c_dim", bind="query-params", persist_state="session", width=140
        )
        images = st.number_input(
            "Images in a batch", 1, 1_000_000, 128, key="fam_c_images", bind="query-params", persist_state="session", width=160
        )
    st.table(
        _converted(float(lam), KINDS.get(kind, "log_sum_exp"), WRITINGS[source], int(dim), int(images)),
        border="horizontal",
        hide_index=True,
    )
    st.caption(
        "The notebook's log-sum-exp keeps the self term, so it equals ours with the self-similarity kept. The paper's printed "
        "log-sum-exp sums over ordered pairs; its sliced Wasserstein term divides by d × d′ instead of rows × d′, so that its "
        "lambda means less the larger the batch."
    )
    left_and_right = st.grid(2, min_column_width=440)
    with left_and_right.cell():
        st.markdown("**The published weights on our scale.** Which of the two was run is not known.")
        st.table(_published(), border="horizontal", hide_index=True)
        st.caption(
            "Settings: Chen, Luo, Li 2021, figure 1, as transcribed by a replication; read as the formulas or as the notebook."
        )
    with left_and_right.cell():
        st.markdown("**Four alignment terms of the same unit embeddings**, n pairs in dimension d")
        st.table(_alignments(int(dim)), border="horizontal", hide_index=True)
        st.caption("Only the first does not depend on d, so only it keeps its weight against the log-sum-exp when d changes.")


def _converted(lam: float, kind: str, source: str, dim: int, images: int) -> pd.DataFrame:
    rows = []
    for name, writing in WRITINGS.items():
        there = convert(lam, kind, source, writing, dim=dim, rows=2 * images)
        rows.append(
            {
                "Convention": name + (" (given)" if writing == source else ""),
                "lambda": signed(there.lam, 4),
                "Its loss is": f"{there.scale:.4g} × {NAMES[source]}" + _added(there.shift),
            }
        )
    return pd.DataFrame(rows)


def _added(shift: float) -> str:
    """A constant behind a product: " + 266", " − 2", nothing for 0."""
    return f" {'+' if shift > 0 else '−'} {signed(abs(shift), 4)}" if shift else ""


def _published() -> pd.DataFrame:
    rows = []
    for name, dim, images, kind, lam in PUBLISHED:
        values = {
            f"if {reading}": signed(convert(lam, kind, writing, "standard", dim=dim, rows=2 * images).lam, 4)
            for writing, reading in (("paper", "the formula was run"), ("notebook", "the notebook was run"))
        }
        rows.append({"Setting": f"{name}, lambda {lam:g}", **values})
    return pd.DataFrame(rows)


def _alignments(dim: int) -> pd.DataFrame:
    rows = (
        ("Ours, log-sum-exp", "mean over pairs of 1 − cos", "A"),
        ("Decoupled NT-Xent in the paper", "−mean over pairs of cos", "A − 1"),
        ("Paper's SWD losses, and ours", "mean over pairs and dimensions of (a − b)²", f"2 A / d = {2 / dim:.4g} A"),
        ("Authors' notebook", "half of that mean", f"A / d = {1 / dim:.4g} A"),
    )
    return pd.DataFrame(rows, columns=["Where", "Formula", "In terms of ours"])
