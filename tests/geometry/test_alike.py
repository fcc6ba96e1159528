"""numpy twins of CKA and Procrustes for pages: against slow formulas, and what turns and what does not."""

import numpy as np
import pytest

from core.geometry.alike import aligned_epochs, alignment_table, kernel_alignment, pair_uniformity, rotation_onto

RANDOM = np.random.default_rng(0)


def rotation(d: int) -> np.ndarray:
    return np.linalg.qr(RANDOM.normal(size=(d, d)))[0]


@pytest.mark.parametrize("d", [3, 90])  # narrower and wider than there are rows
def test_kernel_alignment_equals_its_definition_by_gram_matrices(d):
    x, y = RANDOM.normal(size=(40, d)), RANDOM.normal(size=(40, 7))
    centre = np.eye(40) - 1 / 40
    k, m = centre @ x @ x.T @ centre, centre @ y @ y.T @ centre
    slow = np.trace(k @ m) / np.sqrt(np.trace(k @ k) * np.trace(m @ m))
    assert kernel_alignment(x, y) == pytest.approx(slow, rel=1e-10)
    assert kernel_alignment(x, 3 * x @ rotation(d) + 1) == pytest.approx(1)
    assert np.isnan(kernel_alignment(x, np.ones((40, 2))))


def test_a_turned_embedding_is_turned_back():
    z = RANDOM.normal(size=(30, 4))
    turn = rotation(4)
    np.testing.assert_allclose(z @ turn @ rotation_onto(z @ turn, z), z, atol=1e-12)


def test_epochs_that_only_turn_stand_still_and_the_last_one_is_left_alone():
    z = RANDOM.normal(size=(30, 3))
    frames = np.stack([z @ rotation(3), z @ rotation(3), z])
    np.testing.assert_allclose(aligned_epochs(frames), np.stack([z] * 3), atol=1e-5)
    moved = np.stack([frames[0], 2 * z])
    np.testing.assert_allclose(aligned_epochs(moved)[1], 2 * z, atol=1e-5)
    with pytest.raises(ValueError, match=r"^z_epochs must have shape \(e, n, d\)"):
        aligned_epochs(z)


def test_encoders_are_compared_on_the_images_they_share():
    x = RANDOM.normal(size=(20, 5))
    table = alignment_table([x, x[::-1], x[:5], None], [np.arange(20), np.arange(20)[::-1], np.arange(100, 105), np.arange(20)])
    np.testing.assert_allclose(table[:2, :2], 1)
    assert np.isnan(table[2, :2]).all() and table[2, 2] == pytest.approx(1) and np.isnan(table[3]).all()


def test_uniformity_of_special_sets():
    assert pair_uniformity(np.tile([[1.0, 0]], (5, 1))) == pytest.approx(0)
    assert pair_uniformity(np.eye(4)) == pytest.approx(-4)
    assert pair_uniformity([[1.0, 0], [-1, 0]]) == pytest.approx(-8)
    with pytest.raises(ValueError, match="at least 2 rows"):
        pair_uniformity([[1.0, 0]])
