"""Curves over epochs: one or more metrics of one or more runs, with floor, chance and direct labels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.lines import LABEL_WIDTH, LIVE_OPACITY
from core.figures.metrics import METRICS
from core.figures.theme import HEIGHT, OKABE_ITO, Theme, spread_labels, style

CURVE_METRICS = ("loss", "online_accuracy", "alignment", "uniformity", "samples_per_second")  # what a history may hold
MOST_LABELS = 6  # lines named at their ends; more get a legend
SHORT_AXES = {
    "loss": "Loss (nats)",
    "online_accuracy": "Online accuracy",
    "alignment": "Alignment",
    "uniformity": "Uniformity",
    "samples_per_second": "Images/s",
}


class Curve(NamedTuple):
    """One run's history, and how to draw it."""

    run_id: str
    name: str
    history: pd.DataFrame  # one row per epoch
    color: str
    faint: bool = False  # another seed of the run in focus
    live: bool = False  # still running
    bits: int = 1  # that both views share; without any, what is kept as the floor is the loss of knowing nothing

    @classmethod
    def of(cls, run: Mapping[str, Any], name: str, history: pd.DataFrame, color: str, faint: bool = False) -> "Curve":
        """The curve of a run.

        Args:
            run: A row of `Store.table`.
            name: As written beside the line.
            history: One row per epoch.
            color: Of the line.
            faint: Another seed of the run in focus.
        """
        return cls(run["run_id"], name, history, color, faint, live=run["status"] == "running", bits=int(run["bits"]))


def curves(
    shown: Sequence[Curve],
    theme: Theme,
    metrics: Sequence[str],
    *,
    chance: float | None = None,
    title: str = "",
    subtitle: str = "",
    height: int = HEIGHT,
) -> go.Figure:
    """Draw metrics over epochs, one panel below the other.

    Args:
        shown: Runs to draw.
        theme: Colours.
        metrics: Columns of the histories, top panel first.
        chance: Accuracy of guessing, for accuracy panels.
        title: What is shown.
        subtitle: Settings.
        height: Pixels.

    Returns:
        The figure. Values that are not finite leave a gap and are marked at the panel's foot. The loss floor is drawn where
        all runs of the panel share it.
    """
    fig = make_subplots(rows=max(len(metrics), 1), cols=1, shared_xaxes=True, vertical_spacing=0.07)
    style(fig, theme, title=title, subtitle=subtitle, height=height)
    named = [curve for curve in shown if not curve.faint]
    labelled = len(named) <= MOST_LABELS
    for row, metric in enumerate(metrics, 1):
        for curve in sorted(shown, key=lambda curve: not curve.faint):  # the run in focus on top
            _add_curve(fig, curve, metric, row, legend=not labelled and row == 1 and not curve.faint)
        values = _values(shown, metric)
        low, high = _range(metric, values)
        fig.update_yaxes(title_text=SHORT_AXES.get(metric, metric), range=[low, high], row=row, col=1)
        _add_theory(fig, theme, metric, row, shown, chance, high)
        _mark_broken(fig, theme, shown, metric, row, low)
        if labelled and len(named) > 1:
            _name_ends(fig, named, metric, row, low, high)
    if labelled and len(named) > 1:
        fig.update_layout(margin_r=min(22 + LABEL_WIDTH * max(len(curve.name) for curve in named), 220))
    epochs = max((int(curve.history["epoch"].max()) for curve in shown if len(curve.history)), default=1)
    fig.update_xaxes(range=[0.5, epochs + 0.5])
    fig.update_xaxes(title_text="Epoch", row=max(len(metrics), 1), col=1)
    return fig.update_layout(showlegend=not labelled, hovermode="closest", legend=dict(orientation="h", y=-0.16))


def curve_colors(count: int) -> list[str]:
    """Colours for runs that are compared, in the fixed order of categories."""
    return [OKABE_ITO[place % len(OKABE_ITO)] for place in range(count)]


