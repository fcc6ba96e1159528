"""Where the values of a dial stand on its axis: most are numbers on a line, counts of digit images double from step to step."""

from collections.abc import Iterable

import numpy as np

# RunSpec fields that say how much of a competing feature there is, with the title of their axis.
DIAL_AXES = {
    "bits": "Added bits, the same in both views",
    "digits": "Different digit images (0: no digits)",
    "digit_size": "Side of the growing digit (pixels)",
    "color_strength": "Strength of the colour jitter (0: colours stay)",
}
DOUBLING = frozenset({"digits"})  # values on a logarithmic axis, whose 0 stands a step before the 1
ZERO_PLACE = -2.0  # of a doubling dial: as far before 1 as 4 is beyond it


def places(dial: str, values: Iterable[float]) -> np.ndarray:
    """Positions of dial values on the x axis.

    Args:
        dial: RunSpec field.
        values: Its values, >= 0.

    Returns:
        float32 [n]: the values themselves; for a doubling dial log2, with 0 at -2.
    """
    numbers = np.asarray(list(values), np.float64)
    if dial not in DOUBLING:
        return numbers.astype(np.float32)
    return np.where(numbers > 0, np.log2(np.maximum(numbers, 1)), ZERO_PLACE).astype(np.float32)
