"""Two tau-lambda maps cell by cell: difference of the means, and whether the seeds can tell it from chance.

Welch's t test in every cell that both maps share and that has at least two seeds in each; Holm's correction over the cells
tested. Maps whose weights do not meet are compared at the weights of the first, between those of the second.

Pages import this module, so it uses numpy, pandas and scipy.special only.
"""

import numpy as np
import pandas as pd
from scipy.special import stdtr

COLUMNS = ["tau", "lam", "mean_a", "mean_b", "difference", "n_a", "n_b", "t", "df", "p", "p_holm"]


def compare_cells(a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
    """Difference b - a for each cell the two maps share.

    Args:
        a: First map, from `fold_cells`.
        b: Second map, of the same metric; weights on the same scale.

    Returns:
        Rows sorted by tau, then lam, with means, difference, seeds, Welch's t, degrees of freedom, two-sided p and Holm's p.
        The last four are NaN where a side has fewer than two seeds, or where neither side has any spread.
    """
    left, right = a[a["n"] > 0].assign(key=_keys), b[b["n"] > 0].assign(key=_keys)
    both = left.merge(right, on="key", suffixes=("_a", "_b")).sort_values(["tau_a", "lam_a"], ignore_index=True)
    table = pd.DataFrame(
        {
            "tau": both["tau_a"],
            "lam": both["lam_a"],
            "mean_a": both["mean_a"],
            "mean_b": both["mean_b"],
            "difference": both["mean_b"] - both["mean_a"],
            "n_a": both["n_a"],
            "n_b": both["n_b"],
        }
    )
    table[["t", "df", "p"]] = [welch(x, y) for x, y in zip(both["values_a"], both["values_b"], strict=True)] or np.empty((0, 3))
    table["p_holm"] = holm(table["p"].to_numpy(dtype=float))
    return table[COLUMNS]


def at_weights_of(cells: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """A map read at the weights of another one, for maps whose scales of lambda do not meet.

    Each value is drawn straight in log lambda between the two measured weights around it, seed by seed, so that the spread over
    seeds stays one of whole runs. Nothing is read beyond the measured weights, nor between cells with different numbers of
    values.

    Args:
        cells: The map, from `fold_cells`.
        other: The map whose weights are wanted; only temperatures that both have are read.

    Returns:
        Rows as in `fold_cells`, cut to tau, lam, mean, n and values, at the temperatures and weights of `other`.
    """
    wanted = other.loc[(other["n"] > 0) & (other["lam"] > 0), ["tau", "lam"]]
    rows = []
    for tau, column in cells[(cells["n"] > 0) & (cells["lam"] > 0)].groupby("tau"):
        column = column.sort_values("lam")
        log_lam, values = np.log(column["lam"].to_numpy(dtype=float)), column["values"].tolist()
        for lam in wanted.loc[np.isclose(wanted["tau"], tau, rtol=1e-9, atol=0), "lam"]:
            read = _between(log_lam, values, float(np.log(lam)))
            if len(read):
                rows.append((tau, lam, float(np.mean(read)), len(read), tuple(read.tolist())))
    return pd.DataFrame(rows, columns=["tau", "lam", "mean", "n", "values"])


def _between(log_lam: np.ndarray, values: list[tuple[float, ...]], at: float) -> np.ndarray:
    """Values of each seed at one weight, empty where they cannot be told."""
    nearest = int(np.argmin(np.abs(log_lam - at)))
    if abs(log_lam[nearest] - at) < 1e-9:
        return np.array(values[nearest])
    right = int(np.searchsorted(log_lam, at))
    if right in (0, len(log_lam)) or len(values[right - 1]) != len(values[right]):
        return np.empty(0)
    share = (at - log_lam[right - 1]) / (log_lam[right] - log_lam[right - 1])
    return (1 - share) * np.array(values[right - 1]) + share * np.array(values[right])


def welch(x, y) -> tuple[float, float, float]:
    """Welch's t for mean(y) - mean(x), its degrees of freedom, and the two-sided p.

    Returns:
        NaN three times if a sample has fewer than two values or both have no variance.

    Source: Welch 1947; degrees of freedom by Satterthwaite.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) < 2 or len(y) < 2:
        return np.nan, np.nan, np.nan
    parts = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    variance = sum(parts)
    if variance == 0:
        return np.nan, np.nan, np.nan
    t = (y.mean() - x.mean()) / np.sqrt(variance)
    df = variance**2 / (parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1))
    return float(t), float(df), float(2 * stdtr(df, -abs(t)))


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down correction; NaN entries are not tests and stay NaN.

    Args:
        p: Shape (m,), two-sided p values.

    Returns:
        Adjusted values, shape (m,): reject where <= the wanted level, and the chance of any false rejection is at most that.

    Source: Holm 1979.
    """
    adjusted = np.full(len(p), np.nan)
    tests = np.flatnonzero(np.isfinite(p))
    order = tests[np.argsort(p[tests], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def comparison_sentence(table: pd.DataFrame, name_a: str, name_b: str, metric: str, level: float = 0.05) -> str:
    """What the comparison found, in one or two sentences.

    Args:
        table: From `compare_cells`.
        name_a: First map in words.
        name_b: Second map in words.
        metric: Name of the metric in words.
        level: Family-wise level.
    """
    if table.empty:
        return f"{name_a[:1].upper()}{name_a[1:]} and {name_b} share no measured cell."
    tested = table["p_holm"].notna()
    shared = f"{len(table)} shared cell" + ("s" if len(table) != 1 else "")
    mean = table["difference"].mean()
    way = "higher" if mean >= 0 else "lower"
    text = f"Over {shared}, {metric} is {abs(mean):.3f} {way} on average in {name_b} than in {name_a}."
    if not tested.any():
        return f"{text} None can be tested: a test needs two seeds on each side."
    found = table[tested & (table["p_holm"] <= level)]
    seeds = f"{int(table['n_a'].max())} and {int(table['n_b'].max())} seeds"
    method = f"({int(tested.sum())} tested, Welch with Holm at {level:g}, {seeds})"
    if found.empty:
        return f"{text} No cell differs significantly {method}."
    up, down = int((found["difference"] > 0).sum()), int((found["difference"] < 0).sum())
    return f"{text} {up} cells are significantly higher and {down} lower {method}."


def _keys(cells: pd.DataFrame) -> list[str]:
    """Cells match when tau and lambda agree to nine digits."""
    return [f"{tau:.9g}|{lam:.9g}" for tau, lam in zip(cells["tau"], cells["lam"], strict=True)]
