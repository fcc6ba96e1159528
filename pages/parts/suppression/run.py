"""The run behind a clicked point: its curves, its embedding, its numbers and settings, and its other seeds."""

from functools import partial

import pandas as pd
import streamlit as st

from core.figures.class_similarity import class_similarity
from core.figures.curves import Curve, curves
from core.figures.embedding import embedding
from core.figures.lines import series_colors
from core.figures.metrics import METRICS, field_name, number, plain, with_spread
from core.figures.series import name_series
from core.figures.theme import OKABE_ITO
from core.glossary import help_text
from core.studies.catalogue import Entry
from pages.parts import address, studies
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept, version
from pages.parts.save import of_runs
from pages.parts.text import literal, quoted

RIVALS = ("bits_known", "digit_accuracy", "large_digit_accuracy", "color_accuracy")
MEASURED = ("linear_accuracy", "knn_accuracy", "online_accuracy", *RIVALS, "alignment", "uniformity", "rankme")
HEIGHT = 400  # px of both charts
BETWEEN = "similarity of classes"


def run_panel(entry: Entry, runs: pd.DataFrame, dial: str) -> None:
    """Draw the panel of the run that the address names; a hint when it names none.

    Args:
        entry: The study.
        runs: Its runs.
        dial: RunSpec field on the x axis of the charts.
    """
    run_id = address.recall("run")
    if run_id and run_id not in set(runs["run_id"]):
        address.notice(f"The address names the run {quoted(run_id)}, which this study does not have.")
        address.show_notices()
        address.forget("run")
        run_id = None
    if not run_id:
        st.caption(":material/ads_click: Click a point to open its runs: curves, embedding, settings.")
        return
    stamp = f"{version(entry)} {len(runs)}"
    named = kept(lambda: name_series(runs, dial), "named", stamp, dial)
    chosen = named[named["run_id"] == run_id].iloc[0]
    cell = named[(named["series"] == chosen["series"]) & (named[dial] == chosen[dial])].sort_values("seed")
    with st.container(border=True):
        run_id = _head(chosen, cell, dial)
        run = cell[cell["run_id"] == run_id].iloc[0]
        grid = st.grid(2, min_column_width=400)
        with grid.cell():
            _curves(entry, run, cell, _color(named, run["series"]))
        with grid.cell():
            _embedding(entry, run)
        _numbers(run, cell)
        _settings(entry, run)


def _head(chosen: pd.Series, cell: pd.DataFrame, dial: str) -> str:
    """Title, seeds, link and a way to close. Returns the id of the seed to show."""
    by_seed = {f"seed {run.seed}": run.run_id for run in cell.itertuples()}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{chosen['series']}, {chosen[dial]:g} {field_name(dial)}")
        names = list(by_seed)
        current = next(name for name, run_id in by_seed.items() if run_id == chosen["run_id"])
        st.session_state["sup_seed"] = current
        st.segmented_control(
            "Seed",
            names,
            required=True,
            key="sup_seed",
            label_visibility="collapsed",
            on_change=lambda: address.remember("run", by_seed[st.session_state["sup_seed"]]),
        )
        st.button("Close", key="sup_close", icon=":material/close:", on_click=address.forget, args=("run",), type="tertiary")
    return by_seed[current]


def _color(named: pd.DataFrame, series: str) -> str:
    """The colour that the line has in the charts above."""
    return series_colors(named[named["status"] == "finished"]).get(series, OKABE_ITO[0])


