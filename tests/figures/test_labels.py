"""Names beside points: free places are found, and what has no place is not written."""

import numpy as np

from core.figures.labels import Room

CORNERS = [[0, 0], [430, 290]]  # data coordinates that are pixels


def test_a_name_alone_stands_above_its_point():
    assert Room([CORNERS]).beside([300, 50], "tau 1") == "top center"


def test_a_line_is_never_covered():
    up = [[0, 0], [200, 0], [200, 290], [430, 290]]  # vertical through (200, 140)
    assert Room([up]).beside([200, 140], "0.5") == "middle right"
    level = [[0, 0], [0, 140], [430, 140], [430, 290]]
    assert Room([level]).beside([200, 140], "0.5") == "top center"


def test_names_do_not_touch_each_other():
    room = Room([CORNERS])
    places = [room.beside([300 + 4 * i, 60], f"0.{i}") for i in range(3)]
    assert places[0] == "top center" and len(set(places)) == 3 and None not in places


def test_what_has_no_place_is_left_out():
    room = Room([CORNERS])
    found = [room.beside([300, 60], "0.25") for _ in range(12)]
    assert found[-1] is None and sum(place is not None for place in found) <= 8


def test_no_lines_and_a_single_point():
    assert Room([]).beside([1, 2], "a") == "top center"
    assert Room([np.array([[1.0, 2.0]])]).beside([1, 2], "a") == "top center"


def test_names_stay_inside_the_axes_where_these_are_given():
    """At the right edge the places above and below would be cut; at the top edge the one above, too."""
    room = Room([[[0, 0], [1, 1]]], limits=[[0, 0], [430, 290]])
    assert room.beside([420, 150], "a long name") == "middle left"
    assert room.beside([420, 280], "a long name") == "middle left"
