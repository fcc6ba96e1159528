"""Tab Summary: what stands out, in sentences, then every number for h and z side by side."""

from typing import Any

import streamlit as st

from core.checkpoints.normalise import PRESETS, why
from core.glossary import help_text
from core.inspections.findings import all_zero, findings
from core.inspections.store import Inspection
from pages.parts.inspect.numbers import against, written
from pages.parts.text import literal

ICONS = {
    "failure": ":red[:material/error:]", "warning": ":orange[:material/warning:]", "good": ":green[:material/check_circle:]",
    "note": ":material/info:",
}  # fmt: skip
NAMES = {"h": "h, what probes and downstream tasks read", "z": "z, what the loss saw"}
SHOWN = (
    ("linear_accuracy", "Linear probe"), ("knn_accuracy", "kNN"), ("alignment", "Alignment"), ("uniformity", "Uniformity"),
    ("tolerance", "Tolerance"), ("rankme", "RankMe"), ("participation_ratio", "Participation ratio"),
    ("dead_dimensions", "Dead dimensions"),
)  # fmt: skip

DIRECTED = {"alignment", "uniformity", "tolerance", "rankme", "participation_ratio"}  # no value for rows of zeros


def summary(inspection: Inspection) -> None:
    """Draw the tab."""
    numbers = inspection.summary
    for finding in findings(numbers):
        st.markdown(f"{ICONS[finding.kind]} {finding.text}")
    spaces = [space for space in ("h", "z") if numbers.get(space)]
    with st.grid(len(spaces) or 1, min_column_width=420):
        for space in spaces:
            _card(space, numbers[space], numbers)
    if "z" not in spaces:
        st.caption("There is no z: the file has no projector, or one that cannot be rebuilt.")
    _normalised(inspection)
    _made(numbers)


def _card(space: str, values: dict[str, Any], numbers: dict[str, Any]) -> None:
    with st.container(border=True):
        st.markdown(f"**{NAMES[space]}** ({values.get('dim', '?'):,} dimensions)", help=help_text(f"space_{space}"))
        with st.grid("auto", min_column_width=125):
            for key, name in SHOWN:
                if values.get(key) is None or (key in DIRECTED and all_zero(values)):
                    continue
                compared = against(key, values, numbers)
                st.metric(
                    name, written(key, values[key]), delta=compared, delta_color="off", delta_arrow="off", help=help_text(key)
                )
        if all_zero(values):
            st.caption("Every row is zero. Without a direction there is no alignment, uniformity, tolerance or rank.")


def _normalised(inspection: Inspection) -> None:
    """What was done to the images before the encoder saw them, and why."""
    used = (inspection.summary.get("encoder") or {}).get("normalisation")
    report = inspection.report
    if used in PRESETS and "layout_name" in report:
        reason = why(used, report.get("normalisation_guess"), report["layout_name"])
        st.caption(f"Normalisation of the images: {PRESETS[used].title} ({literal(reason)}).")


def _made(numbers: dict[str, Any]) -> None:
    """Notes, and where the time went."""
    for note in numbers.get("notes") or ():
        st.caption(f"Note: {literal(note)}")
    seconds = numbers.get("seconds")
    if not seconds:
        return
    with st.expander("Where the time went", icon=":material/timer:"):
        share = numbers.get("forward_share")
        if share is not None:
            st.markdown(f"{share:.0%} of the time was spent in the encoder's forward pass.")
        st.table({name: f"{value:.1f} s" for name, value in seconds.items()}, border="horizontal", width="content")
