"""The tau-lambda figures: places, clicks, every kind of missing cell, robust colours, ridge, determinism."""

import numpy as np
import pandas as pd
import pytest

from core.figures.grid import Grid, cell_id, read_cell_id
from core.figures.metrics import METRICS
from core.figures.tau_lambda import Diagonal, color_range, hover_texts, tau_lambda
from core.figures.tau_lambda_difference import tau_lambda_difference
from core.figures.tau_lambda_slices import tau_lambda_slices
from core.figures.tau_lambda_surface import tau_lambda_surface
from core.figures.theme import DARK, LIGHT
from core.studies.cells import fold_cells
from core.studies.compare_maps import compare_cells
from core.studies.ridge import find_ridge

TAUS, LAMS = (0.1, 0.2, 0.5, 1.0), (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


def runs(slope=1.0, noise=0.002, status=None, seed=0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    rows = []
    for tau in TAUS:
        for lam in LAMS:
            for s in range(3):
                value = 0.95 - 0.02 * (np.log(lam) - slope * np.log(tau)) ** 2 + noise * random.standard_normal()
                rows.append((tau, lam, s, (status or {}).get((tau, lam, s), "finished"), value))
    table = pd.DataFrame(rows, columns=["tau", "lam", "seed", "status", "linear_accuracy"])
    return table.assign(run_id=[f"{i:012x}" for i in range(len(table))])


def cells(**options) -> pd.DataFrame:
    return fold_cells(runs(**options), "linear_accuracy")


def heat(figure):
    return next(trace for trace in figure.data if trace.type == "heatmap")


def click_layer(figure):
    return next(trace for trace in figure.data if trace.type == "scatter" and trace.marker.opacity == 0)


def drawn(figure, mode: str) -> list:
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == mode]


def test_places_lie_between_cells_by_their_logarithm():
    grid = Grid(TAUS, LAMS)
    assert [grid.column(tau) for tau in TAUS] == [0, 1, 2, 3]
    assert grid.row(np.sqrt(0.1 * 0.2)) == pytest.approx(1.5)
    assert grid.row(4.0) == pytest.approx(6.0) and grid.row(0.025) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("text", "found"),
    [("0.1,0.5", (0.1, 0.5)), ("1,0", (1, 0)), *((t, None) for t in ("", None, "a,b", "1", "1,2,3", "nan,1", "0,1"))],
)
def test_cell_ids_travel_through_addresses(text, found):
    assert read_cell_id(text) == found
    if found:
        assert read_cell_id(cell_id(*found)) == found


def test_every_cell_is_clickable_and_the_heat_map_is_not_in_the_way():
    """Heat maps report no clicks in streamlit: streamlit#8760. Small markers and hoverdistance -1 hit everywhere in a cell."""
    figure = tau_lambda(cells(), LIGHT)
    layer = click_layer(figure)
    assert len(layer.customdata) == 24 and layer.customdata[0] == "0.1,0.05"
    assert layer.marker.size == 8 and layer.selected.marker.opacity == 0 and layer.unselected.marker.opacity == 0
    assert figure.layout.hoverdistance == -1 and heat(figure).hoverinfo == "skip"
    for trace in figure.data:
        assert trace is layer or trace.hoverinfo == "skip"
    place = dict(zip(layer.customdata, zip(layer.x, layer.y, strict=True), strict=True))
    assert place["0.5,0.1"] == (2, 1)


def test_values_stand_in_their_cells():
    folded = cells()
    figure = tau_lambda(folded, LIGHT)
    z = heat(figure).z
    assert z.dtype == np.float32 and z.shape == (6, 4)
    row = folded[(folded["tau"] == 0.5) & (folded["lam"] == 0.1)].iloc[0]
    assert z[1, 2] == pytest.approx(row["mean"])
    (numbers,) = drawn(figure, "text")
    assert f"{row['mean']:.3f}" in numbers.text and len(numbers.text) == 24


