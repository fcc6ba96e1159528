"""MultiDigits against slow oracles: ink boxes, pasting, no overlap, sizes, grid cells, label pairs, bad input."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from core.datasets import load
from core.datasets.digit_on_image import resized
from core.datasets.multi_digits import MultiDigits, free_places, ink_boxes, paste
from core.datasets.rivals import Occasion
from core.training import RunSpec
from core.validation import explain

CPU = torch.device("cpu")
N = 40


@pytest.fixture(scope="module", autouse=True)
def cache_root(tmp_path_factory):
    """One cache for the whole file: the digits are decoded once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTRASTIVE_LENS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("CONTRASTIVE_LENS_DATA", raising=False)
        yield




@pytest.fixture(scope="module")
def data():
    return load(RunSpec(n_train=300, n_test=60, batch_size=100))


def scene(data, **fields) -> MultiDigits:
    return MultiDigits(RunSpec(n_train=300, n_test=60, batch_size=100, **fields), data.train, data.test, CPU)


def draw(rival: MultiDigits, rows=None, occasion=Occasion(turn=0)):  # noqa: B008 (immutable)
    rows = torch.arange(N) if rows is None else rows
    return rival.draw(torch.empty(len(rows), 1, 28, 28), rows, rows * 104_729 + 1, occasion)


def test_ink_boxes_agree_with_a_search():
    tiles = (torch.rand(20, 9, 9, generator=torch.Generator().manual_seed(0)) > 0.9).byte() * 50
    tiles[0] = 0
    boxes = ink_boxes(tiles)
    assert (boxes.height[0], boxes.width[0]) == (1, 1)
    for k in range(1, 20):
        ys, xs = np.nonzero(tiles[k].numpy())
        if len(ys):
            expected = (ys.min(), xs.min(), ys.max() - ys.min() + 1, xs.max() - xs.min() + 1)
            assert tuple(int(part[k]) for part in boxes) == expected


def test_pasting_agrees_with_a_loop_and_cuts_what_is_outside():
    generator = torch.Generator().manual_seed(1)
    canvas = torch.randint(0, 256, (6, 12, 12), dtype=torch.uint8, generator=generator)
    tiles = torch.randint(0, 256, (6, 5, 5), dtype=torch.uint8, generator=generator)
    top, left = torch.tensor([0, -2, 9, 3, 7, 4]), torch.tensor([0, 5, -3, 10, 7, 4])
    expected = canvas.numpy().copy()
    for n in range(6):
        for y in range(5):
            for x in range(5):
                row, column = int(top[n]) + y, int(left[n]) + x
                if 0 <= row < 12 and 0 <= column < 12:
                    expected[n, row, column] = max(expected[n, row, column], tiles[n, y, x])
    paste(canvas, tiles, top, left)
    np.testing.assert_array_equal(canvas.numpy(), expected)


def test_the_first_free_place_is_taken_and_the_least_bad_one_where_none_is_free():
    tiles = torch.ones(1, 4, 4, dtype=torch.uint8)
    taken = [(torch.tensor([0]), torch.tensor([0]), torch.tensor([6]), torch.tensor([10]))]  # the upper six rows of ten
    numbers = torch.tensor([[[0.0, 0.0], [0.5, 0.3], [0.99, 0.5], [0.99, 0.0]]])  # tops 0, 3, 6, 6
    top, left = free_places(ink_boxes(tiles), taken, numbers, 10)
    assert (int(top), int(left)) == (6, 3)
    top, left = free_places(ink_boxes(tiles), taken, numbers[:, :2], 10)
    assert (int(top), int(left)) == (3, 2)


