"""The MoCo dictionary as an animation: slots filling, keys ageing, the key encoder trailing the query encoder."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.playback import play_controls
from core.figures.text import marks
from core.figures.theme import OBJECTIVE_COLORS, OKABE_ITO, Theme, style
from core.losses.forces import unit
from core.losses.queue_trace import START, QueueTrace

QUERY, KEY = OKABE_ITO[0], OBJECTIVE_COLORS["moco"]
AGES = "Viridis_r"
HEIGHT = 540
BELOW = -0.6  # where the bars begin, so that one of age 0 can be seen


def moco_queue(run: QueueTrace, momentum: float, batch: int, theme: Theme, start: int = 0) -> go.Figure:
    """Left: the slots of the queue by age. Right: where a picture lands under each encoder, and where its stored keys lie.

    Args:
        run: From core.losses.queue_trace.trace.
        momentum: Its m, for the title.
        batch: Keys per slot, for the subtitle.
        theme: Colours.
        start: Frame that is shown before play is pressed.
    """
    steps, slots = run.written.shape
    titles = ("Queue: one bar per slot, by age", "Where one picture lands")
    fig = make_subplots(cols=2, horizontal_spacing=0.08, subplot_titles=titles)
    oldest = max(slots - 1, 1)
    around = unit(np.linspace(-0.6, 3.4, 200)).astype(np.float32)
    fig.add_bar(
        x=np.arange(slots, dtype=np.int32),
        row=1,
        col=1,
        showlegend=False,
        base=BELOW,
        **_bars(run, start),
        hovertemplate="slot %{x}<br>%{customdata} steps old (−1: random vectors of the start)<extra></extra>",
    )
    fig.update_traces(marker_coloraxis="coloraxis", marker_line=dict(color=theme.theory, width=1))
    fig.add_scatter(
        row=1,
        col=1,
        mode="markers",
        showlegend=False,
        marker=dict(symbol="triangle-down", size=13, color=KEY),
        hoverinfo="skip",
        cliponaxis=False,
        **_pointer(run, start, oldest),
    )
    fig.add_scatter(
        x=around[:, 0],
        y=around[:, 1],
        mode="lines",
        line=dict(color=theme.theory, width=1),
        hoverinfo="skip",
        showlegend=False,
        row=1,
        col=2,
    )
    keys = _keys(run, start)
    keys["marker"] |= dict(coloraxis="coloraxis", size=9)
    fig.add_scatter(
        row=1,
        col=2,
        mode="markers",
        showlegend=False,
        hovertemplate="stored key, %{marker.color} steps old<extra></extra>",
        **keys,
    )
    fig.add_scatter(
        row=1,
        col=2,
        mode="markers",
        showlegend=False,
        text=["query encoder", "key encoder"],
        marker=dict(color=[QUERY, KEY], size=15, symbol=["circle", "diamond"], line=dict(color=theme.outline, width=1.5)),
        hovertemplate="%{text}<extra></extra>",
        **_encoders(run, start),
    )
    fig.frames = [
        dict(
            name=str(step),
            traces=[0, 1, 3, 4],
            data=[
                dict(type="bar", **_bars(run, step)),
                dict(type="scatter", **_pointer(run, step, oldest)),
                dict(type="scatter", **_keys(run, step)),
                dict(type="scatter", **_encoders(run, step)),
            ],
        )
        for step in range(steps)
    ]
    settled = slice(steps // 2, None)
    lag, spread = np.rad2deg(run.lag[settled].mean()), np.rad2deg(run.disagreement[settled].mean())
    legend = marks(theme, ("●", QUERY, "query encoder"), ("◆", KEY, "key encoder"))
    keys_legend = f"{legend} · small points inside the arc: stored keys, dark as they age"
    subtitle = f"A model of one picture and one angle · {slots} slots of {batch} keys · means over steps {steps // 2} to {steps}"
    title = f"With m = {momentum:g} the key encoder trails by {lag:.0f}° and the stored keys are {spread:.0f}° off"
    hidden = dict(showgrid=False, showticklabels=False, ticks="", showline=False, zeroline=False, fixedrange=True)
    panels = [{**note.to_plotly_json(), "font": dict(size=14, color=theme.text)} for note in fig.layout.annotations]
    layout = dict(
        xaxis=dict(title=dict(text="Slot"), nticks=8, range=[-0.7, slots - 0.3]),
        yaxis=dict(title=dict(text="Age (steps)"), range=[BELOW, oldest * 1.25 + 1], tick0=0),
        xaxis2=dict(hidden, range=[-1.25, 1.25]),
        yaxis2=dict(hidden, range=[-0.75, 1.15], scaleanchor="x2", scaleratio=1),
        annotations=panels,
        margin=dict(t=118),
        bargap=0.15,
        coloraxis=dict(colorscale=AGES, cmin=0, cmax=oldest, showscale=False),
        **play_controls(theme, steps, "step", active=start, redraw=True),
    )
    return style(fig, theme, height=HEIGHT, title=title, subtitle=f"{subtitle}<br>{keys_legend}", layout=layout)


def _bars(run: QueueTrace, step: int) -> dict:
    """Heights and colours of the slots; a slot with the random vectors of the start is drawn low and without colour."""
    age = run.age[step]
    random = age == START
    return {
        "y": np.where(random, 0.35, age - BELOW).astype(np.float32),
        "marker": {"color": np.where(random, np.nan, age).astype(np.float32)},
        "customdata": age.astype(np.int32),
    }


def _pointer(run: QueueTrace, step: int, oldest: int) -> dict:
    """A mark above the slot that was written in this step."""
    return {"x": run.slot[step : step + 1].astype(np.int32), "y": np.asarray([oldest * 0.08 + 1.4], np.float32)}


def _keys(run: QueueTrace, step: int) -> dict:
    """Stored keys a little inside the circle, coloured by age; random ones left out."""
    age = run.age[step]
    points = np.where((age == START)[:, None], np.nan, 0.93 * unit(run.stored[step])).astype(np.float32)
    return {"x": points[:, 0], "y": points[:, 1], "marker": {"color": age.astype(np.float32)}}


def _encoders(run: QueueTrace, step: int) -> dict:
    """The query encoder of now a little outside the circle, the key encoder on it."""
    points = (unit([run.query[step], run.key[step]]) * [[1.1], [1.0]]).astype(np.float32)
    return {"x": points[:, 0], "y": points[:, 1]}
