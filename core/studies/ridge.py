"""The ridge of a tau-lambda map: the best weight for each temperature, how sure that is, and how it moves with tau.

The rule. For one temperature the seeds of each cell are averaged; a parabola in log lambda through the best cell and its two
neighbours gives the best lambda (it always lies nearer to the best cell than to either neighbour). A temperature whose best
cell is the smallest or largest lambda tried has its optimum at or beyond the grid's edge: it is reported as such, not
interpolated, and left out of the slope. So is a temperature at which lambda makes no difference that the seeds can show
(one-way analysis of variance, p > 0.05).

Intervals are 95 % bootstrap intervals: each resample gives every cell the mean of n residuals drawn from the residuals of that
cell and its two neighbours (scaled by sqrt(n / (n - 1))), finds the best lambdas again, draws temperatures with replacement
and fits the line again. With one seed there are no residuals; the slope's interval then rests on the temperatures alone.

Pages import this module, so it uses numpy, pandas and scipy.special only.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import fdtrc

DRAWS = 2000  # bootstrap resamples
FLAT = 0.05  # significance level below which lambda is taken to matter at a temperature
MIN_TEMPERATURES = 3  # a slope through fewer says nothing about its own error

Floats = NDArray[np.float64]


class RidgePoint(NamedTuple):
    """The best weight at one temperature."""

    tau: float
    lam: float  # interpolated; the cell's own value at an edge
    low: float  # 95 % interval; NaN with one seed
    high: float
    cell: float  # lambda of the best cell
    value: float  # mean metric there
    edge: str  # "low" or "high" when the best cell is the smallest or largest lambda tried, else ""
    flat: bool  # no difference between the lambdas beyond the seeds' spread

    @property
    def used(self) -> bool:
        """Whether the point enters the slope."""
        return not self.edge and not self.flat


class Ridge(NamedTuple):
    """The ridge of one map."""

    points: tuple[RidgePoint, ...]  # by tau, ascending
    slope: float  # of log lambda* on log tau; NaN when fewer than three temperatures can be used
    low: float  # its 95 % interval
    high: float
    intercept: float  # log lambda* at tau = 1
    seeds: int  # the most seeds in any cell


def find_ridge(cells: pd.DataFrame, higher_is_better: bool = True, draws: int = DRAWS, seed: int = 0) -> Ridge:
    """Best weight for each temperature and the slope of its logarithm on log tau.

    Args:
        cells: From `core.studies.cells.fold_cells`.
        higher_is_better: Whether the best value of the metric is the highest.
        draws: Bootstrap resamples.
        seed: Of the bootstrap; equal cells give equal intervals.

    Returns:
        The ridge; temperatures with fewer than three measured weights are left out.
    """
    sign = 1.0 if higher_is_better else -1.0
    measured = cells[cells["n"] > 0]
    columns = [column.sort_values("lam") for _, column in measured.groupby("tau") if len(column) >= 3]
    rng = np.random.default_rng(seed)
    points, resampled = [], []
    for column in columns:
        point, best = _column_ridge(column, sign, rng, draws)
        points.append(point)
        resampled.append(best)
    slope, low, high, intercept = _slope(points, np.array(resampled), rng)
    return Ridge(tuple(points), slope, low, high, intercept, int(measured["n"].max()) if len(measured) else 0)


def best_weight(log_lam: Floats, values: Floats) -> Floats:
    """log lambda of the best cell, moved to the vertex of the parabola through it and its neighbours.

    Args:
        log_lam: Shape (L,), ascending, L >= 3.
        values: Shape (..., L), high is best.

    Returns:
        Shape (...); at an edge the edge itself. Within the grid the result lies between the midpoints to both neighbours.
    """
    top = values.argmax(-1)
    inner = np.clip(top, 1, len(log_lam) - 2)
    x0, x1, x2 = log_lam[inner - 1], log_lam[inner], log_lam[inner + 1]
    y0, y1, y2 = (np.take_along_axis(values, (inner + shift)[..., None], -1)[..., 0] for shift in (-1, 0, 1))
    left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)  # slopes of the two chords
    bend = left - right  # > 0 at a proper maximum, 0 on a plateau
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = (x0 + x1) / 2 + left / bend * (x2 - x0) / 2
    return np.where((top == inner) & (bend > 0), vertex, log_lam[top])


def _column_ridge(column: pd.DataFrame, sign: float, rng: np.random.Generator, draws: int) -> tuple[RidgePoint, Floats]:
    """The point of one temperature, and log lambda* of each resample."""
    log_lam = np.log(column["lam"].to_numpy())
    samples = [sign * np.array(values) for values in column["values"]]
    means = np.array([sample.mean() for sample in samples])
    top = int(means.argmax())
    best = best_weight(log_lam, means)
    edge = "low" if top == 0 else "high" if top == len(means) - 1 else ""
    noise = _mean_noise(samples, rng, draws)
    low = high = np.nan
    if noise is None:
        resampled = np.full(draws, best)
    else:
        resampled = best_weight(log_lam, means + noise)
        low, high = np.exp(np.percentile(resampled, [2.5, 97.5]))
    tau = float(column["tau"].iloc[0])
    value = sign * means[top]
    cell = float(column["lam"].iloc[top])
    point = RidgePoint(tau, float(np.exp(best)), float(low), float(high), cell, float(value), edge, _is_flat(samples))
    return point, resampled


def _mean_noise(samples: list[Floats], rng: np.random.Generator, draws: int) -> Floats | None:
    """Resampled error of each cell's mean, shape (draws, cells); None when no cell has two values."""
    residuals = [_residuals(sample) for sample in samples]
    if not any(len(residual) for residual in residuals):
        return None
    everything = np.concatenate(residuals)
    noise = np.empty((draws, len(samples)))
    for i, sample in enumerate(samples):
        near = np.concatenate(residuals[max(i - 1, 0) : i + 2])
        noise[:, i] = rng.choice(near if len(near) else everything, (draws, len(sample))).mean(1)
    return noise


