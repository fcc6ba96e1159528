"""Colours of points: every kind of group, greying instead of hiding, honest counts."""

import numpy as np
import pytest

from core.figures.points import CLASS_COLORS, colorings, drawing_order, groups, hover_lines, legend_entries, point_colors, showing
from core.figures.theme import LIGHT

ARRAYS = {
    "labels": np.array([3, 3, 7, 7]),
    "predicted": np.array([3, 7, 7, 7]),
    "index": np.array([10, 11, 12, 13]),
    "code": np.array([0, 1, 2, 3], dtype=np.uint32),
}


def test_what_can_be_coloured_depends_on_what_is_there():
    assert colorings(ARRAYS) == ["class", "predicted", "correctness", "bit 1", "bit 2"]
    assert colorings({"labels": ARRAYS["labels"]}) == ["class"]
    assert colorings({**ARRAYS, "code": np.zeros(4, np.uint32)})[-1] == "correctness"


def test_groups_of_every_kind():
    by_class = groups(ARRAYS, "class", ("a", "b", "c", "three"))
    assert by_class.names == {3: "three", 7: "7"} and by_class.colors == {3: CLASS_COLORS[3], 7: CLASS_COLORS[7]}
    assert groups(ARRAYS, "correctness").of.tolist() == [1, 0, 1, 1]
    assert groups(ARRAYS, "bit 2").of.tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"^color_by must be one of class, got 'bit 1'\.$"):
        groups({"labels": ARRAYS["labels"]}, "bit 1")


def test_others_are_greyed_and_drawn_below_never_left_out():
    found = groups(ARRAYS)
    focused = point_colors(found, ARRAYS["index"], LIGHT, focus={7})
    assert focused.tolist() == [LIGHT.faded] * 2 + [CLASS_COLORS[7]] * 2
    assert drawing_order(focused, LIGHT).tolist() == [0, 1, 2, 3]
    picked = point_colors(found, ARRAYS["index"], LIGHT, focus={7}, picked={10})
    assert picked.tolist() == [CLASS_COLORS[3]] + [LIGHT.faded] * 3
    assert drawing_order(picked, LIGHT).tolist() == [1, 2, 3, 0]
    assert legend_entries(found, focus={7}) == [(CLASS_COLORS[7], "7")]


def test_hover_names_the_class_the_image_and_a_wrong_answer():
    texts = hover_lines(groups(ARRAYS), ARRAYS)
    assert texts[0] == "<b>3</b> · test image 10"
    assert texts[1] == "<b>3</b> · test image 11<br>the linear probe says 7"


def test_counts_are_said():
    assert showing(500, 5000) == "showing 500 of 5,000 test images, stratified, seed 0"
    assert showing(500, 1000, None) == "showing 500 of 1,000 test images, stratified"
    assert showing(200, 200) == "200 test images, all of them"
