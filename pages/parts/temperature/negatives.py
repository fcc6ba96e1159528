"""View: hard negatives and false negatives are different sets, and a small temperature pushes where they overlap."""

import streamlit as st

from core.figures.gradient_share import push_groups
from core.figures.hard_and_false import hard_and_false
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept
from pages.parts.slip import slip
from pages.parts.tau_slider import tau_slider
from pages.parts.temperature.sources import made_up_shares, picker, run_shares, saved

TOP = 0.05  # the closest twentieth counts as hard here, so that the set is large enough to see


@st.fragment
def negatives() -> None:
    """One anchor's negatives by similarity and class; the mean over anchors against the temperature."""
    choice_of_run, choice_of_tau, choice_of_anchor = st.columns([2, 1, 1])  # names of runs are long
    with choice_of_run:
        (z, labels), source, choice = picker("tmp_negatives_run")
    with choice_of_tau:
        tau = tau_slider("tmp_negatives_tau", 0.1, low=0.02, high=2.0)
    with choice_of_anchor:
        anchor = st.number_input(
            "Anchor (row)",
            0,
            len(z) - 1,
            min(3, len(z) - 1),
            key="tmp_negatives_anchor",
            bind="query-params",
            help="Every row is an image; all other rows are this anchor's negatives.",
        )
    left_and_right = st.grid(2, min_column_width=440)
    with left_and_right.cell():
        show(
            hard_and_false(z, labels, int(anchor), tau, current_theme(), top=TOP),
            key="tmp_hard_false",
            alt=(
                "Share of the push on each negative of one anchor against its similarity; negatives of the anchor's class are "
                "marked."
            ),
            save=saved(choice),
        )
    shares = run_shares(choice.root, choice.study, choice.run_id, TOP) if choice else made_up_shares(TOP)
    theme = current_theme()
    with left_and_right.cell():
        show(
            kept(lambda: push_groups(shares, theme, source=source), "tmp_groups", *(choice or ("made up",)), theme.name),
            key="tmp_groups",
            alt="The push split into negatives that are hard and false, hard only, false only and neither, against temperature.",
            save=saved(choice),
        )
    cold, hot = shares.groups[0], shares.groups[-1]
    slip(
        "hard_false",
        "in the first chart the shaded band holds the hard negatives, diamonds are the false ones. Averaged over anchors, those "
        f"that are both take {cold[0]:.0%} of the push at tau {shares.taus[0]:g} and {hot[0]:.0%} at tau {shares.taus[-1]:g}.",
    )