def test_diverged_failed_running_and_missing_cells_look_different_and_are_counted():
    status = {(0.1, 2.0, s): "diverged" for s in range(3)} | {(0.2, 2.0, s): "failed" for s in range(3)}
    status |= {(0.5, 2.0, s): "running" for s in range(3)} | {(0.1, 1.0, 0): "diverged"}
    table = runs(status=status)
    table = table[~((table["tau"] == 1.0) & (table["lam"] == 2.0))]
    asked = fold_cells(table, "linear_accuracy")
    missing = pd.DataFrame([(1.0, 2.0, np.nan, np.nan, 0, 0, 0, 0, 3, (), ())], columns=asked.columns)
    folded = pd.concat([asked, missing], ignore_index=True)
    figure = tau_lambda(folded, LIGHT, subtitle="made up")
    assert [shape.type for shape in figure.layout.shapes].count("path") == 1  # the hatching
    said = [note.text for note in figure.layout.annotations]
    assert "✕" in said and "…" in said
    (corner,) = [trace for trace in figure.data if trace.name == "partial"]
    assert (round(float(corner.x[0])), round(float(corner.y[0]))) == (0, 4)  # tau 0.1, lambda 1
    assert len([shape for shape in figure.layout.shapes if shape.type == "rect"]) == 4
    assert "20 of 24 cells, 4 runs diverged, 3 runs failed, 3 runs in progress" in figure.layout.title.text.replace("<br>", " ")
    texts = dict(zip(click_layer(figure).customdata, click_layer(figure).text, strict=True))
    assert texts["1,2"].endswith("not run") and "3 diverged" in texts["0.1,2"] and "2 of 3 runs<br>1 diverged" in texts["0.1,1"]


def test_one_bad_cell_does_not_flatten_the_colours():
    """optuna-dashboard#199: one diverged run ruined the scale."""
    values = np.concatenate([np.linspace(0.90, 0.95, 30), [0.1]])
    span = color_range(values, "linear_accuracy")
    assert span.low > 0.8 and span.high == 0.95 and span.below == 1
    loss = color_range([1.0, 1.1, 1.2, 1.3, 1e6, np.nan, np.inf], "loss")
    assert loss.low == 1.0 and loss.high < 1e6 and loss.above == 1
    assert color_range([], "loss") == (0, 1, 0, 0) and color_range([0.5, 0.5], "linear_accuracy")[:2] == (0.0, 1.0)
    assert color_range(values, "linear_accuracy", full_scale=True)[:2] == (0, 1)
    assert "1 cell below the colour scale" in tau_lambda(
        cells().assign(mean=lambda table: table["mean"].where(table.index > 0, 0.1)), LIGHT
    ).layout.title.text.replace("<br>", " ")


def test_the_ridge_and_the_diagonal_are_drawn_where_they_lie():
    folded = cells(noise=0)
    figure = tau_lambda(folded, LIGHT, ridge=find_ridge(folded), diagonal=Diagonal(1.0, "lambda = tau"))
    line = drawn(figure, "lines+markers")[-1]
    assert line.y == pytest.approx([Grid.of(folded).row(tau) for tau in TAUS], abs=1e-5)
    dashes = drawn(figure, "lines")
    assert len(dashes) == 2 and min(dashes[0].x) >= -0.5 and max(dashes[0].y) <= 5.5
    assert "╌ lambda = tau" in [note.text for note in figure.layout.annotations]
    grid = Grid.of(folded)
    on_line = np.interp([grid.column(0.2)], dashes[0].x, dashes[0].y)
    assert on_line == pytest.approx(grid.row(0.2), abs=0.02)


def test_ridge_points_at_the_edge_are_open_triangles():
    steep = cells(slope=2.0, noise=0)
    ridge = find_ridge(steep)
    edges = {point.tau: point.edge for point in ridge.points}
    figure = tau_lambda(steep, LIGHT, ridge=ridge)
    symbols = dict(zip(TAUS, drawn(figure, "lines+markers")[-1].marker.symbol, strict=True))
    assert edges[0.1] == "low" and symbols[0.1] == "triangle-down-open" and symbols[1.0] == "circle"


