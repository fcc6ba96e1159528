"""What papers say about competing features, each held against the study at hand by one stated comparison.

A comparison is a difference of two accuracies with its spread: the root of the summed variances over seeds. It decides only
where both sides have at least two seeds, and counts as a difference only beyond twice that spread and two hundredths.
"""

import math
from typing import Literal, NamedTuple

import pandas as pd

from core.figures.contests import CONTESTS, Contest
from core.figures.metrics import METRICS, with_spread

CLEAR, LEAST = 2.0, 0.02  # spreads, and accuracy, that a difference must exceed
HALF = 0.5  # share of the accuracy above chance whose loss counts as "destroyed"
UNHARMED = 0.05  # accuracy that a training may lose and still count as unaffected
CHEN, SIMCLR = "Chen, Luo, Li 2021", "Chen et al. 2020, table 1"

Status = Literal["holds", "does not hold", "open"]


class Claim(NamedTuple):
    """One claim and what became of it here."""

    text: str
    source: str
    status: Status
    said: str  # the comparison, with its numbers


class Change(NamedTuple):
    """A difference of two means over seeds."""

    value: float
    spread: float  # NaN when a side has one seed only
    text: str  # "0.52 ± 0.01 to 0.31 ± 0.02"

    @property
    def known(self) -> bool:
        """Whether both sides have a spread."""
        return not math.isnan(self.spread)

    @property
    def clear(self) -> bool:
        """Whether the difference stands out from the spread."""
        return self.known and abs(self.value) > max(LEAST, CLEAR * self.spread)


def claims(dial: str, first: pd.DataFrame, second: pd.DataFrame, chance: float | None) -> list[Claim]:
    """The claims that concern a dial.

    Args:
        dial: RunSpec field.
        first: Folded cells of the feature that may be suppressed.
        second: Folded cells of its rival.
        chance: Accuracy of guessing the first feature.

    Returns:
        In a fixed order; empty where the study has no finished contrastive run.
    """
    contest = CONTESTS[dial]
    if first[(first["kind"] == "contrastive") & (first["n"] > 0)].empty:
        return []
    if dial == "color_strength":
        return [
            _all_move(first, contest.first, +1, "Stronger colour jitter gives better features", SIMCLR),
            _all_move(second, contest.second, -1, "Without jitter the encoder leans on colours, with it less", SIMCLR),
            _labels_gain_nothing(first, contest.first),
        ]
    found = [_destroyed(first, contest, chance)]
    if dial == "digits":
        text = "More different digits: the digit is learned better"
        found.append(_all_move(second[second["x"] > 0], contest.second, +1, text, CHEN))
    if dial == "digit_size":
        found.append(_stays(second, contest.second, "contrastive", "The growing digit itself is still learned well", CHEN))
    found.append(_stays(first, contest.first, "supervised", "Training with labels is hardly affected", CHEN))
    if dial == "bits":
        found.append(_suffers_less(first, contest.first))
    found.append(_temperature(first, contest.first))
    return found


def change(before: pd.Series, after: pd.Series, metric: str) -> Change:
    """The difference of two folded cells, the later less the earlier."""
    texts = (with_spread(cell["mean"], metric, cell["sd"]) for cell in (before, after))
    return Change(after["mean"] - before["mean"], math.hypot(before["sd"], after["sd"]), " to ".join(texts))


def _ends(cells: pd.DataFrame, kind: str, metric: str) -> list[tuple[str, Change]]:
    """Each line of a kind: its change from the low end of the dial to the high one; lines with one value only are left out."""
    found = []
    for name, line in cells[(cells["kind"] == kind) & (cells["n"] > 0)].groupby("series", sort=False):
        line = line.sort_values("x")
        if len(line) > 1:
            found.append((name, change(line.iloc[0], line.iloc[-1], metric)))
    return found


def _say(metric: str, changes: list[tuple[str, Change]]) -> str:
    return f"{METRICS[metric].name}, low end to high end: " + "; ".join(f"{name} {moved.text}" for name, moved in changes)


