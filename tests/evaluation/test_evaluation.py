"""Probes on features whose answer is known."""

import numpy as np
import pytest

from core.evaluation import bit_probes, knn, linear_probe
from core.evaluation.bits import entropy_bits
from core.evaluation.knn import VOTE_TEMPERATURE
from core.evaluation.linear_probe import stratified_rows


def blobs(n, classes=3, d=8, spread=0.2, seed=0):
    """Points around one corner of a simplex per class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    return (np.eye(classes, d)[labels] + spread * rng.normal(size=(n, d))).astype(np.float32), labels


def test_probe_separates_what_is_separable_and_not_what_is_not():
    x, y = blobs(400)
    x_test, y_test = blobs(101, seed=1)  # not a multiple of anything: every image counts
    found = linear_probe(x, y, x_test, y_test)
    assert found.accuracy == np.mean(found.predicted == y_test) >= 0.98
    assert found.converged and found.n_train == 400
    noise = np.random.default_rng(2).normal(size=(401, 8)).astype(np.float32)
    assert abs(linear_probe(noise[:300], y[:300], noise[300:], y_test).accuracy - 1 / 3) < 0.16


def test_probe_does_not_depend_on_scale_or_on_constant_dimensions():
    x, y = blobs(300, spread=0.6)
    x_test, y_test = blobs(200, spread=0.6, seed=1)
    scaled = np.hstack([x * np.logspace(-3, 3, 8, dtype=np.float32), np.ones((300, 1), np.float32)])
    scaled_test = np.hstack([x_test * np.logspace(-3, 3, 8, dtype=np.float32), np.ones((200, 1), np.float32)])
    assert abs(linear_probe(x, y, x_test, y_test).accuracy - linear_probe(scaled, y, scaled_test, y_test).accuracy) <= 0.01


def test_probe_refuses_nan_and_a_single_class():
    x, y = blobs(50)
    with pytest.raises(ValueError, match="h_train: 1 of 50 rows are not finite"):
        linear_probe(np.where(np.arange(50)[:, None] == 3, np.nan, x), y, x, y)
    with pytest.raises(ValueError, match="at least 2 classes, got 1"):
        linear_probe(x, np.zeros(50, int), x, y)


def test_class_seen_only_in_the_test_counts_as_wrong():
    x, y = blobs(200, classes=2)
    found = linear_probe(x, y, x, np.where(y == 1, 7, y))
    assert found.accuracy == pytest.approx(np.mean(y == 0), abs=0.02)


def test_knn_by_hand():
    """Two close votes against three far ones: weights exp(cosine / T) decide for the close ones."""
    angles = np.radians([0, 5, 80, 85, 90])
    x = np.c_[np.cos(angles), np.sin(angles)] * np.array([[1], [3], [2], [1], [5]])  # lengths do not matter
    y = np.array([0, 0, 1, 1, 1])
    found = knn(x, y, np.array([[2.0, 0.1]]), np.array([0]), k=9)
    assert found.k == 5 and found.accuracy == 1.0
    near = np.exp(np.cos(angles - np.arctan2(0.1, 2.0)) / VOTE_TEMPERATURE)
    assert near[:2].sum() > near[2:].sum()


@pytest.mark.parametrize("n", [1, 2, 99, 101])
def test_knn_on_small_test_sets(n):
    x, y = blobs(60)
    x_test, y_test = blobs(n, seed=3)
    assert knn(x, y, x_test, y_test).accuracy >= 0.9


def test_bits_that_are_there_are_known_and_others_are_not():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, 1200).astype(np.uint32)
    h = rng.normal(size=(1200, 6)).astype(np.float32)
    h[:, 0] += 6.0 * (codes & 1)
    h[:, 1] += 6.0 * ((codes >> 2) & 1)
    found = bit_probes(h[:900], codes[:900], h[900:], codes[900:], bits=4)
    assert found.accuracies[0] > 0.98 and found.accuracies[2] > 0.98
    assert abs(found.accuracies[1] - 0.5) < 0.1 and abs(found.accuracies[3] - 0.5) < 0.1
    assert 1.7 < found.known < 2.1


def test_constant_bit_is_predicted_as_itself():
    h = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    assert bit_probes(h[:10], np.zeros(10, np.uint32), h[10:], np.zeros(10, np.uint32), bits=2).accuracies == (1.0, 1.0)


def test_entropy_of_a_coin():
    np.testing.assert_allclose(entropy_bits(np.array([0.5, 1.0, 0.11])), [1.0, 0.0, 0.49991], atol=1e-4)


def test_stratified_rows_keep_class_shares():
    labels = np.repeat([0, 1], [900, 100])
    rows = stratified_rows(labels, 100)
    assert np.bincount(labels[rows]).tolist() == [90, 10] and (np.diff(rows) > 0).all()
    assert stratified_rows(labels, 2000).tolist() == list(range(1000))