def test_seeds_become_strips():
    figure = tau_lambda(cells(), LIGHT, expand_seeds=True)
    z = heat(figure).z
    assert z.shape == (6, 12)
    first = runs().sort_values("seed")
    wanted = first[(first["tau"] == 0.2) & (first["lam"] == 0.05)]["linear_accuracy"]
    assert z[0, 3:6] == pytest.approx(wanted.to_numpy())
    assert not drawn(figure, "text")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_figures_are_deterministic_and_light(theme):
    folded = cells()
    ridge = find_ridge(folded)
    builders = (
        lambda: tau_lambda(folded, theme, ridge=ridge, selected=(0.2, 0.1)),
        lambda: tau_lambda_slices(folded, theme, ridge=ridge),
        lambda: tau_lambda_slices(folded, theme, along="tau"),
        lambda: tau_lambda_surface(folded, theme, ridge=ridge),
    )
    for build in builders:
        assert build().to_json() == build().to_json()
        assert len(build().to_json()) < 300_000


def test_cuts_have_one_line_with_a_band_per_value():
    folded = cells()
    figure = tau_lambda_slices(folded, LIGHT, along="lam", ridge=find_ridge(folded))
    lines = drawn(figure, "lines+markers")
    assert len(lines) == 4 and len([trace for trace in figure.data if trace.fill == "toself"]) == 4
    assert lines[0].customdata[0] == "0.1,0.05"
    names = [note.text for note in figure.layout.annotations]
    assert names == ["tau 0.1", "tau 0.2", "tau 0.5", "tau 1"]
    rings = figure.data[-1]
    assert rings.x == pytest.approx([point.lam for point in find_ridge(folded).points], rel=1e-5)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_lines_and_names_stand_out_from_the_paper(theme):
    figure = tau_lambda_slices(cells(), theme, along="tau")
    colors = [trace.line.color for trace in drawn(figure, "lines+markers")]
    lights = [[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in (*colors, theme.paper)]
    linear = [[c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in light] for light in lights]
    *lines, paper = [float(np.dot(light, [0.2126, 0.7152, 0.0722])) + 0.05 for light in linear]
    assert min(max(line, paper) / min(line, paper) for line in lines) > 3 and len(set(colors)) == len(colors)


def test_temperatures_above_one_have_colours_of_their_own():
    table = runs()
    hot = pd.concat([table, table.assign(tau=table["tau"] * 10, run_id=[f"h{i}" for i in range(len(table))])])
    figure = tau_lambda_slices(fold_cells(hot, "linear_accuracy"), LIGHT)
    colors = [trace.line.color for trace in drawn(figure, "lines+markers")]
    assert len(set(colors)) == len(colors)


def test_the_difference_marks_what_the_seeds_can_show():
    a, b = cells(slope=1.0), cells(slope=-1.0, seed=1)
    table = compare_cells(a, b)
    figure = tau_lambda_difference(table, LIGHT, metric="linear_accuracy", names=("masked", "kept"))
    stars = sum("★" in text for row in heat(figure).text for text in row)
    assert stars == int((table["p_holm"] <= 0.05).sum()) > 0
    assert f"★ {stars} significant" in figure.layout.title.text
    assert heat(figure).zmin == -heat(figure).zmax
    assert "○" not in figure.layout.title.text
    alone = tau_lambda_difference(table.assign(p_holm=np.nan), LIGHT, metric="linear_accuracy", names=("masked", "kept"))
    assert "○ not tested" in alone.layout.title.text
    nothing = tau_lambda_difference(table.assign(difference=-0.0001), LIGHT, metric="linear_accuracy", names=("masked", "kept"))
    assert all(text.startswith("0.000") for row in heat(nothing).text for text in row)


def test_rings_have_the_colour_of_their_line():
    folded = cells()
    figure = tau_lambda_slices(folded, LIGHT, ridge=find_ridge(folded), lam_name="lambda, as written")
    rings = next(trace for trace in figure.data if trace.mode == "markers")
    assert set(rings.marker.color) <= {trace.line.color for trace in drawn(figure, "lines+markers")}
    assert figure.layout.xaxis.title.text == "Weight lambda, as written (log)"


def test_lower_is_better_metrics_turn_the_colours_over():
    folded = cells().assign(mean=lambda table: -4 + table["mean"])
    assert heat(tau_lambda(folded, LIGHT, metric="uniformity")).reversescale
    assert not METRICS["uniformity"].higher_is_better
    assert "uniformity −3.05" in hover_texts(folded.assign(mean=-3.05, sd=np.nan), "uniformity")[0]
