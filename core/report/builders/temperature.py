"""The temperature in reports: accuracy, uniformity and tolerance against tau, and the published evidence."""

from typing import Literal

import pandas as pd
from pydantic import Field

from core import published
from core.figures.contrastive_accuracy import contrastive_accuracy as draw_contrastive
from core.figures.series import describe
from core.figures.temperature_metrics import temperature_metrics as draw_metrics
from core.figures.theme import Theme
from core.figures.uniformity_tolerance import uniformity_tolerance as draw_plane
from core.geometry.closed_forms import uniform_optimum
from core.report.drawing import CannotDraw, Drawing, Options, Source, drawing, ended, progress
from core.report.drawn import drawn

Beside = Literal["cifar10", "cifar100", "svhn", "imagenet-100", "none"]
NAMES = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100", "svhn": "SVHN", "imagenet-100": "ImageNet-100"}
WANG_LIU, SIMCLR = "wang_liu_2021", "simclr_2020_table5"
THEIR_DIM = 128  # of the embedding in Wang & Liu's runs


class TemperatureOptions(Options):
    """Choices of `temperature_metrics`."""

    beside: Beside = Field("none", title="Beside it: Wang & Liu 2021, Table 1")
    zoom: bool = Field(False, title="Zoom to data")


class PlaneOptions(Options):
    """Choices of `uniformity_tolerance`."""

    beside: Beside = Field("none", title="Beside it: Wang & Liu 2021, Table 1")


class NoOptions(Options):
    """Nothing is left open."""


def temperature_metrics(source: Source, options: TemperatureOptions, theme: Theme) -> Drawing:
    """Accuracy, uniformity and tolerance of whole encoders against the temperature."""
    entry = source.entry
    table = entry.store.table(entry.name)
    runs, theirs = _ours(table), _theirs(options.beside)
    done = _required(source, runs)
    untrained = table[(table["objective"] == "untrained") & (table["status"] == "finished")]
    figure = draw_metrics(
        runs,
        theme,
        published=theirs,
        baseline=float(untrained["linear_accuracy"].mean()) if len(untrained) else None,
        optimum=uniform_optimum(int(runs["head_dim"].iloc[0])),
        subtitle=describe(done, "mean ± sd"),
        progress=progress(entry, table),
        zoom=options.zoom,
    )
    alt = "Linear accuracy, uniformity and tolerance of trained encoders against the temperature."
    return drawing(source, figure, ended(table), alt)


def uniformity_tolerance(source: Source, options: PlaneOptions, theme: Theme) -> Drawing:
    """The path of the temperatures through the plane of uniformity and tolerance."""
    runs = _ours(source.entry.store.table(source.entry.name))
    done = _required(source, runs)
    optimum = uniform_optimum(int(runs["head_dim"].iloc[0]))
    shown = dict(published=_theirs(options.beside), optimum=optimum, subtitle=describe(done, "mean ± sd"))
    figure = draw_plane(runs, theme, **shown)
    return drawing(source, figure, ended(runs), "Path of the temperatures through the plane of uniformity and tolerance.")


def contrastive_accuracy(source: Source, options: NoOptions, theme: Theme) -> Drawing:
    """SimCLR's Table 5: the temperature that solves the task best has not the best features."""
    rows = published.rows(dataset="imagenet")
    rows = rows[rows["source"] == SIMCLR]
    figure = draw_contrastive(rows, theme)
    found = published.sources()[SIMCLR]
    alt = "Published linear accuracy against contrastive accuracy, one point per temperature."
    return Drawing(figure, alt, f"{found.citation} · {found.source}", lambda: drawn(figure), None)


def is_temperature_study(entry) -> bool:
    """Whether a study varies the temperature and no other dial."""
    return entry.varies("tau") and not any(entry.varies(dial) for dial in ("bits", "digits", "digit_size", "lam", "queue"))


def _ours(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["objective"] == "nt_xent"] if len(table) else table


def _required(source: Source, runs: pd.DataFrame) -> pd.DataFrame:
    done = runs[runs["status"] == "finished"] if len(runs) else runs
    if done.empty:
        raise CannotDraw(f"no NT-Xent run of the study {source.entry.id!r} has finished")
    return done


def _theirs(dataset: Beside) -> pd.DataFrame:
    """Wang & Liu's contrastive loss and its limit, the simple loss, on one data set."""
    rows = published.rows(dataset=dataset)
    if rows.empty:
        return rows
    rows = rows[(rows["source"] == WANG_LIU) & rows["setting"].isin(["contrastive loss", "simple loss"])]
    return rows.assign(label=[f"{label}, {NAMES[dataset]}" for label in rows["label"]])
