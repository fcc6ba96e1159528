"""Score sets to start from, each made to show one thing."""

from typing import NamedTuple


class Preset(NamedTuple):
    """Similarities of one anchor's candidates."""

    title: str  # on the button
    shows: str  # what to look for
    positive: float
    negatives: tuple[float, float, float, float]  # the single negatives, each with a slider
    crowd: int  # how many more
    crowd_score: float  # their common similarity


PRESETS: dict[str, Preset] = {
    "hard": Preset(
        "One hard negative",
        "One negative is nearly as close as the positive, the rest are far away.",
        0.8,
        (0.75, 0.3, 0.1, -0.2),
        252,
        0.1,
    ),
    "ladder": Preset(
        "A ladder of scores",
        "From step to step the push falls by the same factor, exp(0.3/tau).",
        0.9,
        (0.6, 0.3, 0.0, -0.3),
        0,
        0.0,
    ),
    "beaten": Preset(
        "Beaten by a negative",
        "A negative scores higher than the positive, so tau times the loss has a limit above 0 as tau → 0.",
        0.2,
        (0.5, 0.1, -0.3, -0.6),
        0,
        0.0,
    ),
    "collapsed": Preset(
        "Collapsed",
        "All scores are equal: the loss is log(K + 1) at every tau, and tau changes only the size of the gradient.",
        1.0,
        (1.0, 1.0, 1.0, 1.0),
        251,
        1.0,
    ),
    "apart": Preset(
        "All negatives opposite",
        "Only negative scores: a larger tau makes their exponentials larger, towards 1.",
        0.9,
        (-0.4, -0.6, -0.8, -1.0),
        0,
        0.0,
    ),
}
