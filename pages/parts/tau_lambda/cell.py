"""The open cell: its run beside its four neighbours, in curves, pictures and cosines."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from core.figures.align_uniform_plane import Named, align_uniform_plane
from core.figures.curves import Curve, curves
from core.figures.metrics import METRICS, with_spread
from core.figures.previews import Preview, previews
from core.figures.similarity_lines import Similarity, similarity_lines
from core.figures.theme import OKABE_ITO, Theme
from core.geometry.samples import cosine_densities
from core.glossary import help_text
from core.studies.cells import cell_at, fold_cells, neighbours
from pages.parts import studies
from pages.parts.chart import current_theme, show
from pages.parts.kept import kept
from pages.parts.save import Save, of_runs
from pages.parts.tau_lambda.chart import close_cell
from pages.parts.tau_lambda.data import RIDGE_METRIC, Map

# Colours of the run in focus and its neighbours, the same in every picture of the panel.
COLORS = {
    "this cell": OKABE_ITO[1],
    "smaller tau": OKABE_ITO[4],
    "larger tau": OKABE_ITO[5],
    "smaller lambda": OKABE_ITO[2],
    "larger lambda": OKABE_ITO[3],
}
ORDER = ("smaller tau", "smaller lambda", "this cell", "larger lambda", "larger tau")
BESIDE_HEIGHT = 430  # px, with the row above it as high as the map
PANEL_HEIGHT = 380
NO_EMBEDDING = "No embedding is stored for these runs, so there are no cosines. Shipped results keep those of the first seed."
MEASURED = ("linear_accuracy", "knn_accuracy", "online_accuracy", "alignment", "uniformity", "tolerance", "rankme", "loss")


def cell_curves(shown: Map, cell: tuple[float, float]) -> None:
    """Title, seed and curves of the open cell and its neighbours: what stands beside the map."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**tau {cell[0]:g}, lambda {cell[1]:g}**")
        seeds = _seeds(shown, cell)
        if len(seeds) > 1:
            _seed_control(seeds)
        st.button("Close", key="map_close", icon=":material/close:", on_click=close_cell, type="tertiary")
    runs = _runs_of(shown, cell)
    theme = current_theme()
    figure = kept(lambda: _curves(shown, runs, theme), "cell curves", *_around(shown, runs), theme.name)
    if figure is None:
        st.info("No run of this cell or its neighbours has curves yet.", icon=":material/timeline:")
        return
    alt = "Online accuracy and uniformity over epochs of the open cell and its neighbours."
    show(figure, key="map_cell_curves", alt=alt, save=_save(shown, runs))


def cell_panel(shown: Map, cell: tuple[float, float]) -> None:
    """Pictures, cosines, the plane and the numbers of the open cell and its neighbours."""
    runs = _runs_of(shown, cell)
    theme = current_theme()
    depends_on = (*_around(shown, runs), theme.name)
    with st.container(border=True):
        st.markdown("**The embedding of test images, coloured by class**, in the open cell and the cells around it")
        show(
            kept(lambda: _pictures(shown, runs, theme), "cell pictures", *depends_on),
            key="map_previews",
            config={"displayModeBar": False},
            save=None,
            alt="Five small pictures of the embedding, the open cell in the middle, coloured by class.",
        )
        grid = st.grid(2, min_column_width=420)
        with grid.cell():
            cosines = kept(lambda: _cosines(shown, runs, theme), "cell cosines", *depends_on)
            if cosines is None:
                st.info(NO_EMBEDDING, icon=":material/scatter_plot:")
            else:
                alt = "Densities of cosine similarity within and between classes, for the open cell and its neighbours."
                show(cosines, key="map_cosines", alt=alt, save=_save(shown, runs))
        with grid.cell():
            plane = kept(lambda: _plane(shown, runs, theme), "cell plane", *depends_on)
            alt = "Alignment against uniformity for every cell of the map, coloured by accuracy."
            show(plane, key="map_plane", alt=alt, save=of_runs(shown.entry, shown.runs))
        _numbers(shown, cell, runs)


def _save(shown: Map, runs: dict[str, dict]) -> Save:
    """What the menus of the charts of a cell and its neighbours save."""
    ids = {run["run_id"] for run in runs.values()}
    return of_runs(shown.entry, shown.runs[shown.runs["run_id"].isin(ids)])


def _around(shown: Map, runs: dict[str, dict]) -> tuple[str, ...]:
    """What the pictures of a cell depend on: the runs of the map as they are, and which of them are shown."""
    return shown.version, *(f"{role} {run['run_id']}" for role, run in runs.items())


def _runs_of(shown: Map, cell: tuple[float, float]) -> dict[str, dict]:
    """Role -> the run of that cell with the chosen seed, or with the first one it has."""
    seed = st.session_state.get("map_seed")
    around = {"this cell": cell_at(shown.cells, *cell), **neighbours(shown.cells, *cell)}
    found = {}
    for role, place in around.items():
        runs = _by_seed(shown, place)
        if runs:
            found[role] = next((run for run in runs if run["seed"] == seed), runs[0])
    return found


def _by_seed(shown: Map, place: pd.Series | None) -> list[dict]:
    """The runs of a cell, by seed."""
    return [] if place is None else sorted((shown.records[run_id] for run_id in place["run_ids"]), key=lambda run: run["seed"])


def _seeds(shown: Map, cell: tuple[float, float]) -> list[int]:
    return [int(run["seed"]) for run in _by_seed(shown, cell_at(shown.cells, *cell))]


def _seed_control(seeds: list[int]) -> None:
    if st.session_state.get("map_seed") not in seeds:
        st.session_state["map_seed"] = seeds[0]
    st.segmented_control(
        "Seed",
        seeds,
        required=True,
        format_func=lambda seed: f"seed {seed}",
        key="map_seed",
        label_visibility="collapsed",
        help=help_text("seed"),
    )


