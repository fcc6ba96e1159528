"""Find runs by a line of text: `tau=0.1 bits>5 finished`. Every word must hold."""

import operator
import re
from difflib import get_close_matches

import pandas as pd

from core.studies.names import StudyError

CONDITION = re.compile(r"(?P<field>[A-Za-z_][A-Za-z_0-9]*)(?P<sign>>=|<=|!=|=|>|<)(?P<value>[^<>=].*)")
SPACED = re.compile(r"\s*(>=|<=|!=|=|>|<)\s*")  # a sign with the spaces around it
SIGNS = {">=": operator.ge, "<=": operator.le, "!=": operator.ne, "=": operator.eq, ">": operator.gt, "<": operator.lt}
SEARCHED = ("run_id", "label", "status", "objective", "dataset", "encoder", "error", "finished_at")  # by a plain word
SHORT = {"linear": "linear_accuracy", "knn": "knn_accuracy", "online": "online_accuracy", "lambda": "lam", "id": "run_id"}
NEARNESS = 1e-9  # relative; 0.1 finds 0.1


def matching(runs: pd.DataFrame, text: str) -> pd.Series:
    """Which runs a filter keeps.

    Args:
        runs: One row per run.
        text: Words separated by spaces. `field=value`, `!=`, `>`, `>=`, `<`, `<=`, with or without spaces around the sign,
            compare a column; any other word must occur in the label, status, objective, data set, encoder, id, error or date.
            Capitals do not matter.

    Returns:
        Boolean, one per row; all True for an empty text.

    Raises:
        StudyError: If a column does not exist, is compared with something it cannot be compared with, or with nothing.
    """
    kept = pd.Series(True, index=runs.index)
    for word in SPACED.sub(r"\1", text).split():
        condition = CONDITION.fullmatch(word)
        if not condition and (word[0] in "<>=!" or word[-1] in "<>="):
            raise StudyError(f"filter: {word!r} is half a condition; write it as in bits>=10")
        kept &= _compare(runs, **condition.groupdict()) if condition else _contains(runs, word)
    return kept


def _contains(runs: pd.DataFrame, word: str) -> pd.Series:
    found = pd.Series(False, index=runs.index)
    for column in SEARCHED:
        if column in runs:
            found |= runs[column].astype(str).str.contains(word, case=False, regex=False)
    return found


def _compare(runs: pd.DataFrame, field: str, sign: str, value: str) -> pd.Series:
    field = SHORT.get(field.lower(), field)
    if field not in runs:
        close = get_close_matches(field, list(runs.columns), n=1)
        hint = f"did you mean {close[0]}?" if close else "columns are those of the table, such as bits, tau or linear"
        raise StudyError(f"filter: there is no column {field!r}; {hint}")
    column, compare = runs[field], SIGNS[sign]
    wanted = _number(value)
    if wanted is not None and (pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)):
        if sign in {"=", "!="}:
            near = (column - wanted).abs() <= NEARNESS * max(abs(wanted), 1.0)
            return near if sign == "=" else ~near
        return compare(column, wanted)
    if sign not in {"=", "!="}:
        raise StudyError(f"filter: {field} can be compared with {sign} only if it is a number, got {value!r}")
    return compare(column.astype(str).str.lower(), value.lower())


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
