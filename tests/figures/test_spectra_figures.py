"""Spectrum, cosine histograms, confusion, CKA, neighbours: marks at the right place, exact theory, nothing hidden."""

import re

import numpy as np
import pytest

from core.figures.cka import cka_matrix
from core.figures.confusion import confusion, read_cell
from core.figures.cosine_histograms import cosine_histograms, gap, kinds, mean_cosine, uniform_shares
from core.figures.neighbours import Thumbnail, neighbours
from core.figures.spectrum import FLOOR, Spectrum, collapsed, effective_rank, spectrum_figure, takeaway
from core.figures.text import NARROW_SUBTITLE, WIDE_SUBTITLE
from core.figures.theme import DARK, LIGHT
from core.figures.thumbnails import Picture, thumbnails
from core.geometry import eigenvalue_rank, spectrum


def test_effective_rank_and_collapse():
    assert effective_rank(np.ones(10)) == pytest.approx(10)
    assert effective_rank(np.array([3.0, 1.0])) == pytest.approx(1.754765, abs=1e-5)
    assert np.isnan(effective_rank(np.zeros(3))) and collapsed(np.zeros(3)) == 3
    assert collapsed(np.array([1.0, 1e-5, 1e-7, 0.0])) == 2


def test_the_spectrum_marks_the_rank_and_the_first_dead_dimension():
    z = Spectrum("z", np.array([2.0, 1.0, 0.0, 0.0]), "#0072B2")
    fig = spectrum_figure([z, Spectrum("h", np.ones(6), "#E69F00")], LIGHT)
    assert "2 of the 4 dimensions of z have collapsed" in fig.layout.title.text
    np.testing.assert_allclose(fig.data[0].y, [1, 0.5, FLOOR, FLOOR], rtol=1e-6)
    marks = {trace.marker.symbol: trace for trace in fig.data if trace.marker.symbol}
    assert marks["x"].x[0] == 3
    assert [trace.x[0] for trace in fig.data if trace.marker.symbol == "diamond"] == pytest.approx([1.8899, 6], abs=1e-3)
    low, high = fig.layout.yaxis.range
    assert low < np.log10(FLOOR) and high > 0


def test_a_complete_collapse_is_said():
    fig = spectrum_figure([Spectrum("z", np.zeros(3), "#0072B2")], DARK)
    assert "complete collapse" in fig.layout.title.text


def test_a_point_is_no_sound_spectrum():
    """Relative to the largest value, the spectrum of a point can look even; the variance gives it away."""
    z = np.array([1.0, 0, 0, 0]) + np.random.default_rng(0).normal(scale=0.01, size=(200, 4))
    said = takeaway([Spectrum("h", np.full(4, 0.2), "#E69F00"), Spectrum("z", spectrum(z), "#0072B2")])
    assert said.startswith("z has collapsed to nearly one point")


@pytest.mark.parametrize(("n", "d"), [(1000, 2048), (300, 512), (40, 40)])
def test_few_images_are_not_a_collapse(n, d):
    """n centred rows span n - 1 dimensions: the other values are zero for any encoder."""
    z = np.random.default_rng(0).normal(size=(n, d))
    one = Spectrum("h", spectrum(z), "#0072B2", images=n)
    assert collapsed(one.values) == d - n + 1  # what was counted before
    said = takeaway([one])
    assert said.startswith("No dimension has collapsed; h has effective rank")
    fig = spectrum_figure([one], LIGHT)
    assert len(fig.data[0].y) == n - 1 and fig.layout.xaxis.range[1] == n - 0.5
    assert fig.data[0].y.min() > 1e-6 and not [trace for trace in fig.data if trace.marker.symbol == "x"]
    assert f"of at most {n - 1:,} with {n:,} images" in said and f"of at most {n - 1:,}" in fig.layout.annotations[0].text
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    assert effective_rank(one.possible) == pytest.approx(eigenvalue_rank(unit))


def test_a_collapse_among_few_images_is_still_seen():
    z = np.random.default_rng(0).normal(size=(300, 512))
    z[:, 20:] = 0
    said = takeaway([Spectrum("h", spectrum(z), "#0072B2", images=300)])
    assert said == "h varies in 20 dimensions only, of at most 299 with 300 images: the rest has collapsed"
    many = Spectrum("z", np.r_[np.ones(6), 0, 0], "#0072B2", images=1000)
    assert takeaway([many]) == "2 of the 8 dimensions of z have collapsed" and many.of == "of 8"


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_image(n):
    one = Spectrum("z", np.r_[float(n > 1), np.zeros(3)], "#0072B2", images=n)
    fig = spectrum_figure([one], DARK)
    assert len(fig.data[0].x) == 1 and "varies in" not in fig.layout.title.text


EDGES = np.linspace(-1, 1, 201)


@pytest.mark.parametrize("dim", [2, 3, 64])
def test_the_exact_law_of_uniform_points(dim):
    shares = uniform_shares(EDGES, dim)
    assert shares.sum() == pytest.approx(1)
    random = np.random.default_rng(0)
    z = random.normal(size=(600, dim))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    counts = np.histogram(np.clip((z @ z.T)[np.triu_indices(600, 1)], -1, 1), EDGES)[0]
    assert gap(counts, EDGES, dim) < 0.01
    assert gap(np.r_[np.zeros(199), 5], EDGES, dim) > 0.9


