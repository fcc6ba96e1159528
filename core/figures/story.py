"""Feature suppression in words: sentences made from the folded numbers, never beyond what they carry."""

import pandas as pd

from core.figures.metrics import METRICS, number, with_spread
from core.losses.reference import saturation_bits

LOST = 0.9  # share of the accuracy above chance whose loss counts as "erased"
DENTED = 0.1  # and as worth stating
LEARNED = 0.05  # accuracy above chance without the easy feature, below which there is nothing to lose
STILL_THERE = 0.05  # a supervised encoder this much below the best one without bits no longer shows that the picture is intact
WANTED = {"mnist": "digit", "mnist-5k": "digit", "fashion-mnist": "garment", "folder": "class"}  # others: object
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def takeaway(cells: pd.DataFrame, metric: str, dataset: str, chance: float | None, dial: str = "bits") -> str:
    """The result in one plain sentence, or the question where the numbers do not carry a statement yet.

    "Erase" needs every contrastive line to have lost nine tenths of its accuracy above chance, measured against its own value
    without the easy feature; a smaller loss is stated as a share if it is at least a tenth.
    """
    thing = WANTED.get(dataset, "object")
    lost = _lost(cells, chance) if chance is not None and METRICS[metric].is_accuracy and dial == "bits" else pd.DataFrame()
    if lost.empty:
        return f"What is left of the {thing} when bits are added?"
    x, erased = _turning_point(lost)
    least, most = lost.loc[lost["x"] == x, "lost"].agg(["min", "max"])
    if erased:
        return f"{_count(x).capitalize()} shared {_bits(x)} {_verb('erase', x)} {thing} recognition"
    if most >= DENTED:
        share = f"up to {most:.0%}" if most - least >= DENTED else f"{most:.0%}"
        return f"{_count(x).capitalize()} shared {_bits(x)} {_verb('cost', x)} {share} of {thing} recognition"
    return f"Up to {_count(lost['x'].max())} shared {_bits(lost['x'].max())}, {thing} recognition holds"


def story(cells: pd.DataFrame, metric: str, chance: float | None, known: pd.DataFrame | None = None) -> str:
    """What suppressed what, in two or three sentences made from the numbers; empty where there is nothing to compare.

    Args:
        cells: Folded accuracy cells with bits on the x axis.
        metric: The accuracy.
        chance: Accuracy of guessing.
        known: Folded `bits_known` cells, for what was learned instead.
    """
    lost = _lost(cells, chance) if chance is not None else pd.DataFrame()
    if lost.empty:
        return ""
    x, _ = _turning_point(lost)
    there = cells[cells["series"].isin(lost.loc[lost["x"] == x, "series"]) & (cells["n"] > 0)]
    best = there[there["x"] == 0].sort_values("mean").iloc[-1]
    after = there[(there["series"] == best["series"]) & (there["x"] == x)].iloc[0]
    which = f"{best['series']} (the best without bits)" if there["series"].nunique() > 1 else best["series"]
    before, now = (with_spread(cell["mean"], metric, cell["sd"]) for cell in (best, after))
    with_bits = f"{_count(x)} {_bits(x)}"
    hedge = "; one seed: not certain" if min(best["n"], after["n"]) < 2 else ""
    name = METRICS[metric].name
    said = f"With {which}, {name} accuracy goes from {before} to {now} with {with_bits} (chance {chance:.2g}{hedge})."
    instead = "" if known is None else _knows(known, best["series"], x)
    others = (_supervised(cells, metric, x, best["mean"]), _rebuilt(cells, metric, x))
    return " ".join(part for part in (said, instead, *others) if part)


