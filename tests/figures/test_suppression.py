"""The suppression curve and the loss panel: what is drawn, where ids are, and what must never set the scale."""

import numpy as np
import pandas as pd
import pytest

from core.figures.lines import Progress, series_colors
from core.figures.loss_floor import floor_of, loss_floor
from core.figures.series import fold_seeds
from core.figures.suppression import suppression
from core.figures.theme import DARK, LIGHT, temperature_colors
from core.studies import Store
from tests import fixtures


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> pd.DataFrame:
    root = tmp_path_factory.mktemp("store")
    fixtures.fill(root, fixtures.study(), embeddings=False)
    return Store(root).table("randbit-mnist-5k")


@pytest.fixture
def cells(runs) -> pd.DataFrame:
    return fold_seeds(runs, "linear_accuracy", "bits")


def lines(figure) -> dict:
    """The main traces by name: those with a line and markers."""
    return {trace.name: trace for trace in figure.data if trace.mode == "lines+markers"}


def test_one_line_per_temperature_and_baseline(cells):
    drawn = lines(suppression(cells, LIGHT, chance=0.1))
    assert list(drawn) == ["tau 0.05", "tau 0.1", "tau 0.2", "Supervised", "Untrained"]
    assert drawn["tau 0.1"].x.dtype == np.float32 and drawn["tau 0.1"].y.dtype == np.float32
    assert drawn["tau 0.1"].x.tolist() == [0, 1, 2, 3, 5, 8, 10, 12, 15, 20]


def test_values_are_the_means(cells, runs):
    point = lines(suppression(cells, LIGHT))["tau 0.1"].y[6]
    chosen = runs[(runs["bits"] == 10) & (runs["tau"] == 0.1) & (runs["objective"] == "nt_xent")]
    assert point == pytest.approx(chosen["linear_accuracy"].mean(), abs=1e-6)


def test_points_carry_the_id_of_their_first_seed(cells, runs):
    trace = lines(suppression(cells, LIGHT))["tau 0.2"]
    first = runs[(runs["bits"] == 15) & (runs["tau"] == 0.2) & (runs["objective"] == "nt_xent") & (runs["seed"] == 0)]
    assert trace.customdata[list(trace.x).index(15)] == first["run_id"].iloc[0]


def test_temperature_keeps_its_colour_whatever_else_is_drawn(cells):
    alone = cells[cells["series"] == "tau 0.1"]
    assert series_colors(cells)["tau 0.1"] == series_colors(alone)["tau 0.1"] == temperature_colors([0.1])[0.1]


def test_tested_values_are_the_ticks_and_accuracy_runs_from_0_to_1(cells):
    figure = suppression(cells, LIGHT, chance=0.1)
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2, 3, 5, 8, 10, 12, 15, 20]
    assert tuple(figure.layout.yaxis.range) == (0, 1.02)


def test_zoom_fits_the_data_and_says_so(cells):
    figure = suppression(cells[cells["series"] == "Supervised"], LIGHT, zoom=True, title="t", subtitle="s")
    low, high = figure.layout.yaxis.range
    assert 0.85 < low < high < 1.05
    assert "zoomed to the data" in figure.layout.title.text


def test_chance_is_named_only_where_it_is_shown(cells):
    """Zoomed far above it, the name stood at the lower end of the axis, as if chance were 0.85."""

    def names(**how):
        figure = suppression(cells[cells["series"] == "Supervised"], LIGHT, chance=0.1, **how)
        return [note.text.strip() for note in figure.layout.annotations], figure.layout.shapes

    assert "chance" in names()[0] and len(names()[1]) == 1
    assert "chance" not in names(zoom=True)[0] and not names(zoom=True)[1]


def test_same_input_same_json(cells):
    """Unchanged figures are sent by reference, so building twice must give the same bytes."""
    assert suppression(cells, DARK, chance=0.1).to_json() == suppression(cells, DARK, chance=0.1).to_json()


def test_unfinished_study_is_dotted_half_opaque_and_counted(cells):
    figure = suppression(cells, LIGHT, progress=Progress(12, 90), title="t")
    assert all(trace.line.dash == "dot" and trace.opacity == 0.5 for trace in lines(figure).values())
    assert "12 of 90 runs" in figure.layout.title.text
    done = suppression(cells, LIGHT, progress=Progress(90, 90), title="t")
    assert all(trace.line.dash == "solid" and trace.opacity == 1 for trace in lines(done).values())


def test_bands_follow_the_choice(cells):
    def band(spread):
        figure = suppression(cells[cells["series"] == "tau 0.1"], LIGHT, spread=spread)
        return next(trace for trace in figure.data if trace.fill == "toself")

    cell = cells[(cells["series"] == "tau 0.1") & (cells["x"] == 0)].iloc[0]
    assert band("sd").y[0] == pytest.approx(cell["mean"] + cell["sd"], abs=1e-6)
    assert band("range").y[0] == pytest.approx(cell["high"], abs=1e-6)


