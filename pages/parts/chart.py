"""Draw a figure the same way on every page, with its provenance under it and its data one click away."""

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.figures.theme import DARK, LIGHT, Theme
from core.studies.catalogue import Entry
from pages.parts.link import copy_link
from pages.parts.save import Save, csv, save_menu

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}
STILL = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}  # thumbnails


def current_theme() -> Theme:
    """The theme the visitor looks at."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show(figure: go.Figure, *, key: str, alt: str, save: Save | None, **options):
    """Draw a figure full width under the theme's own colours, with its save menu below.

    Args:
        figure: From a builder in core.figures.
        key: Streamlit key, unique on the page.
        alt: Text alternative: what the figure shows, in one sentence that does not change while data arrive.
        save: What the menu saves beyond the figure itself, `save.of_runs` for measured runs, `save.HERE` for what is computed
            on the spot; None for a thumbnail without a menu.
        options: Passed to st.plotly_chart, for example on_select and selection_mode.
    """
    drawn = st.plotly_chart(figure, key=key, alt=alt, theme=None, config={**CONFIG, **options.pop("config", {})}, **options)
    if save is not None:
        save_menu(figure, current_theme(), key=key, alt=alt, save=save)
    return drawn


def footer(
    provenance: str,
    *,
    name: str,
    key: str,
    data: Callable[[], pd.DataFrame],
    settings: Callable[[], str] | None = None,
    entry: Entry | None = None,
) -> None:
    """What stands under charts: how the numbers were made, and a menu that saves the whole study.

    Args:
        provenance: From `core.provenance.line`.
        name: Start of the file names.
        key: Start of the widget keys, unique on the page.
        data: Makes the table that is saved as CSV; runs only on a click.
        settings: Makes the TOML that runs the same study again; runs only on a click.
        entry: The study, for a snapshot of it and for the link.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(provenance)
        saving = st.popover("Save the study" if entry else "Save", icon=":material/download:", key=f"{key}_save")
    with saving:
        options = dict(on_click="ignore", width="stretch", icon=":material/download:")
        st.download_button(
            "Runs, CSV" if entry else "Data, CSV",
            data=lambda: csv(data(), provenance),
            file_name=f"{name}.csv",
            mime="text/csv",
            key=f"{key}_csv",
            **options,
        )
        if settings is not None:
            st.download_button(
                "Settings, TOML",
                data=lambda: f"# {provenance}\n{settings()}",
                file_name=f"{name}.toml",
                mime="application/toml",
                key=f"{key}_toml",
                help="Runs the same study again: python -m core sweep FILE",
                **options,
            )
        if entry is not None:
            st.download_button(
                "Snapshot, HTML",
                data=lambda: snapshot_page(entry),
                file_name=f"{name}.html",
                mime="text/html",
                key=f"{key}_snapshot",
                help="Key figures and all runs in one file that opens without this dashboard and without a network.",
                **options,
            )
        copy_link(f"{key}_link", study=entry.id if entry else None)


def snapshot_page(entry: Entry) -> str:
    """Everything about a study as one HTML file. Runs in a thread of its own, so it draws nothing on the page."""
    from core.report.html import render
    from core.report.snapshot import snapshot
    from pages.parts import studies

    return render(snapshot(entry, studies.entries()))
