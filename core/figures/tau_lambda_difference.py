"""Two tau-lambda maps subtracted cell by cell, with the cells marked whose difference the seeds can show."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.figures.grid import Grid, add_axes, add_click_layer
from core.figures.metrics import METRICS
from core.figures.theme import Theme, style

LEVEL = 0.05  # of the whole family of tests
LOWER, HIGHER = "#B2182B", "#2166AC"
HEIGHT = 560


def tau_lambda_difference(
    table: pd.DataFrame, theme: Theme, *, metric: str, names: tuple[str, str], title: str = ""
) -> go.Figure:
    """Draw second minus first.

    Args:
        table: From `core.studies.compare_maps.compare_cells`.
        theme: Colours.
        metric: RunResult field.
        names: The two maps in words.
        title: Takeaway.

    Returns:
        The figure; significant cells carry a star, cells that no test can decide (fewer than two seeds) a small circle.
    """
    grid = Grid.of(table)
    reach = float(np.nanpercentile(table["difference"].abs(), 95)) or 0.01
    fig = go.Figure()
    tested, found = int(table["p_holm"].notna().sum()), int((table["p_holm"] <= LEVEL).sum())
    untested = " · ○ not tested" if tested < len(table) else ""
    method = f"{tested} tested · ★ {found} significant (Welch, Holm, {LEVEL:g}){untested}"
    subtitle = f"blue: higher with {names[1]} · {len(table)} shared cells, {method}"
    style(fig, theme, title=title, subtitle=subtitle, height=HEIGHT)
    marks = np.where(table["p_holm"] <= LEVEL, " ★", np.where(table["p_holm"].isna(), " ○", ""))
    labels = table.assign(label=[_signed(d) + m for d, m in zip(table["difference"], marks, strict=True)])
    text = (
        labels.pivot(index="lam", columns="tau", values="label").reindex(index=grid.lams, columns=grid.taus).fillna("").to_numpy()
    )
    fig.add_heatmap(
        z=grid.matrix(table, "difference"),
        x=np.arange(len(grid.taus)),
        y=np.arange(len(grid.lams)),
        text=text,
        texttemplate="%{text}",
        textfont=dict(size=12),
        colorscale=[[0, LOWER], [0.5, theme.paper], [1, HIGHER]],
        zmid=0,
        zmin=-reach,
        zmax=reach,
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        colorbar=dict(
            title=dict(text=f"Difference, {METRICS[metric].name}", side="right", font=dict(color=theme.muted, size=13)),
            thickness=12,
            outlinewidth=0,
            tickfont=dict(color=theme.muted),
        ),
    )
    add_click_layer(fig, grid, table, [_hover(row, names) for row in table.itertuples()])
    add_axes(fig, grid)
    return fig


def _signed(value: float) -> str:
    """Three decimals with a sign; a difference that rounds to nothing has none."""
    return f"{value:+.3f}".replace("-", "−") if abs(value) >= 0.0005 else "0.000"


def _hover(row, names: tuple[str, str]) -> str:
    lines = [
        f"<b>tau {row.tau:g}, lambda {row.lam:g}</b>",
        f"{names[0]}: {row.mean_a:.4g} (n = {row.n_a})",
        f"{names[1]}: {row.mean_b:.4g} (n = {row.n_b})",
    ]
    if np.isfinite(row.p):
        lines.append(f"Welch t = {row.t:.2f}, p = {row.p:.2g}, after Holm {row.p_holm:.2g}")
    else:
        lines.append("not tested: a test needs two seeds on each side")
    return "<br>".join(lines)
