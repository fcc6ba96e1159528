"""The same scores read by three losses: softmax over classes, sigmoids against noise, softmax over candidates."""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.roles import NEGATIVE, POSITIVE
from core.figures.text import signed
from core.figures.theme import Theme, style
from core.losses.relatives import Reading, class_cross_entropy, nce
from core.losses.softmax import info_nce, scaled_gradient, softmax


class Readings(NamedTuple):
    """One row of logits under the three losses."""

    classes: Reading  # cross entropy over classes, right class `target`
    target: int
    nce: Reading
    info_nce: Reading


def read(scores: np.ndarray, tau: float, target: int = 0, log_noise_ratio: float = 0.0, shift: float = 0.0) -> Readings:
    """Read scores three ways; index 0 is the positive. Cross entropy and InfoNCE are computed by separate functions.

    Args:
        scores: Similarities, shape (K + 1,).
        tau: Temperature, > 0 and finite.
        target: The right class for the cross entropy over classes.
        log_noise_ratio: log(k p_noise) of NCE.
        shift: A constant added to every logit.
    """
    logits = np.asarray(scores, dtype=float) / tau + shift
    pull = scaled_gradient(logits[0], logits[1:], 1.0)
    contrastive = Reading(
        info_nce(logits[0], logits[1:], 1.0), softmax(logits, 1.0), np.concatenate([[pull.positive], pull.negatives])
    )
    return Readings(class_cross_entropy(logits, target), target, nce(logits[0], logits[1:], log_noise_ratio), contrastive)


def three_losses(readings: Readings, theme: Theme) -> go.Figure:
    """Three panels of gradient bars, one per loss; each bar is labelled with its probability.

    Args:
        readings: From `read`.
        theme: Colours.
    """
    count = len(readings.info_nce.probabilities)
    names = ["pos.", *(f"neg. {place}" for place in range(1, count))]
    panels = (
        ("Cross entropy over classes", readings.classes, readings.target),
        ("NCE, one sigmoid each", readings.nce, 0),
        ("InfoNCE, one softmax", readings.info_nce, 0),
    )
    fig = make_subplots(
        cols=3, horizontal_spacing=0.09, subplot_titles=[f"{name}<br>loss {reading.loss:.3f}" for name, reading, _ in panels]
    )
    reach = max(float(np.abs(reading.gradient).max()) for _, reading, _ in panels)
    for column, (name, reading, target) in enumerate(panels, start=1):
        rows = [f"class {place}" for place in range(count)] if column == 1 else names
        fig.add_bar(
            x=reading.gradient.astype(np.float32),
            y=rows,
            orientation="h",
            row=1,
            col=column,
            showlegend=False,
            marker_color=[POSITIVE if place == target else NEGATIVE for place in range(count)],
            text=[f"P {p:.2f}" if p >= 0.005 or p == 0 else f"P {signed(p, 1)}" for p in reading.probabilities],
            textposition="outside",
            cliponaxis=False,
            textfont=dict(color=theme.text, size=13),
            customdata=reading.probabilities.astype(np.float32),
            hovertemplate=f"{name}<br>%{{y}}: gradient %{{x:.4f}}, probability %{{customdata:.4f}}<extra></extra>",
        )
        fig.update_xaxes(title_text="∂L/∂logit", range=[-1.55 * reach, 1.55 * reach], nticks=5, zeroline=True, row=1, col=column)
    gap = abs(readings.classes.loss - readings.info_nce.loss)
    if readings.target == 0:
        title = (
            f"InfoNCE is cross entropy with target 0: the losses differ by {signed(gap, 1)}"
            if gap
            else "InfoNCE is cross entropy with target 0: not a digit differs"
        )
    else:
        title = f"With class {readings.target} as the answer, cross entropy pulls a score that InfoNCE pushes"
    sums = " · ".join(f"{reading.probabilities.sum():.2f}" for _, reading, _ in panels)
    subtitle = f"Green is pulled up, orange pushed down · the probabilities sum to {sums}"
    style(fig, theme, title=title, subtitle=subtitle, height=430)
    fig.update_yaxes(autorange="reversed", showgrid=False, ticks="")
    fig.update_xaxes(zeroline=True, zerolinecolor=theme.theory, zerolinewidth=1)
    fig.update_annotations(font=dict(size=14, color=theme.text))
    return fig.update_layout(bargap=0.35, margin=dict(t=118))