def _turning_point(lost: pd.DataFrame) -> tuple[float, bool]:
    """The first number of bits from which on every line is and stays erased, and True; or the end of the dial, and False.

    A single low point among higher ones, as few test images give, is no erasure.
    """
    by_bits = lost.groupby("x")["lost"].agg(["min", "size"]).sort_index()
    whole = by_bits[by_bits["size"] == lost["series"].nunique()]  # values of the dial at which every line was measured
    stays = (whole["min"] >= LOST)[::-1].cummin()[::-1]
    return (float(whole.index[stays][0]), True) if stays.any() else (float(by_bits.index[-1]), False)


def _bits(count: float) -> str:
    return "bit" if count == 1 else "bits"


def _verb(verb: str, count: float) -> str:
    return f"{verb}s" if count == 1 else verb


def _knows(known: pd.DataFrame, series: str, bits: float) -> str:
    cell = known[(known["series"] == series) & (known["x"] == bits) & (known["n"] > 0)]
    if cell.empty:
        return ""
    cell = cell.iloc[0]
    said = f"The encoder knows {with_spread(cell['mean'], 'bits_known', cell['sd'])} of the {int(bits)} bits"
    untrained = known[(known["kind"] == "untrained") & (known["x"] == bits) & (known["n"] > 0)]
    if untrained.empty:
        return f"{said}."
    return f"{said}, untrained {number(untrained['mean'].iloc[0], 'bits_known')}."


def _supervised(cells: pd.DataFrame, metric: str, bits: float, without: float) -> str:
    cell = cells[(cells["kind"] == "supervised") & (cells["x"] == bits) & (cells["n"] > 0)]
    if cell.empty:
        return ""
    cell = cell.iloc[0]
    said = f"With labels, on the same inputs, it is {with_spread(cell['mean'], metric, cell['sd'])}"
    if cell["mean"] < without - STILL_THERE:
        return f"{said}."
    return f"{said}: the picture is still there, the contrastive loss has no need of it."


def _rebuilt(cells: pd.DataFrame, metric: str, bits: float) -> str:
    cell = cells[(cells["kind"] == "autoencoder") & (cells["x"] == bits) & (cells["n"] > 0)]
    if cell.empty:
        return ""
    return f"Of an encoder trained to rebuild its input, it is {with_spread(cell['mean'].iloc[0], metric, cell['sd'].iloc[0])}."


def _lost(cells: pd.DataFrame, chance: float) -> pd.DataFrame:
    """Contrastive cells with some bits: the share of the accuracy above chance that is gone since the cell without bits."""
    rows = []
    for name, line in cells[(cells["kind"] == "contrastive") & (cells["n"] > 0)].groupby("series", sort=False):
        start = line.loc[line["x"] == 0, "mean"]
        if start.empty or start.iloc[0] - chance < LEARNED:  # nothing was learned, so nothing can be lost
            continue
        above = start.iloc[0] - chance
        rows += [(name, x, 1 - (mean - chance) / above) for x, mean in zip(line["x"], line["mean"], strict=True) if x > 0]
    return pd.DataFrame(rows, columns=["series", "x", "lost"])


def _count(value: float) -> str:
    """A small count in words, as sentences begin with it."""
    return COUNTS[int(value)] if 0 <= value < len(COUNTS) and value == int(value) else f"{value:g}"


def loss_title(cells: pd.DataFrame) -> str:
    """What the loss does as bits are added, in one plain sentence; a question where that cannot be said.

    Args:
        cells: Folded `loss` cells, bits on the x axis.
    """
    contrastive = cells[(cells["kind"] == "contrastive") & (cells["n"] > 0)]
    ends = contrastive.sort_values("x").groupby("series")["mean"].agg(["first", "last"])
    if contrastive["x"].nunique() < 2 or not (ends["last"] < ends["first"]).all():
        return "How low could the bits alone bring the loss?"
    kind = "cross_view" if (contrastive["objective"] == "cross_view").all() else "nt_xent"
    enough = contrastive["x"] >= contrastive["batch_size"].map(lambda size: saturation_bits(int(size), kind))
    if not enough.groupby(contrastive["series"]).any().all():
        return "More bits make the contrastive task easier"
    return "The bits alone satisfy the loss"