def test_histograms_are_densities_over_the_theory():
    same, different = np.zeros(200), np.zeros(200)
    same[190:] = 10
    different[95:105] = 7
    pairs = kinds(same, different, np.zeros(200))
    assert [entry.name for entry in pairs] == ["Same class", "Different classes"]  # no pair of views: left out
    fig = cosine_histograms(EDGES, pairs, 64, LIGHT)
    areas = [trace for trace in fig.data if trace.fill == "tozeroy"]
    assert [float(np.sum(trace.y) * 0.01) for trace in areas] == pytest.approx([1, 1])
    assert areas[0].customdata.sum() == same.sum()
    assert "0.95 on average, of different classes" in fig.layout.title.text
    assert mean_cosine(same, EDGES) == pytest.approx(0.95)
    with pytest.raises(ValueError, match="needs at least one kind of pairs"):
        cosine_histograms(EDGES, [], 64, LIGHT)
    with pytest.raises(ValueError, match="11 edges need 10 counts, got 200"):
        cosine_histograms(EDGES[:11], pairs, 64, LIGHT)


def test_infinite_ends_of_the_circle_do_not_set_the_scale():
    flat = np.ones(200)
    fig = cosine_histograms(EDGES, kinds(flat, flat), 2, LIGHT)
    assert max(axis.range[1] for axis in (fig.layout.yaxis, fig.layout.yaxis2)) < 2


def test_confusion_is_coloured_by_errors_and_clickable():
    counts = np.array([[90, 10], [1, 49]])
    fig = confusion(counts, LIGHT, classes=("cat", "dog"), subtitle="probe")
    heat, marks = fig.data
    assert np.isnan(heat.z[0][0]) and heat.z[0][1] == pytest.approx(0.1) and heat.z[1][0] == pytest.approx(0.02)
    said = fig.layout.title.text
    assert "cat taken for dog, 10 of 100 images" in said and "11 of 150 test images wrong" in said
    assert marks.customdata.tolist() == ["0,0", "0,1", "1,0", "1,1"] and read_cell("1,0") == (1, 0) and read_cell("x") is None
    with pytest.raises(ValueError, match="square matrix"):
        confusion(np.zeros((2, 3)), LIGHT)
    assert "every test image right" in confusion(np.eye(3, dtype=int), DARK).layout.title.text


def test_cka_names_the_most_alike_and_leaves_gaps():
    fig = cka_matrix(np.array([[1, 0.5, np.nan], [0.5, 1, 0.2], [np.nan, 0.2, 1]]), ["a", "b", "c"], LIGHT)
    assert "a and b are most alike, CKA 0.50" in fig.layout.title.text
    assert fig.data[1].text[2] == "–"  # first row, third column
    two = cka_matrix(np.array([[1, 0.84], [0.84, 1]]), ["a", "b"], LIGHT).layout.title.text
    assert "a and b have a CKA of 0.84" in two  # of two, "most alike" says nothing
    assert "No two encoders" in cka_matrix(np.full((1, 1), 1.0), ["a"], DARK).layout.title.text
    with pytest.raises(ValueError, match="one row per name"):
        cka_matrix(np.eye(2), ["a"], LIGHT)


ABOUT = "a-rather-long-name-of-a-checkpoint.pth.tar · ResNet-18 · h · Fashion-MNIST, 1,000 test images, seed 0"


def lines(fig):
    """Title and subtitle line by line, without markup."""
    return [re.sub("<[^>]*>", "", line) for line in fig.layout.title.text.split("<br>")]


@pytest.mark.parametrize(
    ("make", "widest"),
    [
        (lambda about: confusion(np.array([[90, 10], [99, 49]]), LIGHT, classes=("cat", "dog"), subtitle=about), WIDE_SUBTITLE),
        (lambda about: spectrum_figure([Spectrum("z", np.ones(4), "#0072B2")], LIGHT, subtitle=about * 2), WIDE_SUBTITLE),
        (lambda about: cka_matrix(np.eye(2), ["a" * 30, "b" * 30], LIGHT, subtitle=about), NARROW_SUBTITLE),
        (
            lambda about: thumbnails(
                [Picture(0, np.zeros((4, 4, 1), np.uint8), "7", "7")], LIGHT, per_row=12, title="Click an image",
                subtitle=f"{about} · frame: blue, the probe is right; orange, wrong",
            ),
            WIDE_SUBTITLE,
        ),
    ],
    ids=["confusion", "spectrum", "cka", "thumbnails"],
)  # fmt: skip
def test_long_subtitles_break_into_lines_and_get_the_room(make, widest):
    fig, short = make(ABOUT), make("")
    said = lines(fig)
    assert len(said) > 2 and max(map(len, said)) <= widest
    more = fig.layout.margin.t - (68 if len(lines(short)) == len(said) else short.layout.margin.t)
    assert more >= 21


def test_a_long_title_without_a_subtitle_gets_room_too():
    fig = cka_matrix(np.eye(2), ["a" * 24, "b" * 24], LIGHT)
    assert len(lines(fig)) == 2 and fig.layout.margin.t == 46 + 21


def test_neighbours_of_another_class_are_marked():
    image = np.zeros((4, 4, 1), np.uint8)
    nearest = [Thumbnail(image, 2, "7", 0.9), Thumbnail(image, 3, "1", 0.8)]
    fig = neighbours(Thumbnail(image, 1, "7"), nearest, LIGHT)
    assert len(fig.layout.images) == 3 and fig.data[0].customdata.tolist() == [1, 2, 3]
    assert "1 of the 2 nearest images are of its class, 7" in fig.layout.title.text
    assert [note.text for note in fig.layout.annotations] == ["<b>7</b>", "<b>7</b><br>0.90", "<b>✕ 1</b><br>0.80"]
    with pytest.raises(ValueError, match="pixels must be uint8"):
        neighbours(Thumbnail(np.zeros((4, 4, 1)), 1, "7"), [], LIGHT)
