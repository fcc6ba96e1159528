"""Finding runs by a line of text."""

import pandas as pd
import pytest

from core.studies import StudyError
from core.studies.filtering import matching

RUNS = pd.DataFrame(
    {
        "run_id": ["aaa", "bbb", "ccc"],
        "label": ["NT-Xent", "NT-Xent", "Supervised"],
        "status": ["finished", "failed", "finished"],
        "objective": ["nt_xent", "nt_xent", "supervised"],
        "tau": [0.1, 0.2, 0.1],
        "bits": [0, 10, 10],
        "linear_accuracy": [0.95, float("nan"), 0.96],
        "mask_self": [True, True, False],
        "error": [None, "out of memory", None],
    }
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "abc"),
        ("tau=0.1", "ac"),
        ("tau=0.1 bits>5", "c"),
        ("bits>=10", "bc"),
        ("bits >= 10 tau = 0.1", "c"),  # spaces around a sign made three words of it, which no run held
        ("bits!=10", "a"),
        ("linear>0.9", "ac"),  # short name; NaN is never above
        ("label=supervised", "c"),
        ("status!=finished", "b"),
        ("Memory", "b"),
        ("xent finished", "a"),
        ("mask_self=false", "c"),
        ("bbb", "b"),
        ("(", ""),  # plain text, not a pattern
    ],
)
def test_words_must_all_hold(text, expected):
    assert "".join(run[0] for run in RUNS.loc[matching(RUNS, text), "run_id"]) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bitz=3", "filter: there is no column 'bitz'; did you mean bits?"),
        ("qqq>1", "filter: there is no column 'qqq'; columns are those of the table, such as bits, tau or linear"),
        ("label>3", "filter: label can be compared with > only if it is a number, got '3'"),
        ("bits >", "filter: 'bits>' is half a condition; write it as in bits>=10"),
        ("finished bits>=", "filter: 'bits>=' is half a condition; write it as in bits>=10"),
        (">= 10", "filter: '>=10' is half a condition; write it as in bits>=10"),
        ("tau>abc", "filter: tau can be compared with > only if it is a number, got 'abc'"),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(StudyError) as error:
        matching(RUNS, text)
    assert str(error.value) == message
