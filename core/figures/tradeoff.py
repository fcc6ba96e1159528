"""The trade-off plane: what an encoder knows of one feature against what it knows of another, as a path along the dial."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.lines import LIVE_OPACITY, Label, Progress, notes, series_colors
from core.figures.metrics import METRICS, field_name, with_spread
from core.figures.text import WIDE_SUBTITLE, make_room, wrapped
from core.figures.theme import HEIGHT, Theme, end_label, style

ROOM = (0.045, 0.07)  # accuracies across and up that a point's dial value needs for itself
SMALLEST, LARGEST = 7, 15  # px, markers at the two ends of the dial
FULL = [0, 1.04]
TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]
KEYS = ["series", "kind", "place", "objective", "tau", "x", "run_id"]


def tradeoff(
    first: pd.DataFrame,
    second: pd.DataFrame,
    theme: Theme,
    *,
    metrics: tuple[str, str],
    dial: str,
    title: str = "",
    subtitle: str = "",
    chance: tuple[float | None, float | None] = (None, None),
    progress: Progress | None = None,
    zoom: bool = False,
    height: int = HEIGHT,
) -> go.Figure:
    """Draw one path per line of the study; markers grow along the dial.

    Args:
        first: Folded cells (`series.fold_seeds`) of the feature on the y axis.
        second: Folded cells of the feature on the x axis, of the same runs.
        theme: Colours.
        metrics: The two RunResult fields, y axis first; both accuracies.
        dial: RunSpec field that moves along the paths.
        title: Takeaway or question.
        subtitle: Data set, encoder, sizes, seeds.
        chance: Accuracy of guessing each feature, y axis first; None = not drawn.
        progress: Runs done and planned; an unfinished study is half opaque and dotted.
        zoom: Fit both axes to the data instead of 0 to 1, and say so.
        height: Pixels.

    Returns:
        The figure. Bars are one standard deviation over seeds; each point's `customdata` is the run id of its first seed. Cells
        that measured one of the two only, such as pictures without digits, have no point.
    """
    points = paired(first, second)
    live = progress is not None and progress.live
    colors = series_colors(first) if len(first) else {}
    fig = go.Figure()
    labels = []
    steps = sorted(points["x"].unique())
    ranges = [_range(points[f"mean_{axis}"], points[f"sd_{axis}"]) if zoom else FULL for axis in "xy"]
    texts = _dial_values(points, [(high - low) / (FULL[1] - FULL[0]) for low, high in ranges])
    for name, path in points.groupby("series", sort=False):
        color = colors[name]
        sizes = [SMALLEST + (LARGEST - SMALLEST) * steps.index(x) / max(len(steps) - 1, 1) for x in path["x"]]
        fig.add_scatter(
            x=path["mean_x"].to_numpy(np.float32),
            y=path["mean_y"].to_numpy(np.float32),
            error_x=_bars(path["sd_x"], color),
            error_y=_bars(path["sd_y"], color),
            name=name,
            mode="lines+markers+text",
            text=texts[path.index].tolist(),
            textposition="top center",
            textfont=dict(size=11, color=theme.muted),
            opacity=LIVE_OPACITY if live else 1.0,
            line=dict(color=color, width=2, dash="dot" if live else "solid"),
            marker=dict(color=color, size=sizes, line=dict(color=theme.paper, width=1)),
            customdata=path["run_id"].to_numpy(),
            hovertext=[_hover(point, metrics, dial) for point in path.itertuples()],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
        labels.append(Label(float(path["mean_y"].iloc[-1]), name, color))
    ticks = dict(tickformat=".2f") if zoom else dict(tickvals=TICKS, tickformat=".1f")
    layout = dict(
        xaxis=ticks | dict(range=ranges[0], title=dict(text=METRICS[metrics[1]].axis)),
        yaxis=ticks | dict(range=ranges[1], title=dict(text=METRICS[metrics[0]].axis)),
        hovermode="closest",
    )
    along = f"numbers and sizes along each path: {field_name(dial)}"
    note = notes(first, " · ".join(filter(None, (subtitle, along, "zoomed to the data" if zoom else ""))), progress)
    style(fig, theme, title=title, subtitle=wrapped(note, WIDE_SUBTITLE), height=height, layout=layout)
    make_room(fig)
    _legend(fig, labels, theme)
    _chance_lines(fig, theme, chance, ranges)
    return fig


def paired(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Cells in which both features were measured: one row per line and dial value, in drawing order.

    Args:
        first: Folded cells of the feature on the y axis.
        second: Of the one on the x axis.

    Returns:
        series, kind, place, objective, tau, x (dial), run_id, mean_y, sd_y, n, mean_x, sd_x.
    """
    own = first.loc[first["n"] > 0, [*KEYS, "mean", "sd", "n"]].rename(columns={"mean": "mean_y", "sd": "sd_y"})
    other = second.loc[second["n"] > 0, ["series", "x", "mean", "sd"]].rename(columns={"mean": "mean_x", "sd": "sd_x"})
    return own.merge(other, on=["series", "x"]).sort_values(["place", "x"], kind="stable")


