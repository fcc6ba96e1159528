"""The tau-lambda map in reports: the map with its ridge, and its cuts."""

from typing import Literal

import pandas as pd
from pydantic import Field

from core.figures.metrics import METRICS, number
from core.figures.series import describe
from core.figures.tau_lambda import Diagonal
from core.figures.tau_lambda import tau_lambda as draw_map
from core.figures.tau_lambda_slices import tau_lambda_slices as draw_cuts
from core.figures.theme import Theme
from core.report.drawing import CannotDraw, Drawing, Options, Source, drawing, ended, progress
from core.studies.cells import fold_cells
from core.studies.maps import convention, first_run, is_map, merged, same_map
from core.studies.ridge import find_ridge
from core.training.spec import RunSpec

MapMetric = Literal[
    "linear_accuracy", "knn_accuracy", "online_accuracy", "uniformity", "tolerance", "alignment", "rankme", "loss"
]
RIDGE_METRIC = "linear_accuracy"  # the ridge of a metric that is not an accuracy


class MapOptions(Options):
    """Choices of `tau_lambda`."""

    metric: MapMetric = Field("linear_accuracy", title="Metric")
    expand_seeds: bool = Field(False, title="Expand seeds")
    full_scale: bool = Field(False, title="Colours from 0 to 1")


class CutsOptions(Options):
    """Choices of `tau_lambda_slices`."""

    metric: MapMetric = Field("linear_accuracy", title="Metric")
    along: Literal["lam", "tau"] = Field("lam", title="Along")
    full_scale: bool = Field(False, title="Axis from 0 to 1")


def tau_lambda(source: Source, options: MapOptions, theme: Theme) -> Drawing:
    """A metric for every temperature and weight, the best weights as a line."""
    runs, expected, cells, metric = _cells(source, options.metric)
    run = first_run(source.entry)
    notebook = _by_notebook(run)
    done = runs[runs["status"] == "finished"]
    shown = progress(source.entry, source.entry.store.table(source.entry.name))
    parts = [describe(done, "one strip each" if options.expand_seeds else "mean")]
    parts += [f"{shown.done} of {shown.total} runs"] if shown.live else []
    parts += [] if metric == options.metric else [f"line: best lambda by {METRICS[metric].name}"]
    figure = draw_map(
        cells,
        theme,
        metric=options.metric,
        ridge=find_ridge(cells if metric == options.metric else fold_cells(runs, metric, expected)),
        diagonal=Diagonal(1 / run.head_dim, f"lambda = tau / {run.head_dim}") if notebook else Diagonal(1.0, "lambda = tau"),
        expand_seeds=options.expand_seeds,
        full_scale=options.full_scale,
        title=_best(cells, options.metric),
        subtitle=" · ".join(parts),
        lam_name=_lam_name(run),
    )
    alt = "Heat map over temperature and lambda, with the best lambda of each temperature as a line."
    return drawing(source, figure, ended(runs), alt, cells.drop(columns=["values", "run_ids"]))


def tau_lambda_slices(source: Source, options: CutsOptions, theme: Theme) -> Drawing:
    """The map cut along one dial, one line per value of the other."""
    runs, _, cells, metric = _cells(source, options.metric)
    done = runs[runs["status"] == "finished"]
    ridge = find_ridge(cells) if metric == options.metric else None
    rings = options.along == "lam" and ridge is not None and ridge.points
    figure = draw_cuts(
        cells,
        theme,
        metric=options.metric,
        along=options.along,
        ridge=ridge,
        full_scale=options.full_scale,
        title="One line per temperature" if options.along == "lam" else "One line per lambda",
        subtitle=describe(done, "mean ± sd") + (" · rings: best lambda" if rings else ""),
        lam_name=_lam_name(first_run(source.entry)),
    )
    alt = "The metric against one dial of the map, one line per value of the other, with bands over seeds."
    return drawing(source, figure, ended(runs), alt, cells.drop(columns=["values", "run_ids"]))


def _cells(source: Source, metric: str) -> tuple[pd.DataFrame, list, pd.DataFrame, str]:
    """Runs of the map with its refinements, the runs it asks for, cells, and the metric that its ridge is of."""
    if not is_map(source.entry):
        raise CannotDraw(f"the study {source.entry.id!r} does not vary both tau and lam")
    studies = [source.entry, *same_map(source.entry, source.entries)]
    runs = merged(entry.store.table(entry.name) for entry in studies)
    if runs.empty or not (runs["status"] == "finished").any():
        raise CannotDraw(f"no run of the study {source.entry.id!r} has finished")
    expected = [run for entry in studies for run in entry.definition.expand()]
    return runs, expected, fold_cells(runs, metric, expected), metric if METRICS[metric].is_accuracy else RIDGE_METRIC


def _by_notebook(run: RunSpec) -> bool:
    """Whether the weights of a map are on the notebook's scale."""
    return convention(run).key == "notebook"


def _lam_name(run: RunSpec) -> str:
    """How the weight is written, for an axis; as on the page."""
    return "lambda, as the notebook writes it" if _by_notebook(run) else "lambda"


def _best(cells: pd.DataFrame, metric: str) -> str:
    """The best cell in one sentence."""
    info, measured = METRICS[metric], cells[cells["n"] > 0]
    best = measured.loc[measured["mean"].idxmax() if info.higher_is_better else measured["mean"].idxmin()]
    word = "Best" if info.is_accuracy else "Highest" if info.higher_is_better else "Lowest"
    return f"{word} {info.name} {number(best['mean'], metric)} at tau {best['tau']:g}, lambda {best['lam']:g}"
