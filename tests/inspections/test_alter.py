"""Alterations of images, and what is measured about them."""

import numpy as np
import pytest
import torch

from core.inspections import measure
from core.inspections.alter import changes, coarse, exchange, tiles
from core.inspections.alterations import ALTERATIONS


def test_every_operation_has_words_and_the_other_way_round():
    codes = np.arange(6, dtype=np.uint32)
    assert set(changes(codes, 6, 3, 0)) == set(ALTERATIONS)
    assert set(changes(None, 6, 1, 0)) == {"coarse", "tiles"}


@pytest.mark.parametrize("rows", [2, 3, 50])
def test_an_exchange_moves_everybody_once(rows):
    partner = exchange(rows, np.random.default_rng(0))
    assert sorted(partner) == list(range(rows)) and not (partner == np.arange(rows)).any()


def test_exchanged_bits_are_those_of_the_partner():
    codes = np.arange(100, 120, dtype=np.uint32)
    change = changes(codes, 20, 1, 3)["other_bits"]
    assert (change.codes == codes[change.partner]).all()
    assert not changes(codes, 20, 1, 3)["no_bits"].codes.any()


def test_tiles_move_and_nothing_is_lost():
    x = torch.arange(2 * 3 * 30 * 30.0).view(2, 3, 30, 30)
    order = torch.from_numpy(exchange(16, np.random.default_rng(1)))
    y = tiles(x, order)
    assert torch.equal(y.flatten().sort().values, x.flatten().sort().values)
    assert torch.equal(y[:, :, 28:], x[:, :, 28:]) and torch.equal(
        y[:, :, :, 28:], x[:, :, :, 28:]
    )  # the rest that no tile fills
    for place, source in enumerate(order.tolist()):
        (r, c), (sr, sc) = divmod(place, 4), divmod(source, 4)
        assert torch.equal(y[:, :, 7 * r : 7 * r + 7, 7 * c : 7 * c + 7], x[:, :, 7 * sr : 7 * sr + 7, 7 * sc : 7 * sc + 7])


def test_digits_are_laid_over_without_hiding_what_is_brighter():
    """The official way: the brighter of both, so a white image stays white and a black one shows nine copies."""
    overlay = changes(None, 5, 3, 0)["digits"].image
    black, white = overlay(torch.zeros(3, 3, 32, 32), slice(1, 4)), overlay(torch.ones(2, 3, 32, 32), slice(0, 2))
    assert torch.equal(white, torch.ones_like(white))
    assert torch.equal(black[:, 0], black[:, 2]) and black.max() <= 1
    left = [int(32 * share) for share in (0.15, 0.45, 0.75)]
    copies = [black[0, 0, top : top + 8, start : start + 8] for top in left for start in left]
    assert all(torch.equal(copy, copies[0]) for copy in copies) and copies[0].max() > 0.3
    assert torch.equal(overlay(torch.zeros(1, 3, 32, 32), slice(2, 3))[0], black[1])  # the row decides, not the batch


def test_coarse_removes_detail_and_keeps_the_mean():
    stripes = torch.zeros(1, 1, 32, 32)
    stripes[..., ::2] = 1
    y = coarse(stripes)
    assert y.shape == stripes.shape and torch.allclose(y, torch.full_like(y, 0.5))


def test_pull_by_hand():
    """Two axes: the image decides the first, the borrowed feature the second; the altered rows follow the feature."""
    plain = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    partner = np.array([1, 0, 3, 2])
    follows = measure.pull(plain, plain[torch.from_numpy(partner)], partner)
    assert follows["same_feature"] == pytest.approx(1) and follows["same_image"] == pytest.approx(0)
    stays = measure.pull(plain, plain, partner)
    assert stays["same_image"] == pytest.approx(1) and stays["neither"] == pytest.approx(0)
    assert measure.pull(plain, plain, None) == {"same_image": pytest.approx(1)}


def test_neighbours_agree_with_a_slow_loop():
    z = torch.randn(30, 5, generator=torch.Generator().manual_seed(0))
    rows, cosines = measure.neighbours(z, 4)
    unit = (z / z.norm(dim=1, keepdim=True)).double().numpy()
    for i in range(30):
        order = sorted((j for j in range(30) if j != i), key=lambda j: -float(unit[i] @ unit[j]))[:4]
        assert rows[i].tolist() == order
        np.testing.assert_allclose(cosines[i], [unit[i] @ unit[j] for j in order], atol=1e-3)
    assert measure.neighbours(z[:3])[0].shape == (3, 2)


def test_confusion_counts_every_image_once():
    counts = measure.confusion(np.array([0, 0, 1, 2]), np.array([0, 2, 1, 2]), 4)
    assert counts.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


def test_tsne_survives_few_points_and_a_single_one():
    labels = np.arange(4)
    assert np.isnan(measure.tsne(torch.randn(4, 3), labels, 0)).all()
    assert np.isnan(measure.tsne(torch.ones(40, 3), np.arange(40) % 4, 0)).all()


def test_plain_turns_numbers_into_what_json_holds():
    value = {"a": np.float32(1.5), "b": [np.int64(2), float("nan")], "c": (float("inf"), None), 3: "x"}
    assert measure.plain(value) == {"a": 1.5, "b": [2, None], "c": [None, None], "3": "x"}


def test_sphere_numbers_of_a_collapsed_embedding_and_of_zeros():
    features = measure.Features(torch.ones(30, 4), torch.ones(30, 4), (torch.ones(30, 4), torch.ones(30, 4)), {})
    numbers = measure.sphere_numbers(features, np.arange(30) % 3)
    assert numbers["uniformity"] == pytest.approx(0, abs=1e-6) and numbers["alignment"] == pytest.approx(0, abs=1e-6)
    assert numbers["tolerance"] == pytest.approx(1) and numbers["rankme"] == pytest.approx(1, abs=1e-3)
    assert numbers["dead_dimensions"] == 4 and numbers["rayleigh"]["effect"] == pytest.approx(1)
    dead = torch.zeros(30, 4)
    numbers = measure.sphere_numbers(measure.Features(dead, dead, (dead, dead), {}), np.arange(30) % 3)
    assert numbers["zero_rows"] == 30 and "rayleigh" not in numbers
