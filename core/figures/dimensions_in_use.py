"""Uniformity against the number of dimensions in use: spreading points over fewer of them hardly costs any of it."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.labels import Room
from core.figures.metrics import METRICS
from core.figures.text import WIDE, WIDE_SUBTITLE, make_room, percent, signed, wrapped
from core.figures.theme import OBJECTIVE_COLORS, Theme, style, temperature_colors
from core.geometry.closed_forms import uniform_optimum

SHOWN = 4  # the title tells what one in so many dimensions keeps
SIZE = (880, 250)  # px; plotting area at the page's full width


def dimensions_in_use(runs: pd.DataFrame, dim: int, theme: Theme, *, subtitle: str = "") -> go.Figure:
    """Encoders in the plane of RankMe and uniformity, under the curve of points spread evenly over k of the dimensions.

    Points that are uniform on a sphere of k dimensions inside a larger space have RankMe k, as their number grows, and the
    uniformity of that smaller sphere.

    Args:
        runs: One row per run with tau, objective, rankme and uniformity; NT-Xent and untrained are drawn. May be empty.
        dim: Dimensions of the embedding, >= 2.
        theme: Colours.
        subtitle: Data set, encoder, sizes, seeds.
    """
    used = np.arange(2, dim + 1)
    best = np.array([uniform_optimum(int(k)) for k in used])
    done = runs[runs["status"] == "finished"] if len(runs) else pd.DataFrame()
    ours = _means(done, "nt_xent")
    untrained = _means(done, "untrained")
    room = Room([np.column_stack([np.log10(used), best]), _places(ours), _places(untrained)], SIZE)
    fig = go.Figure()
    fig.add_scatter(
        x=used.astype(np.int32),
        y=best.astype(np.float32),
        mode="lines",
        line=dict(color=theme.theory, width=1.5),
        hovertemplate=f"evenly spread over %{{x}} of {dim} dimensions<br>uniformity %{{y:.2f}}<extra></extra>",
        showlegend=False,
    )
    fig.add_annotation(
        x=np.log10(used[0]), y=best[0], text=f"evenly spread over k of {dim} dimensions", showarrow=False, xanchor="left",
        yanchor="bottom", xshift=8, font=dict(color=theme.theory, size=12),
    )  # fmt: skip
    colors = temperature_colors(list(ours.index))
    for table, kind in ((ours, "NT-Xent"), (untrained, "untrained")):
        if table.empty:
            continue
        names = [f"{tau:g}" if kind == "NT-Xent" else kind for tau in table.index]
        places = [room.beside(point, name) for point, name in zip(_places(table), names, strict=True)]
        fig.add_scatter(
            x=table["rankme"].to_numpy(np.float32),
            y=table["uniformity"].to_numpy(np.float32),
            mode="lines+markers+text" if kind == "NT-Xent" else "markers+text",
            line=dict(color=theme.theory, width=1, dash="dot"),
            marker=dict(
                color=[colors[tau] for tau in table.index] if kind == "NT-Xent" else OBJECTIVE_COLORS["untrained"],
                size=11,
                line=dict(color=theme.paper, width=1),
            ),
            text=[name if place else "" for name, place in zip(names, places, strict=True)],
            textposition=[place or "top center" for place in places],
            textfont=dict(color=theme.muted, size=12),
            showlegend=False,
            hovertext=[
                f"<b>{kind}{f', tau {tau:g}' if kind == 'NT-Xent' else ''}</b><br>RankMe {row.rankme:.1f} of {dim}<br>uniformity "
                f"{row.uniformity:.2f}<br>accuracy {row.linear_accuracy:.3f}"
                for tau, row in table.iterrows()
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    parts = ["grey line: closed form", f"● {'our encoders by tau, ' if len(ours) else ''}{subtitle}" if len(ours) else ""]
    title = wrapped(takeaway(dim), WIDE)
    style(fig, theme, title=title, subtitle=wrapped(" · ".join(filter(None, parts)), WIDE_SUBTITLE), height=400)
    ticks = [2**power for power in range(1, 12) if 2**power <= dim]
    fig.update_xaxes(
        type="log", title_text=METRICS["rankme"].axis + ", log scale", tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks]
    )
    fig.update_yaxes(title_text="Uniformity (lower: more uniform)")
    return make_room(fig)


def takeaway(dim: int) -> str:
    """What giving up dimensions costs in uniformity, in one sentence."""
    few = max(2, dim // SHOWN)
    share = uniform_optimum(few) / uniform_optimum(dim)
    return f"Points spread over {few} of {dim} dimensions keep {percent(share)} of the best uniformity"


def more_uniform_with_fewer(runs: pd.DataFrame) -> str:
    """Two of our encoders of which the more uniform uses clearly fewer dimensions, in one sentence; empty if there are none."""
    means = _means(runs[runs["status"] == "finished"], "nt_xent") if len(runs) else pd.DataFrame()
    pairs = [
        (many.rankme - few.rankme, few, many)
        for few in means.itertuples()
        for many in means.itertuples()
        if few.uniformity < many.uniformity and few.rankme < many.rankme
    ]
    if not pairs:
        return ""
    _, few, many = max(pairs, key=lambda pair: pair[0])
    return (
        f"the encoder of tau {few.Index:g} is more uniform than that of tau {many.Index:g} ({signed(few.uniformity)} against "
        f"{signed(many.uniformity)}) with {few.rankme:.0f} dimensions in use against {many.rankme:.0f}"
    )


def _means(done: pd.DataFrame, objective: str) -> pd.DataFrame:
    """Mean over seeds at each temperature."""
    if done.empty:
        return pd.DataFrame(columns=["rankme", "uniformity", "linear_accuracy"])
    rows = done[done["objective"] == objective]
    return rows.groupby("tau")[["rankme", "uniformity", "linear_accuracy"]].mean().dropna()


def _places(table: pd.DataFrame) -> np.ndarray:
    """Points in the coordinates of the axes, shape (n, 2)."""
    return np.column_stack([np.log10(table["rankme"].to_numpy(float)), table["uniformity"].to_numpy(float)])
