"""Events to ids, without a browser."""

from core.figures.events import merge_selection, point_ids, row_ids, rows_of


def event(*points: dict) -> dict:
    return {"selection": {"points": list(points), "point_indices": [point["point_index"] for point in points]}}


def test_ids_come_from_customdata_not_from_places():
    """Places count from zero in every trace: two points with the same place are two runs (streamlit issue 8914)."""
    first = {"curve_number": 1, "point_index": 0, "customdata": "abc"}
    second = {"curve_number": 3, "point_index": 0, "customdata": ["def"]}
    assert point_ids(event(first, second)) == ["abc", "def"]


def test_points_without_an_id_and_no_event_give_nothing():
    assert point_ids(None) == point_ids({}) == point_ids({"selection": None}) == []
    bare, empty, number = {"point_index": 2}, {"point_index": 3, "customdata": []}, {"point_index": 4, "customdata": 7}
    assert point_ids(event(bare, empty, number)) == ["7"]


def test_rows_beyond_the_frame_are_left_out():
    assert row_ids({"selection": {"rows": [2, 0, 9]}}, ["a", "b", "c"]) == ["c", "a"]
    assert row_ids(None, ["a"]) == []


def test_selection_follows_its_runs_when_rows_move():
    """New runs arrive on top: the selected ids are found at their new places."""
    assert rows_of(["b", "gone", "a"], ["new", "a", "b"]) == [2, 1]


def test_hidden_choices_survive_a_filter():
    """A filter hides run x: what is chosen among the visible rows leaves x selected."""
    assert merge_selection(["x", "a", "b"], ["b", "c"], visible=["a", "b", "c"]) == ["x", "b", "c"]
    assert merge_selection(["a"], [], visible=["a"]) == []
