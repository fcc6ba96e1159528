"""What papers say about competing features, each held against the study at hand by one stated comparison.

A comparison is a difference of two accuracies with its spread: the root of the summed variances over seeds. It decides only
where both sides have at least two seeds, and counts as a difference only beyond twice that spread and two hundredths (one
where it is a mean over the dial). A claimed change is refuted only where the spread leaves no room for it; else it is open.
"""

import math
from typing import Literal, NamedTuple

import pandas as pd

from core.figures.contests import CONTESTS, Contest
from core.figures.metrics import METRICS, with_spread
from core.figures.story import LEARNED

CLEAR, LEAST = 2.0, 0.02  # spreads, and accuracy, that a difference must exceed
HALF = 0.5  # share of the accuracy above chance whose loss counts as "destroyed"
UNHARMED = 0.05  # accuracy that a training may lose and still count as hardly affected
FEW_BITS = 10  # a dial that ends below cannot refute that a few bits destroy
WITHIN = "within the spread over seeds: no verdict"
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

    def moves(self, sign: int) -> Status:
        """Whether it goes the way of the sign; open where the spread allows that as well as no change."""
        return _moves(self.value * sign, self.spread, LEAST)


class Lever(NamedTuple):
    """A setting that may help the suppressed feature, and what is claimed of it."""

    field: str  # of RunSpec
    name: str
    higher: bool  # claimed of its higher values, else of its lower ones
    helps: bool  # claimed to help, else claimed not to
    always: bool  # told as open where a study has one value only
    text: str
    source: str


LEVERS = (
    Lever("tau", "temperature", False, True, True, "A lower temperature helps slightly", CHEN),
    Lever("batch_size", "batch size", True, True, False, "A larger batch helps slightly", CHEN),
    Lever("width", "width", True, False, False, "A larger encoder does not help", CHEN),
)


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
        found.append(_stays(second, contest.second, "contrastive", "The growing digit itself does not suffer", CHEN))
    found.append(_stays(first, contest.first, "supervised", "Training with labels is hardly affected", CHEN))
    if dial == "bits":
        found.append(_suffers_little(first, contest.first, chance))
    found += [_setting(first, contest.first, lever) for lever in LEVERS if lever.always or first[lever.field].nunique() > 1]
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


def _say(metric: str, changes: list[tuple[str, Change]], cells: pd.DataFrame) -> str:
    """What is compared, with its numbers: "linear probe, from 0 to 20 on the dial: tau 0.1 0.52 ± 0.01 to 0.31 ± 0.02"."""
    used = cells.loc[cells["series"].isin([name for name, _ in changes]) & (cells["n"] > 0), "x"]
    over = f"from {used.min():,.10g} to {used.max():,.10g} on the dial" if len(used) else "over the dial"
    return f"{METRICS[metric].name}, {over}: " + "; ".join(f"{name} {moved.text}" for name, moved in changes)


def _moves(gain: float, spread: float, least: float) -> Status:
    """Whether a gain is one; it is none only where even the far end of its spread is no more than the least that counts."""
    if math.isnan(spread):
        return "open"
    if gain > max(least, CLEAR * spread):
        return "holds"
    return "does not hold" if gain + CLEAR * spread <= least else "open"


def _of_all(verdicts: list[Status]) -> Status:
    """What holds of every line: one that refutes it is enough, and one that is open leaves it open."""
    if "does not hold" in verdicts:
        return "does not hold"
    return "open" if "open" in verdicts else "holds"


def _judge(text: str, source: str, said: str, changes: list[tuple[str, Change]], status: Status) -> Claim:
    """A claim whose comparison was made; open where a side has one seed only, or there is nothing to compare."""
    if not changes:
        return Claim(text, source, "open", "nothing to compare yet")
    if not all(moved.known for _, moved in changes):
        return Claim(text, source, "open", f"{said} (one seed at an end: no spread, no verdict)")
    return Claim(text, source, status, f"{said} ({WITHIN})" if status == "open" else said)


def _no_line(cells: pd.DataFrame, kind: str) -> str:
    """Why there is nothing to compare: such runs are missing from the study, or have not finished."""
    return "nothing to compare yet" if (cells["kind"] == kind).any() else f"the study has no {kind} line"


def _destroyed(cells: pd.DataFrame, contest: Contest, chance: float | None) -> Claim:
    text = {
        "bits": "A few added bits quickly destroy what is learned of the class",
        "digits": "More different digits: the object is learned less",
        "digit_size": "The smaller digit degenerates as the other one grows",
    }[contest.dial]
    changes = _ends(cells, "contrastive", contest.first)
    said, fell = _say(contest.first, changes, cells), _of_all([moved.moves(-1) for _, moved in changes])
    starts = _starts(cells)
    above = {name: starts[name] - chance for name, _ in changes} if chance is not None else {}
    if contest.dial == "bits" and above and min(above.values()) > 0:
        lost, name = min((-moved.value / above[name], name) for name, moved in changes)
        loses = f"{name} loses least, {_share(lost)}" if len(changes) > 1 else f"{_share(lost)} is lost"
        said = f"{said}. Of what is above chance, {loses}"
        fell = "does not hold" if fell == "holds" and lost < HALF else fell
        end = cells.loc[(cells["kind"] == "contrastive") & (cells["n"] > 0), "x"].max()
        if fell == "does not hold" and end < FEW_BITS:
            return Claim(text, CHEN, "open", f"{said} (the dial ends at {end:g}: too few bits to refute it)")
    elif above and max(above.values()) < LEARNED:
        said = f"{said}. Even at the low end, it is hardly above chance ({chance:.2g})"
    return _judge(text, CHEN, said, changes, fell)


