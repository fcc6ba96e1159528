"""Which report is open, what is in it, and every change to it: a change is written to its file at once."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from core.report import files
from core.report.definition import Item, Report, ReportError
from pages.parts import address, studies
from pages.parts.text import literal

PROBLEM = "report_problem"
PLACE = "rep_place"  # of the selected item
STEPS = "report_steps"  # changes of this session: name of the report -> pairs of before and after, the last one last
MOST_STEPS = 50
DELETED = "report_deleted"


def folder() -> Path:
    """Where the reports lie."""
    return files.folder_of(studies.runs().root)


def name() -> str:
    """The report that the address names; the draft if it names none."""
    wanted = address.recall("report") or files.DRAFT
    try:
        files.path_of(folder(), wanted)
    except ReportError as error:
        address.notice(f"{str(error)[:1].upper()}{str(error)[1:]}; showing the draft.")
        address.forget("report")
        return files.DRAFT
    return wanted


def current() -> Report | None:
    """The open report; None, with the reason on the page, if its file holds a mistake."""
    try:
        return files.read(folder(), name())
    except ReportError as error:
        st.error("\n".join(f"- {literal(line)}" for line in str(error).splitlines()), icon=":material/error:")
        st.caption("Mend the file, or open another report.")
        return None


def change(alter: Callable[[Report], Report]) -> bool:
    """Alter the open report and write it; a problem is kept for `show_problem`. For widget callbacks."""
    try:
        _write(name(), alter)
    except (ReportError, ValueError) as error:
        st.session_state[PROBLEM] = str(error)
        return False
    return True


def append(item: Item) -> int:
    """Put an item at the end of the draft, from another page. Returns how many it has then.

    Raises:
        ReportError: If the draft holds a mistake or cannot be written.
    """
    return len(_write(files.DRAFT, lambda report: report.with_items([*report.item, item])).item)


def _write(report_name: str, alter: Callable[[Report], Report]) -> Report:
    before = files.read(folder(), report_name)
    after = alter(before)
    files.save(folder(), report_name, after)
    if after != before:
        steps = st.session_state.setdefault(STEPS, {}).setdefault(report_name, [])
        steps.append((before, after))
        del steps[:-MOST_STEPS]
    return after


def can_undo() -> bool:
    """Whether this session has changed the open report."""
    return bool(st.session_state.get(STEPS, {}).get(name()))


def undo() -> None:
    """Take the last change of this session back, unless the report was changed elsewhere since. For widget callbacks."""
    steps = st.session_state.get(STEPS, {}).get(name()) or []
    if not steps:
        return
    before, after = steps[-1]
    try:
        if files.read(folder(), name()) != after:
            steps.clear()
            raise ReportError("The report was changed elsewhere since, in another window or by hand; nothing was taken back.")
        files.save(folder(), name(), before)
    except ReportError as error:
        st.session_state[PROBLEM] = str(error)
        return
    steps.pop()


def delete() -> None:
    """Remove the open report and go back to the draft; unless it held a mistake, it can be brought back. For callbacks."""
    report_name = name()
    try:
        report = files.read(folder(), report_name)
    except ReportError:
        report = None
    try:
        files.delete(folder(), report_name)
    except ReportError as error:
        st.session_state[PROBLEM] = str(error)
        return
    st.session_state[DELETED] = (report_name, report) if report is not None else None
    address.forget("report")


def offer_undelete() -> None:
    """Bring back the report that was deleted last."""
    if deleted := st.session_state.get(DELETED):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/delete: The report {deleted[0]} was deleted.")
            st.button("Bring it back", key="rep_undelete", icon=":material/undo:", on_click=_undelete)


def _undelete() -> None:
    report_name, report = st.session_state.pop(DELETED)
    try:
        if report_name in files.names(folder()):
            raise ReportError(f"There is a report {report_name} again. Rename or delete it first.")
        files.save(folder(), report_name, report)
    except ReportError as error:
        st.session_state[PROBLEM] = str(error)
        return
    address.remember("report", report_name)


def show_problem() -> None:
    """Why the last change was not made, once."""
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(literal(problem), icon=":material/error:")


def place(count: int) -> int | None:
    """The selected item, within what there is; None if there is none."""
    if not count:
        return None
    return min(max(int(st.session_state.get(PLACE) or 0), 0), count - 1)


def put(new: Sequence[Item], after: int | None = None) -> None:
    """Insert items behind another one, or at the end, and select the first. For widget callbacks."""

    def inserted(report: Report) -> Report:
        at = len(report.item) if after is None else after + 1
        return report.with_items([*report.item[:at], *new, *report.item[at:]])

    at = len(files.read(folder(), name()).item) if after is None else after + 1
    if change(inserted):
        st.session_state[PLACE] = at


def move(at: int, by: int) -> None:
    """Move an item up or down; the selection follows it. For widget callbacks."""

    def moved(report: Report) -> Report:
        items = list(report.item)
        items.insert(at + by, items.pop(at))
        return report.with_items(items)

    if change(moved):
        st.session_state[PLACE] = at + by


def remove(at: int) -> None:
    """Take an item out. For widget callbacks."""
    if change(lambda report: report.with_items([*report.item[:at], *report.item[at + 1 :]])):
        st.session_state[PLACE] = max(at - 1, 0)


def replace(at: int, item: Item) -> None:
    """Put another item in an item's place. For widget callbacks."""
    change(lambda report: report.with_items([*report.item[:at], item, *report.item[at + 1 :]]))
