"""Time and memory of a softmax over all instances as classes, against a queue of keys: what the queue is for.

    python -m tests.benchmarks.full_softmax            prints one line per size
    python -m tests.benchmarks.full_softmax --write    also writes data/results/benchmarks/full_softmax.json

Each size runs in a fresh process, so that its peak memory is its own. One step is forward and backward of the mean
cross entropy; the optimiser's state, which would come on top, is left out. A size is not started when its predicted
memory is above the limit.
"""

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / "data" / "results" / "benchmarks" / "full_softmax.json"
BATCH, DIM, TAU, THREADS, REPEATS = 256, 128, 0.1, 1, 7
CLASSES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 600_000, 1_281_167)  # the last: images of ImageNet-1k
QUEUES = (1_023, 4_096, 65_536)
LIMIT = 4 * 10**9  # bytes


def predicted_bytes(kind: str, size: int) -> int:
    """What one step holds at its peak, while the gradient of the logits is made: four tables of B x N floats, and the vectors.

    The four are the logits, their log-softmax, and the gradients of both. By the time the vectors' own gradient is made, which
    only the full softmax has, two of the tables are gone, so it does not count.

    Args:
        kind: "full softmax", with `size` terms, or "queue", with one term more for the positive.
        size: Vectors that the queries are compared with.
    """
    terms = size + (kind == "queue")
    return 4 * (4 * BATCH * terms + DIM * size)


def measure(kind: str, size: int) -> dict[str, float]:
    """One size in this process: median, fastest and slowest step in seconds, and extra peak memory in bytes."""
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(THREADS)
    generator = torch.Generator().manual_seed(0)
    query = F.normalize(torch.randn(BATCH, DIM, generator=generator), dim=1).requires_grad_()
    target = torch.randint(size, (BATCH,), generator=generator)
    small = torch.randn(64, DIM, generator=generator)  # wakes the libraries before memory is counted
    F.cross_entropy(query @ small.T, target % 64).backward()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    weights = torch.randn(size, DIM, generator=generator)
    weights = weights.div_(weights.norm(dim=1, keepdim=True)).requires_grad_(kind == "full softmax")
    key = F.normalize(torch.randn(BATCH, DIM, generator=generator), dim=1)
    times = []
    for _ in range(REPEATS + 1):
        query.grad = weights.grad = None
        start = time.perf_counter()
        logits = query @ weights.T
        if kind == "queue":
            logits, target = torch.cat([(query * key).sum(1, keepdim=True), logits], dim=1), torch.zeros_like(target)
        F.cross_entropy(logits.div_(TAU), target).backward()
        del logits
        times.append(time.perf_counter() - start)
    times = times[1:]  # the first step also asks the system for memory
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return {"seconds": statistics.median(times), "fastest": min(times), "slowest": max(times), "extra_bytes": extra}


def machine() -> dict[str, object]:
    """Processor and memory, as far as the system tells."""
    import psutil

    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
    }


def run_all() -> dict[str, object]:
    """All sizes, each in its own process, smallest first."""
    import torch

    rows, left_out = [], []
    for kind, sizes in (("full softmax", CLASSES), ("queue", QUEUES)):
        for size in sizes:
            predicted = predicted_bytes(kind, size)
            if predicted > LIMIT:
                left_out.append({"kind": kind, "size": size, "predicted_bytes": predicted})
                print(f"{kind:13} {size:>9,}  not run: {predicted / 1e9:.1f} GB predicted, limit {LIMIT / 1e9:.0f} GB")
                continue
            call = [sys.executable, "-m", "tests.benchmarks.full_softmax", "--one", kind, str(size)]
            done = subprocess.run(call, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[2])
            row = {"kind": kind, "size": size, "predicted_bytes": predicted, **json.loads(done.stdout)}
            rows.append(row)
            print(f"{kind:13} {size:>9,}  {row['seconds'] * 1e3:9.1f} ms  {row['extra_bytes'] / 1e6:8.0f} MB")
    return {
        "format_version": 1,
        "what": "One training step of a softmax over all instances, against one positive and a queue of constant keys",
        "settings": {
            "batch": BATCH,
            "dim": DIM,
            "tau": TAU,
            "dtype": "float32",
            "threads": THREADS,
            "repeats": REPEATS,
            "device": "cpu",
            "memory_limit_bytes": LIMIT,
        },
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "machine": machine(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rows": rows,
        "not_run": left_out,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs=2, metavar=("KIND", "SIZE"), help="measure one size here and print it as JSON")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
    else:
        found = run_all()
        if options.write:
            OUT.parent.mkdir(parents=True, exist_ok=True)
            temporary = OUT.with_suffix(".tmp")
            temporary.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
            temporary.replace(OUT)
