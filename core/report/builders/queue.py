"""MoCo's queue in reports: what its length and the momentum did, and what a softmax over everything would cost."""

import json
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from core.figures.full_softmax_cost import full_softmax_cost as draw_cost
from core.figures.queue_size import queue_size as draw_queue
from core.figures.series import describe
from core.figures.theme import Theme
from core.report.builders.temperature import NoOptions
from core.report.drawing import CannotDraw, Drawing, Options, Source, chance_of, drawing, ended, finished, progress

BENCHMARK = Path(__file__).resolve().parents[3] / "data" / "results" / "benchmarks" / "full_softmax.json"


class QueueOptions(Options):
    """Choices of `queue_size`."""

    metric: Literal["linear_accuracy", "knn_accuracy", "online_accuracy"] = Field("linear_accuracy", title="Metric")
    zoom: bool = Field(False, title="Zoom to data")


def queue_size(source: Source, options: QueueOptions, theme: Theme) -> Drawing:
    """Accuracy against the length of the queue, and against the momentum of the key encoder."""
    entry = source.entry
    table = entry.store.table(entry.name)
    done, moco = finished(entry), finished(entry, ["moco"])
    plain = done[done["objective"] == "nt_xent"]
    figure = draw_queue(
        moco[moco["momentum"] == moco["momentum"].mode().iloc[0]],
        moco[moco["queue"] == moco.groupby("queue")["momentum"].nunique().idxmax()],
        theme,
        metric=options.metric,
        zoom=options.zoom,
        reference=float(plain[options.metric].mean()) if len(plain) else None,
        chance=chance_of(done),
        subtitle=describe(done, "mean ± sd"),
        progress=progress(entry, table),
    )
    alt = "Test accuracy of MoCo against the length of its queue, and against the momentum of its key encoder."
    return drawing(source, figure, ended(table), alt)


def full_softmax_cost(source: Source, options: NoOptions, theme: Theme) -> Drawing:
    """Memory and time of a softmax over every instance against a queue of keys, measured."""
    try:
        measured = json.loads(BENCHMARK.read_text("utf-8"))
    except (OSError, ValueError):
        raise CannotDraw(f"the measurement {BENCHMARK.name} is missing") from None
    made, machine = measured["versions"], measured["machine"]
    line = f"median of {measured['settings']['repeats']} · torch {made['torch']} · {machine['processor']}"
    rows = pd.DataFrame(measured["rows"])
    alt = "Memory and time of one training step against the number of softmax terms, all instances against a queue."
    return Drawing(draw_cost(measured, theme), alt, f"{line} · {measured['measured_at'][:10]}", lambda: rows, None)
