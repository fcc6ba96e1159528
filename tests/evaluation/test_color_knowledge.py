"""Colours as a feature: histograms against a count by hand, probes on made-up images whose colour is or is not the class."""

import numpy as np
import pytest

from core.evaluation import color_knowledge
from core.evaluation.colors import histograms


def test_histograms_agree_with_a_count_by_hand():
    images = np.random.default_rng(0).integers(0, 256, (3, 5, 4, 4), dtype=np.uint8)
    expected = np.zeros((3, 64))
    for n in range(3):
        for y in range(5):
            for x in range(4):
                red, green, blue = (int(value) // 64 for value in images[n, y, x, :3])
                expected[n, red * 16 + green * 4 + blue] += 1 / 20
    np.testing.assert_allclose(histograms(images), np.sqrt(expected), atol=1e-6)


def test_a_long_list_is_counted_in_pieces(monkeypatch):
    images = np.random.default_rng(1).integers(0, 256, (7, 4, 4, 3), dtype=np.uint8)
    whole = histograms(images)
    monkeypatch.setattr("core.evaluation.colors.PIECE", 3)
    np.testing.assert_array_equal(histograms(images), whole)


def painted(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images of one of four colours, the colour of each, and a class that has nothing to do with it."""
    random = np.random.default_rng(seed)
    color, label = random.integers(0, 4, n), random.integers(0, 2, n)
    palette = np.array([[250, 10, 10], [10, 250, 10], [10, 10, 250], [250, 250, 10]], np.uint8)
    return np.broadcast_to(palette[color][:, None, None], (n, 8, 8, 3)).copy(), color, label


def test_a_representation_of_the_colours_knows_them_and_one_of_the_class_does_not():
    (train, color, label), (test, color_test, label_test) = painted(200, 0), painted(100, 1)
    of_color, of_class = (np.eye(4)[values] + 0.01 for values in (color, label))
    of_color_test, of_class_test = np.eye(4)[color_test], np.eye(4)[label_test]
    knows = color_knowledge(train, test, of_color, label, of_color_test, label_test)
    assert knows.group_accuracy == 1.0 and knows.group_chance == np.bincount(color_test).max() / 100
    assert color_knowledge(train, test, of_class, label, of_class_test, label_test).group_accuracy < 0.5
    assert abs(knows.class_accuracy - 0.5) < 0.15  # colours say nothing about the class
    assert color_knowledge(train, test, of_color, color, of_color_test, color_test).class_accuracy == 1.0


def test_one_colour_for_all_is_no_question():
    train, test = np.full((20, 4, 4, 3), 99, np.uint8), np.full((10, 4, 4, 3), 99, np.uint8)
    labels = np.arange(20) % 2
    known = color_knowledge(train, test, np.random.default_rng(0).normal(size=(20, 3)), labels, np.zeros((10, 3)), labels[:10])
    assert known.group_accuracy == known.group_chance == 1.0


def test_grey_images_have_no_colours():
    with pytest.raises(ValueError) as caught:
        histograms(np.zeros((2, 4, 4, 1), np.uint8))
    assert str(caught.value) == "images must be uint8 [n, h, w, c] with at least 3 channels, got uint8 [2, 4, 4, 1]."
