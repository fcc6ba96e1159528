"""What trained encoders became at each temperature: accuracy, uniformity and tolerance, ours and published."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.lines import Progress, add_means, notes
from core.figures.metrics import METRICS
from core.figures.roles import tau_axis
from core.figures.series import fold_seeds
from core.figures.theme import OKABE_ITO, Theme, style, temperature_colors

PANELS = ("linear_accuracy", "uniformity", "tolerance")
OURS, THEIRS = OKABE_ITO[0], OKABE_ITO[5]
HEIGHT = 620


def temperature_metrics(
    runs: pd.DataFrame,
    theme: Theme,
    *,
    published: pd.DataFrame | None = None,
    baseline: float | None = None,
    optimum: float | None = None,
    subtitle: str = "",
    progress: Progress | None = None,
    zoom: bool = False,
) -> go.Figure:
    """Three panels over one temperature axis.

    Args:
        runs: One row per run that differ in tau and seed only; may be empty.
        theme: Colours.
        published: Rows of core.published with metric, tau, value, label; finite temperatures only are drawn.
        baseline: Accuracy of the untrained encoder; drawn in the first panel.
        optimum: Uniformity of the uniform distribution in the embedding's dimension; drawn in the second.
        subtitle: Data set, encoder, sizes, seeds.
        progress: Runs done and planned.
        zoom: Fit the accuracy axis to the data instead of 0 to 1, and say so.
    """
    fig = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.44, 0.28, 0.28])
    theirs = published[np.isfinite(published["tau"])] if published is not None and len(published) else None
    taus = sorted({*runs["tau"]} if len(runs) else set()) or [0.02, 2.0]
    first = None
    for row, metric in enumerate(PANELS, start=1):
        if len(runs):
            cells = fold_seeds(runs, metric, "tau")
            first = cells if first is None else first
            _measured(fig, cells, metric, row, theme, progress)
        if theirs is not None:
            _published(fig, theirs[theirs["metric"] == metric].sort_values("tau"), metric, row)
        fig.update_yaxes(title_text=METRICS[metric].name.capitalize(), row=row, col=1)
    if baseline is not None:
        _theory(fig, theme, baseline, "untrained", 1)
    if optimum is not None:
        _theory(fig, theme, optimum, "uniform sphere", 2)
    if not zoom:
        fig.update_yaxes(range=[0, 1.02], row=1, col=1)
    parts = [subtitle, "accuracy zoomed to the data" if zoom else ""]
    if theirs is not None:
        parts.append("◇ " + ", ".join(dict.fromkeys(theirs["label"])))
    note = notes(first, "", progress) if first is not None else ""
    style(fig, theme, height=HEIGHT, title=metrics_title(runs, theirs), subtitle=" · ".join(filter(None, (*parts, note))))
    low, high = min(taus) / 1.15, max(max(taus), 1.0) * 1.15
    tau_axis(fig, low, high, title="")
    fig.update_xaxes(title_text="Temperature tau in training (log scale)", row=3, col=1)
    fig.update_layout(margin=dict(r=100))
    return fig


def within_spread(runs: pd.DataFrame, first: float, second: float) -> bool:
    """Whether the mean accuracies at two temperatures differ by no more than the larger of their standard deviations."""
    done = runs[(runs["status"] == "finished") & runs["tau"].isin([first, second])]
    found = done.groupby("tau")["linear_accuracy"].agg(["mean", "std"])
    return bool(np.ptp(found["mean"]) <= found["std"].max())  # one seed has no spread, and NaN is no bound


def metrics_title(runs: pd.DataFrame, published: pd.DataFrame | None) -> str:
    """Where accuracy peaks, and whether the most uniform encoder is the most accurate."""
    if len(runs):
        means = runs[runs["status"] == "finished"].groupby("tau")[list(PANELS)].mean().dropna()
        if len(means) > 1:
            best, flattest = means["linear_accuracy"].idxmax(), means["uniformity"].idxmin()
            if best == flattest:
                return f"Tau {best:g} is both the most accurate and the most uniform"
            if within_spread(runs, best, flattest):
                return f"Tau {flattest:g} is the most uniform; the best accuracy, at tau {best:g}, is within its spread"
            return f"The most accurate encoder has tau {best:g}, the most uniform one tau {flattest:g}"
    if published is not None and len(published):
        theirs = published[published["metric"] == "linear_accuracy"]
        best = theirs.loc[theirs["value"].idxmax()]
        return f"In the published table accuracy peaks at tau {best['tau']:g}, between uniform and tolerant"
    return "Accuracy, uniformity and tolerance against the temperature"


def _measured(fig: go.Figure, cells: pd.DataFrame, metric: str, row: int, theme: Theme, progress: Progress | None) -> None:
    known = cells[cells["n"] > 0]
    colors, at = temperature_colors(list(known["x"])), known["x"].to_numpy(np.float32)
    names, dots = [f"tau {x:g}" for x in known["x"]], [colors[x] for x in known["x"]]
    add_means(fig, known, at, names, metric, OURS, theme, dots=dots, progress=progress, row=row, col=1)


def _published(fig: go.Figure, rows: pd.DataFrame, metric: str, row: int) -> None:
    fig.add_scatter(
        x=rows["tau"].to_numpy(np.float32),
        y=rows["value"].to_numpy(np.float32),
        mode="lines+markers",
        showlegend=False,
        row=row,
        col=1,
        line=dict(color=THEIRS, width=1.5, dash="dash"),
        marker=dict(color=THEIRS, size=10, symbol="diamond-open"),
        hovertext=[
            f"<b>{r.label}, tau {r.tau:g}</b> (published)<br>{METRICS[metric].name} {r.value:.4g}" for r in rows.itertuples()
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _theory(fig: go.Figure, theme: Theme, value: float, name: str, row: int) -> None:
    fig.add_hline(y=value, line=dict(color=theme.theory, width=1), row=row, col=1)
    fig.add_annotation(
        x=1,
        xref="x domain" if row == 1 else f"x{row} domain",
        y=value,
        yref=f"y{row if row > 1 else ''}",
        text=name,
        showarrow=False,
        xanchor="left",
        xshift=6,
        font=dict(color=theme.theory, size=12),
    )
