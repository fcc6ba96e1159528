"""Colours of the parts an embedding can play for an anchor, and the log axis of the temperature."""

from math import log10

import plotly.graph_objects as go

from core.figures.theme import OKABE_ITO

ANCHOR = OKABE_ITO[0]  # blue
POSITIVE = OKABE_ITO[2]  # green
NEGATIVE = OKABE_ITO[5]  # orange
FALSE_NEGATIVE = OKABE_ITO[3]  # pink: a negative of the anchor's own class
EASY = "#8A9099"  # grey: neither hard nor false

TAU_TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def log_tau(low: float, high: float, *, ticks=TAU_TICKS, title: str = "Temperature tau (log scale)") -> dict:
    """Settings of an axis that is the temperature: logarithmic, plain numbers at the ticks, none beyond the range."""
    low, high = low * 0.999, high * 1.001  # points are drawn in float32, which may lie a little outside, and would be left out
    shown = [tick for tick in ticks if low <= tick <= high]
    return dict(
        type="log",
        range=[log10(low), log10(high)],
        tickvals=shown,
        ticktext=[f"{tick:g}" for tick in shown],
        title=dict(text=title),
    )


def tau_axis(fig: go.Figure, low: float, high: float, **settings) -> None:
    """Make all x axes of a figure the temperature; settings as in `log_tau`."""
    fig.update_xaxes(**log_tau(low, high, **settings))


def tau_text(tau: float) -> str:
    """A temperature as written in titles: "0.1", "→ 0", "→ ∞"."""
    if tau == 0:
        return "→ 0"
    return "→ ∞" if tau == float("inf") else f"{tau:.3g}"


def at_tau(tau: float) -> str:
    """The beginning of a sentence: "At tau 0.1", "For tau → 0"."""
    return f"For tau {tau_text(tau)}" if tau in (0, float("inf")) else f"At tau {tau_text(tau)}"