def _curves(entry: Entry, run: pd.Series, cell: pd.DataFrame, color: str) -> None:
    history = partial(entry.store.history, entry.name)
    shown = [
        Curve.of(other, f"seed {other['seed']}", history(other["run_id"]), color, faint=other["run_id"] != run["run_id"])
        for other in cell.to_dict("records")
    ]
    if all(curve.history.empty for curve in shown):
        untrained = run["objective"] == "untrained"
        reason = "an untrained encoder is measured as it starts" if untrained else "their file is missing or cannot be read"
        st.info(f"This run has no epochs: {reason}.", icon=":material/timeline:")
        return
    others = len([curve for curve in shown if curve.faint and len(curve.history)])
    subtitle = f"seed {run['seed']}" + (f", thin: {others} other seed{'s' if others > 1 else ''}" if others else "")
    figure = curves(
        shown,
        current_theme(),
        ("online_accuracy", "loss"),
        chance=1 / run["classes"] if run["classes"] else None,
        title="What happened while it trained",
        subtitle=subtitle,
        height=HEIGHT,
    )
    alt = "Online probe accuracy and loss of the chosen run over its epochs, other seeds thin."
    show(figure, key="sup_curves", alt=alt, save=of_runs(entry, cell))


def _embedding(entry: Entry, run: pd.Series) -> None:
    arrays = entry.store.embedding(entry.name, run["run_id"])
    if arrays is None:
        if entry.origin == "results":
            reason = "Shipped results keep those of the first seed only."
        elif run["status"] == "finished":
            reason = "Its embedding.npz is missing or cannot be read; delete the run and run the study again to have it back."
        else:
            reason = "It appears when the run ends."
        st.info(f"No embedding is stored for this run. {reason}", icon=":material/scatter_plot:")
        return
    options = ["class", "predicted", *(f"bit {place + 1}" for place in range(int(run["bits"]))), BETWEEN]
    slot = st.container()
    if st.session_state.get("sup_color") not in options:  # another run has fewer bits
        st.session_state.pop("sup_color", None)
    color_by = st.selectbox(
        "Colour by", options, key="sup_color", persist_state="session", width=230, help=help_text("pca", "bits", "tolerance")
    )
    if color_by == BETWEEN:
        figure = class_similarity(arrays, current_theme(), title="How similar are two classes?", height=HEIGHT - 76)
        alt = "Mean cosine similarity between the classes in the embedding of the chosen run."
    else:
        title = _embedding_title(color_by)
        figure = embedding(arrays, current_theme(), color_by=color_by, title=title, height=HEIGHT - 76)
        alt = "Test images in the first two principal components of the embedding of the chosen run."
    with slot:
        show(figure, key="sup_embedding", alt=alt, save=of_runs(entry, run.to_frame().T))


def _embedding_title(color_by: str) -> str:
    if color_by.startswith("bit"):
        return f"Does {color_by} order the embedding?"
    return "Does the class order the embedding?" if color_by == "class" else "What the linear probe says"


def _numbers(run: pd.Series, cell: pd.DataFrame) -> None:
    """The run's measurements beside the mean over its seeds."""
    finished = cell[cell["status"] == "finished"]
    studies.say_unfinished(run)
    shown = [metric for metric in MEASURED if pd.notna(run[metric])]
    if not shown:
        return
    several = len(finished) > 1
    with st.grid("auto", min_column_width=130):
        for metric in shown:
            st.metric(
                METRICS[metric].name,
                number(run[metric], metric),
                delta=with_spread(finished[metric].mean(), metric, finished[metric].std(ddof=1)) if several else None,
                delta_color="off",
                delta_arrow="off",
                help=help_text(metric),
            )
    if several:
        st.caption(f"Large: seed {run['seed']}. Small: mean ± sd of {len(finished)} seeds.")


def _settings(entry: Entry, run: pd.Series) -> None:
    with st.expander(f"Settings and run id: {run['run_id']}"):
        spec = entry.store.spec(entry.name, run["run_id"])
        changed = spec.changed() if spec else {}
        st.table({field_name(field): plain(value) for field, value in changed.items()}, border="horizontal", width="content")
        st.caption("Fields that are not listed have their defaults.")
        for note in run["notes"] or ():
            st.caption(f"Note: {literal(note)}")
        st.page_link(
            "pages/experiments/runs.py",
            label="Open in the run table",
            icon=":material/table_rows:",
            query_params={"study": entry.id, "run": run["run_id"]},
        )