def test_no_band_lies_over_points_of_one_seed(runs):
    """With second seeds at the ends of the dial only, the band ran straight across it, far from the line between."""
    some = runs[(runs["tau"] == 0.1) & (runs["objective"] == "nt_xent") & ((runs["seed"] == 0) | runs["bits"].isin([0, 1, 20]))]
    some = fold_seeds(some, "linear_accuracy", "bits")
    figure = suppression(some, LIGHT)
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    assert [sorted(set(trace.x.tolist())) for trace in bands] == [[0, 1]]
    alone = next(trace for trace in figure.data if trace.error_y.array is not None)
    end = some[some["x"] == 20].iloc[0]
    assert alone.x.tolist() == [20] and alone.y[0] == pytest.approx(end["mean"], abs=1e-6)
    assert alone.error_y.array[0] == pytest.approx(end["sd"], abs=1e-6)


def test_every_seed_is_a_point_with_its_own_id(cells, runs):
    figure = suppression(cells[cells["series"] == "tau 0.1"], LIGHT, spread="seeds")
    rings = next(trace for trace in figure.data if trace.mode == "markers")
    assert len(rings.x) == 30 and len(set(rings.customdata)) == 30
    assert not any(trace.fill == "toself" for trace in figure.data)


def test_selected_run_is_marked_by_its_point(cells):
    run_id = cells[(cells["series"] == "tau 0.2") & (cells["x"] == 10)]["run_ids"].iloc[0][2]  # its third seed
    drawn = lines(suppression(cells, LIGHT, selected=run_id))
    assert list(drawn["tau 0.2"].selectedpoints) == [6]
    assert list(drawn["tau 0.1"].selectedpoints) == []
    assert lines(suppression(cells, LIGHT, selected="0" * 12))["tau 0.2"].selectedpoints is None


def test_diverged_cells_are_crossed_counted_and_do_not_set_the_scale(runs):
    """A diverged run with a huge value must leave the range as it is (one outlier flattened everything elsewhere)."""
    runs = runs.copy()
    hit = (runs["bits"] == 20) & (runs["tau"] == 0.2) & (runs["objective"] == "nt_xent")
    runs.loc[hit, "status"], runs.loc[hit, "loss"] = "diverged", 1e6
    figure = loss_floor(fold_seeds(runs, "loss", "bits"), LIGHT, title="t")
    assert figure.layout.yaxis.range[1] < 8
    crosses = next(trace for trace in figure.data if trace.mode == "markers")
    assert crosses.x.tolist() == [20] and crosses.customdata[0] in set(runs.loc[hit, "run_id"])
    assert "3 diverged" in figure.layout.title.text


def test_published_values_are_hollow_dashed_and_named(cells):
    theirs = pd.DataFrame({"bits": [0, 5], "tau": [0.1, 0.1], "value": [0.89, 0.61], "label": ["Chen et al., notebook"] * 2})
    figure = suppression(cells, LIGHT, published=theirs, title="t")
    trace = next(trace for trace in figure.data if trace.marker.symbol == "diamond-open")
    assert trace.line.dash == "dash" and trace.line.color == temperature_colors([0.1])[0.1]
    assert trace.customdata is None  # not a run of ours: a click opens nothing
    assert "◇ Chen et al., notebook" in figure.layout.title.text


def test_bits_known_has_the_diagonal(runs):
    figure = suppression(fold_seeds(runs, "bits_known", "bits"), LIGHT, metric="bits_known")
    diagonal = next(trace for trace in figure.data if trace.mode == "lines" and trace.fill is None)
    assert diagonal.x.tolist() == diagonal.y.tolist() == [0, 20]


def test_end_labels_do_not_overlap_and_stay_inside(cells):
    figure = suppression(cells, LIGHT, chance=0.1)
    heights = sorted(note.y for note in figure.layout.annotations)
    assert len(heights) == 6 and min(np.diff(heights)) > 0.05 and heights[0] >= 0 and heights[-1] <= 1.02


def test_empty_study_draws_an_empty_axis(cells):
    figure = suppression(cells.iloc[:0], LIGHT, chance=0.1)
    assert len(figure.data) == 0 and figure.layout.yaxis.range is not None


# The loss panel


def test_floor_is_the_printed_one(runs):
    """Anchors of theory.md, section 7.10, n = 256: 6.236 without bits, 2.0754 with 6, 0.2564 with 10."""
    figure = loss_floor(fold_seeds(runs.assign(batch_size=256), "loss", "bits"), LIGHT)
    floor = figure.data[0]
    assert floor.y[[0, 6, 10]].tolist() == pytest.approx([6.2364, 2.0754, 0.2564], abs=1e-4)


