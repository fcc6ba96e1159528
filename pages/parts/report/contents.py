"""The contents of a report: what is in it, in which order, and how something is added."""

from pathlib import Path

import streamlit as st

from core.report import kept
from core.report.catalogue import FIGURES, TABLES, Figure, Table
from core.report.definition import FigureItem, Item, Markdown, Report, TableItem
from core.report.snapshot import key_items
from core.studies.catalogue import Entry, find
from pages.parts import studies
from pages.parts.report import state
from pages.parts.text import literal

ICONS = {"markdown": "notes", "figure": "show_chart", "table": "table"}
KINDS = ("Figure", "Table", "Text", "A whole study")
SHORT = 44  # characters of text shown in the list
LONG = 72  # characters of the title of a kept figure


def contents(report: Report) -> int | None:
    """Draw the list with what can be done to it. Returns the selected place."""
    chosen = state.place(len(report.item))
    if chosen is None:
        st.info(
            "Nothing yet. Add figures here, or open **Save** under any chart of this dashboard and choose **Add to report**.",
            icon=":material/post_add:",
        )
    else:
        st.session_state[state.PLACE] = chosen
        chosen = st.radio(
            "Contents",
            range(len(report.item)),
            format_func=lambda number: f"{number + 1}. {label(report.item[number])}",
            key=state.PLACE,
        )
        last = len(report.item) - 1
        with st.container(horizontal=True, gap="small"):
            st.button("Up", key="rep_up", on_click=state.move, args=(chosen, -1), disabled=chosen == 0)
            st.button("Down", key="rep_down", on_click=state.move, args=(chosen, 1), disabled=chosen == last)
            st.button("Remove", key="rep_remove", on_click=state.remove, args=(chosen,))
            _undo()
    if chosen is None and state.can_undo():
        _undo()
    with st.popover("Add", icon=":material/add:", key="rep_adding", width="stretch"):
        _adding(chosen)
    return chosen


def _undo() -> None:
    st.button(
        "Undo", key="rep_undo", on_click=state.undo, disabled=not state.can_undo(),
        help="Takes back the last change that was made here: order, text, options, what was added or removed.",
    )  # fmt: skip


def label(item: Item) -> str:
    """An item in the list."""
    if isinstance(item, Markdown):
        text = " ".join(item.markdown.replace("#", " ").replace("*", "").split())
        shown = text if len(text) <= SHORT else f"{text[: SHORT - 1].rstrip()}…"
        return f":material/{ICONS['markdown']}: {literal(shown) or 'empty text'}"
    kind, name = ("figure", item.figure) if isinstance(item, FigureItem) else ("table", item.table)
    title = item.title or _kept_title(item) or (FIGURES if kind == "figure" else TABLES)[name].title
    entry = find(studies.entries(), item.study) if item.study else None
    where = f" :gray[{literal(entry.title if entry else item.study)}]" if item.study else ""
    return f":material/{ICONS[kind]}: {literal(title)}{where}"


def _kept_title(item: Item) -> str:
    """A kept figure is listed by its own title: "Kept from a page", several times, would not tell them apart."""
    if not isinstance(item, FigureItem) or item.figure != "kept":
        return ""
    return _title_of(str(item.options.get("file", "")), str(state.folder()))


@st.cache_data(max_entries=256, show_spinner=False)
def _title_of(file: str, folder: str) -> str:
    """A kept file never changes, as its name comes from its content."""
    title = kept.title_of(file, Path(folder))
    return title if len(title) <= LONG else f"{title[: LONG - 1].rstrip()}…"


def _adding(after: int | None) -> None:
    kind = st.segmented_control("What", KINDS, default=KINDS[0], required=True, key="rep_kind", label_visibility="collapsed")
    if kind == "Text":
        _button([Markdown(markdown="## Heading\n\nText in Markdown.")], after)
        return
    found = [entry for entry in studies.entries() if entry.origin != "defined"]
    free = {name: figure for name, figure in FIGURES.items() if not figure.needs_study and name != "kept"}
    entry = None
    if found:
        by_id = {entry.id: entry for entry in found}  # a selector copies its options; a store cannot be copied
        chosen = st.selectbox("Study", list(by_id), format_func=lambda name: studies.label(by_id[name]), key="rep_study")
        entry = by_id[chosen]
    elif kind != "Figure":
        st.caption("No study has results yet.")
        return
    if kind == "A whole study":
        items = key_items(entry)
        st.caption(f"Its question, {len(items)} items in all, in the usual order.")
        _button(items, after)
        return
    offered = _suited(FIGURES if kind == "Figure" else TABLES, entry) | (free if kind == "Figure" else {})
    name = st.selectbox(kind, list(offered), format_func=lambda name: offered[name].title, key=f"rep_what_{kind}")
    if kind == "Table":
        _button([TableItem(table=name, study=entry.id)], after)
        return
    needed = offered[name].needs_study
    _button([FigureItem(figure=name, study=entry.id if needed and entry else "")], after)


def _suited(kinds: dict[str, Figure] | dict[str, Table], entry: Entry | None) -> dict:
    return {name: kind for name, kind in kinds.items() if entry is not None and kind.suits(entry)}


def _button(items: list[Item], after: int | None) -> None:
    st.button("Add", key="rep_add", type="primary", icon=":material/add:", on_click=state.put, args=(items, after))
