"""Figures of heads and priors: dots, gaps, distributions; neighbours' pictures, cosines and the plane."""

import numpy as np
import pandas as pd
import pytest

from core.figures.align_uniform_plane import Named, align_uniform_plane
from core.figures.gradient_agreement import gradient_agreement
from core.figures.head_depths import head_depths
from core.figures.head_gaps import head_gaps
from core.figures.previews import Preview, previews
from core.figures.prior_reached import Shown, prior_reached
from core.figures.self_share import self_share, self_share_curve
from core.figures.similarity_lines import Similarity, similarity_lines
from core.figures.theme import DARK, LIGHT, OBJECTIVE_COLORS
from core.geometry.closed_forms import cosine_density
from core.geometry.priors import draw, reached
from core.geometry.samples import cosine_densities
from core.studies.heads import fold_heads, judge_heads
from tests.studies.test_heads import runs


def test_the_line_of_guessing_is_named_where_it_is_drawn():
    cells = fold_heads(runs({1: 0.05, 4: 0.01}), "linear_accuracy")
    whole = head_depths(cells, LIGHT, zoom=False, chance=0.1)
    assert [note.y for note in whole.layout.annotations if note.text == "chance"] == [0.1]
    assert all(note.text != "chance" for note in head_depths(cells, LIGHT, chance=0.1).layout.annotations)


def test_dots_show_every_seed_and_the_mean():
    cells = fold_heads(pd.concat([runs({1: 0.05, 4: 0.01}), runs({1: 0.05, 4: 0.01}, epochs=5)]), "linear_accuracy")
    figure = head_depths(cells, LIGHT)
    means = [trace for trace in figure.data if trace.mode == "lines+markers"]
    seeds = [trace for trace in figure.data if trace.mode == "markers"]
    assert len(means) == len(seeds) == 10 and {len(trace.y) for trace in seeds} == {6}
    assert means[0].line.color == OBJECTIVE_COLORS["nt_xent"] and means[0].xaxis != means[-1].xaxis
    assert means[0].error_y.array == pytest.approx(cells[cells["objective"] == "nt_xent"].query("epochs == 5")["sd"])
    titles = [note.text for note in figure.layout.annotations]
    assert {"5 epochs", "20 epochs", "NT-Xent", "SWD, normal"} <= set(titles)
    assert figure.layout.yaxis.range[0] > 0.8
    assert tuple(head_depths(cells, DARK, zoom=False, chance=0.1).layout.yaxis.range) == (0, 1.02)


def test_a_chosen_run_is_ringed_at_its_own_value():
    cells = fold_heads(runs({1: 0.05, 4: 0.01}), "linear_accuracy")
    row = cells.iloc[3]
    ring = head_depths(cells, LIGHT, selected=row["run_ids"][1]).data
    ring = [trace for trace in ring if trace.marker.symbol == "circle-open"]
    assert len(ring) == 1 and ring[0].y[0] == row["values"][1]


def test_gaps_are_open_where_losses_cannot_be_told_apart():
    claim = judge_heads(fold_heads(runs({1: 0.06, 4: 0.0}), "linear_accuracy"), 20)
    figure = head_gaps([claim], LIGHT)
    line = figure.data[0]
    assert line.y == pytest.approx([gap.gap for gap in claim.gaps])
    assert list(line.marker.symbol) == ["circle", "circle-open"]


@pytest.mark.parametrize("prior", ["hypersphere", "hypercube", "normal"])
def test_an_embedding_that_is_the_prior_lies_on_the_grey_line(prior):
    rows = draw(prior, 1500, 16, seed=3)
    norms = np.linalg.norm(rows, axis=1)
    here = reached(rows / norms[:, None], norms, prior)
    figure = prior_reached([Shown("1 layer", here)], prior, 16, LIGHT)
    theory = [trace for trace in figure.data if trace.name == "the prior"]
    assert len(theory) == (2 if prior == "hypersphere" else 3)
    assert ("free: rows are normalised" in figure.layout.xaxis.title.text) == (prior == "hypersphere")
    assert not figure.layout.annotations  # nothing is written across the curves
    coordinate = next(trace for trace in theory if trace.xaxis == "x2")
    centers = here.coordinates.centers
    whole = np.abs(np.abs(centers) - 1) > centers[1] - centers[0]  # a bin that holds the cube's edge is partly empty
    expected = np.interp(centers, coordinate.x, coordinate.y)
    assert here.coordinates.density[whole] == pytest.approx(expected[whole], abs=0.12 * expected.max())


def test_neighbours_pictures_say_what_is_missing():
    random = np.random.default_rng(0)
    z = random.standard_normal((30, 3)).astype(np.float32)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    arrays = {"z": z, "pca": z, "labels": np.arange(30) % 3}
    figure = previews([Preview("here", arrays, focus=True), Preview("there", None, missing="beyond the grid")], LIGHT)
    said = [note.text for note in figure.layout.annotations]
    assert said == ["<b>here</b>", "beyond the grid", "there"]
    assert [shape.type for shape in figure.layout.shapes] == ["circle", "path"]  # d = 3: the globe


def test_cosine_lines_over_uniform_points():
    random = np.random.default_rng(0)
    z = random.standard_normal((400, 8))
    labels = random.integers(0, 4, 400)
    densities = cosine_densities(z, labels)
    figure = similarity_lines([Similarity("this cell", "#000000", densities)], 8, LIGHT)
    assert figure.data[0].y == pytest.approx(cosine_density(densities.centers.astype(float), 8), rel=1e-4)
    assert np.abs(densities.other_class - cosine_density(densities.centers.astype(float), 8)).mean() < 0.05


def test_the_plane_names_the_open_cell():
    points = pd.DataFrame(
        {
            "tau": [0.1, 0.2, 0.5],
            "lam": [1.0, 1.0, 1.0],
            "alignment": [0.1, 0.2, np.nan],
            "uniformity": [-3.0, -2.0, -1.0],
            "linear_accuracy": [0.9, 0.8, 0.7],
            "run_ids": [("a",), ("b",), ("c",)],
        }
    )
    figure = align_uniform_plane(points, [Named(("b",), "this cell", "#E69F00"), Named(("z",), "", "#000000")], 64, LIGHT)
    assert len(figure.data) == 2 and len(figure.data[0].x) == 2
    assert (figure.data[1].x[0], figure.data[1].y[0]) == pytest.approx((-2.0, 0.2))


@pytest.mark.parametrize(
    ("tau", "share"), [(0.05, 1.000), (0.07, 0.999), (0.1, 0.967), (0.2, 0.208), (0.3, 0.050), (0.5, 0.014), (1.0, 0.005)]
)
def test_the_share_of_the_self_term(tau, share):
    """Theory, section 3.4: 512 uniform points in 128 dimensions."""
    assert self_share(512, 128, tau) == pytest.approx(share, abs=1e-3)
    assert f"at tau {tau:g}" in self_share_curve(512, 128, tau, LIGHT).layout.title.text.replace("<br>", " ")


def test_agreement_titles_follow_the_numbers():
    lams = np.geomspace(1e-4, 10, 41)
    ones = np.ones((3, 41))
    assert "every convention follows NT-Xent" in gradient_agreement(lams, ones, 0.1, 64, LIGHT).layout.title.text.replace(
        "<br>", " "
    )
    against = ones.copy()
    against[2] = -0.88
    assert "points against NT-Xent's: cosine −0.88" in gradient_agreement(
        lams, against, 0.1, 64, LIGHT
    ).layout.title.text.replace("<br>", " ")
