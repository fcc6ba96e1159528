"""Made-up tau-lambda maps and prior tables for tests: plausible shapes, invented numbers. Never shown to users, never shipped."""

import math
from pathlib import Path

import numpy as np

from core.studies.study import StudySpec
from core.training.spec import RunSpec
from tests import fixtures


def accuracy(run: RunSpec, slope: float = 0.8, noise: float = 0.006) -> float:
    """A ridge along log lambda = slope * log tau, with seeds that differ by the noise."""
    random = np.random.default_rng([run.seed, round(1000 * run.tau), round(10_000 * run.weight)])
    off = math.log(run.weight) - slope * math.log(run.tau)
    return float(np.clip(0.955 - 0.012 * off**2 + noise * random.standard_normal(), 0.1, 0.99))


def fill_map(root: Path, study: StudySpec, *, slope: float = 0.8, runs: int | None = None, diverge: bool = True) -> list[RunSpec]:
    """Write a map as the supervisor would have left it.

    Args:
        root: Store root.
        study: The map.
        slope: Of its ridge.
        runs: How many runs have ended; None = all.
        diverge: Let all seeds of the smallest tau with the largest lambda diverge, and one seed of the cell below it.
    """
    taus, lams = sorted({run.tau for run in study.expand()}), sorted({run.weight for run in study.expand()})
    results = {}
    for run in study.expand():
        value = accuracy(run, slope)
        results[run.run_id] = dict(
            linear_accuracy=value,
            knn_accuracy=value - 0.02,
            online_accuracy=value - 0.04,
            tolerance=0.3 + 0.1 * math.log10(run.tau),
            uniformity=-3.6 + 0.5 * math.log10(run.tau) - 0.2 * math.log10(run.weight),
            alignment=0.2 + 0.05 * math.log10(run.weight),
            rankme=30.0,
            loss=1 + run.weight * 5,
        )
        if diverge and run.tau == taus[0] and (run.weight == lams[-1] or (run.weight == lams[-2] and run.seed == 0)):
            results[run.run_id] = dict(
                status="diverged", linear_accuracy=None, knn_accuracy=None, online_accuracy=0.1, loss=float("inf")
            )
    return fixtures.fill(root, study, runs=runs, results=results)


def fill_heads(root: Path, study: StudySpec, *, runs: int | None = None) -> list[RunSpec]:
    """Write a study of losses and heads: the gap between losses closes as the head gets deeper."""
    offsets = {"nt_xent": 0.0, "gcl": 0.01, "swd_hypersphere": -0.01, "swd_hypercube": -0.05, "swd_normal": -0.04}
    results = {}
    for run in study.expand():
        random = np.random.default_rng([run.seed, run.head_layers, run.epochs, len(run.objective), round(run.weight)])
        value = 0.93 + 0.01 * math.log(run.epochs / 5) + offsets[run.objective] * (4.2 - run.head_layers) / 3
        value += 0.004 * float(random.standard_normal())
        results[run.run_id] = dict(linear_accuracy=value, knn_accuracy=value - 0.03, online_accuracy=value - 0.05)
    ended = fixtures.fill(root, study, runs=runs, results=results)
    for run in ended:
        path = root / study.name / run.run_id / "embedding.npz"
        if path.exists():
            random = np.random.default_rng(run.seed)
            arrays = dict(np.load(path))
            z = random.standard_normal((len(arrays["z"]), run.head_dim)) * (
                1 + 0.6 / run.head_layers * random.random(run.head_dim)
            )
            norms = np.linalg.norm(z, axis=1)
            arrays |= {"z": (z / norms[:, None]).astype(np.float16), "norms": norms.astype(np.float32)}
            np.savez_compressed(path, **arrays)
    return ended
