"""Feature suppression in reports: accuracy or bits against a dial, the loss against its floor."""

from typing import Literal

import pandas as pd
from pydantic import Field

from core import published
from core.figures.contest_story import contest_title, rival_title
from core.figures.contests import CONTESTS, chances
from core.figures.dials import DIAL_AXES
from core.figures.lines import SPREAD_NAMES, Spread
from core.figures.loss_floor import loss_floor as draw_floor
from core.figures.metrics import METRICS
from core.figures.series import describe, fold_seeds
from core.figures.story import loss_title, takeaway
from core.figures.suppression import suppression as draw_suppression
from core.figures.theme import Theme
from core.report.drawing import CannotDraw, Drawing, Options, Source, chance_of, drawing, ended, finished, progress
from core.studies.catalogue import Entry

OF_BITS = ("bits_known", "bit_accuracy")
CELLS = ["series", "x", "mean", "sd", "low", "high", "n", "total", "diverged", "failed"]


class SuppressionOptions(Options):
    """Choices of `suppression`."""

    metric: Literal[
        "linear_accuracy",
        "knn_accuracy",
        "online_accuracy",
        "bits_known",
        "bit_accuracy",
        "digit_accuracy",
        "small_digit_accuracy",
        "large_digit_accuracy",
        "color_accuracy",
    ] = Field("linear_accuracy", title="Metric")
    spread: Spread = Field("sd", title="Seeds")
    published: bool = Field(True, title="Published values beside it")
    zoom: bool = Field(False, title="Zoom to data")


class FloorOptions(Options):
    """Choices of `loss_floor`."""

    spread: Spread = Field("sd", title="Seeds")


def dial_of(entry: Entry) -> str | None:
    """The competing feature that a study varies; None if it varies none."""
    return next((dial for dial in DIAL_AXES if entry.varies(dial)), None)


def suppression(source: Source, options: SuppressionOptions, theme: Theme) -> Drawing:
    """A metric against the competing feature, one line per temperature or objective."""
    entry, dial = source.entry, dial_of(source.entry)
    if dial is None:
        raise CannotDraw(f"the study {entry.id!r} varies none of {', '.join(DIAL_AXES)}")
    runs = entry.store.table(entry.name)
    done = finished(entry)
    cells = fold_seeds(runs, options.metric, dial)
    theirs = pd.DataFrame()
    if options.published:
        same, beside = published.counterparts(done, options.metric), published.beside(dial, options.metric)
        theirs = same if len(same) else beside
    if not (cells["n"] > 0).any():
        raise CannotDraw(f"the study {entry.id!r} did not measure {METRICS[options.metric].name}")
    contest = CONTESTS[dial]
    own, rival = chances(contest, done)
    known = {contest.first: own, contest.second: rival} | dict.fromkeys(OF_BITS, rival)
    chance = known.get(options.metric, chance_of(done))
    if options.metric in OF_BITS:
        title = "How much of the code the encoder keeps"
    elif options.metric == contest.second:
        title = rival_title(contest)
    elif dial == "bits":
        title = takeaway(cells, options.metric, done["dataset"].iloc[0], chance, dial)
    else:
        title = contest_title(contest, cells, chance)
    figure = draw_suppression(
        cells,
        theme,
        metric=options.metric,
        dial=dial,
        title=title,
        subtitle=describe(done, SPREAD_NAMES[options.spread] if options.spread != "seeds" else ""),
        spread=options.spread,
        chance=chance,
        published=theirs,
        progress=progress(entry, runs),
        zoom=options.zoom,
    )
    alt = f"{METRICS[options.metric].axis} against {DIAL_AXES[dial].lower()}, one line per temperature or objective."
    return drawing(source, figure, ended(runs), alt, _table(cells, dial))


def loss_floor(source: Source, options: FloorOptions, theme: Theme) -> Drawing:
    """The final loss against the bits, with the floor of an encoder that keeps the bits only."""
    entry = source.entry
    runs = entry.store.table(entry.name)
    done = finished(entry)
    losses = fold_seeds(runs, "loss", "bits")
    if not (losses["kind"] == "contrastive").any():
        raise CannotDraw(f"the study {entry.id!r} has no finished contrastive run")
    figure = draw_floor(
        losses,
        theme,
        title=loss_title(losses),
        subtitle=describe(done, SPREAD_NAMES[options.spread] if options.spread != "seeds" else ""),
        spread=options.spread,
        progress=progress(entry, runs),
    )
    alt = "Final loss against the number of shared bits, with the exact floor of an encoder that keeps the bits only."
    return drawing(source, figure, ended(runs), alt, _table(losses[losses["kind"] == "contrastive"], "bits"))


def _table(cells: pd.DataFrame, dial: str) -> pd.DataFrame:
    return cells[CELLS].rename(columns={"x": dial, "series": "line", "n": "runs", "low": "lowest", "high": "highest"})