def _judge(text: str, source: str, said: str, changes: list[tuple[str, Change]], holds: bool) -> Claim:
    """A claim whose comparison was made; open where a side has one seed only, or there is nothing to compare."""
    if not changes:
        return Claim(text, source, "open", "nothing to compare yet")
    if not all(moved.known for _, moved in changes):
        return Claim(text, source, "open", f"{said} (one seed at an end: no spread, no verdict)")
    return Claim(text, source, "holds" if holds else "does not hold", said)


def _destroyed(cells: pd.DataFrame, contest: Contest, chance: float | None) -> Claim:
    text = {
        "bits": "A few added bits quickly destroy what is learned of the class",
        "digits": "More different digits: the object is learned less",
        "digit_size": "The smaller digit degenerates as the other one grows",
    }[contest.dial]
    changes = _ends(cells, "contrastive", contest.first)
    fell = bool(changes) and all(moved.clear and moved.value < 0 for _, moved in changes)
    if contest.dial == "bits" and chance is not None:
        learned = cells[(cells["kind"] == "contrastive") & (cells["n"] > 0)]
        starts = learned.sort_values("x").groupby("series", sort=False)["mean"].first()
        fell = fell and all(-moved.value >= HALF * (starts[name] - chance) for name, moved in changes)
    return _judge(text, CHEN, _say(contest.first, changes), changes, fell)


def _all_move(cells: pd.DataFrame, metric: str, sign: int, text: str, source: str) -> Claim:
    changes = _ends(cells, "contrastive", metric)
    moves = all(moved.clear and moved.value * sign > 0 for _, moved in changes)
    return _judge(text, source, _say(metric, changes), changes, moves)


def _stays(cells: pd.DataFrame, metric: str, kind: str, text: str, source: str) -> Claim:
    changes = _ends(cells, kind, metric)
    return _judge(text, source, _say(metric, changes), changes, all(moved.value > -UNHARMED for _, moved in changes))


def _labels_gain_nothing(cells: pd.DataFrame, metric: str) -> Claim:
    changes = _ends(cells, "supervised", metric)
    gains = any(moved.clear and moved.value > 0 for _, moved in changes)
    return _judge("Training with labels gains nothing from it", SIMCLR, _say(metric, changes), changes, not gains)


def _suffers_less(cells: pd.DataFrame, metric: str) -> Claim:
    text = "Reconstruction suffers little"
    rebuilt, learned = _ends(cells, "autoencoder", metric), _ends(cells, "contrastive", metric)
    if not rebuilt or not learned:
        return Claim(text, CHEN, "open", "the study has no autoencoder line")
    least = max(moved.value for _, moved in learned)  # the contrastive line that lost least
    holds = all(moved.value > least + max(LEAST, CLEAR * moved.spread) for _, moved in rebuilt)
    return _judge(text, CHEN, f"{_say(metric, rebuilt)}; the best contrastive line changes by {least:+.2f}", rebuilt, holds)


def _temperature(cells: pd.DataFrame, metric: str) -> Claim:
    """Mean over the dial of the difference between the lowest and the highest temperature."""
    text = "A lower temperature helps slightly"
    lines = cells[(cells["kind"] == "contrastive") & (cells["n"] > 0)]
    taus = sorted(lines["tau"].unique())
    if len(taus) < 2:
        return Claim(text, CHEN, "open", "the study has one temperature only")
    low, high = (lines[lines["tau"] == tau].drop_duplicates("x").set_index("x") for tau in (taus[0], taus[-1]))
    both = low.join(high, lsuffix="_low", rsuffix="_high", how="inner").iloc[1:]  # without the end where nothing competes
    both = both[both["sd_low"].notna() & both["sd_high"].notna()]
    if both.empty:
        return Claim(text, CHEN, "open", "no value of the dial has two seeds at both temperatures")
    gain = (both["mean_low"] - both["mean_high"]).mean()
    spread = math.sqrt((both["sd_low"] ** 2 + both["sd_high"] ** 2).sum()) / len(both)
    said = (
        f"{METRICS[metric].name}, tau {taus[0]:g} less tau {taus[-1]:g}, mean over {len(both)} values of the dial: "
        f"{gain:+.3f} ± {spread:.3f}".replace("-", "−")
    )
    clear = gain > max(LEAST / 2, CLEAR * spread)
    return Claim(text, CHEN, "holds" if clear else "does not hold", said)
