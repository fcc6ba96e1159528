"""Which figures and tables a report can hold, each with its options and the studies that it suits."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from core.figures.theme import Theme
from core.report.builders import heads, kept, maps, queue, suppression, temperature, training
from core.report.drawing import Drawing, Options, Source
from core.report.tables import CellsOptions, RunsOptions, cells_table, runs_table
from core.studies.catalogue import Entry
from core.studies.maps import is_map


def _no_study(entry: Entry) -> bool:
    return False


def _any_study(entry: Entry) -> bool:
    return True


class Figure(NamedTuple):
    """One kind of figure."""

    title: str  # in selectors
    build: Callable[[Source, Options, Theme], Drawing]
    options: type[Options]
    suits: Callable[[Entry], bool]  # studies that it can be drawn from
    needs_study: bool = True


class Table(NamedTuple):
    """One kind of table."""

    title: str
    build: Callable[[Source, Options], pd.DataFrame]
    options: type[Options]
    suits: Callable[[Entry], bool]


FIGURES: dict[str, Figure] = {
    "suppression": Figure(
        "Accuracy against the shared feature",
        suppression.suppression,
        suppression.SuppressionOptions,
        lambda entry: suppression.dial_of(entry) is not None,
    ),
    "loss_floor": Figure(
        "Loss against its floor", suppression.loss_floor, suppression.FloorOptions, lambda entry: entry.varies("bits")
    ),
    "embedding_pair": Figure(
        "Embedding, before and after", training.embedding_pair, training.PairOptions, lambda entry: entry.varies("bits")
    ),
    "tau_lambda": Figure("Tau-lambda map", maps.tau_lambda, maps.MapOptions, is_map),
    "tau_lambda_slices": Figure("Cuts through the tau-lambda map", maps.tau_lambda_slices, maps.CutsOptions, is_map),
    "head_depths": Figure("Losses and heads", heads.head_depths, heads.HeadsOptions, heads.compares_heads),
    "temperature_metrics": Figure(
        "Accuracy, uniformity and tolerance against tau",
        temperature.temperature_metrics,
        temperature.TemperatureOptions,
        temperature.is_temperature_study,
    ),
    "uniformity_tolerance": Figure(
        "Uniformity against tolerance",
        temperature.uniformity_tolerance,
        temperature.PlaneOptions,
        temperature.is_temperature_study,
    ),
    "queue_size": Figure("MoCo: queue and momentum", queue.queue_size, queue.QueueOptions, lambda entry: entry.varies("queue")),
    "curves": Figure("Curves over epochs", training.curves, training.CurvesOptions, _any_study),
    "embedding": Figure("Embedding of one run", training.embedding, training.EmbeddingOptions, training.has_embeddings),
    "contrastive_accuracy": Figure(
        "SimCLR, Table 5: the task and the features",
        temperature.contrastive_accuracy,
        temperature.NoOptions,
        _no_study,
        needs_study=False,
    ),
    "full_softmax_cost": Figure(
        "Cost of a full softmax", queue.full_softmax_cost, temperature.NoOptions, _no_study, needs_study=False
    ),
    "kept": Figure("Kept from a page", kept.kept, kept.KeptOptions, _no_study, needs_study=False),
}

TABLES: dict[str, Table] = {
    "runs": Table("Runs", runs_table, RunsOptions, _any_study),
    "cells": Table("Mean and spread over seeds", cells_table, CellsOptions, lambda entry: suppression.dial_of(entry) is not None),
}
