"""The bound on mutual information for every correlation that the pages offer, computed once and shipped.

    python -m core.losses.information_table     writes data/results/benchmarks/information_bound.json (about 15 s)

A correlation costs two seconds of sampling, too long to wait for behind a slider. Everything is seeded, so the file can be made
again at any time; a test does so for a part of it.
"""

import json
from functools import cache
from pathlib import Path

from core.losses.mutual_information import Bound, gaussian_information, info_nce_bound

FILE = Path(__file__).resolve().parents[2] / "data" / "results" / "benchmarks" / "information_bound.json"
RHOS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
DIMENSIONS = (1, 4, 10)
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
ANCHORS = 8192

Bounds = dict[int, list[Bound]]  # by dimension, in the order of SIZES


def bounds(rho: float) -> tuple[Bounds, dict[int, float]]:
    """The bounds of one correlation and the true information of each dimension, in nats.

    Args:
        rho: One of RHOS.

    Raises:
        ValueError: If it is another.
    """
    if rho not in RHOS:
        raise ValueError(f"rho must be one of {', '.join(map(str, RHOS))}, got {rho}.")
    rows = _stored()[f"{rho:g}"]
    found = {dim: [Bound(*row) for row in rows[str(dim)]] for dim in DIMENSIONS}
    return found, {dim: gaussian_information(dim, rho) for dim in DIMENSIONS}


def computed(rho: float, sizes: tuple[int, ...] = SIZES) -> dict[str, list[list[float]]]:
    """Sample the bounds of one correlation: dimension -> [estimate, spread, anchors] for each size."""
    return {str(dim): [list(info_nce_bound(dim, rho, size, anchors=ANCHORS)) for size in sizes] for dim in DIMENSIONS}


@cache
def _stored() -> dict:
    return json.loads(FILE.read_text("utf-8"))["bounds"]


if __name__ == "__main__":
    settings = {"anchors": ANCHORS, "sizes": SIZES, "seed": 0, "made_by": "python -m core.losses.information_table"}
    table = {f"{rho:g}": computed(rho) for rho in RHOS}
    FILE.write_text(json.dumps({"settings": settings, "bounds": table}, indent=1) + "\n", "utf-8")
