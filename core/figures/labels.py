"""Where the names of points stand, so that they cover neither points nor lines nor each other."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

SIZE = (430, 290)  # px; plotting area of a chart that takes half the page, the smallest in use
LETTER, LINE = 7.0, 15.0  # px; room of a letter and of a line of text
AWAY = 10.0  # px from the middle of a point to its name
STEP = 5.0  # px between the spots of a line that must stay free
# Name in plotly -> direction from the point; the first that is free is taken.
POSITIONS = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "top right": (1, 1),
    "bottom left": (-1, -1),
}


class Room:
    """The plotting area of one chart, in pixels, with what has been drawn and written there."""

    def __init__(self, lines: Sequence[ArrayLike], size: tuple[float, float] = SIZE, limits: ArrayLike | None = None):
        """Begin with lines, whose points and segments stay free of names.

        Args:
            lines: Each of shape (n, 2), data coordinates, in the order in which the points are joined.
            size: Width and height of the plotting area in pixels.
            limits: Lower left and upper right corner of the axes, shape (2, 2); names stay inside. None: the area is as large
                as the lines, and names may reach beyond it.
        """
        lines = [np.asarray(line, dtype=np.float64).reshape(-1, 2) for line in lines]
        every = np.concatenate([*lines, np.empty((0, 2))]) if limits is None else np.asarray(limits, dtype=np.float64)
        self._edge = None if limits is None else np.asarray(size)
        self._low = every.min(axis=0, initial=np.inf)
        span = every.max(axis=0, initial=-np.inf) - self._low
        self._scale = np.asarray(size) / np.where(span > 0, span, 1.0)
        self._drawn = np.concatenate([*(_along(self._pixels(line)) for line in lines), np.empty((0, 2))])
        self._written: list[NDArray] = []

    def beside(self, point: ArrayLike, text: str) -> str | None:
        """Write a name beside a point.

        Args:
            point: Data coordinates, shape (2,).
            text: The name.

        Returns:
            Its textposition; None where every place would cover something, and nothing is written.
        """
        at = self._pixels(np.asarray(point, dtype=np.float64))
        half = np.array([LETTER * len(text), LINE]) / 2
        for position, direction in POSITIONS.items():
            middle = at + np.asarray(direction) * (half + (AWAY if 0 in direction else AWAY / 2))
            if self._edge is not None and ((middle < half) | (middle + half > self._edge)).any():
                continue
            free = not (np.abs(self._drawn - middle) < half).all(axis=1).any()
            if free and all((np.abs(middle - other[0]) > half + other[1]).any() for other in self._written):
                self._written.append(np.stack([middle, half]))
                return position
        return None

    def _pixels(self, points: NDArray) -> NDArray:
        return (points - self._low) * self._scale


def _along(points: NDArray) -> NDArray:
    """The points of a line and spots on its segments, at most STEP apart."""
    parts = [points]
    for start, end in pairwise(points):
        count = int(np.hypot(*(end - start)) / STEP)
        parts.append(start + np.linspace(0, 1, count + 2)[1:-1, None] * (end - start))
    return np.concatenate(parts)
