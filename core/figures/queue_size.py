"""What the queue's length and the momentum did to trained encoders: the two dials of MoCo."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.lines import Progress, add_means, notes
from core.figures.metrics import METRICS
from core.figures.series import fold_seeds
from core.figures.text import WIDE, make_room, wrapped
from core.figures.theme import OBJECTIVE_COLORS, Theme, style

COLOR = OBJECTIVE_COLORS["moco"]


def queue_size(
    by_queue: pd.DataFrame,
    by_momentum: pd.DataFrame,
    theme: Theme,
    *,
    metric: str = "linear_accuracy",
    reference: float | None = None,
    chance: float | None = None,
    subtitle: str = "",
    progress: Progress | None = None,
    zoom: bool = False,
) -> go.Figure:
    """Two panels: accuracy against K, and against m; equally spaced, because neither dial has a natural scale.

    Args:
        by_queue: Runs that differ in queue and seed.
        by_momentum: Runs that differ in momentum and seed.
        theme: Colours.
        metric: RunResult field.
        reference: Value of NT-Xent with the same encoder; a thin line.
        chance: Accuracy of guessing.
        subtitle: Data set, encoder, sizes, seeds.
        progress: Runs done and planned.
        zoom: Fit the axis to the data instead of 0 to 1, and say so.
    """
    fig = make_subplots(cols=2, shared_yaxes=True, horizontal_spacing=0.06)
    queue, momentum = fold_seeds(by_queue, metric, "queue"), fold_seeds(by_momentum, metric, "momentum")
    for column, (cells, name) in enumerate(
        ((queue, "Negatives in the queue, K"), (momentum, "Momentum m of the key encoder")), start=1
    ):
        _line(fig, cells, metric, column, theme, progress)
        fig.update_xaxes(title_text=name, row=1, col=column, type="category")
        for value, label in ((reference, "NT-Xent"), (chance, "chance")):
            if value is not None and not (zoom and label == "chance"):
                fig.add_hline(y=value, line=dict(color=theme.theory, width=1), row=1, col=column)
    for value, label in ((reference, "NT-Xent"), (chance, "chance")):
        if value is not None and not (zoom and label == "chance"):
            fig.add_annotation(
                x=1,
                xref="x2 domain",
                y=value,
                yref="y",
                text=label,
                showarrow=False,
                xanchor="left",
                xshift=6,
                font=dict(color=theme.theory, size=12),
            )
    details = " · ".join(filter(None, (subtitle, "zoomed to the data" if zoom else "")))
    everything = pd.concat([queue, momentum])
    title = wrapped(queue_title(queue, momentum, metric), WIDE)
    style(fig, theme, title=title, subtitle=notes(everything, details, progress), height=440)
    fig.update_yaxes(title_text=METRICS[metric].axis, row=1, col=1)
    if not zoom:
        fig.update_yaxes(range=[0, 1.02])
    return make_room(fig.update_layout(margin=dict(r=80)))


def queue_title(queue: pd.DataFrame, momentum: pd.DataFrame, metric: str) -> str:
    """What a longer queue and a slower key encoder gained, in one sentence."""
    known = queue[queue["n"] > 0].sort_values("x")
    if len(known) < 2:
        return "Does a longer queue help?"
    first, last = known.iloc[0], known.iloc[-1]
    gain = last["mean"] - first["mean"]
    noise = np.nanmax([first["sd"], last["sd"], 0.0])
    change = (
        f"{'gains' if gain > 0 else 'loses'} {abs(gain) * 100:.1f} points"
        if abs(gain) > noise
        else "changes accuracy by less than its spread"
    )
    start = momentum[(momentum["n"] > 0) & (momentum["x"] == 0)]
    without = f"; without momentum it is {start.iloc[0]['mean']:.2f}" if len(start) else ""
    return f"A queue {last['x'] / first['x']:.0f} times as long {change}{without}"


def _line(fig: go.Figure, cells: pd.DataFrame, metric: str, column: int, theme: Theme, progress: Progress | None) -> None:
    known = cells[cells["n"] > 0].sort_values("x")
    names = [f"{x:g}" for x in known["x"]]
    add_means(fig, known, names, names, metric, COLOR, theme, progress=progress, row=1, col=column)
