"""New studies made from an old one: the runs that are missing, and more weights where the ridge runs.

Pages import this module, so it uses numpy and pandas only.
"""

from collections.abc import Collection, Iterable
from itertools import count

import numpy as np
import pandas as pd

from core.studies.names import StudyError
from core.studies.ridge import Ridge
from core.studies.study import StudySpec
from core.training.spec import RunSpec

MOST_PER_TEMPERATURE = 8  # new weights at one temperature
NAME_LENGTH = 64


def missing_runs(definition: StudySpec, runs: pd.DataFrame) -> list[RunSpec]:
    """The runs of a study that no table row has as finished or diverged.

    Args:
        definition: The study.
        runs: Rows with run_id and status, from anywhere.
    """
    done = set(runs.loc[runs["status"].isin(["finished", "diverged"]), "run_id"]) if len(runs) else set()
    return [run for run in definition.expand() if run.run_id not in done]


def study_of(runs: Iterable[RunSpec], name: str, title: str, question: str = "") -> StudySpec:
    """A study of exactly these runs.

    Args:
        runs: At least one.
        name: Of the study.
        title: In selectors.
        question: What it asks.

    Returns:
        The study; runs that differ in lambda and seed only share a block.

    Raises:
        StudyError: If there is no run, or the name cannot be a study's.
    """
    lams: dict[tuple, dict[float | None, set[int]]] = {}
    fields: dict[tuple, dict] = {}
    for run in runs:
        changed = {key: value for key, value in run.changed().items() if key not in ("seed", "lam")}
        key = tuple(sorted((field, repr(value)) for field, value in changed.items()))
        fields[key] = changed
        lams.setdefault(key, {}).setdefault(run.lam, set()).add(run.seed)
    if not lams:
        raise StudyError("nothing is missing: every run of the study has ended")
    shared = _shared(list(fields.values()))
    blocks = []
    for key, seeds_of in lams.items():
        own = {field: value for field, value in fields[key].items() if field not in shared}
        by_seeds: dict[tuple[int, ...], list[float]] = {}
        for lam, seeds in seeds_of.items():
            by_seeds.setdefault(tuple(sorted(seeds)), []).append(lam)
        for seeds, weights in by_seeds.items():
            label = ", ".join(
                [*(f"{field} {value:g}" if isinstance(value, float) else f"{field} {value}" for field, value in own.items())]
            )
            weights = sorted(weight for weight in weights if weight is not None)
            grid = {"grid": {"lam": weights}} if weights else {}
            blocks.append({"label": _unique(label or title, blocks), **own, "seeds": list(seeds), **grid})
    content = {"name": name, "title": title, "question": question, "base": shared, "block": blocks}
    return StudySpec.from_dict(content, name)


def around_ridge(definition: StudySpec, cells: pd.DataFrame, ridge: Ridge, taken: Collection[str]) -> StudySpec:
    """A study with weights between and beside the best cells of a map, at every temperature of its ridge.

    At each temperature: the geometric midpoints on both sides of the best cell, all midpoints inside the interval of the best
    weight, and at an edge of the grid one further step outwards. New weights are rounded to two digits.

    Args:
        definition: The map.
        cells: Its cells, from `fold_cells`, refinements included.
        ridge: Its ridge.
        taken: Names that are in use.

    Raises:
        StudyError: If the ridge has no point, or nothing is left to add.
    """
    first = definition.expand()[0]
    seeds = sorted({run.seed for run in definition.expand()})
    runs = []
    for point in ridge.points:
        tested = np.sort(cells.loc[(cells["tau"] == point.tau) & (cells["n"] > 0), "lam"].unique())
        for lam in new_weights(tested, point.cell, point.low, point.high, point.edge):
            runs += [first.model_copy(update={"tau": point.tau, "lam": lam, "seed": seed}) for seed in seeds]
    if not runs:
        raise StudyError("there is no ridge to refine yet: no temperature has three measured weights")
    title = f"{definition.title or definition.name}: around the ridge"
    return study_of(runs, free_name(f"{definition.name}-ridge", taken), title, definition.question)


def new_weights(tested: np.ndarray, best: float, low: float, high: float, edge: str) -> list[float]:
    """Weights to add at one temperature.

    Args:
        tested: Weights that have results, ascending.
        best: The best of them.
        low: Lower end of the interval of the best weight; NaN without one.
        high: Its upper end.
        edge: "low" or "high" when the best is the smallest or largest tested.
    """
    middles = np.sqrt(tested[:-1] * tested[1:])
    i = int(np.argmin(np.abs(np.log(tested) - np.log(best))))
    wanted = {*middles[max(i - 1, 0) : i + 1], *(middle for middle in middles if low <= middle <= high)}
    if edge == "high":
        wanted.add(tested[-1] ** 2 / tested[-2])
    elif edge == "low":
        wanted.add(tested[0] ** 2 / tested[1])
    rounded = sorted({float(f"{value:.2g}") for value in wanted}, key=lambda value: abs(np.log(value / best)))
    fresh = [value for value in rounded if not np.isclose(tested, value, rtol=1e-6).any()]
    return sorted(fresh[:MOST_PER_TEMPERATURE])


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, or the name with the first free number, cut to the allowed length."""
    for number in count(1):
        ending = "" if number == 1 else f"-{number}"
        name = wanted[: NAME_LENGTH - len(ending)] + ending
        if name not in taken:
            return name
    raise AssertionError("unreachable")


def _shared(fields: list[dict]) -> dict:
    """Settings that all runs have in common."""
    first = fields[0]
    return {key: value for key, value in first.items() if all(key in other and other[key] == value for other in fields)}


def _unique(label: str, blocks: list[dict]) -> str:
    used = {block["label"] for block in blocks}
    return next(name for n in count(1) if (name := label if n == 1 else f"{label} ({n})") not in used)
