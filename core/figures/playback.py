"""Play, pause and a slider for figures with numbered frames; all of it runs in the browser."""

import plotly.graph_objects as go

from core.figures.theme import Theme

FRAME_MS = 90
SPACE = 96  # px under the plot that buttons and slider take
ENDS = {"still": "last"}  # `layout.meta` of figures whose title tells how their animation ends
PLAY = " · press play"  # in the subtitle of such a figure, as long as it can move


def still(fig: go.Figure) -> go.Figure:
    """A figure as it stands on paper: of an animation whose title tells its end the last frame, of any other what is drawn."""
    if not fig.frames or (fig.layout.meta or {}).get("still") != ENDS["still"]:
        return fig
    end, copy = fig.frames[-1], go.Figure(fig.data, fig.layout)
    for place, trace in zip(end.traces, end.data, strict=True):
        copy.data[place].update(trace.to_plotly_json())
    copy.layout.title.text = (copy.layout.title.text or "").replace(PLAY, "")
    return copy


def play_controls(theme: Theme, frames: int, word: str, *, active: int = 0, redraw: bool = False, every: int = 1) -> dict:
    """Layout settings for controls under a figure whose frames are named "0", "1", ...; nothing moves before play is pressed.

    Args:
        theme: Colours.
        frames: How many there are.
        word: What a frame is, such as "step".
        active: Frame that is shown first.
        every: Distance between the names, where only each second or third of the frames exists.
        redraw: Draw everything anew for each frame; bars need it, points do not.

    Returns:
        `updatemenus` and `sliders`. They take `SPACE` pixels under the plot.
    """
    jump = dict(mode="immediate", frame=dict(duration=0, redraw=redraw), transition=dict(duration=0))
    play = dict(mode="immediate", fromcurrent=True, frame=dict(duration=FRAME_MS, redraw=redraw), transition=dict(duration=0))
    under = dict(y=0, yanchor="top")
    buttons = dict(
        type="buttons",
        direction="right",
        x=0,
        xanchor="left",
        pad=dict(t=SPACE - 34),
        showactive=False,
        buttons=[
            dict(label="▶ Play", method="animate", args=[None, play]),
            dict(label="❚❚ Pause", method="animate", args=[[None], jump]),
        ],
        bgcolor=theme.paper,
        bordercolor=theme.theory,
        font=dict(color=theme.text, size=14),
    )
    slider = dict(
        active=active,
        steps=[
            dict(label=str(place), value=str(place), method="animate", args=[[str(place)], jump])
            for place in range(0, frames, every)
        ],
        x=0.34,
        len=0.66,
        pad=dict(t=SPACE - 46),
        ticklen=0,
        minorticklen=0,
        currentvalue=dict(prefix=f"{word} ", font=dict(color=theme.muted, size=13)),
        bgcolor=theme.grid,
        bordercolor=theme.theory,
        font=dict(color="rgba(0,0,0,0)", size=1),  # the labels of 80 steps would touch; the current one is written above
    )
    return dict(updatemenus=[buttons | under], sliders=[slider | under])
