"""Throughput with a rival in the picture, as a share of the same training step on plain pictures of the same size:

    python -m tests.benchmarks.bench_rivals

Pictures are random bytes, so that no data set is needed. Time is that of the process (CPU), the best of a few steps. The bar is
a share of 0.8.
"""

import argparse
import time

import numpy as np
import torch

from core import datasets
from core.datasets import DataSet, Split
from core.training import RunSpec
from core.training.images import Images
from core.training.loop import Run, pinned

BAR = 0.8
CPU = torch.device("cpu")
CASES = {
    "digits on 32 px, colour recipe": dict(digits=1000, digit_size=8, augment="simclr"),
    "digits on 32 px, crop recipe": dict(digits=1000, digit_size=8),
    "two digits on 64 px": dict(scene="two_sizes", image_size=64, digit_size=44),
    "the same, other places in each view": dict(
        scene="two_sizes", image_size=64, digit_size=44, digit_draw="views", augment="none"
    ),
    "two digits on 112 px, all sizes": dict(scene="two_sizes"),
    "grid of 12 digits on 112 px": dict(scene="grid"),
    "8 random digits on 112 px": dict(scene="random"),
}


def step_seconds(run: Run, steps: int) -> float:
    """Best CPU time of a training step, pictures included."""
    trained_by = run.optimizers()
    rows, best = torch.arange(run.spec.batch_size), float("inf")
    for _ in range(steps + 1):  # the first one warms up
        started = time.process_time()
        run.step(rows, *trained_by)
        best = min(best, time.process_time() - started)
    return best


def run_of(spec: RunSpec, data: DataSet) -> Run:
    return Run(spec, Images(data, spec, CPU), CPU, lambda record: None, lambda: False, 1)


def plain(side: int, channels: int, n: int) -> DataSet:
    pixels = np.random.default_rng(0).integers(0, 256, (n, side, side, channels), dtype=np.uint8)
    labels = np.arange(n) % 10
    return DataSet("made up", Split(pixels, labels), Split(pixels[:50], labels[:50]), tuple("0123456789"), ())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    asked = parser.parse_args()
    for name, fields in CASES.items():
        if asked.only not in name:
            continue
        with pinned(1, 0):
            spec = RunSpec(n_train=500, n_test=50, **fields)
            canvas = spec.scene != "picture"
            side = (spec.image_size or 112) if canvas else 32
            data = datasets.load(spec) if canvas else plain(32, 3, 500)
            with_rival = step_seconds(run_of(spec, data), asked.steps)
            bare = spec.model_copy(update={"scene": "picture", "digits": 0, "digit_draw": "fresh"})
            without = step_seconds(run_of(bare, plain(side, 1 if canvas else 3, 500)), asked.steps)
        share = without / with_rival
        verdict = "ok" if share >= BAR else "BELOW THE BAR"
        times = f"{without * 1e3:.0f} ms plain, {with_rival * 1e3:.0f} ms with the rival"
        print(f"{name}: {times}, share {share:.2f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
