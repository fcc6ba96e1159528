"""From what a chart or a table reports to ids: pure functions, so that pages keep ids and tests need no browser.

A point's id is its `customdata`; places in a trace are never used, they count from zero in every trace.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def point_ids(event: Mapping[str, Any] | None) -> list[str]:
    """Ids of the selected points of a Plotly chart.

    Args:
        event: What `st.plotly_chart(on_select=...)` keeps in the session state; None before the first event.

    Returns:
        The ids as text, each once, in the order of the event; points without an id are left out.
    """
    points = ((event or {}).get("selection") or {}).get("points") or ()
    found = (_first(point.get("customdata")) for point in points)
    return list(dict.fromkeys(str(value) for value in found if value is not None))


def row_ids(event: Mapping[str, Any] | None, ids: Sequence[str]) -> list[str]:
    """Ids of the selected rows of a table.

    Args:
        event: What `st.dataframe(on_select=...)` keeps in the session state; None before the first event.
        ids: Id of each row of the frame that was drawn.

    Returns:
        Ids in the order of the event; rows beyond the frame, as after a deletion, are left out.
    """
    rows = ((event or {}).get("selection") or {}).get("rows") or ()
    return list(dict.fromkeys(ids[row] for row in rows if 0 <= row < len(ids)))


def rows_of(selected: Iterable[str], ids: Sequence[str]) -> list[int]:
    """Where the selected ids are now: rows to select in a table whose order or length has changed."""
    place = {run_id: row for row, run_id in enumerate(ids)}
    return [place[run_id] for run_id in selected if run_id in place]


def merge_selection(before: Sequence[str], chosen: Sequence[str], visible: Iterable[str]) -> list[str]:
    """The new selection when a table that shows only some runs reports its selected rows.

    Args:
        before: Selected ids until now, also of runs that a filter hides.
        chosen: Ids selected in the table.
        visible: Ids that the table shows.

    Returns:
        Hidden ids stay selected, visible ones are as chosen; older choices come first.
    """
    visible, wanted = set(visible), set(chosen)
    kept = [run_id for run_id in before if run_id not in visible or run_id in wanted]
    return list(dict.fromkeys([*kept, *chosen]))


def _first(value: Any) -> Any:
    """The id of a point: customdata itself, or the first of several values."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    return value[0] if value else None