def _all_move(cells: pd.DataFrame, metric: str, sign: int, text: str, source: str) -> Claim:
    changes = _ends(cells, "contrastive", metric)
    moves = _of_all([moved.moves(sign) for _, moved in changes])
    return _judge(text, source, _say(metric, changes, cells), changes, moves)


def _stays(cells: pd.DataFrame, metric: str, kind: str, text: str, source: str) -> Claim:
    changes = _ends(cells, kind, metric)
    if not changes:
        return Claim(text, source, "open", _no_line(cells, kind))
    said, harmed = _say(metric, changes, cells), [moved for _, moved in changes if moved.value <= -UNHARMED]
    if any(moved.known and not moved.clear for moved in harmed):
        return Claim(text, source, "open", f"{said} (a loss {WITHIN})")
    return _judge(text, source, said, changes, "does not hold" if harmed else "holds")


def _labels_gain_nothing(cells: pd.DataFrame, metric: str) -> Claim:
    text, changes = "Training with labels gains nothing from it", _ends(cells, "supervised", metric)
    if not changes:
        return Claim(text, SIMCLR, "open", _no_line(cells, "supervised"))
    said, gains = _say(metric, changes, cells), [moved for _, moved in changes if moved.value > LEAST]
    if any(moved.known and not moved.clear for moved in gains):
        return Claim(text, SIMCLR, "open", f"{said} (a gain {WITHIN})")
    return _judge(text, SIMCLR, said, changes, "does not hold" if gains else "holds")


def _suffers_little(cells: pd.DataFrame, metric: str, chance: float | None) -> Claim:
    """Little: less than half of what was known above chance, also at the far end of the spread, and less than others lose.

    Shares are compared, not accuracies: an autoencoder that knows less to begin with has less to lose.
    """
    text = "Reconstruction suffers little"
    rebuilt, learned = _ends(cells, "autoencoder", metric), _ends(cells, "contrastive", metric)
    if not rebuilt:
        return Claim(text, CHEN, "open", _no_line(cells, "autoencoder"))
    starts = _starts(cells)
    known = {name: starts[name] - (chance or 0.0) for name, _ in rebuilt + learned}
    if not learned or chance is None or min(known.values()) <= 0:
        return Claim(text, CHEN, "open", "nothing to compare yet")
    lost = {name: -moved.value / known[name] for name, moved in rebuilt + learned}
    least = min(lost[name] for name, _ in learned)
    holds = all(
        lost[name] + CLEAR * moved.spread / known[name] < HALF
        and (least - lost[name]) * known[name] > max(LEAST, CLEAR * moved.spread)
        for name, moved in rebuilt
    )
    shares = "; ".join(f"{name} loses {_share(lost[name])}" for name, _ in rebuilt)
    said = (
        f"{_say(metric, rebuilt, cells)}. Of what is above chance, {shares}, "
        f"the contrastive line that keeps most {_share(least)}. Every channel counts alike in what is rebuilt: with many "
        "bits, they are most of it"
    )
    return _judge(text, CHEN, said, rebuilt, "holds" if holds else "does not hold")


def _share(lost: float) -> str:
    """A share of what was above chance; an accuracy a little below chance has not lost more than all of it."""
    return f"{min(max(lost, 0.0), 1.0):.0%}"


def _starts(cells: pd.DataFrame) -> pd.Series:
    """Mean at the low end of the dial, by line."""
    return cells[cells["n"] > 0].sort_values("x").groupby("series", sort=False)["mean"].first()


def _setting(cells: pd.DataFrame, metric: str, lever: Lever) -> Claim:
    """Mean over the dial of the difference that the setting makes between its two ends, all other settings being equal."""
    lines = cells[(cells["kind"] == "contrastive") & (cells["n"] > 0)]
    ends = sorted((lines[lever.field].min(), lines[lever.field].max()), reverse=not lever.higher)  # from, to
    if ends[0] == ends[1]:
        return Claim(lever.text, lever.source, "open", f"the study has one {lever.name} only")
    pairs = []
    for _, alike in lines.groupby(["objective", *(each.field for each in LEVERS if each != lever)], sort=False):
        before, after = (alike[alike[lever.field] == end].drop_duplicates("x").set_index("x") for end in ends)
        both = before.join(after, lsuffix="_from", rsuffix="_to", how="inner").sort_index()
        pairs.append(both[both.index > lines["x"].min()])  # without the end where nothing competes
    both = pd.concat(pairs)
    if both.empty:
        return Claim(lever.text, lever.source, "open", "nothing to compare yet")
    gain = (both["mean_to"] - both["mean_from"]).mean()
    points = f"{len(both)} value{'s' if len(both) > 1 else ''} of the dial"
    said = f"{METRICS[metric].name}, {lever.name} {ends[1]:g} less {ends[0]:g}, mean over {points}: {gain:+.3f}".replace("-", "−")
    known = int((both["sd_from"].notna() & both["sd_to"].notna()).sum())
    if known < len(both):  # the mean over those with a spread would be one over another part of the dial
        said = f"{said} (two seeds on both sides at {known} of them: no spread, no verdict)"
        return Claim(lever.text, lever.source, "open", said)
    spread = math.sqrt((both["sd_to"] ** 2 + both["sd_from"] ** 2).sum()) / len(both)
    said, helps = f"{said} ± {spread:.3f}", _moves(gain, spread, LEAST / 2)
    if helps == "open" and (lever.helps or gain > LEAST / 2):  # of a claim that nothing helps, no gain is evidence enough
        return Claim(lever.text, lever.source, "open", f"{said} ({WITHIN})")
    return Claim(lever.text, lever.source, "holds" if (helps == "holds") == lever.helps else "does not hold", said)
