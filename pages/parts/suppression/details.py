"""Folded details of the suppression page: the numbers as a table, and how they were made."""

import pandas as pd
import streamlit as st

from core.figures.metrics import METRICS, field_name
from core.figures.series import fold_seeds
from core.studies.catalogue import Entry

RANDBIT = (
    "Each image gets a fixed integer from a hash of its pixels. Its bits become channels of zeros and ones, appended after "
    "augmentation, so both views of an image carry the same bits; test images carry their own. After training the encoder is "
    "frozen, and logistic regressions on its output say what it knows: one for the class, one for each bit. The grey floor "
    "is the least loss of an encoder that keeps the bits and nothing else. After Chen, Luo, Li 2021, "
    "*Intriguing Properties of Contrastive Losses*, and its RandBits notebook."
)


def cells_table(entry: Entry, runs: pd.DataFrame, metric: str, dial: str) -> None:
    """The points of the chart as a table, folded; made when it is opened."""
    numbers = st.expander("The numbers", icon=":material/table:", on_change="rerun", key="sup_numbers")
    if not numbers.open:
        return
    cells = fold_seeds(runs, metric, dial)
    titles = {"series": "line", "x": field_name(dial), "low": "lowest", "high": "highest", "n": "runs"}
    frame = cells[["series", "x", "mean", "sd", "low", "high", "n", "diverged", "failed"]].rename(columns=titles)
    with numbers:
        number = st.column_config.NumberColumn(format="%.4f")
        st.dataframe(
            frame,
            hide_index=True,
            column_config={name: number for name in ("mean", "sd", "lowest", "highest")},
            placeholder="–",  # of one seed there is no spread
            alt=f"{METRICS[metric].name}: mean and spread over seeds for each line and number of bits.",
        )


def method(entry: Entry, runs: pd.DataFrame) -> None:
    """How a RandBit study was made, folded."""
    making(entry, runs, RANDBIT)


def making(entry: Entry, runs: pd.DataFrame, text: str) -> None:
    """How a study was made, folded.

    Args:
        entry: The study; its question stands first.
        runs: Its runs; those that did not finish are named.
        text: Construction and measurement.
    """
    with st.expander("Method", icon=":material/science:"):
        if entry.definition is not None and entry.definition.question:
            st.markdown(f"**{entry.definition.question}**")
        st.markdown(text)
        failed = runs[runs["status"].isin(["failed", "diverged"])]
        if len(failed):
            st.caption(f"{len(failed)} runs did not finish and are not in any mean: {', '.join(failed['run_id'])}.")