def _range(mean: pd.Series, spread: pd.Series) -> list[float]:
    """Limits of an axis that just holds its points with their bars."""
    if mean.empty:
        return FULL
    bars = spread.fillna(0)
    low, high = float((mean - bars).min()), float((mean + bars).max())
    margin = 0.08 * (high - low) or 0.01
    return [low - margin, high + margin]


def _dial_values(points: pd.DataFrame, scale: Sequence[float]) -> pd.Series:
    """What is written above each point: its dial value, or nothing where another point's stands already.

    Args:
        points: From `paired`.
        scale: Length of the x and the y axis as shares of the usual ones.
    """
    written: list[tuple[float, float]] = []
    texts = []
    for point in points.itertuples():
        free = all(abs(point.mean_x - x) > ROOM[0] * scale[0] or abs(point.mean_y - y) > ROOM[1] * scale[1] for x, y in written)
        texts.append(f"{point.x:,.10g}" if free else "")
        if free:
            written.append((point.mean_x, point.mean_y))
    return pd.Series(texts, index=points.index, dtype=object)


def _bars(spread: pd.Series, color: str) -> dict:
    return dict(type="data", array=spread.fillna(0).to_numpy(np.float32), color=color, thickness=1, width=0)


def _hover(point, metrics: tuple[str, str], dial: str) -> str:
    values = (
        f"{METRICS[metric].name} {with_spread(mean, metric, spread)}"
        for metric, mean, spread in zip(metrics, (point.mean_y, point.mean_x), (point.sd_y, point.sd_x), strict=True)
    )
    seeds = f"{point.n} seed{'s' if point.n != 1 else ''}"
    return f"<b>{point.series}</b>, {point.x:g} {field_name(dial)}<br>{'<br>'.join(values)} ({seeds})<br>run {point.run_id}"


def _legend(fig: go.Figure, labels: list[Label], theme: Theme) -> None:
    """Names of the paths beside the plot, from top to bottom: paths cross and end anywhere, so their ends have no room."""
    for number, label in enumerate(labels):
        fig.add_annotation(
            x=1.02, y=1 - 0.075 * number, xref="paper", yref="paper", xanchor="left", yanchor="top", showarrow=False,
            text=label.text, font=dict(color=label.color, size=13),
        )  # fmt: skip
    if labels:
        fig.update_layout(margin_r=min(24 + 7 * max(len(label.text) for label in labels), 200))


def _chance_lines(fig: go.Figure, theme: Theme, chance: tuple[float | None, float | None], ranges: list[list[float]]) -> None:
    """Lines of guessing, where they lie within the axes (x first)."""
    line = dict(color=theme.theory, width=1)
    across, up = chance
    (left, right), (low, high) = ranges
    if across is not None and low <= across <= high:
        fig.add_hline(y=across, line=line, layer="below")
    if up is not None and left <= up <= right:
        fig.add_vline(x=up, line=line, layer="below")
        end_label(fig, up, high - 0.024 * (high - low), "chance", theme.theory)
    elif across is not None and low <= across <= high:
        end_label(fig, left, across + 0.019 * (high - low), "chance", theme.theory)
