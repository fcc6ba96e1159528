"""A cell of the authors' RandBits notebook, in Keras and here: seconds for its 600 steps on the same machine, taken in turn.

    CONTRASTIVE_LENS_DATA=... python -m tests.benchmarks.bench_notebook /path/to/a/python/with/tensorflow

Keras has the whole machine for one cell. Here two one-thread workers train two cells at a time, as studies do, so a cell takes
half of the time of its run. Training only; the probe at the end of our runs is not part of the notebook.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from core.studies.study import StudySpec

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "data" / "studies" / "official-randbits-mnist.toml"
BITS, STEPS, EPOCH, CELL, TURNS, WORKERS = (0, 5), 40, 60, 600, 2, 2


def keras(python: str, bits: int) -> float:
    """Seconds of a cell in Keras."""
    command = [python, str(ROOT / "tests" / "benchmarks" / "notebook_cell.py"), str(bits), "--steps", str(STEPS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    return float(done.stdout.split()[-1]) * CELL


def ours(folder: Path) -> dict[int, float]:
    """Seconds of a cell here by number of bits: one epoch of two runs at a time."""
    study = StudySpec.from_text(STUDY.read_text())
    block = study.blocks[0].model_copy(update={"grid": {"bits": list(BITS)}})
    base = {**study.base, "epochs": 1, "tau": 0.1}
    short = study.model_copy(update={"name": "notebook-timing", "base": base, "blocks": [block], "seeds": [0, 1]})
    path = folder / "notebook-timing.toml"
    path.write_text(short.to_toml())
    command = [sys.executable, "-m", "core", "sweep", str(path), "--store", str(folder / "store"), "--workers", str(WORKERS)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    seconds: dict[int, list[float]] = {bits: [] for bits in BITS}
    for line in (folder / "store" / short.name / "results.jsonl").read_text().splitlines():
        run = json.loads(line)
        epoch = json.loads((folder / "store" / short.name / run["run_id"] / "metrics.jsonl").read_text().splitlines()[0])
        seconds[run["spec"].get("bits", 0)].append(epoch["seconds"])
    return {bits: sum(values) / len(values) * CELL / EPOCH / WORKERS for bits, values in seconds.items()}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for _ in range(TURNS):
        theirs = {bits: keras(sys.argv[1], bits) for bits in BITS}
        with tempfile.TemporaryDirectory() as scratch:
            mine = ours(Path(scratch))
        for bits in BITS:
            ratio = mine[bits] / theirs[bits]
            print(f"{bits} bits: Keras {theirs[bits]:.0f} s a cell, here {mine[bits]:.0f} s, {ratio:.2f} times", flush=True)
