"""Measured time and memory of a softmax over all instances, against a queue of keys."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.text import marks
from core.figures.theme import OBJECTIVE_COLORS, OKABE_ITO, Theme, style

NAMES = {"full softmax": "every instance a class", "queue": "queue of keys (MoCo)"}
COLORS = {"full softmax": OKABE_ITO[0], "queue": OBJECTIVE_COLORS["moco"]}


def full_softmax_cost(benchmark: dict[str, Any], theme: Theme) -> go.Figure:
    """Memory and fastest time of one step against the number of terms, on log axes; sizes that were not run as crosses.

    A thin line is the memory that one step must hold, counted tensor by tensor.

    Args:
        benchmark: Contents of data/results/benchmarks/full_softmax.json.
        theme: Colours.
    """
    settings = benchmark["settings"]
    fig = make_subplots(cols=2, horizontal_spacing=0.13, subplot_titles=("Extra memory of one step", "Time of one step"))
    for kind, color in COLORS.items():
        rows = [row for row in benchmark["rows"] if row["kind"] == kind]
        sizes = np.asarray([row["size"] for row in rows], np.float64)
        for column, (values, unit) in enumerate(
            (([row["extra_bytes"] / 1e9 for row in rows], "GB"), ([row["fastest"] for row in rows], "s")), start=1
        ):
            fig.add_scatter(
                x=sizes,
                y=np.asarray(values, np.float32),
                mode="lines+markers",
                name=NAMES[kind],
                showlegend=False,
                row=1,
                col=column,
                line=dict(color=color, width=2.5),
                marker=dict(color=color, size=9),
                hovertemplate=f"{NAMES[kind]}<br>%{{x:,}} terms<br>%{{y:.3g}} {unit}<extra></extra>",
            )
    _predicted(fig, benchmark, theme)
    for row in benchmark["not_run"]:
        fig.add_scatter(
            x=np.asarray([row["size"]], np.float64),
            y=np.asarray([row["predicted_bytes"] / 1e9], np.float32),
            mode="markers",
            row=1,
            col=1,
            showlegend=False,
            marker=dict(symbol="x-thin", size=12, line=dict(color=theme.muted, width=2)),
            hovertemplate="%{x:,} terms were not run<br>%{y:.2f} GB predicted<extra></extra>",
        )
        fig.add_annotation(
            x=np.log10(row["size"]),
            y=np.log10(row["predicted_bytes"] / 1e9),
            text="not run",
            showarrow=False,
            yanchor="bottom",
            yshift=8,
            xref="x",
            yref="y",
            font=dict(color=theme.muted, size=12),
        )
    limit = settings["memory_limit_bytes"] / 1e9
    fig.add_hline(y=limit, line=dict(color=theme.theory, width=1), row=1, col=1)
    fig.add_annotation(
        x=3,
        y=np.log10(limit),
        xref="x",
        yref="y",
        text=f"limit of this measurement, {limit:g} GB",
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        font=dict(color=theme.theory, size=12),
    )
    for column in (1, 2):
        fig.update_xaxes(
            type="log",
            title_text="Terms in the softmax (log scale)",
            tickvals=[1e3, 1e4, 1e5, 1e6],
            ticktext=["1,000", "10,000", "100,000", "1 million"],
            range=[2.85, 6.3],
            row=1,
            col=column,
        )
    fig.update_yaxes(type="log", title_text="GB", dtick=1, row=1, col=1)
    fig.update_yaxes(type="log", title_text="Seconds", dtick=1, row=1, col=2)
    style(fig, theme, title=cost_title(benchmark), subtitle=cost_subtitle(benchmark, theme), height=440)
    fig.update_annotations(selector=dict(yanchor="bottom", xref="x domain"), font=dict(size=14, color=theme.text))
    return fig.update_layout(margin=dict(t=100))


def _predicted(fig: go.Figure, benchmark: dict[str, Any], theme: Theme) -> None:
    """The counted memory of the full softmax, from the smallest size to the ones that were left out."""
    rows = [row for row in [*benchmark["rows"], *benchmark["not_run"]] if row["kind"] == "full softmax"]
    if not rows:
        return
    sizes, counted = (np.asarray([row[name] for row in rows], np.float64) for name in ("size", "predicted_bytes"))
    fig.add_scatter(
        x=sizes,
        y=(counted / 1e9).astype(np.float32),
        mode="lines",
        line=dict(color=theme.theory, width=1),
        row=1,
        col=1,
        showlegend=False,
        hovertemplate="predicted<br>%{x:,} terms<br>%{y:.3g} GB<extra></extra>",
    )
    low = int(sizes.argmin())
    fig.add_annotation(
        x=np.log10(sizes[low]), y=np.log10(counted[low] / 1e9), text="predicted", showarrow=False, xanchor="left", yanchor="top",
        xref="x", yref="y", xshift=24, font=dict(color=theme.theory, size=12),
    )  # fmt: skip


def cost_title(benchmark: dict[str, Any]) -> str:
    """What a million classes would take, from the largest measured size and the prediction for the one left out."""
    largest = max((row for row in benchmark["rows"] if row["kind"] == "full softmax"), key=lambda row: row["size"])
    if benchmark["not_run"]:
        left = benchmark["not_run"][-1]
        return f"A softmax over {left['size']:,} instances would take {left['predicted_bytes'] / 1e9:.1f} GB for one small step"
    return (
        f"A softmax over {largest['size']:,} instances takes {largest['extra_bytes'] / 1e9:.1f} GB and {largest['fastest']:.1f} "
        "s a step"
    )


def cost_subtitle(benchmark: dict[str, Any], theme: Theme) -> str:
    """Colours and settings of the measurement."""
    settings = benchmark["settings"]
    legend = marks(theme, *(("●", COLORS[kind], NAMES[kind]) for kind in COLORS))
    sizes = f"batch {settings['batch']}, {settings['dim']} dimensions"
    return f"{legend} · {sizes}, {settings['dtype']}, {settings['threads']} thread"
