"""The uniformity-tolerance trade-off: each temperature a point, ours and published."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.labels import Room
from core.figures.metrics import METRICS
from core.figures.temperature_metrics import PANELS, THEIRS
from core.figures.text import NARROW, NARROW_SUBTITLE, make_room, readable, wrapped
from core.figures.theme import Theme, style, temperature_colors

CLEAR = 0.8  # rank correlation from which the trade-off is called one


def uniformity_tolerance(
    runs: pd.DataFrame, theme: Theme, *, published: pd.DataFrame | None = None, optimum: float | None = None, subtitle: str = ""
) -> go.Figure:
    """The trade-off as a path: each temperature a point in the plane of uniformity and tolerance.

    Args:
        runs: One row per run that differ in tau and seed only; may be empty.
        theme: Colours.
        published: Rows of core.published; points with tau = infinity are drawn too.
        optimum: Uniformity of the uniform distribution; a vertical line.
        subtitle: Data set, encoder, sizes, seeds.
    """
    fig = go.Figure()
    done = runs[runs["status"] == "finished"].groupby("tau")[list(PANELS)].mean().dropna() if len(runs) else pd.DataFrame()
    wide = _table(published) if published is not None and len(published) else pd.DataFrame()
    paths = [table[["uniformity", "tolerance"]].to_numpy() for table in (done, wide) if len(table)]
    room = Room([*paths, [[optimum, path[:, 1].min()] for path in paths[:1] if optimum is not None]])
    if len(done):
        colors = temperature_colors(list(done.index))
        best = done["linear_accuracy"].idxmax()
        texts, positions = _named(room, done, best)
        fig.add_scatter(
            x=done["uniformity"].to_numpy(np.float32),
            y=done["tolerance"].to_numpy(np.float32),
            mode="lines+markers+text",
            line=dict(color=theme.theory, width=1.5),
            text=texts,
            textposition=positions,
            textfont=dict(color=theme.muted, size=12),
            showlegend=False,
            marker=dict(
                color=[colors[tau] for tau in done.index],
                size=[17 if tau == best else 11 for tau in done.index],
                line=dict(color=[theme.outline if tau == best else theme.paper for tau in done.index], width=2),
            ),
            hovertext=[
                f"<b>tau {tau:g}</b><br>accuracy {row.linear_accuracy:.3f}<br>uniformity {row.uniformity:.2f}<br>tolerance "
                f"{row.tolerance:.3f}"
                for tau, row in done.iterrows()
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    if len(wide):
        names = [f"{tau:g}" if np.isfinite(tau) else "∞" for tau in wide["tau"]]
        places = [room.beside(point, name) for point, name in zip(paths[-1], names, strict=True)]
        fig.add_scatter(
            x=wide["uniformity"].to_numpy(np.float32),
            y=wide["tolerance"].to_numpy(np.float32),
            mode="lines+markers+text",
            line=dict(color=THEIRS, width=1.5, dash="dash"),
            marker=dict(color=THEIRS, size=11, symbol="diamond-open"),
            text=[name if place else "" for name, place in zip(names, places, strict=True)],
            textposition=[place or "top center" for place in places],
            textfont=dict(color=readable(THEIRS, theme), size=12),
            showlegend=False,
            hovertext=[
                f"<b>{row.label}, tau {name}</b> (published)<br>accuracy {row.linear_accuracy:.4g}<br>uniformity "
                f"{row.uniformity:.2f}<br>tolerance {row.tolerance:.3g}"
                for row, name in zip(wide.itertuples(), names, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    if optimum is not None:
        fig.add_vline(
            x=optimum,
            line=dict(color=theme.theory, width=1),
            annotation_text="uniform sphere",
            annotation_position="top right",
            annotation_font=dict(color=theme.theory, size=12),
        )
    parts = [subtitle, "outlined: most accurate" if len(done) else ""]
    if len(wide):
        parts.append("◇ " + ", ".join(dict.fromkeys(published["label"])))
    title = trade_off(done["uniformity"], done["tolerance"]) if len(done) else trade_off(*_wide(published))
    style(
        fig, theme, title=wrapped(title, NARROW), subtitle=wrapped(" · ".join(filter(None, parts)), NARROW_SUBTITLE), height=480
    )
    fig.update_xaxes(title_text=METRICS["uniformity"].axis + " (left: more uniform)")
    fig.update_yaxes(title_text=METRICS["tolerance"].axis, rangemode="tozero")
    return make_room(fig)


def trade_off(uniformity: pd.Series, tolerance: pd.Series) -> str:
    """What the points say about the trade-off: the rank correlation of the two over the temperatures."""
    if len(uniformity) < 3:
        return "Uniformity and tolerance of each temperature"
    rank = float(uniformity.rank().corr(tolerance.rank()))
    if rank > CLEAR:
        return f"The more uniform, the less tolerant: rank correlation {rank:.2f} over {len(uniformity)} temperatures"
    return f"Uniformity and tolerance do not trade off here: rank correlation {rank:.2f}".replace("-", "−")


def _table(published: pd.DataFrame) -> pd.DataFrame:
    """One row per published temperature, a column per metric."""
    return published.pivot_table(index=["label", "tau"], columns="metric", values="value").reset_index().sort_values("tau")


def _wide(published: pd.DataFrame | None) -> tuple[pd.Series, pd.Series]:
    """Published uniformity and tolerance; empty where there is nothing."""
    if published is None or not len(published):
        return pd.Series(dtype=float), pd.Series(dtype=float)
    table = _table(published)
    return table["uniformity"], table["tolerance"]


def _named(room: Room, done: pd.DataFrame, best: float) -> tuple[list[str], list[str]]:
    """The temperature beside each point, and where it stands; left out where it would cover something, except the best."""
    points = done[["uniformity", "tolerance"]]
    places = {tau: room.beside(points.loc[tau], f"{tau:g}") for tau in sorted(done.index, key=lambda tau: tau != best)}
    places[best] = places[best] or "top center"
    return [f"{tau:g}" if places[tau] else "" for tau in done.index], [places[tau] or "top center" for tau in done.index]
