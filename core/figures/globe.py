"""The unit sphere drawn flat: an orthographic view from one side, as a globe. No WebGL, so it animates and prints everywhere."""

import numpy as np
from numpy.typing import NDArray

AZIMUTH, ELEVATION = 35.0, 25.0  # degrees; where the eye stands


def from_eye(points: NDArray, azimuth: float = AZIMUTH, elevation: float = ELEVATION) -> NDArray[np.float32]:
    """Points on the sphere as the eye sees them.

    Args:
        points: Shape (..., 3).
        azimuth: Degrees around the vertical axis.
        elevation: Degrees above the equator.

    Returns:
        Same shape, float32: to the right, up, and towards the eye (negative behind the horizon).
    """
    a, e = np.radians(azimuth), np.radians(elevation)
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    eye = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    return (np.asarray(points) @ np.stack([right, np.cross(eye, right), eye], axis=1)).astype(np.float32)


def graticule(scale: float = 1.0, every: int = 30, azimuth: float = AZIMUTH, elevation: float = ELEVATION) -> str:
    """Parallels and meridians on the visible half, as one SVG path for a layout shape.

    Args:
        scale: Drawn length of the radius.
        every: Degrees between lines.
        azimuth: As in `from_eye`.
        elevation: As in `from_eye`.
    """
    turn = np.radians(np.arange(-180, 181, 5))
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=1)
    lines = [ring * [np.cos(p), np.cos(p), 0] + [0, 0, np.sin(p)] for p in np.radians(range(-90 + every, 90, every))]
    for m in np.radians(range(0, 180, every)):
        lines.append(np.stack([ring[:, 0] * np.cos(m), ring[:, 0] * np.sin(m), ring[:, 1]], axis=1))
    steps = []
    for line in lines:
        pen = "M"
        for x, y, depth in from_eye(line, azimuth, elevation) * scale:
            if depth >= 0:
                steps.append(f"{pen}{x:.4g},{y:.4g}")
            pen = "L" if depth >= 0 else "M"
    return "".join(steps)
