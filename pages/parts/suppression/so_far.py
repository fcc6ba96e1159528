"""A curve while it grows: runs that have ended as points, runs that still train as rings that climb with every epoch."""

import pandas as pd
import streamlit as st

from core.figures.lines import Progress
from core.figures.series import fold_seeds
from core.figures.suppression import suppression
from core.studies import StudyState
from core.studies.catalogue import Entry
from core.studies.table import table
from pages.parts import studies
from pages.parts.chart import STILL, current_theme, show
from pages.parts.live import LOOK_AGAIN

METRIC = "online_accuracy"  # known after every epoch, unlike the linear probe
ALT = "Accuracy of the online probe so far against the dial of the experiment; runs that still train are rings."


def so_far(entry: Entry, state: StudyState, dial: str, key: str, height: int = 320) -> None:
    """Draw the curve of a study at work, as far as its epochs have come. It looks again by itself; nothing else is redrawn.

    Args:
        entry: The study.
        state: How it is doing; a study that is not at work draws nothing.
        dial: RunSpec field on the x axis.
        key: Start of the widget keys, unique on the page.
        height: Pixels.
    """
    if not state.active or entry.definition is None:
        return

    @st.fragment(run_every=LOOK_AGAIN, key=f"{key}_so_far")
    def looking() -> None:
        runs = studies.table(entry)
        if not len(known := runs[runs[METRIC].notna()]):
            st.caption("The first point appears here after the first epoch of the first run.")
            return
        planned = table([{"run_id": run.run_id, "status": "queued", "spec": run.changed()} for run in entry.definition.expand()])
        begun = set(known["run_id"])
        runs = pd.concat([known, planned[~planned["run_id"].isin(begun)]], ignore_index=True)
        cells, chance = fold_seeds(runs, METRIC, dial), 1 / max(int(known["classes"].max()), 1)
        progress = Progress(state.ended, max(state.total, studies.planned(entry)))
        figure = suppression(
            cells, current_theme(), metric=METRIC, dial=dial, chance=chance if chance < 1 else None, in_progress=runs,
            progress=progress, height=height, title="So far: the online probe, a ring while its run still trains",
        )  # fmt: skip
        show(figure, key=f"{key}_so_far_chart", alt=ALT, config=STILL, save=None)

    looking()
