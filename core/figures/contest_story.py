"""What suppressed what, in words made from the folded numbers of two competing features."""

import pandas as pd

from core.figures.claims import LEAST, UNHARMED, Change, change
from core.figures.contests import Contest
from core.figures.metrics import with_spread

WORTH_STATING = 0.1  # share of the accuracy above chance
HARDLY_KNOWN = 0.1  # above chance at the start; a share of less would sound like more than it is
WAY = {  # what rises along the dial
    "bits": "as the shared bits go",
    "digits": "as the different digit images go",
    "digit_size": "as the growing digit's side goes",
    "color_strength": "as the strength of the jitter goes",
}


def contest_title(contest: Contest, first: pd.DataFrame, chance: float | None) -> str:
    """The result for the first feature in one sentence; the question where the numbers do not carry a statement.

    Args:
        contest: The experiment.
        first: Folded cells of the feature that may be suppressed.
        chance: Accuracy of guessing it.
    """
    question = {
        "bits": "What is left of the class when bits are added?",
        "digits": "What is left of the object when digits are laid over it?",
        "digit_size": "What is left of the fixed digit when the other one grows?",
        "color_strength": "What does colour jitter do for the class?",
    }[contest.dial]
    line = _telling(first)
    if line is None or chance is None or line.iloc[0]["mean"] - chance <= 0:
        return question
    start, end = line.iloc[0], line.iloc[-1]
    share = (end["mean"] - start["mean"]) / (start["mean"] - chance)
    if abs(share) < WORTH_STATING:
        return question
    if contest.dial == "color_strength":
        moves = "raises" if share > 0 else "lowers"
        return f"Colour jitter {moves} class accuracy from {start['mean']:.2f} to {end['mean']:.2f}"
    if share > 0:
        return question
    if start["mean"] - chance < HARDLY_KNOWN:
        beside = {
            "bits": f"{end['x']:g} shared bits",
            "digits": f"{end['x']:,.10g} digit images",
            "digit_size": f"A digit of {end['x']:g} px beside it",
        }[contest.dial]
        return f"{beside}: {contest.first_name} accuracy from {start['mean']:.2f} to {end['mean']:.2f}"
    cause = {
        "bits": f"{end['x']:g} shared bits cost",
        "digits": f"{end['x']:,.10g} digit images cost",
        "digit_size": f"A digit of {end['x']:g} px costs the fixed one",
    }[contest.dial]
    lost = min(-share, 1.0)
    what = "its" if contest.dial == "digit_size" else contest.first_name
    return f"{cause} {lost:.0%} of {what} recognition"


def rival_title(contest: Contest) -> str:
    """Title of the chart of the second feature."""
    return {
        "bits": "What the encoder keeps of the bits",
        "digits": "What the encoder keeps of the digit",
        "digit_size": "What the encoder keeps of the growing digit",
        "color_strength": "What the encoder keeps of the colours",
    }[contest.dial]


def contest_story(contest: Contest, first: pd.DataFrame, second: pd.DataFrame) -> str:
    """What suppressed what, in two or three sentences; empty where there is nothing to compare.

    Args:
        contest: The experiment.
        first: Folded cells of the feature that may be suppressed.
        second: Folded cells of its rival.
    """
    line = _telling(first)
    if line is None:
        return ""
    name = line.iloc[0]["series"]
    own = change(line.iloc[0], line.iloc[-1], contest.first)
    start, end = line.iloc[0]["x"], line.iloc[-1]["x"]
    said = [
        f"With {name}, {WAY[contest.dial]} from {start:,.10g} to {end:,.10g}, the accuracy on the {contest.first_name} goes "
        f"from {own.text}"
    ]
    rival = second[(second["series"] == name) & (second["n"] > 0)].sort_values("x")
    other = change(rival.iloc[0], rival.iloc[-1], contest.second) if len(rival) > 1 else None
    if other is not None:
        begins = rival.iloc[0]["x"]  # without digits there is none to be known
        since = "" if begins == start else f", from {begins:,.10g} on,"
        said[0] += f", that on the {contest.second_name}{since} from {other.text}"
    said[0] += f": {_verdict(contest, own, other)}{_alone(first, contest.first, own)}."
    labels = first[(first["kind"] == "supervised") & (first["n"] > 0)].sort_values("x")
    if len(labels) > 1:
        with_labels = change(labels.iloc[0], labels.iloc[-1], contest.first)
        kept = with_labels.value > -UNHARMED
        said.append(
            f"With labels, on the same pictures, it goes from {with_labels.text}"
            + (f": the {contest.first_name} is still there to be learned." if kept and own.value <= -LEAST else ".")
        )
    fresh = second[(second["kind"] == "untrained") & (second["n"] > 0)].sort_values("x")
    if len(rival) and len(fresh) and fresh.iloc[-1]["mean"] - rival.iloc[-1]["mean"] > UNHARMED:
        said.append(
            f"Training itself unlearns the {contest.second_name}: an untrained encoder reaches "
            f"{_told(fresh.iloc[-1], contest.second)}, this one {_told(rival.iloc[-1], contest.second)}."
        )
    return " ".join(said)


def _telling(cells: pd.DataFrame) -> pd.DataFrame | None:
    """The contrastive line that changed most between the ends of the dial; None where no line has two values."""
    return max(_lines(cells), key=lambda line: abs(line.iloc[-1]["mean"] - line.iloc[0]["mean"]), default=None)


def _lines(cells: pd.DataFrame) -> list[pd.DataFrame]:
    learned = cells[(cells["kind"] == "contrastive") & (cells["n"] > 0)]
    return [line.sort_values("x") for _, line in learned.groupby("series", sort=False) if len(line) > 1]


def _alone(cells: pd.DataFrame, metric: str, own: Change) -> str:
    """Said of a clear difference that other lines do not share; the one that is told changed most."""
    changes = [change(line.iloc[0], line.iloc[-1], metric) for line in _lines(cells)]
    share = sum(moved.clear and moved.value * own.value > 0 for moved in changes)
    return f", but clearly so in {share} of {len(changes)} lines only" if own.clear and share < len(changes) else ""


def _told(cell: pd.Series, metric: str) -> str:
    return with_spread(cell["mean"], metric, cell["sd"])


def _verdict(contest: Contest, own: Change, other: Change | None) -> str:
    """Which feature gave way; careful where the spread does not carry it."""
    if own.known and not own.clear:
        return f"for the {contest.first_name}, no difference beyond the spread over seeds"
    hedge = "" if own.known else " (one seed: not certain)"
    if not own.known and abs(own.value) < LEAST:
        return f"the {contest.first_name} hardly changed{hedge}"
    # The rival counts as moved only by as much as the first feature must: a thousandth is no gain.
    moved = other is not None and (other.clear if other.known else abs(other.value) >= LEAST)
    if own.value < 0 and moved and other.value > 0:
        return f"the {contest.second_name} gained what the {contest.first_name} lost{hedge}"
    if own.value < 0:
        return f"the {contest.first_name} gave way{hedge}"
    if moved and other.value < 0:
        return f"the {contest.first_name} gained what the {contest.second_name} lost{hedge}"
    return f"the {contest.first_name} did not suffer{hedge}"
