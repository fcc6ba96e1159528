"""View: what the queue's length and the momentum did to trained encoders."""

import pandas as pd
import streamlit as st

from core import provenance
from core.figures.lines import Progress
from core.figures.metrics import METRICS
from core.figures.queue_size import queue_size
from core.figures.series import describe
from core.studies.catalogue import Entry
from pages.parts import address, studies
from pages.parts.chart import current_theme, footer, show
from pages.parts.save import of_runs
from pages.parts.slip import slip
from pages.parts.study_state import watch

STUDY = "moco-queue-mnist-5k"
ACCURACIES = {METRICS[key].name: key for key in ("linear_accuracy", "knn_accuracy", "online_accuracy")}


def queue_study() -> None:
    """Choose the study, say how it is doing, draw it."""
    found = sorted(studies.entries(lambda entry: entry.varies("queue")), key=lambda entry: entry.name != STUDY)
    if not found:
        st.warning("No study with a queue dial was found. The definitions lie in data/studies.", icon=":material/search_off:")
        return
    entry = studies.choose(found, "nce_study", help="Any study that varies the length of the queue.")
    address.show_notices()
    watch(entry, "nce")
    _charts(entry)


@st.fragment
def _charts(entry: Entry) -> None:
    table = studies.table(entry)
    finished = table[table["status"] == "finished"] if len(table) else table
    moco = table[table["objective"] == "moco"] if len(table) else table
    if finished.empty or moco.empty:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.segmented_control(
            "Measured by", list(ACCURACIES), default="linear probe", required=True, key="nce_metric", bind="query-params"
        )
        zoom = st.toggle("Zoom to data", key="nce_zoom", bind="query-params", help="The accuracy axis shows 0 to 1 otherwise.")
    metric = ACCURACIES[name]
    by_queue, by_momentum = split(moco)
    plain = finished[finished["objective"] == "nt_xent"]
    show(
        queue_size(
            by_queue,
            by_momentum,
            current_theme(),
            metric=metric,
            zoom=zoom,
            reference=float(plain[metric].mean()) if len(plain) else None,
            chance=1 / max(int(finished["classes"].max()), 1),
            subtitle=describe(finished, "mean ± sd"),
            progress=Progress(len(finished), max(studies.planned(entry), len(finished))),
        ),
        key="nce_queue_size",
        alt="Test accuracy of MoCo against the length of its queue, and against the momentum of its key encoder.",
        save=of_runs(entry, finished),
    )
    footer(
        provenance.line(finished, entry.name),
        name=entry.name,
        key="nce_footer",
        data=lambda: table,
        settings=entry.definition.to_toml if entry.definition else None,
    )
    slip("more_negatives", _gain(by_queue, metric))


def split(moco: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Runs of the most common momentum, by queue; runs of the most varied queue length, by momentum."""
    momentum = moco["momentum"].mode().iloc[0]
    queue = moco.groupby("queue")["momentum"].nunique().idxmax()
    return moco[moco["momentum"] == momentum], moco[moco["queue"] == queue]


def _gain(runs: pd.DataFrame, metric: str) -> str:
    """Where accuracy peaks over K, in one sentence."""
    means = runs[runs["status"] == "finished"].groupby("queue")[metric].agg(["mean", "std"]).dropna(subset=["mean"])
    if len(means) < 2:
        return "the curve needs at least two lengths of the queue."
    best, longest = means["mean"].idxmax(), means.index.max()
    return (
        f"in this study accuracy is highest at K = {best:,} ({means.loc[best, 'mean']:.3f}); at K = {longest:,} it is "
        f"{means.loc[longest, 'mean']:.3f}, with the same number of steps and a spread over seeds of {means['std'].mean():.3f}."
    )
