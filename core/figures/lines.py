"""Lines over a dial: what the charts share that draw folded runs against bits, digits or batch sizes."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.dials import places
from core.figures.metrics import METRICS, field_name, number, short_setting, with_spread
from core.figures.theme import OBJECTIVE_COLORS, OKABE_ITO, Theme, end_label, rgba, spread_labels, temperature_colors
from core.training.spec import USES_TAU

Spread = Literal["sd", "range", "seeds"]
SPREAD_NAMES: dict[Spread, str] = {"sd": "mean ± sd", "range": "mean, lowest to highest", "seeds": "every seed"}
SPREAD_CHOICES: dict[Spread, str] = {"sd": "± sd", "range": "range", "seeds": "each"}  # in selectors

COMPACT_HEIGHT = 190  # px, thumbnails
LIVE_OPACITY = 0.5
LABEL_WIDTH = 6.6  # px a character beyond the last point
LABEL_GAP, COMPACT_GAP = 0.055, 0.11  # least distance of end labels, share of the y range
LINE_HEIGHT = 16  # px; in a low chart the share above is less than a line of text
AXIS_HEIGHT = 55  # px of ticks and title below the x axis
NARROWEST = 450  # px between the y axis and the end labels on a page 1024 px wide
CHARACTER = 6.2  # px, names of rings
BAR_OPACITY, BAR_WIDTH = 0.45, 3  # of a spread that stands alone; px
RING = 9  # px from the middle of a ring to its name
TICK_GAP, COMPACT_TICK_GAP = 0.03, 0.11  # least distance of tick labels, share of the x range
RINGS = "markers+text"  # mode of the trace of runs that still train


class Progress(NamedTuple):
    """How far a study is."""

    done: int
    total: int

    @property
    def live(self) -> bool:
        """Whether runs are still missing."""
        return self.done < self.total


class Label(NamedTuple):
    """A name at the right end of a line."""

    y: float
    text: str
    color: str


def series_colors(cells: pd.DataFrame) -> dict[str, str]:
    """One colour per line: the temperature's, unless objectives are compared at one temperature; others by objective.

    Lines that would share a colour, such as two greyscale probabilities at one temperature, take the next free one each.
    """
    lines = cells.drop_duplicates("series")
    tempered = lines[lines["objective"].isin(USES_TAU)]
    ramp = temperature_colors(sorted(tempered["tau"].unique()))
    by_tau = len(ramp) > 1 or tempered["objective"].nunique() <= 1
    wanted = {
        line.series: ramp[line.tau] if by_tau and line.objective in USES_TAU else OBJECTIVE_COLORS[line.objective]
        for line in lines.itertuples()
    }
    free = [color for color in OKABE_ITO if color not in wanted.values()]
    colors: dict[str, str] = {}
    for name, color in wanted.items():
        colors[name] = free.pop(0) if color in colors.values() and free else color
    return colors


def add_lines(
    fig: go.Figure,
    cells: pd.DataFrame,
    theme: Theme,
    metric: str,
    dial: str,
    *,
    spread: Spread = "sd",
    progress: Progress | None = None,
    selected: str | None = None,
    compact: bool = False,
) -> list[Label]:
    """Add one line per series with its band, and crosses where every run diverged.

    Args:
        fig: Figure to add to.
        cells: From `series.fold_seeds`.
        theme: Colours.
        metric: RunResult field that the cells hold.
        dial: RunSpec field on the x axis.
        spread: Band of one standard deviation, from lowest to highest, or every run as a small point.
        progress: Runs done and planned; an unfinished study is half opaque and dotted.
        selected: A run id; its point is drawn as selected.
        compact: Smaller marks.

    Returns:
        The end labels of the lines. Each point's `customdata` is the run id of its first seed, or of the run itself.
    """
    live = progress is not None and progress.live
    colors = series_colors(cells)
    picked = _cell_of(cells, selected)
    labels = []
    for name, line in cells[cells["n"] > 0].groupby("series", sort=False):
        color = colors[name]
        if spread == "seeds":
            _add_seeds(fig, line, color, metric, dial)
        else:
            _add_band(fig, line, color, spread, dial)
        fig.add_scatter(
            x=places(dial, line["x"]),
            y=line["mean"].to_numpy(np.float32),
            mode="lines+markers",
            name=name,
            opacity=LIVE_OPACITY if live else 1.0,
            line=dict(color=color, width=2.5 if line["kind"].iloc[0] == "contrastive" else 2, dash="dot" if live else "solid"),
            marker=dict(color=color, size=5 if compact or spread == "seeds" else 9, line=dict(color=theme.paper, width=1)),
            selected=dict(marker=dict(color=theme.outline, size=14, opacity=1)),
            unselected=dict(marker=dict(opacity=0.4)),
            selectedpoints=_chosen(line, picked) if picked else None,
            customdata=line["run_id"].to_numpy(),
            hovertext=[_hover(cell, metric, dial) for cell in line.itertuples()],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
        labels.append(Label(float(line["mean"].iloc[-1]), name, color))
    _add_crosses(fig, cells[(cells["n"] == 0) & (cells["diverged"] > 0)], theme, dial)
    return labels


def band(fig: go.Figure, x: Sequence, low: Sequence[float], high: Sequence[float], color: str, **place: int) -> None:
    """Shade what lies between two lines.

    Args:
        fig: Figure to add to.
        x: Places [k], numbers or categories.
        low: Lower line [k].
        high: Upper line [k].
        color: Of the line that the band belongs to.
        place: row and col of a subplot.
    """
    around = [*x, *reversed(list(x))]
    fig.add_scatter(
        x=around if isinstance(around[0], str) else np.asarray(around, np.float32),
        y=np.concatenate([high, np.asarray(low)[::-1]]).astype(np.float32),
        mode="lines",
        line=dict(width=0),
        fill="toself",
        fillcolor=rgba(color, 0.16),
        hoverinfo="skip",
        showlegend=False,
        **place,
    )


def bars(fig: go.Figure, x: Sequence, low: Sequence[float], high: Sequence[float], color: str, **place: int) -> None:
    """Upright bars from low to high, for points whose neighbours have no spread.

    Args:
        fig: Figure to add to.
        x: Places [k], numbers or categories.
        low: Lower ends [k].
        high: Upper ends [k].
        color: Of the line that the points belong to.
        place: row and col of a subplot.
    """
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    fig.add_scatter(
        x=list(x) if isinstance(x[0], str) else np.asarray(x, np.float32),
        y=(low + high) / 2,
        error_y=dict(type="data", array=(high - low) / 2, color=rgba(color, BAR_OPACITY), thickness=BAR_WIDTH, width=0),
        mode="markers",
        marker=dict(color=color, size=1),
        hoverinfo="skip",
        showlegend=False,
        **place,
    )


def stretches(known: Sequence[bool]) -> list[tuple[int, int]]:
    """Start and end (exclusive) of each unbroken run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(known, np.int8), [0]])))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def add_means(
    fig: go.Figure,
    cells: pd.DataFrame,
    x: Sequence,
    names: Sequence[str],
    metric: str,
    color: str,
    theme: Theme,
    *,
    dots: Sequence[str] | None = None,
    progress: Progress | None = None,
    **place: int,
) -> None:
    """Add one line of means with a band of one standard deviation, for charts of a single line in a panel.

    Args:
        fig: Figure to add to.
        cells: From `series.fold_seeds`, each with at least one run, in the order of x.
        x: Where they are drawn, numbers or categories.
        names: What each point is called on hover.
        metric: RunResult field that the cells hold.
        color: Of the line.
        theme: Colours.
        dots: Colours of the points; None for the line's.
        progress: Runs done and planned; an unfinished study is half opaque and dotted.
        place: row and col of a subplot.
    """
    live = progress is not None and progress.live
    mean, sd = cells["mean"].to_numpy(), cells["sd"].to_numpy()
    for start, end in stretches((cells["n"] > 1).to_numpy()):
        draw = band if end - start > 1 else bars
        draw(fig, list(x[start:end]), (mean - sd)[start:end], (mean + sd)[start:end], color, **place)
    hover = [
        f"<b>{name}</b><br>{METRICS[metric].name} {with_spread(cell.mean, metric, cell.sd)} "
        f"({cell.n} seed{'s' if cell.n != 1 else ''})<br>run {cell.run_id}"
        for name, cell in zip(names, cells.itertuples(), strict=True)
    ]
    fig.add_scatter(
        x=x,
        y=cells["mean"].to_numpy(np.float32),
        mode="lines+markers",
        opacity=LIVE_OPACITY if live else 1,
        line=dict(color=color, width=2.5, dash="dot" if live else "solid"),
        marker=dict(color=color if dots is None else dots, size=9, line=dict(color=theme.paper, width=1)),
        customdata=cells["run_id"].to_numpy(),
        hovertext=hover,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
        **place,
    )


