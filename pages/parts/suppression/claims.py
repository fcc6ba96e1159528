"""What papers say about this experiment, each held against the study on the page."""

import pandas as pd
import streamlit as st

from core.figures import claims as judged
from core.figures.contests import CONTESTS, chances
from core.figures.series import fold_seeds
from core.studies.catalogue import Entry
from pages.parts.kept import kept, version

MARKS = {
    "holds": ":green[:material/check_circle: holds here]",
    "does not hold": ":orange[:material/cancel: does not hold here]",
    "open": ":gray[:material/help: open]",
}
HOW = (
    "A comparison decides only where both sides have at least two seeds, and counts as a difference beyond twice the spread "
    f"over seeds and {judged.LEAST:g} (a mean over the dial: {judged.LEAST / 2:g}); a claimed change that the spread neither "
    "shows nor rules out stays open. Hardly affected is a loss below "
    f"{judged.UNHARMED:g}; destroyed, and suffering little, are parted at {judged.HALF:.0%} of the accuracy above chance. It "
    "concerns this study: its data set, encoder and training time."
)


def claims(entry: Entry, runs: pd.DataFrame, dial: str) -> None:
    """Draw the claims with their verdicts, folded; judged when it is opened.

    Args:
        entry: The study.
        runs: Its runs.
        dial: RunSpec field that the study varies.
    """
    box = st.expander(
        "The papers' claims, held against this study", icon=":material/fact_check:", on_change="rerun", key="sup_claims"
    )
    if not box.open:
        return

    def judge() -> list[judged.Claim]:
        contest = CONTESTS[dial]
        first, second = (fold_seeds(runs, metric, dial) for metric in (contest.first, contest.second))
        return judged.claims(dial, first, second, chances(contest, runs[runs["status"] == "finished"])[0])

    with box:
        found = kept(judge, "claims", f"{version(entry)} {len(runs)}", dial)
        if not found:
            st.caption("No contrastive run has finished, so there is nothing to judge.")
            return
        for claim in found:
            st.markdown(f"{MARKS[claim.status]} **{claim.text}** ({claim.source})  \n{claim.said}")
        st.caption(HOW)
