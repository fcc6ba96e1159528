"""The selected item: what it looks like, its options, its title and the speaker's notes."""

from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from core.figures.metrics import METRICS
from core.figures.run_table import run_names
from core.report.catalogue import FIGURES, TABLES
from core.report.definition import FigureItem, Item, Markdown, TableItem
from core.report.drawing import CannotDraw
from core.report.markdown import to_html
from core.report.relay import title_parts, without_title
from core.report.resolve import FigurePart, Part, part_of
from core.report.richtext import coloured_html
from core.studies.catalogue import Entry, find
from core.studies.names import StudyError
from pages.parts import studies
from pages.parts.chart import current_theme, show
from pages.parts.report import state
from pages.parts.text import literal

RUN_FIELDS = frozenset({"run", "before", "after"})
MOST_RUNS = 8
WORDS = {"sd": "mean ± sd", "range": "lowest to highest", "seeds": "every seed", "lam": "lambda", "none": "nothing"}
HEIGHT_OF_TABLE = 400
EMPTY = "<p></p>"  # st.html refuses an empty text


def detail(item: Item, place: int) -> None:
    """Draw the selected item with everything that can be changed about it."""
    if isinstance(item, Markdown):
        _text(item, place)
        return
    part = preview(item)
    kind = FIGURES[item.figure] if isinstance(item, FigureItem) else TABLES[item.table]
    entry = find(studies.entries(), item.study)
    if isinstance(part, str):
        st.warning(f"This cannot be drawn: {literal(part)}.", icon=":material/broken_image:")
    elif isinstance(part, FigurePart):
        figure = part.dark if part.dark is not None else part.drawing.figure
        st.markdown(f"**{literal(part.title)}**")  # outside the figure, where it wraps
        subtitle = coloured_html(title_parts(figure)[1])
        if subtitle:
            st.html(f"<p style='margin:0;font-size:0.875rem;color:{current_theme().muted}'>{subtitle}</p>")
        show(without_title(figure), key="rep_preview", alt=part.drawing.alt, save=None)
        st.caption(part.drawing.provenance)
    else:
        st.markdown(f"**{literal(part.title)}**")
        height = min(HEIGHT_OF_TABLE, 36 * (len(part.frame) + 1))
        st.dataframe(part.frame, hide_index=True, height=height, placeholder="–", alt=part.title)
        st.caption(part.provenance)
    with st.expander("Options, title and notes", icon=":material/tune:", expanded=True, key="rep_details"):
        for name, field in kind.options.model_fields.items():
            if name != "file":
                _option(item, place, name, field, entry)
        _field("title", "Title", item, place, "Instead of the figure's own title", st.text_input)
        _field("notes", "Notes for the speaker", item, place, "For presentation mode and the notes of a slide", st.text_area)


def preview(item: Item) -> Part | str:
    """The drawn item in the colours of the page; the reason as text if it cannot be drawn."""
    entry = find(studies.entries(), getattr(item, "study", ""))
    stamp = 0
    if entry is not None:
        path = entry.store.folder(entry.name) / "results.jsonl"
        stamp = path.stat().st_mtime_ns if path.is_file() else 0
    return _drawn(item.model_dump_json(), entry.id if entry else "", stamp, current_theme().name == "dark", item)


@st.cache_resource(max_entries=48, show_spinner=False)
def _drawn(item: str, study: str, stamp: int, dark: bool, _item: Item) -> Part | str:
    """Kept until the item, the study's results or the theme change."""
    try:
        return part_of(_item, studies.entries(), state.folder(), both=dark)
    except (CannotDraw, StudyError) as error:
        return str(error)


def _text(item: Markdown, place: int) -> None:
    left, right = st.columns(2)
    with left:
        key = f"rep_text_{place}"
        st.session_state[key] = item.markdown
        st.text_area(
            "Markdown", key=key, height=320, on_change=lambda: state.replace(place, Markdown(markdown=st.session_state[key]))
        )
    with right:
        st.caption("As it will look")
        st.html(to_html(item.markdown) or EMPTY)  # by the renderer of the files: Streamlit's own knows more than they do


def _field(name: str, title: str, item: FigureItem | TableItem, place: int, hint: str, widget: Any) -> None:
    key = f"rep_{name}_{place}"
    st.session_state[key] = getattr(item, name)
    widget(
        title,
        key=key,
        placeholder=hint,
        on_change=lambda: state.replace(place, item.model_copy(update={name: st.session_state[key]})),
    )


def _option(item: FigureItem | TableItem, place: int, name: str, field: FieldInfo, entry: Entry | None) -> None:
    """One option as the widget that fits its type."""
    key = f"rep_option_{name}_{place}"
    value = item.options.get(name, field.default)
    st.session_state[key] = list(value) if isinstance(value, tuple | list) else value
    title, kind = field.title or name, field.annotation

    def changed() -> None:
        chosen = st.session_state[key]
        options = {**item.options, name: chosen}
        if chosen == (list(field.default) if isinstance(field.default, tuple) else field.default):
            options.pop(name)
        state.replace(place, item.model_copy(update={"options": options}))

    shared = dict(key=key, on_change=changed)
    if kind is bool:
        st.toggle(title, **shared)
    elif get_origin(kind) is Literal:
        st.selectbox(title, get_args(kind), format_func=_word, **shared)
    elif name == "runs":
        names = _runs(entry)
        st.multiselect(
            title, list(names), format_func=names.get, max_selections=MOST_RUNS, placeholder="Chosen for you", **shared
        )
    elif get_origin(kind) is tuple:
        st.multiselect(title, get_args(get_args(kind)[0]), format_func=_word, **shared)
    elif name in RUN_FIELDS:
        names = {"": "Chosen for you", **_runs(entry)}
        st.selectbox(title, list(names), format_func=names.get, **shared)
    elif name == "color_by":
        st.selectbox(title, ["class", "predicted", *(f"bit {bit + 1}" for bit in range(_bits(entry)))], **shared)
    else:
        st.text_input(title, placeholder=field.description, **shared)


def _word(value: str) -> str:
    return METRICS[value].name if value in METRICS else WORDS.get(value, value.replace("_", " "))


def _runs(entry: Entry | None) -> dict[str, str]:
    if entry is None:
        return {}
    table = studies.table(entry)
    return run_names(table[table["status"] == "finished"]) if len(table) else {}


def _bits(entry: Entry | None) -> int:
    table = studies.table(entry) if entry else ()
    return int(table["bits"].max()) if len(table) else 0
