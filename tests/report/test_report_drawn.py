"""The data of a chart as a table: every mark once, with the id that a click would report."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.theme import LIGHT
from core.report.drawn import drawn


def test_one_row_per_mark():
    fig = go.Figure()
    fig.add_scatter(
        x=np.float32([0.1, 0.2]), y=[1, 2], name="<b>tau</b> 0.1", customdata=["aa", "bb"], hovertext=["<b>x</b> 1", "y"]
    )
    fig.add_scatter(x=[0, 1, 1], y=[0, 1, 0], fill="toself", hoverinfo="skip")
    table = drawn(fig)
    assert list(table.columns) == ["trace", "x", "y", "id", "text"]
    assert table.loc[0].to_dict() == {"trace": "tau 0.1", "x": 0.1, "y": 1, "id": "aa", "text": "x 1"}
    assert list(table["trace"]) == ["tau 0.1", "tau 0.1", "band", "band", "band"]


def test_cells_of_a_heat_map():
    fig = go.Figure(go.Heatmap(z=[[1.0, 2.0], [3.0, np.nan]], x=["0.1", "1"], y=["a", "b"], name="map"))
    table = drawn(fig)
    assert list(zip(table["x"], table["y"], table["value"], strict=True))[:3] == [
        ("0.1", "a", 1.0),
        ("1", "a", 2.0),
        ("0.1", "b", 3.0),
    ]
    assert np.isnan(table["value"].iloc[3])


def test_panels_are_named_by_their_axis():
    fig = make_subplots(rows=2)
    fig.add_scatter(x=[1], y=[1], name="a", row=1, col=1)
    fig.add_scatter(x=[1], y=[2], name="a", error_y=dict(array=[0.5]), row=2, col=1)
    fig.update_yaxes(title_text="Accuracy", row=1, col=1)
    table = drawn(fig)
    assert list(table["panel"]) == ["Accuracy", "panel 2"]
    assert table["error"].iloc[1] == 0.5


def test_the_ids_of_a_drawn_curve_are_run_ids(draw):
    from core.report.drawing import Drawing

    made: Drawing = draw("suppression", LIGHT)
    table = drawn(made.figure)
    assert set(table["id"].dropna()) and all(len(run_id) == 12 for run_id in table["id"].dropna())
    assert table.loc[table["trace"] == "tau 0.1", "y"].between(0, 1).all()