def _add_curve(fig: go.Figure, curve: Curve, metric: str, row: int, legend: bool) -> None:
    if metric not in curve.history or curve.history.empty:
        return
    values = pd.to_numeric(curve.history[metric], errors="coerce").to_numpy(np.float32)
    fig.add_scatter(
        x=curve.history["epoch"].to_numpy(np.int32),
        y=np.where(np.isfinite(values), values, np.nan),
        mode="lines+markers" if len(values) < 3 else "lines",
        name=curve.name,
        line=dict(color=curve.color, width=1 if curve.faint else 2.5, dash="dot" if curve.live else "solid"),
        marker=dict(color=curve.color, size=6),
        opacity=0.45 if curve.faint else LIVE_OPACITY if curve.live else 1.0,
        hovertemplate=f"<b>{curve.name}</b><br>epoch %{{x}}: %{{y:.4g}}<br>run {curve.run_id}<extra></extra>",
        legendgroup=curve.run_id,
        showlegend=legend,
        row=row,
        col=1,
    )


def _values(shown: Sequence[Curve], metric: str) -> np.ndarray:
    parts = [pd.to_numeric(curve.history[metric], errors="coerce") for curve in shown if metric in curve.history]
    values = np.concatenate([np.zeros(0), *(part.to_numpy(float) for part in parts)])
    return values[np.isfinite(values)]


def _range(metric: str, values: np.ndarray) -> tuple[float, float]:
    """Accuracies from 0 to 1, other metrics around their finite values, from 0 where that is natural."""
    if metric in METRICS and METRICS[metric].is_accuracy:
        return 0.0, 1.02
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if low >= 0:
        low = 0.0
    pad = (high - low) * 0.08 or abs(high) * 0.08 or 1.0
    return (low if low == 0.0 else low - pad), high + pad


def _add_theory(
    fig: go.Figure, theme: Theme, metric: str, row: int, shown: Sequence[Curve], chance: float | None, high: float
) -> None:
    lines: list[tuple[float, str]] = []
    if metric == "loss":
        known = [curve.history["loss_floor"].dropna() for curve in shown if "loss_floor" in curve.history]
        floors = {round(float(value), 6) for column in known for value in column}
        if len(floors) == 1 and max(floors) <= high:
            nothing = not any(curve.bits for curve in shown if "loss_floor" in curve.history)
            lines.append((floors.pop(), "knowing nothing" if nothing else "floor: the shared bits only"))
    elif chance is not None and metric in METRICS and METRICS[metric].is_accuracy:
        lines.append((chance, "chance"))
    last = max((int(curve.history["epoch"].max()) for curve in shown if len(curve.history)), default=1)
    for value, text in lines:
        fig.add_hline(y=value, line=dict(color=theme.theory, width=1), row=row, col=1, layer="below")
        fig.add_annotation(  # ends at the last epoch; half an epoch further right the names of the lines begin
            x=1 - 0.5 / last, xref="x domain", y=value, text=text, showarrow=False, xanchor="right", yanchor="bottom",
            font=dict(color=theme.theory, size=12), row=row, col=1,
        )


def _mark_broken(fig: go.Figure, theme: Theme, shown: Sequence[Curve], metric: str, row: int, low: float) -> None:
    """A cross at the foot for every epoch whose value is infinite or undefined, so that a diverged run does not look short."""
    epochs = [
        epoch
        for curve in shown
        if metric in curve.history and metric == "loss"
        for epoch, value in zip(curve.history["epoch"], pd.to_numeric(curve.history[metric], errors="coerce"), strict=True)
        if not np.isfinite(value)
    ]
    if epochs:
        fig.add_scatter(
            x=np.asarray(epochs, np.int32), y=np.full(len(epochs), low, np.float32), mode="markers", cliponaxis=False,
            marker=dict(symbol="x-thin", size=9, line=dict(color=theme.muted, width=2)),
            hovertemplate="epoch %{x}: not finite<extra></extra>", showlegend=False, row=row, col=1,
        )


def _name_ends(fig: go.Figure, named: Sequence[Curve], metric: str, row: int, low: float, high: float) -> None:
    ends = []
    for curve in named:
        if metric in curve.history and len(curve.history):
            values = pd.to_numeric(curve.history[metric], errors="coerce")
            known = values[np.isfinite(values)]
            if len(known):
                ends.append((curve, float(curve.history.loc[known.index[-1], "epoch"]), float(known.iloc[-1])))
    heights = spread_labels([y for _, _, y in ends], (high - low) * 0.1, low, high)
    right = max((x for _, x, _ in ends), default=1.0)
    for (curve, _, _), y in zip(ends, heights, strict=True):
        fig.add_annotation(
            x=right, y=y, text=curve.name, showarrow=False, xanchor="left", yanchor="middle", xshift=8,
            font=dict(color=curve.color, size=13), row=row, col=1,
        )
