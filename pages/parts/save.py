"""The menu under a chart: the picture in a chosen size, its data and settings, a link, and a place in the report."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core import provenance
from core.figures.playback import still
from core.figures.theme import DARK, LIGHT, Theme
from core.report.chrome import browser
from core.report.presets import PRESETS
from core.studies.catalogue import Entry
from pages.parts.link import copy_link
from pages.parts.text import literal

SIZES = {preset.title: preset.name for preset in PRESETS.values()}
ENDINGS = {"PNG": "png", "SVG": "svg", "PDF": "pdf"}
DRAWS = "Drawn when you click; the first picture takes some seconds, because a browser is started for it."


class Save(NamedTuple):
    """What the menu of a chart knows beyond its figure. Every field may be left out."""

    name: str = ""  # start of the file names; empty = from the chart's key
    provenance: str | Callable[[], str] = ""  # how the numbers were made; empty = computed on the spot
    data: Callable[[], pd.DataFrame] | None = None  # the table behind the chart; None = the drawn values
    settings: Callable[[], str] | None = None  # TOML that runs the same runs again
    figure: str = ""  # kind of figure in core.report.catalogue; empty = a report keeps the figure as it stands
    study: str = ""  # id of the study
    options: dict | None = None  # of that kind


HERE = Save()  # for figures that are computed on the spot, from nothing that was measured earlier


def of_runs(entry: Entry, runs: pd.DataFrame, name: str = "") -> Save:
    """What the menu of a chart of measured runs saves: how they were made, and the TOML that makes the same runs again.

    Args:
        entry: Their study.
        runs: The runs shown; of a study at work, those that have finished are told of.
        name: Start of the file names; empty = from the chart's key.
    """
    ended = runs[runs["status"] == "finished"]

    def settings() -> str:
        from core.report.settings import settings_of

        return settings_of(entry, ended)

    return Save(
        name=name,
        provenance=lambda: provenance.line(ended, entry.name),
        settings=settings if len(ended) else None,
        study=entry.id,
    )


def save_menu(figure: go.Figure, theme: Theme, *, key: str, alt: str, save: Save) -> None:
    """Draw the menu, folded; what is in it is made when it is opened, in a run of its own.

    Args:
        figure: As drawn.
        theme: That it was drawn in.
        key: Of the chart.
        alt: Text alternative of the chart.
        save: What else is known.
    """

    @st.fragment
    def menu() -> None:
        with st.container(horizontal=True, horizontal_alignment="right"):
            folded = st.popover("Save", icon=":material/ios_share:", type="tertiary", key=f"{key}_menu", on_change="rerun")
        if folded.open:
            with folded:
                _contents(figure, theme, key, alt, save)

    menu()


def _contents(figure: go.Figure, theme: Theme, key: str, alt: str, save: Save) -> None:
    name = save.name or key.replace("_", "-")
    line = (save.provenance() if callable(save.provenance) else save.provenance) or provenance.line(None)
    _pictures(figure, theme, key, alt, name, line)
    with st.container(horizontal=True):
        download("Data, CSV", lambda: csv(_data(figure, save), line), f"{name}.csv", "text/csv", f"{key}_data")
        if save.settings is not None:
            settings = save.settings
            help_text = "Runs the same runs again: python -m core sweep FILE"
            text = lambda: f"# {line}\n{settings()}"  # noqa: E731
            download("Settings, TOML", text, f"{name}.toml", "application/toml", f"{key}_settings", help=help_text)
    st.button(
        "Add to report",
        icon=":material/post_add:",
        key=f"{key}_add",
        on_click=_add,
        args=(figure, theme, alt, line, save),
        help="Puts the figure at the end of the draft on the page Report, where it is drawn from the study again."
        if save.figure
        else "Puts the figure at the end of the draft on the page Report, as it stands now.",
        width="stretch",
    )
    copy_link(f"{key}_link", study=save.study or None)


def _pictures(figure: go.Figure, theme: Theme, key: str, alt: str, name: str, line: str) -> None:
    """Size and the three kinds of picture; without a browser, why not."""
    found = browser()
    help_text = "In the sizes for papers the title is left out: there it belongs in the caption."
    size = SIZES[st.selectbox("Size", list(SIZES), key=f"{key}_size", persist_state="session", help=help_text)]
    with st.container(horizontal=True):
        for title, ending in ENDINGS.items():
            download(
                title,
                lambda ending=ending: _picture(figure, theme, ending, size, line, alt),
                f"{name}-{size}.{ending}",
                {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}[ending],
                f"{key}_{ending}",
                help=found.reason or DRAWS,
                disabled=found.path is None,
            )
    if found.path is None:
        st.caption(found.reason)


def download(label: str, data: Callable[[], str | bytes], file: str, mime: str, key: str, **options) -> None:
    """A download button whose content is made on the click."""
    options = {"icon": ":material/download:", **options}
    st.download_button(label, data=data, file_name=file, mime=mime, key=key, on_click="ignore", **options)


def csv(table: pd.DataFrame, line: str) -> str:
    """A table as CSV text, its provenance in a comment line on top; lists become text."""
    return f"# {line}\n{table.to_csv(index=False)}"


def on_paper(figure: go.Figure, theme: Theme) -> go.Figure:
    """The figure in light colours, in whatever theme it was drawn; an animation as it ends."""
    figure = still(figure)
    if theme.name == LIGHT.name:
        return figure
    from core.report.recolor import recolored

    return go.Figure(recolored(figure.to_plotly_json(), DARK, LIGHT), skip_invalid=True)


def _picture(figure: go.Figure, theme: Theme, ending: str, size: str, line: str, alt: str) -> bytes:
    from core.report.images import picture

    return picture(on_paper(figure, theme), ending, size, provenance=line, alt=alt)


def _data(figure: go.Figure, save: Save) -> pd.DataFrame:
    from core.report.drawn import drawn

    return drawn(figure) if save.data is None else save.data()


def _add(figure: go.Figure, theme: Theme, alt: str, line: str, save: Save) -> None:
    """Put the figure into the draft. For widget callbacks."""
    from core.report import files, kept
    from core.report.definition import FigureItem, ReportError
    from pages.parts import studies
    from pages.parts.report import state

    folder = files.folder_of(studies.runs().root)
    try:
        if save.figure:
            item = FigureItem(figure=save.figure, study=save.study, options=save.options or {})
        else:
            name = kept.keep(still(figure), folder, alt=alt, provenance=line, theme=theme)
            item = FigureItem(figure="kept", options={"file": name})
        count = state.append(item)
    except (ReportError, OSError) as error:
        st.toast(f"The figure was not added: {literal(str(error))}", icon=":material/error:")
        return
    st.toast(f"Added to the report, which holds {count} item{'s' if count != 1 else ''} now.", icon=":material/post_add:")
