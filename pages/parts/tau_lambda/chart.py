"""The map itself beside its cuts, or the surface, as the view asks."""

import streamlit as st

from core import provenance
from core.figures.events import point_ids
from core.figures.grid import cell_id, read_cell_id
from core.figures.lines import Progress
from core.figures.metrics import METRICS, number
from core.figures.series import describe
from core.figures.tau_lambda import Diagonal, tau_lambda
from core.figures.tau_lambda_slices import tau_lambda_slices
from core.figures.tau_lambda_surface import tau_lambda_surface
from core.figures.text import NARROW
from core.studies.cells import cell_at
from pages.parts import address
from pages.parts.chart import current_theme, footer, show
from pages.parts.kept import kept
from pages.parts.save import Save
from pages.parts.slip import slip
from pages.parts.tau_lambda.data import Map
from pages.parts.text import quoted

CELL = "map_cell"  # in the address
MAP, CUTS = "map_chart", "map_cuts"


def chosen_cell(shown: Map) -> tuple[float, float] | None:
    """The cell that the address names, if the map has it."""
    wanted = address.recall(CELL)
    found = read_cell_id(wanted)
    if found is not None and cell_at(shown.cells, *found) is not None:
        return found
    if wanted:
        address.notice(f"The address names the cell {quoted(wanted)}, which this map does not have.")
        address.forget(CELL)
    return None


def heat_map(shown: Map, metric: str, *, expand: bool, full: bool) -> None:
    """The clickable map."""
    theme, cell = current_theme(), chosen_cell(shown)
    figure = kept(
        lambda: tau_lambda(
            shown.cells,
            theme,
            metric=metric,
            ridge=shown.ridge,
            diagonal=_diagonal(shown),
            selected=cell,
            expand_seeds=expand,
            full_scale=full,
            title=_title(shown, metric),
            subtitle=_subtitle(shown, metric, expand),
            lam_name=_lam_name(shown),
            width=NARROW,
        ),
        "tau-lambda figure",
        shown.version,
        metric,
        cell and cell_id(*cell),
        expand,
        full,
        theme.name,
    )
    alt = "Heat map over temperature and lambda, the best lambda of each temperature as a line; a click on a cell opens its runs."
    save = _save(shown, "tau_lambda", metric=metric, expand_seeds=expand, full_scale=full)
    show(figure, key=MAP, alt=alt, save=save, on_select=lambda: _clicked(MAP), selection_mode="points")


def cuts(shown: Map, metric: str, *, full: bool, along: str = "lam", key: str = CUTS) -> None:
    """The map cut along one dial."""
    theme = current_theme()
    figure = kept(
        lambda: tau_lambda_slices(
            shown.cells,
            theme,
            metric=metric,
            along=along,
            ridge=shown.ridge if shown.ridge_metric == metric else None,
            full_scale=full,
            title="One line per temperature" if along == "lam" else "One line per lambda",
            subtitle=" · ".join(filter(None, [_seeds(shown), _rings(shown, metric) if along == "lam" else ""])),
            lam_name=_lam_name(shown),
            height=480,
        ),
        "tau-lambda cuts",
        shown.version,
        metric,
        along,
        full,
        theme.name,
    )
    alt = "The metric against one dial, one line per value of the other, with bands over seeds."
    save = _save(shown, "tau_lambda_slices", metric=metric, along=along, full_scale=full)
    show(figure, key=key, alt=alt, save=save, on_select=lambda: _clicked(key), selection_mode="points")


def surface(shown: Map, metric: str, *, full: bool) -> None:
    """The map as a surface."""
    theme = current_theme()
    figure = kept(
        lambda: tau_lambda_surface(
            shown.cells,
            theme,
            metric=metric,
            ridge=shown.ridge if shown.ridge_metric == metric else None,
            full_scale=full,
            title=_title(shown, metric),
            subtitle=_subtitle(shown, metric, False) + " · drag to turn",
        ),
        "tau-lambda surface",
        shown.version,
        metric,
        full,
        theme.name,
    )
    alt = "The map as a surface over the logarithms of temperature and lambda."
    show(figure, key="map_surface", alt=alt, save=_save(shown))