def glyphs(canvas: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Bounding boxes of the parts of a canvas that touch, also over gaps of two pixels inside a digit."""
    from scipy import ndimage

    labels, _ = ndimage.label(ndimage.binary_dilation(canvas > 0, iterations=1))
    return [(box[0].start, box[1].start, box[0].stop, box[1].stop) for box in ndimage.find_objects(labels)]


@pytest.mark.parametrize(("side", "size"), [(112, 20), (112, 80), (64, 44), (64, 20)])
def test_two_sizes_hold_both_digits_whole_and_apart(data, side, size):
    """The canvas is nothing but the two resized, cut glyphs: ink adds up, so neither hides a part of the other."""
    rival = scene(data, scene="two_sizes", digit_size=size, image_size=side)
    drawn = draw(rival)
    fixed = 20
    images, labels = torch.tensor(np.array(data.train.images)), torch.tensor(data.train.labels)
    own = resized(images[:N, ..., 0], fixed).long().flatten(1).sum(1)
    large = resized(images[..., 0], size).long().flatten(1).sum(1)
    for n in range(N):
        ink = int(drawn.images[n].long().sum())
        partners = (large == ink - own[n]).nonzero()[:, 0]
        assert len(partners), f"canvas {n}: its ink is not that of two whole digits"
        assert int(drawn.labels[n]) in labels[partners].tolist()


def test_all_sizes_come_in_turn_when_none_is_asked_for(data):
    rival = scene(data, scene="two_sizes")
    assert rival.sizes == (20, 30, 40, 50, 60, 70, 80)
    assert scene(data, scene="two_sizes", image_size=64).sizes == (20, 30, 40)
    drawn = draw(rival, torch.arange(300))
    extents = []
    for canvas in drawn.images[:, 0]:
        box = ink_boxes(canvas[None])
        extents.append(int(max(box.height, box.width)))
    assert min(extents) < 60 and max(extents) > 90
    ink = drawn.images.long().flatten(1).sum(1)
    assert ink.max() > 5 * ink.min()


def test_grid_fills_the_asked_number_of_cells_with_whole_digits(data):
    rival = scene(data, scene="grid")
    drawn = draw(rival)
    cells = drawn.images[:, 0].reshape(N, 4, 28, 4, 28).permute(0, 1, 3, 2, 4).reshape(N, 16, 28, 28)
    known = {image.tobytes() for image in np.array(data.train.images[..., 0])}
    for n in range(N):
        filled = [cell.numpy().tobytes() for cell in cells[n] if cell.any()]
        assert len(filled) == 12 and set(filled) <= known
        assert np.array(data.train.images[n, ..., 0]).tobytes() in filled
    assert cells.any(-1).any(-1).float().mean(0).min() > 0.5  # every cell is used


def test_random_digits_keep_apart(data):
    rival = scene(data, scene="random")
    drawn = draw(rival)
    images = torch.tensor(np.array(data.train.images[..., 0]))
    most = int(resized(images, 20).long().flatten(1).sum(1).max())
    own = resized(images[:N], 20).long().flatten(1).sum(1)
    ink = drawn.images.long().flatten(1).sum(1)
    assert (ink > own).all() and (ink <= own + 7 * most).all()
    assert np.mean([len(glyphs(canvas.numpy())) for canvas in drawn.images[:, 0]]) > 6  # neighbours may touch, none is covered


@pytest.mark.parametrize("name", ["grid", "random"])
def test_evaluation_shows_the_own_digit_alone(data, name):
    rival = scene(data, scene=name)
    drawn = draw(rival, occasion=Occasion(train=False))
    size = 28 if name == "grid" else 20
    own = resized(torch.tensor(np.array(data.test.images[:N, ..., 0])), size).long().flatten(1).sum(1)
    torch.testing.assert_close(drawn.images.long().flatten(1).sum(1), own, rtol=0, atol=0)
    assert (drawn.labels == -1).all()


@pytest.mark.parametrize("name", ["two_sizes", "grid", "random"])
def test_scenes_are_those_of_image_seed_and_turn(data, name):
    rival, fixed = scene(data, scene=name), scene(data, scene=name, digit_draw="fixed")
    one, two = draw(rival), draw(rival, occasion=Occasion(turn=1))
    assert torch.equal(one.images, draw(rival).images) and not torch.equal(one.images, two.images)
    assert torch.equal(one.images[5:9], draw(rival, torch.arange(5, 9)).images)
    assert torch.equal(draw(fixed).images, draw(fixed, occasion=Occasion(turn=1)).images)
    assert not torch.equal(one.images, draw(scene(data, scene=name, seed=1)).images)


@pytest.mark.parametrize("name", ["two_sizes", "grid", "random"])
def test_views_can_hold_the_same_digits_at_other_places(data, name):
    rival = scene(data, scene=name, digit_draw="views")
    one, two = (draw(rival, occasion=Occasion(turn=3, view=view)) for view in (0, 1))
    assert torch.equal(one.labels, two.labels) and not torch.equal(one.images, two.images)
    torch.testing.assert_close(*(drawn.images.long().flatten(1).sum(1) for drawn in (one, two)), rtol=0, atol=0)  # the same ink
    shared = scene(data, scene=name)
    assert torch.equal(*(draw(shared, occasion=Occasion(turn=3, view=view)).images for view in (0, 1)))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"digit_draw": "views"},
            "digit_draw: only the digits of a canvas (scene) can lie at other places in each view, got 'views'",
        ),
        (
            {"scene": "two_sizes", "digit_size": 93},
            "digit_size: beside the fixed digit of 20 px, a canvas of 112 px has room for a digit of up to 92 px, got 93",
        ),
        (
            {"scene": "grid", "image_size": 32},
            "image_size: a canvas needs at least 40 px a side for digits of 20 px, got 32",
        ),
        ({"scene": "random", "scene_digits": 9}, "scene_digits: a random canvas holds 1 to 8 digits, got 9"),
        ({"scene": "two_sizes", "scene_digits": 3}, "scene_digits: a two_sizes canvas holds exactly 2 digits, got 3"),
        ({"scene": "grid", "digit_size": 30}, "digit_size: only the two_sizes scene has a growing digit, got 30 with grid"),
        (
            {"scene": "grid", "dataset": "cifar10"},
            "scene: canvases are made of the digits of mnist or mnist-5k, got dataset 'cifar10'",
        ),
        ({"scene": "grid", "digits": 4}, "digits: a grid canvas has no room for an overlay; leave digits out, got 4"),
        (
            {"scene": "grid", "objective": "supervised"},
            "objective: a grid canvas of several digits has no one label to train on, got 'supervised'",
        ),
        ({"scene_digits": 4}, "scene_digits: only a grid or random scene has several digits, got 4 with a picture"),
        (
            {"digits": 4, "digit_size": 9, "image_size": 32},
            "digit_size: nine copies fit on 32 x 32 px up to 8 px a side, got 9. "
            "Lower digit_size, or enlarge the images (image_size).",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused(fields, text):
    with pytest.raises(ValidationError) as caught:
        RunSpec(**fields)
    assert explain(caught.value) == text
