"""Do the differences between losses vanish with a deeper projection head? Folded cells, gaps, and a verdict from the numbers.

The comparison. At each depth the gap is the highest minus the lowest mean over losses. Its 95 % bootstrap interval resamples
the seeds of every loss (residuals scaled by sqrt(n / (n - 1)), pooled over the losses of that depth). The claim "vanish" needs
two things: the gap of the shallowest head minus that of the deepest has an interval above 0, and at the deepest head the
losses cannot be told apart (one-way analysis of variance, p > 0.05) or differ by less than one percentage point.

Pages import this module, so it uses numpy, pandas and scipy.special only.
"""

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import fdtrc

DRAWS = 4000
LEVEL = 0.05
NEGLIGIBLE = 0.01  # one percentage point of accuracy
COLUMNS = ["objective", "tau", "lam", "depth", "epochs", "mean", "sd", "n", "diverged", "failed", "values", "seeds", "run_ids"]
KEYS = ["objective", "tau", "lam", "head_layers", "epochs"]
Verdict = Literal["vanish", "shrink", "unclear", "grow"]


class Gap(NamedTuple):
    """How far the losses lie apart at one depth."""

    depth: int  # layers of the head
    gap: float  # highest minus lowest mean
    low: float  # 95 % interval; NaN with single seeds
    high: float
    p: float  # one-way analysis of variance over the losses; NaN with single seeds
    best: str  # objective
    worst: str
    losses: int


class HeadClaim(NamedTuple):
    """The verdict at one length of training."""

    epochs: int
    gaps: tuple[Gap, ...]  # by depth
    shrink: float  # gap of the shallowest minus that of the deepest
    low: float
    high: float
    verdict: Verdict
    seeds: int


def measured_weights(table: pd.DataFrame, losses: Collection[str]) -> list[float]:
    """The weights lambda that some losses were run with, ascending.

    Args:
        table: Runs as in Store.table.
        losses: Objectives.
    """
    return sorted(float(lam) for lam in pd.to_numeric(table.loc[table["objective"].isin(losses), "lam"]).dropna().unique())


def at_weight(table: pd.DataFrame, losses: Collection[str], lam: float | None) -> pd.DataFrame:
    """Runs of some losses at one weight only, and all runs of the others.

    Args:
        table: Runs as in Store.table.
        losses: Objectives.
        lam: One of `measured_weights`; None where there are none.
    """
    return table[~table["objective"].isin(losses) | (pd.to_numeric(table["lam"]) == lam)]


def weights_text(swd: float | None, gcl: float | None) -> str:
    """Which weights are shown, for a subtitle; empty where no loss has one."""
    return ", ".join(f"{name} at lambda {lam:g}" for name, lam in (("SWD", swd), ("GCL", gcl)) if lam is not None)


def claims_of(cells: pd.DataFrame) -> list[HeadClaim]:
    """The verdict at each length of training that can be judged, shortest first.

    Args:
        cells: From `fold_heads`.
    """
    found = (judge_heads(cells, int(epochs)) for epochs in sorted(cells["epochs"].unique()))
    return [claim for claim in found if claim is not None]


