"""View: on the embedding of a real run, how much of the push goes to the hardest negatives and to the anchor's own class."""

import streamlit as st

from core.figures.gradient_share import gradient_share
from core.glossary import help_text
from core.training.spec import USES_TAU
from pages.parts.chart import current_theme, show
from pages.parts.temperature.sources import INSPECTED, Choice, made_up_shares, picker, run_shares, saved, store_at

TOP = 0.01


@st.fragment
def real_embedding() -> None:
    """The curves with their limits, the limits as numbers, and a table of the values."""
    _, source, choice = picker("tmp_run")
    shares = run_shares(choice.root, choice.study, choice.run_id, TOP) if choice else made_up_shares(TOP)
    if choice is None:
        st.info(
            "No finished run with an embedding is here yet, so ten made-up clouds stand in. Run a study on the Runs page and "
            "its encoders appear in the list.",
            icon=":material/scatter_plot:",
        )
    tau = _trained_at(choice)
    show(
        gradient_share(shares, current_theme(), tau=tau, source=source),
        key="tmp_shares",
        alt="Share of the push on the hardest one per cent of negatives and on same-class negatives, against the temperature.",
        save=saved(choice),
    )
    cells = st.grid(4, min_column_width=170)
    cells.metric("Hardest 1% of negatives", f"{shares.hard:,} of {shares.negatives:,}", help="Per anchor; at least one.")
    cells.metric(
        "tau → 0: hardest is of its class",
        f"{shares.hardest_same_class:.1%}",
        help="The whole push is on the single hardest negative then.",
    )
    cells.metric("tau → ∞: share of its class", f"{shares.same_class:.1%}", help="All negatives weigh the same then.")
    at = int(abs(shares.taus - (tau or 0.1)).argmin())
    cells.metric(
        f"Effective negatives at tau {shares.taus[at]:.2g}", f"{shares.effective[at]:,.1f}", help=help_text("effective_negatives")
    )
    with st.expander("All values"):
        st.dataframe(
            {
                "tau": shares.taus,
                "hardest 1%": shares.hard_share,
                "same class": shares.false_share,
                "effective negatives": shares.effective,
            },
            hide_index=True,
            alt="Shares of the push and effective number of negatives at each temperature.",
            column_config={
                "hardest 1%": st.column_config.NumberColumn(format="percent"),
                "same class": st.column_config.NumberColumn(format="percent"),
                "effective negatives": st.column_config.NumberColumn(format="%.1f"),
            },
        )


def _trained_at(choice: Choice | None) -> float | None:
    """The temperature the run was trained with; None where its objective has none, and for a checkpoint."""
    if choice is None or choice.study == INSPECTED:
        return None
    spec = store_at(choice.root).spec(choice.study, choice.run_id)
    return spec.tau if spec is not None and spec.objective in USES_TAU else None
