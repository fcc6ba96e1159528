"""The final loss against the number of bits, beside the exact floor of an encoder that keeps only the bits."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.lines import COMPACT_HEIGHT, Label, Progress, Spread, add_lines, dial_axis, end_labels, finite, notes
from core.figures.metrics import METRICS
from core.figures.theme import HEIGHT, Theme, style
from core.losses.reference import randbit_floor, randbit_floor_finite_tau, saturation_bits
from core.training.spec import RunSpec

USUAL_BATCH = RunSpec().batch_size  # of the floor where nothing is measured yet
VISIBLE_REST = 0.1  # nats; a temperature that leaves more than this with perfect codes gets its own floor


def loss_floor(
    cells: pd.DataFrame,
    theme: Theme,
    *,
    title: str = "",
    subtitle: str = "",
    spread: Spread = "sd",
    progress: Progress | None = None,
    selected: str | None = None,
    compact: bool = False,
    height: int | None = None,
) -> go.Figure:
    """Draw the loss against bits with its floor and the saturation point.

    Args:
        cells: Folded `loss` cells, bits on the x axis; only contrastive lines are drawn, other losses have another scale.
            Each batch size among them has its own floor.
        theme: Colours.
        title: Takeaway or question.
        subtitle: Data set, encoder, sizes, seeds.
        spread: As in `lines.add_lines`.
        progress: Runs done and planned.
        selected: A run id; its point is drawn as selected.
        compact: A thumbnail.
        height: Pixels; None = as usual for its kind.

    Returns:
        The figure. The floor is the exact one for small tau (theory.md, section 7.10), on the objective's own scale: the
        cross-view loss adds both directions, so its floor is twice that of one.
    """
    cells = cells[cells["kind"] == "contrastive"]
    kind = _kind(cells)
    fig = go.Figure()
    top = int(cells["x"].max()) if len(cells) else 1
    bits = np.arange(top + 1)
    batches = sorted(int(size) for size in cells["batch_size"].unique()) or [USUAL_BATCH]
    labels = [label for size in batches for label in _add_floors(fig, theme, cells, bits, size, len(batches) > 1, compact)]
    labels += add_lines(fig, cells, theme, "loss", "bits", spread=spread, progress=progress, selected=selected, compact=compact)
    style(
        fig,
        theme,
        title="" if compact else title,
        subtitle="" if compact else notes(cells, subtitle, progress),
        height=height or (COMPACT_HEIGHT if compact else HEIGHT),
    )
    dial_axis(fig, sorted(set(cells["x"])), "Added bits, the same in both views", compact)
    fig.update_yaxes(title_text="" if compact else METRICS["loss"].axis, range=[0, float(finite(fig).max()) * 1.06])
    saturated = [saturation_bits(size, kind) for size in batches]
    for bound in saturated:
        if bound < top:
            fig.add_vline(x=bound, line=dict(color=theme.theory, width=1, dash="dot"), layer="below")
    if saturated[-1] < top:
        first, last = (f"{bound:.0f}" for bound in (saturated[0], saturated[-1]))
        fig.add_annotation(
            x=saturated[-1],
            y=1,
            yref="y domain",
            text="" if compact else f"bits suffice from {first if first == last else f'{first} to {last}'}",
            showarrow=False,
            xanchor="left",
            yanchor="top",
            xshift=5,
            font=dict(color=theme.theory, size=12),
        )
    _label_floor(fig, theme, bits, batches[-1], kind, compact)
    end_labels(fig, labels, top, compact)
    return fig.update_layout(hovermode="closest", dragmode=False if compact else "zoom")


def _kind(cells: pd.DataFrame) -> str:
    return "cross_view" if (cells["objective"] == "cross_view").all() and len(cells) else "nt_xent"


def floor_of(batch_size: int, bits: int, kind: str) -> float:
    """The exact floor in nats on the objective's own scale: the cross-view loss sums both directions."""
    return (2 if kind == "cross_view" else 1) * randbit_floor(batch_size, bits, kind)


def _add_floors(
    fig: go.Figure, theme: Theme, cells: pd.DataFrame, bits: np.ndarray, batch_size: int, several: bool, compact: bool
) -> list[Label]:
    """The floor of one batch size; also that of a large temperature, at which even perfect codes leave a loss."""
    kind = _kind(cells)
    whose = f", batch {batch_size:,}" if several else ""
    labels = []
    for tau in (None, *sorted(cells.loc[cells["batch_size"] == batch_size, "tau"].unique())):
        if tau is None:
            floor = [floor_of(batch_size, int(count), kind) for count in bits]
            said, dash = f"floor of an encoder that keeps the bits only{whose}", "solid"
        else:
            scale = 2 if kind == "cross_view" else 1
            floor = [scale * randbit_floor_finite_tau(batch_size, int(count), tau, kind) for count in bits]
            if floor[-1] < VISIBLE_REST:
                continue
            said, dash = f"floor at tau {tau:g}{whose}, codes at right angles", "dot"
            if not compact:
                labels.append(Label(floor[-1], f"floor, tau {tau:g}{whose}", theme.theory))
        fig.add_scatter(
            x=bits.astype(np.float32),
            y=np.asarray(floor, np.float32),
            mode="lines",
            line=dict(color=theme.theory, width=1.5 if tau is None else 1, dash=dash),
            hovertemplate=f"{said}<br>%{{x}} bits: %{{y:.3f}} nats<extra></extra>",
            showlegend=False,
        )
    return labels


def _label_floor(fig: go.Figure, theme: Theme, bits: np.ndarray, batch_size: int, kind: str, compact: bool) -> None:
    """Name the floor on its steep part, right of the line; at the line's end it would sit among the other names."""
    floor = np.array([floor_of(batch_size, int(count), kind) for count in bits])
    place = int(np.searchsorted(-floor, -floor[0] * 0.72))
    place = min(place, len(bits) - 1)
    fig.add_annotation(
        x=float(bits[place]),
        y=float(floor[place]),
        text="floor" if compact else "floor: keeps the bits only;<br>below it the image is used too",
        showarrow=False,
        align="left",
        xanchor="left",
        yanchor="middle",
        xshift=14,
        bgcolor=theme.paper,
        font=dict(color=theme.theory, size=12),
    )