def test_cross_view_floor_sums_both_directions():
    """Anchor: cross-view, n = 1000, 5 bits: 3.4576 in each direction."""
    assert floor_of(1000, 5, "cross_view") == pytest.approx(2 * 3.4576, abs=2e-4)


def test_floor_agrees_with_what_runs_record(runs):
    for run in runs[(runs["objective"] == "nt_xent") & (runs["seed"] == 0)].itertuples():
        assert run.loss_floor == pytest.approx(floor_of(run.batch_size, run.bits, "nt_xent"))


def test_loss_panel_leaves_out_other_losses(runs):
    """A supervised cross entropy is on another scale."""
    drawn = lines(loss_floor(fold_seeds(runs, "loss", "bits"), LIGHT))
    assert list(drawn) == ["tau 0.05", "tau 0.1", "tau 0.2"]


def test_saturation_is_marked_only_inside_the_tested_range(runs):
    cells = fold_seeds(runs, "loss", "bits")
    assert loss_floor(cells, LIGHT).layout.shapes[0].x0 == pytest.approx(np.log2(499))
    assert not loss_floor(cells[cells["x"] <= 5], LIGHT).layout.shapes


def test_a_temperature_that_leaves_a_rest_has_its_own_floor(runs):
    """Anchor of theory.md, section 7.10, n = 256, tau 0.2: 1.5956 with 10 bits; at 0.05 codes leave next to nothing."""
    figure = loss_floor(fold_seeds(runs.assign(batch_size=256), "loss", "bits"), LIGHT)
    finite = [trace for trace in figure.data if trace.mode == "lines" and trace.line.dash == "dot"]
    assert len(finite) == 1 and finite[0].y[10] == pytest.approx(1.5956, abs=1e-4)
    assert "floor, tau 0.2" in [note.text for note in figure.layout.annotations]


def test_each_batch_size_has_its_own_floor(runs):
    both = pd.concat([runs, runs.assign(batch_size=64, run_id=runs["run_id"].str[::-1])])
    figure = loss_floor(fold_seeds(both, "loss", "bits"), LIGHT)
    floors = [trace for trace in figure.data if trace.mode == "lines" and trace.line.dash == "solid"]
    assert [trace.y[5] for trace in floors] == pytest.approx([floor_of(64, 5, "nt_xent"), floor_of(250, 5, "nt_xent")])
    assert [shape.x0 for shape in figure.layout.shapes] == pytest.approx([np.log2(127), np.log2(499)])
    said = [note.text for note in figure.layout.annotations]
    assert "bits suffice from 7 to 9" in said and {"floor, tau 0.2, batch 64", "floor, tau 0.2, batch 250"} <= set(said)


def test_end_labels_of_a_low_chart_do_not_touch(runs):
    """Labels were parted by a share of the y range, so the names of chance and a line at chance covered each other at 320 px."""
    cells = fold_seeds(runs[(runs["tau"] == 0.1) & (runs["objective"] == "nt_xent")], "linear_accuracy", "bits")
    figure = suppression(cells, LIGHT, chance=0.1, title="t", subtitle="s", height=320)
    first, second = sorted(note.y for note in figure.layout.annotations)
    inner = 320 - figure.layout.margin.t - figure.layout.margin.b - 55  # ticks and title of the x axis
    assert (second - first) / 1.02 * inner >= 15.9


def test_names_of_rings_do_not_cover_each_other(runs):
    """With a core for each run, rings at one dial or at neighbouring ones had their names on top of each other."""
    training = runs[(runs["seed"] == 0) & runs["bits"].isin([0, 1, 20])].assign(status="running", online_accuracy=0.9)
    training.loc[training["bits"] == 20, "online_accuracy"] = 0.1
    figure = suppression(fold_seeds(training, "online_accuracy", "bits"), LIGHT, metric="online_accuracy", in_progress=training)
    (rings,) = (trace for trace in figure.data if trace.mode == "markers+text")
    shown = [(x, where) for x, where, name in zip(rings.x.tolist(), rings.textposition, rings.text, strict=True) if name]
    assert len(set(shown)) == len(shown) and {x for x, _ in shown} >= {1, 20}
    assert all(where.endswith("left" if x == 20 else "right") for x, where in shown)
    assert all(rings.hovertext)  # a name that found no room is still told


def test_the_name_of_a_ring_that_stands_alone_is_beside_it(runs):
    training = runs[(runs["seed"] == 0) & (runs["tau"] == 0.1) & runs["bits"].isin([0, 20]) & (runs["objective"] == "nt_xent")]
    training = training.assign(status="running", online_accuracy=0.5)
    figure = suppression(fold_seeds(training, "online_accuracy", "bits"), LIGHT, metric="online_accuracy", in_progress=training)
    (rings,) = (trace for trace in figure.data if trace.mode == "markers+text")
    assert sorted(rings.textposition) == ["middle left", "middle right"] and all(rings.text)