def add_in_progress(fig: go.Figure, runs: pd.DataFrame, cells: pd.DataFrame, metric: str, dial: str) -> None:
    """Add runs that are still training, as rings with how far they are: what their last epoch showed.

    Args:
        fig: Figure to add to.
        runs: From `Store.table`; those with status "running" and a finite metric are drawn.
        cells: The same runs folded, for the colours of the lines they will belong to.
        metric: Column of the runs.
        dial: RunSpec field on the x axis.
    """
    runs = runs[(runs["status"] == "running") & np.isfinite(runs[metric].astype(float))]
    if runs.empty:
        return
    colors, names = series_colors(cells), {run_id: cell.series for cell in cells.itertuples() for run_id in cell.run_ids}
    line = [names[run_id] for run_id in runs["run_id"]]
    told = [f"epoch {run.epochs_done} of {run.epochs}" for run in runs.itertuples()]
    fig.add_scatter(
        x=places(dial, runs[dial]),
        y=runs[metric].to_numpy(np.float32),
        mode=RINGS,
        cliponaxis=False,
        marker=dict(color=[colors[name] for name in line], size=11, symbol="circle-open", line=dict(width=2)),
        text=[f"{name}, {how_far}" for name, how_far in zip(line, told, strict=True)],
        textposition=["middle right"] * len(runs),  # moved apart by `place_ring_names`
        hovertext=[
            f"<b>{name}</b>, {value:g} {field_name(dial)}<br>"
            f"{METRICS[metric].name} {number(now, metric)}, still training: {how_far}"
            for name, value, now, how_far in zip(line, runs[dial], runs[metric], told, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )


def place_ring_names(fig: go.Figure) -> None:
    """Put the name of each ring where it covers no other; one that fits nowhere is left to hovering. Call after `end_labels`."""
    (left, right), (low, high), height = fig.layout.xaxis.range, fig.layout.yaxis.range, _inner_height(fig)
    for trace in (trace for trace in fig.data if trace.mode == RINGS):
        x = (np.asarray(trace.x, float) - left) / (right - left) * NARROWEST  # px from the left
        y = (np.asarray(trace.y, float) - low) / (high - low) * height  # px from the bottom
        taken = [(at - RING, at + RING, up - RING, up + RING) for at, up in zip(x, y, strict=True)]
        names, positions = list(trace.text), list(trace.textposition)
        for place, name in enumerate(names):
            side = "left" if x[place] > NARROWEST / 2 else "right"
            begin = x[place] + RING if side == "right" else x[place] - RING - CHARACTER * len(name)
            for level, shift in (("middle", 0), ("top", LINE_HEIGHT), ("bottom", -LINE_HEIGHT)):
                middle = y[place] + shift
                box = (begin, begin + CHARACTER * len(name), middle - LINE_HEIGHT / 2, middle + LINE_HEIGHT / 2)
                if not any(_overlap(box, other) for other in taken[:place] + taken[place + 1 :]):
                    taken.append(box)
                    positions[place] = f"{level} {side}"
                    break
            else:
                names[place] = ""
        trace.update(text=names, textposition=positions)


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two boxes (left, right, bottom, top) have an area in common."""
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _inner_height(fig: go.Figure) -> float:
    """About how many pixels the y axis is long."""
    margin = fig.layout.margin
    return max(1.0, fig.layout.height - (margin.t or 0) - (margin.b or 0) - AXIS_HEIGHT)


def add_published(fig: go.Figure, published: pd.DataFrame, metric: str, dial: str) -> None:
    """Numbers of others: hollow diamonds on dashed lines, in the colour of their temperature, else of their objective."""
    tempered = "tau" in published and published["tau"].notna().all()
    ramp = temperature_colors(sorted(published["tau"].unique())) if tempered else OBJECTIVE_COLORS
    kind = "tau" if tempered else "objective"
    lines = published.assign(setting=published.get("setting", "")).sort_values(dial)
    for (label, which, setting), line in lines.groupby(["label", kind, "setting"], sort=True):
        about = ", ".join(filter(None, (short_setting(kind, which), setting)))
        fig.add_scatter(
            x=places(dial, line[dial]),
            y=line["value"].to_numpy(np.float32),
            mode="lines+markers",
            line=dict(color=ramp[which], width=1.5, dash="dash"),
            marker=dict(color=ramp[which], size=10, symbol="diamond-open", line=dict(width=1.5)),
            hovertext=[
                f"<b>{label}</b>, {about}, {x:g} {field_name(dial)}<br>{METRICS[metric].name} {value:.4g} (published)"
                for x, value in zip(line[dial], line["value"], strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )


def dial_axis(fig: go.Figure, tested: Sequence[float], title: str, compact: bool = False, dial: str = "") -> None:
    """The x axis: tested values as ticks, thinned where their labels would touch; first and last stay."""
    values = sorted(set(map(float, tested)))
    at = places(dial, values).tolist()
    low, high = (at[0], at[-1]) if at else (0.0, 1.0)
    pad = (high - low) * 0.025 or 0.5
    gap = (high - low) * (COMPACT_TICK_GAP if compact else TICK_GAP)
    ticks: list[tuple[float, float]] = []  # place and value
    for place, value in zip(at, values, strict=True):
        if not ticks or place - ticks[-1][0] >= gap:
            ticks.append((place, value))
    if ticks:
        ticks[-1] = (at[-1], values[-1])
    fig.update_xaxes(
        title_text="" if compact else title,
        tickmode="array",
        tickangle=0,
        tickvals=[place for place, _ in ticks],
        ticktext=[f"{value:,.10g}" for _, value in ticks],
        range=[low - pad, high + pad],
        ticks="outside",
        ticklen=4,
    )


def end_labels(fig: go.Figure, labels: Sequence[Label], x: float, compact: bool = False) -> None:
    """Names beyond the last value, moved apart, and room for them. Call after height and y range are set."""
    if not labels:
        return
    low, high = fig.layout.yaxis.range
    gap = (high - low) * (COMPACT_GAP if compact else max(LABEL_GAP, LINE_HEIGHT / _inner_height(fig)))
    heights = spread_labels([label.y for label in labels], gap, low + gap / 3, high)
    for label, y in zip(labels, heights, strict=True):
        end_label(fig, x, y, label.text, label.color)
    longest = max(len(label.text) for label in labels)
    fig.update_layout(margin_r=min(22 + LABEL_WIDTH * longest, 190))


def notes(cells: pd.DataFrame, text: str, progress: Progress | None, published: pd.DataFrame | None = None) -> str:
    """The subtitle: settings, then what is unfinished or went wrong, then whose numbers the diamonds are."""
    parts = [text] if text else []
    if progress is not None and progress.live:
        parts.append(f"{progress.done} of {progress.total} runs")
    parts += [f"{cells[kind].sum()} {kind}" for kind in ("diverged", "failed") if cells[kind].sum()]
    if published is not None and not published.empty:
        parts.append("◇ " + ", ".join(dict.fromkeys(published["label"])))
    return " · ".join(parts)


def finite(fig: go.Figure) -> np.ndarray:
    """All finite y values of the figure's traces."""
    values = np.concatenate([np.zeros(0), *(np.asarray(trace.y, dtype=float) for trace in fig.data if trace.y is not None)])
    return values[np.isfinite(values)]


def _hover(cell, metric: str, dial: str) -> str:
    seeds = f"{cell.n} seed{'s' if cell.n != 1 else ''}" + (f" of {cell.total}" if cell.n < cell.total else "")
    wrong = "".join(f"<br>{count} {kind}" for count, kind in ((cell.diverged, "diverged"), (cell.failed, "failed")) if count)
    return f"{_point(cell, with_spread(cell.mean, metric, cell.sd), metric, dial)} ({seeds}){wrong}<br>run {cell.run_id}"


def _point(cell, value: str, metric: str, dial: str) -> str:
    """Which point, and its value: the first two lines of its hover text."""
    return f"<b>{cell.series}</b>, {cell.x:g} {field_name(dial)}<br>{METRICS[metric].name} {value}"


def _add_band(fig: go.Figure, line: pd.DataFrame, color: str, spread: Spread, dial: str) -> None:
    """A band over the points that have at least two seeds, and a bar where such a point stands alone.

    Nothing is shaded across a point of one seed: between the ends of a dial the straight line is nobody's spread.
    """
    low, high = (line["mean"] - line["sd"], line["mean"] + line["sd"]) if spread == "sd" else (line["low"], line["high"])
    known, at = (line["n"] > 1).to_numpy(), places(dial, line["x"])
    for start, end in stretches(known):
        if end - start > 1:
            band(fig, at[start:end], low.iloc[start:end], high.iloc[start:end], color)
    alone = [start for start, end in stretches(known) if end - start == 1]
    if alone:
        bars(fig, at[alone], low.iloc[alone], high.iloc[alone], color)


def _add_seeds(fig: go.Figure, line: pd.DataFrame, color: str, metric: str, dial: str) -> None:
    """Every run as a small ring."""
    points = [
        (cell, value, run_id)
        for cell in line.itertuples()
        for value, run_id in zip(cell.values, cell.run_ids, strict=False)  # ids of runs without a value come last
    ]
    fig.add_scatter(
        x=places(dial, (cell.x for cell, _, _ in points)),
        y=np.asarray([value for _, value, _ in points], np.float32),
        mode="markers",
        marker=dict(color=color, size=7, symbol="circle-open", line=dict(width=1.5)),
        customdata=np.asarray([run_id for _, _, run_id in points]),
        hovertext=[f"{_point(cell, number(value, metric), metric, dial)}<br>run {run_id}" for cell, value, run_id in points],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )


def _add_crosses(fig: go.Figure, cells: pd.DataFrame, theme: Theme, dial: str) -> None:
    """Cells in which every run diverged: a cross on the x axis, clickable like a point."""
    if cells.empty:
        return
    fig.add_scatter(
        x=places(dial, cells["x"]),
        y=np.zeros(len(cells), np.float32),
        mode="markers",
        cliponaxis=False,
        marker=dict(symbol="x-thin", size=11, line=dict(color=theme.muted, width=2)),
        customdata=cells["run_id"].to_numpy(),
        hovertext=[
            f"<b>{cell.series}</b>, {cell.x:g}<br>{cell.diverged} of {cell.total} diverged<br>run {cell.run_id}"
            for cell in cells.itertuples()
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )


def _cell_of(cells: pd.DataFrame, run_id: str | None) -> tuple[str, float] | None:
    """Line and dial value of a run; None if it is not among the cells."""
    return next(((cell.series, cell.x) for cell in cells.itertuples() if run_id in cell.run_ids), None) if run_id else None


def _chosen(line: pd.DataFrame, picked: tuple[str, float]) -> list[int]:
    return [place for place, cell in enumerate(line.itertuples()) if (cell.series, cell.x) == picked]