def fold_heads(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One row per loss, depth and length of training.

    Args:
        table: Runs as in Store.table.
        metric: Column to average, over finished runs with a finite value; what became of the others is counted.

    Returns:
        Rows with COLUMNS, sorted by objective, lam, depth and epochs; values, seeds and run_ids are tuples by seed.
    """
    rows = []
    if table.empty:
        return pd.DataFrame(columns=COLUMNS)
    filled = table.assign(lam=pd.to_numeric(table["lam"], errors="coerce").fillna(-1.0))  # -1: not used by the loss
    for key, runs in filled.groupby(KEYS, sort=True):
        runs = runs.sort_values("seed")
        values = pd.to_numeric(runs[metric], errors="coerce")
        good = runs[(runs["status"] == "finished") & np.isfinite(values)]
        kept = values[good.index].to_numpy(dtype=float)
        objective, tau, lam, depth, epochs = key
        rows.append((
            objective, tau, np.nan if lam < 0 else lam, int(depth), int(epochs),
            kept.mean() if len(kept) else np.nan, kept.std(ddof=1) if len(kept) > 1 else np.nan, len(kept),
            int((runs["status"] == "diverged").sum()), int((runs["status"] == "failed").sum()),
            tuple(kept), tuple(int(seed) for seed in good["seed"]), tuple(good["run_id"]),
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def judge_heads(cells: pd.DataFrame, epochs: int, draws: int = DRAWS, seed: int = 0) -> HeadClaim | None:
    """Gaps by depth and the verdict.

    Args:
        cells: From `fold_heads`; one row per loss and depth at each length of training.
        epochs: Length of training to judge.
        draws: Bootstrap resamples.
        seed: Of the bootstrap.

    Returns:
        The claim; None if fewer than two depths have at least two losses measured at both.
    """
    here = cells[(cells["epochs"] == epochs) & (cells["n"] > 0)]
    depths = sorted(depth for depth, group in here.groupby("depth") if group["objective"].nunique() >= 2)
    if len(depths) < 2:
        return None
    common = set.intersection(*(set(here.loc[here["depth"] == depth, "objective"]) for depth in depths))
    if len(common) < 2:
        return None
    rng = np.random.default_rng(seed)
    gaps, resampled = [], []
    for depth in depths:
        gap, draw = _gap_at(here[(here["depth"] == depth) & here["objective"].isin(common)], depth, rng, draws)
        gaps.append(gap)
        resampled.append(draw)
    shrink = gaps[0].gap - gaps[-1].gap
    known = resampled[0] is not None and resampled[-1] is not None
    low, high = np.percentile(resampled[0] - resampled[-1], [2.5, 97.5]) if known else (np.nan, np.nan)
    return HeadClaim(epochs, tuple(gaps), shrink, float(low), float(high), _verdict(gaps[-1], low, high), int(here["n"].max()))


def claim_sentence(claim: HeadClaim, metric: str, names: Mapping[str, str] | None = None) -> str:
    """The verdict in words that follow from the numbers.

    Args:
        claim: From `judge_heads`.
        metric: Name of the accuracy in words.
        names: Objective -> its name; with it the text says which loss is best and which worst.
    """
    first, last = claim.gaps[0], claim.gaps[-1]
    seeds = f"{claim.seeds} seed{'s' if claim.seeds != 1 else ''}"
    numbers = (
        f"the gap between the best and the worst loss goes from {_points(first.gap)} with {_layers(first.depth)} to "
        f"{_points(last.gap)} with {_layers(last.depth)}"
    )
    who = f" {_extremes(first, last, names)}" if names else ""
    if not np.isfinite(claim.low):
        return f"After {claim.epochs} epochs {numbers} in {metric}; one seed cannot say whether that is more than noise.{who}"
    if claim.shrink >= 0:
        size = f"smaller by {_points(claim.shrink)} [{_points(claim.low)}, {_points(claim.high)}]"
    else:
        size = f"larger by {_points(-claim.shrink)} [{_points(-claim.high)}, {_points(-claim.low)}]"
    change = f"{size}, {seeds}"
    told = f"analysis of variance at {_layers(last.depth)} p = {last.p:.2g}"
    endings = {
        "vanish": f"The claim holds here: the differences vanish ({told}).",
        "shrink": f"They shrink but do not vanish ({told}).",
        "unclear": "The claim is not shown here: the interval includes no change.",
        "grow": "The opposite of the claim: they grow.",
    }
    return f"After {claim.epochs} epochs {numbers} in {metric} ({change}). {endings[claim.verdict]}{who}"


def _extremes(first: Gap, last: Gap, names: Mapping[str, str]) -> str:
    """Which loss is best and which worst, with the shallowest and with the deepest head."""
    ends = [f"{names.get(gap.best, gap.best)} is best and {names.get(gap.worst, gap.worst)} worst" for gap in (first, last)]
    if ends[0] == ends[1]:
        return f"With either head {ends[0]}."
    return f"With {_layers(first.depth)} {ends[0]}; with {_layers(last.depth)} {ends[1]}."


def _gap_at(group: pd.DataFrame, depth: int, rng: np.random.Generator, draws: int) -> tuple[Gap, NDArray[np.float64] | None]:
    """The gap at one depth and its resamples; None where no loss has two seeds."""
    samples = [np.array(values) for values in group["values"]]
    means = np.array([sample.mean() for sample in samples])
    names = group["objective"].to_numpy()
    residuals = [(s - s.mean()) * np.sqrt(len(s) / (len(s) - 1)) for s in samples if len(s) > 1]
    gap = float(means.max() - means.min())
    best, worst = str(names[means.argmax()]), str(names[means.argmin()])
    if not residuals:
        return Gap(depth, gap, np.nan, np.nan, np.nan, best, worst, len(samples)), None
    pool = np.concatenate(residuals)
    drawn = np.stack([mean + rng.choice(pool, (draws, len(s))).mean(1) for mean, s in zip(means, samples, strict=True)], axis=1)
    resampled = drawn.max(1) - drawn.min(1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Gap(depth, gap, float(low), float(high), _anova(samples), best, worst, len(samples)), resampled


def _anova(samples: list[NDArray[np.float64]]) -> float:
    """p of a one-way analysis of variance; NaN without spare values."""
    total = sum(map(len, samples))
    inside = total - len(samples)
    if inside < 1:
        return float("nan")
    grand = np.concatenate(samples).mean()
    between = sum(len(s) * (s.mean() - grand) ** 2 for s in samples) / (len(samples) - 1)
    within = sum(((s - s.mean()) ** 2).sum() for s in samples) / inside
    if within == 0:
        return 0.0 if between > 0 else 1.0
    return float(fdtrc(len(samples) - 1, inside, between / within))


def _verdict(deepest: Gap, low: float, high: float) -> Verdict:
    if not np.isfinite(low):
        return "unclear"
    if low > 0:
        return "vanish" if deepest.p > LEVEL or deepest.gap < NEGLIGIBLE else "shrink"
    return "grow" if high < 0 else "unclear"


def _points(value: float) -> str:
    """An accuracy difference in percentage points."""
    return f"{100 * value:.1f} points".replace("-", "−")


def _layers(depth: int) -> str:
    return f"{depth} layer{'s' if depth != 1 else ''}"