def _residuals(sample: Floats) -> Floats:
    """Deviations from the mean, widened to the variance of a single value; none for a single value."""
    n = len(sample)
    return (sample - sample.mean()) * np.sqrt(n / (n - 1)) if n > 1 else np.empty(0)


def _is_flat(samples: list[Floats]) -> bool:
    """One-way analysis of variance: no difference between cells at level FLAT. One seed cannot tell and counts as not flat."""
    total = sum(map(len, samples))
    inside = total - len(samples)
    if inside < 1:
        return False
    grand = np.concatenate(samples).mean()
    between = sum(len(sample) * (sample.mean() - grand) ** 2 for sample in samples) / (len(samples) - 1)
    within = sum(((sample - sample.mean()) ** 2).sum() for sample in samples) / inside
    if within == 0:
        return bool(between == 0)
    return bool(fdtrc(len(samples) - 1, inside, between / within) > FLAT)


def _slope(points: list[RidgePoint], resampled: Floats, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Least squares through the usable points, and the bootstrap interval of the slope."""
    used = [i for i, point in enumerate(points) if point.used]
    if len(used) < MIN_TEMPERATURES:
        return np.nan, np.nan, np.nan, np.nan
    x = np.log([points[i].tau for i in used])
    slope, intercept = np.polyfit(x, np.log([points[i].lam for i in used]), 1)
    draws = resampled.shape[1]
    choice = rng.integers(len(used), size=(draws, len(used)))
    chosen_x = x[choice]
    chosen_y = resampled[used].T[np.arange(draws)[:, None], choice]
    centred = chosen_x - chosen_x.mean(1, keepdims=True)
    distinct = np.array([len(np.unique(row)) for row in choice]) >= MIN_TEMPERATURES
    slopes = (centred * chosen_y).sum(1)[distinct] / (centred**2).sum(1)[distinct]
    low, high = np.percentile(slopes, [2.5, 97.5])
    return float(slope), float(low), float(high), float(intercept)


def ridge_sentence(ridge: Ridge, convention: str = "") -> str:
    """What the ridge does, in words that follow from the numbers.

    Args:
        ridge: From `find_ridge`.
        convention: Name of the map, put in front, for example "Self-similarity masked".

    Returns:
        One to three sentences of plain text.
    """
    front = f"{convention}: the" if convention else "The"
    if not ridge.points:
        return f"{front} ridge is not known yet: no temperature has three measured weights."
    words = [_movement(ridge, front)]
    edges = [point for point in ridge.points if point.edge]
    if edges:
        words.append(_edge_sentence(edges))
    flat = [point for point in ridge.points if point.flat and not point.edge]
    if flat:
        taus = _listed(point.tau for point in flat)
        words.append(f"At tau = {taus} lambda makes no difference that {ridge.seeds} seeds can show.")
    return " ".join(words)


def _movement(ridge: Ridge, front: str) -> str:
    used = [point for point in ridge.points if point.used]
    seeds = f"{ridge.seeds} seed" + ("s" if ridge.seeds != 1 else "")
    if len(used) < MIN_TEMPERATURES:
        return (
            f"{front} slope of the ridge is not known: only {len(used)} of {len(ridge.points)} temperatures have a clear best "
            f"lambda inside the grid ({seeds})."
        )
    if ridge.low > 0:
        verb = "rises with tau"
    elif ridge.high < 0:
        verb = "falls with tau"
    else:
        verb = "neither clearly rises nor falls with tau"
    numbers = f"slope {_two(ridge.slope)} [{_two(ridge.low)}, {_two(ridge.high)}] of log lambda on log tau"
    proportional = ""
    if ridge.low > 1:
        proportional = ", faster than in proportion"
    elif ridge.low > 0:
        proportional = ", so lambda proportional to tau is compatible" if ridge.high >= 1 else ", slower than in proportion"
    if ridge.seeds == 1:
        seeds += ", so the interval rests on the temperatures alone"
    return f"{front} best lambda {verb}: {numbers}{proportional} ({len(used)} of {len(ridge.points)} temperatures, {seeds})."


def _edge_sentence(edges: list[RidgePoint]) -> str:
    parts = []
    for side, name in (("low", "smallest"), ("high", "largest")):
        taus = [point.tau for point in edges if point.edge == side]
        if taus:
            parts.append(f"at tau = {_listed(taus)} it is the {name} tried")
    text = " and ".join(parts)
    text = text[:1].upper() + text[1:]
    these = "this temperature is" if len(edges) == 1 else "these temperatures are"
    return f"{text}, so the optimum may lie outside the grid; {these} left out of the slope."


def published_sentence(ridges: Sequence[Ridge]) -> str:
    """Whether the maps bear out the paper's remark that, within a range, tau and lambda trade off inversely.

    Args:
        ridges: One per convention.

    Returns:
        One sentence of Markdown; empty where no slope is known.
    """
    known = [ridge for ridge in ridges if not np.isnan(ridge.slope)]
    if not known:
        return ""
    rise, fall = sum(ridge.low > 0 for ridge in known), sum(ridge.high < 0 for ridge in known)
    claim = "The paper remarks that, within a range, temperature and lambda are inversely related"
    of = f"{len(known)} convention{'s' if len(known) != 1 else ''} measured"
    all_of = f"all {of}" if len(known) > 1 else "the one convention measured"
    if fall == len(known):
        return f"{claim}. **That holds here**: the best lambda falls with tau in {all_of}."
    if rise == len(known):
        return f"{claim}. **That does not hold here**: the best lambda rises with tau in {all_of}."
    return f"{claim}. **That is not decided here**: of {of}, the best lambda falls with tau in {fall} and rises in {rise}."


def _two(value: float) -> str:
    """Two decimals with a real minus sign."""
    return f"{value:.2f}".replace("-", "−")


def _listed(values) -> str:
    values = [f"{value:g}" for value in values]
    return values[0] if len(values) == 1 else ", ".join(values[:-1]) + " and " + values[-1]