def corners(shown: Map, metric: str) -> None:
    """The corners of the map against its best cell, beside what is often said about them."""
    measured = shown.cells[shown.cells["n"] > 0]
    ends = [(measured["tau"].min(), measured["lam"].min()), (measured["tau"].max(), measured["lam"].max())]
    values = [cell_at(measured, *end) for end in ends]
    said = [f"{number(cell['mean'], metric)}" if cell is not None and cell["n"] else "no result" for cell in values]
    text = _title(shown, metric)
    slip("corners", f"tau grows to the right, lambda upwards: lower left {said[0]}, upper right {said[1]}. {text}.")


def map_footer(shown: Map) -> None:
    """Provenance of the map, and its data and settings to save."""
    footer(
        made(shown),
        name=shown.entry.name,
        key="map",
        data=lambda: shown.runs,
        settings=shown.entry.definition.to_toml,
        entry=shown.entry,
    )
    if shown.extras:
        st.caption(
            "Further cells and seeds come from " + ", ".join(f"{entry.title} ({entry.id})" for entry in shown.extras) + "."
        )


def made(shown: Map) -> str:
    """How the numbers of the map were made."""
    return provenance.line(shown.runs[shown.runs["status"] == "finished"], shown.entry.name)


def _seeds(shown: Map) -> str:
    """What a point of a cut is."""
    most = int(shown.cells["n"].max())
    return "mean ± sd over seeds" if most > 1 else "1 seed, so no spread"


def _rings(shown: Map, metric: str) -> str:
    """What the rings are, where there are any."""
    return "rings: best lambda" if shown.ridge_metric == metric and shown.ridge.points else ""


def _save(shown: Map, figure: str = "", **options) -> Save:
    """What the menu under a chart of the map saves: its cells and the study; as what kind of figure a report draws it again."""
    cells = shown.cells.drop(columns=["values"])
    return Save(
        name=shown.entry.name,
        provenance=made(shown),
        data=lambda: cells,
        settings=shown.entry.definition.to_toml,
        study=shown.entry.id,
        figure=figure,
        options=options or None,
    )


def _clicked(key: str) -> None:
    """Open the clicked cell; a click on the open one closes it."""
    ids = point_ids(st.session_state[key])
    if not ids:
        return
    if ids[0] == address.recall(CELL):
        address.forget(CELL)
    else:
        address.remember(CELL, ids[0])


def close_cell() -> None:
    """Close the panel of the open cell. For widget callbacks."""
    address.forget(CELL)


def _diagonal(shown: Map) -> Diagonal:
    if shown.convention.key == "notebook":
        return Diagonal(shown.nt_xent_factor, f"lambda = tau / {shown.run.head_dim}")
    return Diagonal(1.0, "lambda = tau")


def _lam_name(shown: Map) -> str:
    return "lambda, as the notebook writes it" if shown.convention.key == "notebook" else "lambda"


def _title(shown: Map, metric: str) -> str:
    """The best cell in one sentence, or the question while nothing is measured."""
    measured = shown.cells[shown.cells["n"] > 0]
    if measured.empty:
        return "Which temperature and weight work best?"
    info = METRICS[metric]
    best = measured.loc[measured["mean"].idxmax() if info.higher_is_better else measured["mean"].idxmin()]
    word = "Best" if info.is_accuracy else "Highest" if info.higher_is_better else "Lowest"
    return f"{word} {info.name} {number(best['mean'], metric)} at tau {best['tau']:g}, lambda {best['lam']:g}"


def _subtitle(shown: Map, metric: str, expand: bool) -> str:
    finished = shown.runs[shown.runs["status"] == "finished"]
    bands = "one strip each" if expand else "mean"
    ended = int(shown.runs["status"].isin(["finished", "diverged", "failed"]).sum()) if len(shown.runs) else 0
    progress = Progress(ended, int(shown.cells["expected"].sum()))
    live = f"{progress.done} of {progress.total} runs" if progress.live else ""
    ridge = "" if shown.ridge_metric == metric else f"line: best lambda by {METRICS[shown.ridge_metric].name}"
    return " · ".join(filter(None, [describe(finished, bands) if len(finished) else "", live, ridge]))
