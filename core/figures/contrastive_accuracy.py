"""SimCLR's Table 5: how well the contrastive task is solved, against how good the features are."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.labels import Room
from core.figures.text import NARROW, NARROW_SUBTITLE, make_room, readable, wrapped
from core.figures.theme import OKABE_ITO, Theme, style

AXES = ["contrastive_accuracy", "linear_accuracy"]
X_RANGE, Y_RANGE = (0.5, 0.98), (0.55, 0.66)
COLORS = {"L2 norm": OKABE_ITO[0], "no norm": OKABE_ITO[5]}


def contrastive_accuracy(rows: pd.DataFrame, theme: Theme) -> go.Figure:
    """Published points: linear accuracy against contrastive accuracy, one line per normalisation.

    Args:
        rows: Of core.published, metrics contrastive_accuracy and linear_accuracy, columns setting, tau, value, label.
        theme: Colours.
    """
    wide = rows.pivot_table(index=["setting", "tau"], columns="metric", values="value").reset_index().sort_values("tau")
    fig = go.Figure()
    room = Room([line[AXES].to_numpy() for _, line in wide.groupby("setting")], limits=list(zip(X_RANGE, Y_RANGE, strict=True)))
    for setting, line in wide.groupby("setting"):
        names, points = _names(setting, line["tau"]), line[AXES].to_numpy()
        fig.add_scatter(
            x=line["contrastive_accuracy"].to_numpy(np.float32),
            y=line["linear_accuracy"].to_numpy(np.float32),
            showlegend=False,
            mode="lines+markers+text",
            line=dict(color=COLORS[setting], width=1.5, dash="dash"),
            marker=dict(color=COLORS[setting], size=11, symbol="diamond-open"),
            text=names,
            textposition=[room.beside(point, name) or "top center" for point, name in zip(points, names, strict=True)],
            textfont=dict(color=readable(COLORS[setting], theme), size=13),
            hovertext=[
                f"<b>{setting}, tau {r.tau:g}</b><br>contrastive accuracy {r.contrastive_accuracy:.3f}<br>linear accuracy "
                f"{r.linear_accuracy:.3f}"
                for r in line.itertuples()
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    worst = wide.loc[wide["contrastive_accuracy"].idxmax()]
    best = wide.loc[wide["linear_accuracy"].idxmax()]
    label = ", ".join(dict.fromkeys(rows["label"]))
    title = f"The task solved best ({worst['contrastive_accuracy']:.1%}) left the worst features ({worst['linear_accuracy']:.1%})"
    subtitle = f"◇ {label}, Table 5, ImageNet · best features {best['linear_accuracy']:.1%}, at tau {best['tau']:g} with L2 norm"
    style(fig, theme, height=480, title=wrapped(title, NARROW), subtitle=wrapped(subtitle, NARROW_SUBTITLE))
    fig.update_xaxes(title_text="Contrastive accuracy: the positive scores highest", tickformat=".0%", range=X_RANGE)
    fig.update_yaxes(title_text="Linear accuracy (top-1)", tickformat=".0%", range=Y_RANGE)
    return make_room(fig)


def _names(setting: str, taus: pd.Series) -> list[str]:
    """Labels of a line's points; points without normalisation lie so close together that only one is named."""
    if setting == "no norm":
        return ["", f"no norm, tau {' and '.join(f'{tau:g}' for tau in taus)}"]
    return [f"tau {tau:g}" if place < len(taus) - 1 else f"L2 norm, tau {tau:g}" for place, tau in enumerate(taus)]
