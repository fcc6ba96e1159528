"""Runs in reports: their curves over epochs, and what their embeddings look like."""

from typing import Literal

import pandas as pd
from pydantic import Field

from core.figures.curves import Curve, curve_colors
from core.figures.curves import curves as draw_curves
from core.figures.embedding import embedding as draw_embedding
from core.figures.embedding import embedding_pair as draw_pair
from core.figures.metrics import METRICS
from core.figures.run_table import run_names
from core.figures.series import describe
from core.figures.theme import Theme, style
from core.report.drawing import CannotDraw, Drawing, Options, Source, chance_of, drawing, finished
from core.studies.catalogue import Entry
from core.training.spec import CONTRASTIVE

FIRST = 4  # runs drawn where none was chosen
CurveMetric = Literal["loss", "online_accuracy", "alignment", "uniformity"]


class CurvesOptions(Options):
    """Choices of `curves`."""

    runs: tuple[str, ...] = Field((), title="Runs")
    metrics: tuple[CurveMetric, ...] = Field(("online_accuracy", "loss"), title="Metrics", min_length=1)


class EmbeddingOptions(Options):
    """Choices of `embedding`."""

    run: str = Field("", title="Run")
    color_by: str = Field("class", title="Colour by", pattern=r"class|predicted|bit [1-9]\d?")


class PairOptions(Options):
    """Choices of `embedding_pair`."""

    before: str = Field("", title="Left run")
    after: str = Field("", title="Right run")


def curves(source: Source, options: CurvesOptions, theme: Theme) -> Drawing:
    """Metrics over epochs of chosen runs; without a choice, of the first ones that have curves."""
    entry = source.entry
    table = entry.store.table(entry.name)
    chosen = _rows(entry, table, options.runs) if options.runs else _first(table)
    names = run_names(chosen)
    shown = [
        Curve.of(run, names[run["run_id"]], entry.store.history(entry.name, run["run_id"]), color)
        for run, color in zip(chosen.to_dict("records"), curve_colors(len(chosen)), strict=True)
    ]
    if all(curve.history.empty for curve in shown):
        raise CannotDraw(f"none of the chosen runs of {entry.id!r} has epochs")
    figure = draw_curves(
        shown,
        theme,
        options.metrics,
        chance=chance_of(chosen) if chosen["classes"].max() > 0 else None,
        title="What happened while it trained",
        subtitle=describe(chosen),
    )
    named = " and ".join(METRICS[metric].name for metric in options.metrics)
    return drawing(source, figure, chosen, f"{named} over epochs, one line per run: {'; '.join(names.values())}.")


def embedding(source: Source, options: EmbeddingOptions, theme: Theme) -> Drawing:
    """Test images in the embedding of one run; without a choice, of the most suppressed one."""
    entry = source.entry
    table = finished(entry)
    run_id = options.run or _last_with_embedding(entry, table)
    run = _rows(entry, table, (run_id,)).iloc[0]
    arrays = _arrays(entry, run_id)
    named = dict(title=_question(options.color_by), subtitle=_name(entry, run))
    figure = draw_embedding(arrays, theme, color_by=options.color_by, **named)
    alt = f"Test images in the embedding of run {run_id}, coloured by {options.color_by}."
    return drawing(source, figure, table[table["run_id"] == run_id], alt)


def embedding_pair(source: Source, options: PairOptions, theme: Theme) -> Drawing:
    """Two embeddings side by side; without a choice, the same line without bits and with the most."""
    entry = source.entry
    table = finished(entry)
    ids = (options.before, options.after) if options.before and options.after else pair_of(entry, table)
    if ids is None:
        raise CannotDraw(f"the study {entry.id!r} stores no embedding without bits and with bits at the same settings")
    rows = _rows(entry, table, ids)
    names = list(run_names(rows).values())
    figure = draw_pair(_arrays(entry, ids[0]), _arrays(entry, ids[1]), (names[0], names[1]), theme, height=400)
    title = "The embedding, before and after"
    style(figure, theme, title=title, subtitle=f"{describe(rows)} · test images, coloured by class", height=460)
    figure.update_layout(margin_b=26)
    return drawing(source, figure, rows, f"Two embeddings of test images, coloured by class: {names[0]} and {names[1]}.")


def pair_of(entry: Entry, runs: pd.DataFrame) -> tuple[str, str] | None:
    """The first contrastive line of a study that stores an embedding without bits and one with the most bits: their run ids."""
    kept = runs[(runs["seed"] == runs["seed"].min()) & runs["objective"].isin(["nt_xent", "cross_view"])]
    for _, line in kept.groupby(["objective", "tau"], sort=True):
        first, last = line[line["bits"] == 0], line[line["bits"] > 0].sort_values("bits")
        if len(first) and len(last):
            ids = first["run_id"].iloc[0], last["run_id"].iloc[-1]
            if all(_has_embedding(entry, run_id) for run_id in ids):
                return ids
    return None


def has_embeddings(entry: Entry) -> bool:
    """Whether some run of the study stores its embedding."""
    folder = entry.store.folder(entry.name)
    return next(folder.glob("*/embedding.npz"), None) is not None


def _has_embedding(entry: Entry, run_id: str) -> bool:
    return (entry.store.run_folder(entry.name, run_id) / "embedding.npz").is_file()


def _last_with_embedding(entry: Entry, runs: pd.DataFrame) -> str:
    contrastive = runs[runs["objective"].isin(CONTRASTIVE)].sort_values(["bits", "seed"], ascending=[False, True])
    for run_id in contrastive["run_id"]:
        if _has_embedding(entry, run_id):
            return run_id
    raise CannotDraw(f"the study {entry.id!r} stores no embedding; shipped results keep those of the first seed")


def _arrays(entry: Entry, run_id: str) -> dict:
    arrays = entry.store.embedding(entry.name, run_id)
    if arrays is None:
        raise CannotDraw(f"no embedding is stored for run {run_id} of {entry.id!r}; shipped results keep those of the first seed")
    return arrays


def _rows(entry: Entry, table: pd.DataFrame, ids: tuple[str, ...]) -> pd.DataFrame:
    known = set(table["run_id"])
    unknown = [run_id for run_id in ids if run_id not in known]
    if unknown:
        raise CannotDraw(f"the study {entry.id!r} has no finished run {', '.join(unknown)}")
    return table.set_index("run_id", drop=False).loc[list(ids)].reset_index(drop=True)


def _first(table: pd.DataFrame) -> pd.DataFrame:
    """A few runs of the first seed that trained, spread over the study."""
    trained = table[(table["epochs_done"] > 0) & (table["seed"] == table["seed"].min())] if len(table) else table
    if trained.empty:
        raise CannotDraw("no run of the study has epochs")
    step = max(1, len(trained) // FIRST)
    return trained.iloc[::step].head(FIRST).reset_index(drop=True)


def _name(entry: Entry, run: pd.Series) -> str:
    """What sets the run apart within its study, as far as its own settings say."""
    spec = entry.store.spec(entry.name, run["run_id"])
    bits = f", {spec.bits} bits" if spec.bits else ""
    tau = f", tau {spec.tau:g}" if spec.objective in ("nt_xent", "cross_view", "gcl", "moco") else ""
    return f"{run['label']}{tau}{bits}, seed {spec.seed}"


def _question(color_by: str) -> str:
    if color_by.startswith("bit"):
        return f"Does {color_by} order the embedding?"
    return "Does the class order the embedding?" if color_by == "class" else "What the linear probe says"