def _curves(shown: Map, runs: dict[str, dict], theme: Theme) -> go.Figure | None:
    drawn = []
    for role in ORDER:
        if role in runs:
            run = runs[role]
            entry = shown.where[run["run_id"]]
            history = entry.store.history(entry.name, run["run_id"])
            drawn.append(Curve.of(run, _name(role, run), history, COLORS[role]))
    if all(curve.history.empty for curve in drawn):
        return None
    classes = shown.runs["classes"].max()
    return curves(
        drawn,
        theme,
        ("online_accuracy", "uniformity"),
        chance=1 / classes if classes else None,
        title="What happened while it trained",
        subtitle="this cell and the cells beside, above and below it",
        height=BESIDE_HEIGHT,
    )


def _pictures(shown: Map, runs: dict[str, dict], theme: Theme) -> go.Figure:
    pictures = []
    for role in ORDER:
        run = runs.get(role)
        arrays = _embedding(shown, run)
        pictures.append(Preview(_caption(role, run), arrays, role == "this cell", _why_missing(role, run, shown)))
    return previews(pictures, theme)


def _cosines(shown: Map, runs: dict[str, dict], theme: Theme) -> go.Figure | None:
    drawn, dim = [], 2
    for role in ORDER:
        arrays = _embedding(shown, runs.get(role))
        if arrays is not None:
            densities = cosine_densities(arrays["z"], arrays["labels"])
            drawn.append(Similarity(_name(role, runs[role]), COLORS[role], densities, faint=role != "this cell"))
            dim = arrays["z"].shape[1]
    if not drawn:
        return None
    focus = next((run for run in drawn if not run.faint), drawn[0])
    gap = focus.densities.mean_same - focus.densities.mean_other
    return similarity_lines(
        drawn,
        dim,
        theme,
        title=f"Pairs of one class are {gap:.2f} closer than pairs of two".replace("-", "−"),
        subtitle=f"cosines of all pairs of stored test images, d = {dim} · colours as in the curves",
        height=PANEL_HEIGHT,
    )


def _plane(shown: Map, runs: dict[str, dict], theme: Theme) -> go.Figure:
    """Where the open cell and its neighbours lie among all cells of the map."""
    columns = {column: fold_cells(shown.runs, column) for column in ("alignment", "uniformity", RIDGE_METRIC)}
    points = columns[RIDGE_METRIC][["tau", "lam", "run_ids"]].assign(**{name: cells["mean"] for name, cells in columns.items()})
    marks = [Named((run["run_id"],), role if role == "this cell" else "", COLORS[role]) for role, run in runs.items()]
    return align_uniform_plane(
        points,
        marks,
        shown.run.head_dim,
        theme,
        title="Where these cells lie among all",
        subtitle=("mean over seeds, " if shown.cells["n"].max() > 1 else "1 seed, ")
        + "test images · rings: colours as in the curves",
        height=PANEL_HEIGHT,
    )


def _embedding(shown: Map, run: dict | None) -> dict[str, NDArray] | None:
    """Stored arrays of a run; None where none are."""
    if run is None:
        return None
    entry = shown.where[run["run_id"]]
    return entry.store.embedding(entry.name, run["run_id"])


def _numbers(shown: Map, cell: tuple[float, float], runs: dict[str, dict]) -> None:
    """Means over seeds of the open cell and its neighbours, and the way to the run."""
    around = {"this cell": cell_at(shown.cells, *cell), **neighbours(shown.cells, *cell)}
    rows = []
    for role in sorted(runs, key=lambda role: role != "this cell"):
        finished = [run for run in _by_seed(shown, around[role]) if run["status"] == "finished"]
        means = {METRICS[metric].name: _mean(finished, metric) for metric in MEASURED}
        rows.append({"cell": f"{role}: {_short(runs[role])}", "seeds": len(finished), **means})
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        placeholder="–",
        alt="Mean and spread of all metrics for the open cell and its neighbours.",
    )
    run = runs.get("this cell")
    if run is None:
        return
    entry = shown.where[run["run_id"]]
    st.page_link(
        "pages/experiments/runs.py",
        label=f"Run {run['run_id']} in the run table",
        icon=":material/table_rows:",
        query_params={"study": entry.id, "run": run["run_id"]},
    )
    studies.say_unfinished(run)


def _mean(runs: list[dict], metric: str) -> str:
    values = np.array([run[metric] for run in runs if pd.notna(run[metric])], dtype=float)
    spread = values.std(ddof=1) if len(values) > 1 else None
    return with_spread(values.mean(), metric, spread) if len(values) else "–"


def _name(role: str, run: dict) -> str:
    return role if role == "this cell" else _short(run)


def _short(run: dict) -> str:
    return f"τ {run['tau']:g}, λ {run['lam'] if pd.notna(run['lam']) else run['tau']:g}"


def _caption(role: str, run: dict | None) -> str:
    if run is None:
        return f"{role}<br> <br> "
    accuracy = run["linear_accuracy"]
    known = f"{METRICS['linear_accuracy'].name} {accuracy:.3f}" if pd.notna(accuracy) else run["status"]
    return f"{role}<br>{_short(run)}<br>{known}"


def _why_missing(role: str, run: dict | None, shown: Map) -> str:
    if run is None:
        return "beyond the grid" if role != "this cell" else "not run"
    if run["status"] != "finished":
        return str(run["status"])
    shipped = shown.where[run["run_id"]].origin == "results"
    return "embedding kept for<br>the first seed only" if shipped else "no embedding stored"


def show_hint() -> None:
    """What to do while no cell is open."""
    st.caption(":material/ads_click: Click a cell to open its run beside its four neighbours.")
