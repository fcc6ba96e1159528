"""Time spans in words."""

import pytest

from core.durations import age, spoken


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (3, "less than 10 s"), (44, "about 40 s"), (100, "about 1.5 min"), (180, "about 3 min"), (1080, "about 20 min"),
        (3600, "about 1 h"), (4800, "about 1 h 20 min"), (7 * 3600, "about 7 h"), (3 * 86400, "about 3 days"),
    ],
)  # fmt: skip
def test_estimates_are_as_rough_as_they_are_good(seconds, expected):
    assert spoken(seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"), [(4, "4 s"), (200, "3 min"), (7300, "2 h"), (90000, "1 day"), (200000, "2 days")]
)
def test_ages(seconds, expected):
    assert age(seconds) == expected
