"""The exact floor of NT-Xent beside the information line: for a few bits the floor lies below it, so the line is no floor."""

import numpy as np
import plotly.graph_objects as go

from core.figures.text import signed
from core.figures.theme import OBJECTIVE_COLORS, Theme, style
from core.losses.reference import information_line, randbit_floor, saturation_bits

HEIGHT = 300  # px
UNIT = 1000  # bars are in thousandths of a nat


def floor_gap(images: int, theme: Theme) -> go.Figure:
    """Exact floor minus information line, for each number of shared bits that leaves the line well above 0.

    With more bits the exact floor rises above the line, which ends at 0 where codes still collide; those are left out.

    Args:
        images: Images in a batch, >= 8.
        theme: Colours.
    """
    bits = np.arange(1, int(saturation_bits(images)) - 1)
    gaps = np.array([randbit_floor(images, int(b)) - information_line(images, int(b)) for b in bits]) * UNIT
    fig = go.Figure()
    fig.add_bar(
        x=bits.astype(np.int32),
        y=gaps.astype(np.float32),
        marker_color=OBJECTIVE_COLORS["nt_xent"],
        text=[signed(gap, 2) for gap in gaps],
        textposition="outside",
        cliponaxis=False,
        textfont=dict(color=theme.text, size=13),
        hovertemplate="%{x} shared bits<br>exact floor %{text} thousandths of a nat from the line<extra></extra>",
        showlegend=False,
    )
    style(
        fig,
        theme,
        title=f"Up to {bits[-1]} shared bits the exact floor lies below the information line",
        subtitle=f"Batch of {images} images · the zero line is log(2n − 1) − b ln 2",
        height=HEIGHT,
    )
    low = min(float(gaps.min()), 0.0)
    fig.update_xaxes(title_text="Shared bits b", dtick=1, showgrid=False)
    fig.update_yaxes(
        title_text="Floor − line (nats / 1,000)", range=[1.3 * low, -0.12 * low], zeroline=True, zerolinecolor=theme.theory,
        zerolinewidth=1,
    )  # fmt: skip
    return fig
