"""The experiments on competing features: which two features compete, which dial moves between them, what guessing would reach."""

from typing import NamedTuple

import pandas as pd

COIN, TENTH = 0.5, 0.1  # chance of one bit, and of one digit


class Contest(NamedTuple):
    """Two features that tell pictures apart, and the dial that favours one of them."""

    dial: str  # RunSpec field
    first: str  # RunResult field of the feature that may be suppressed
    second: str  # of its rival
    first_name: str  # in sentences, after "the"
    second_name: str
    second_chance: float | None  # None: measured with each run, see `chances`


CONTESTS = {
    contest.dial: contest
    for contest in (
        Contest("bits", "linear_accuracy", "bit_accuracy", "class", "bits", COIN),
        Contest("digits", "linear_accuracy", "digit_accuracy", "object", "digit", TENTH),
        Contest("digit_size", "small_digit_accuracy", "large_digit_accuracy", "fixed digit", "growing digit", TENTH),
        Contest("color_strength", "linear_accuracy", "color_accuracy", "class", "colours", None),
    )
}


def chances(contest: Contest, runs: pd.DataFrame) -> tuple[float | None, float | None]:
    """Accuracy of guessing the first and the second feature; None where no run says it.

    Args:
        contest: The experiment.
        runs: Finished runs.
    """
    classes = pd.to_numeric(runs["classes"], errors="coerce").max() if len(runs) else float("nan")
    first = TENTH if contest.dial == "digit_size" else 1 / classes if classes > 0 else None
    second = contest.second_chance
    if second is None and "color_chance" in runs:
        measured = pd.to_numeric(runs["color_chance"], errors="coerce").mean()
        second = None if pd.isna(measured) else float(measured)
    return first, second
