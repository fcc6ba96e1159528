"""A curve while it grows: runs that have ended as points, runs that still train as rings that climb with every epoch."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.figures.lines import Progress
from core.figures.series import fold_seeds
from core.figures.suppression import suppression
from core.figures.theme import Theme
from core.studies import StudyState
from core.studies.catalogue import Entry
from core.studies.table import table
from pages.parts import studies
from pages.parts.chart import STILL, current_theme, show
from pages.parts.kept import kept, version
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
        progress = Progress(state.ended, max(state.total, studies.planned(entry)))
        how_far = " ".join(f"{run.run_id}:{run.status}:{run.epochs_done}" for run in known.itertuples())
        theme = current_theme()
        figure = kept(  # most looks find no new epoch; building it anew each time is slow enough that the chart would fade
            lambda: _picture(entry, known, dial, progress, theme, height),
            "so_far", version(entry), how_far, *progress, dial, height, theme.name,
        )  # fmt: skip
        show(figure, key=f"{key}_so_far_chart", alt=ALT, config=STILL, save=None)

    looking()


def _picture(entry: Entry, known: pd.DataFrame, dial: str, progress: Progress, theme: Theme, height: int) -> go.Figure:
    """Runs that have begun, on the axes of all that are planned."""
    planned = table([{"run_id": run.run_id, "status": "queued", "spec": run.changed()} for run in entry.definition.expand()])
    runs = pd.concat([known, planned[~planned["run_id"].isin(set(known["run_id"]))]], ignore_index=True)
    cells, chance = fold_seeds(runs, METRIC, dial), 1 / max(int(known["classes"].max()), 1)
    return suppression(
        cells, theme, metric=METRIC, dial=dial, chance=chance if chance < 1 else None, in_progress=runs,
        progress=progress, height=height, title="So far: the online probe, a ring while its run still trains",
    )  # fmt: skip
