"""Time and memory of the losses and of uniformity, as ratios to peers measured in the same run.

    python tests/benchmarks/bench_losses.py                                      # everything, one JSON object
    python tests/benchmarks/bench_losses.py --only nt_xent_speed nt_xent_memory

Ours and the peer take turns inside one child process, so that both see the same machine; the best of several turns
counts. Processor time is given beside wall time, because it hardly changes when the machine is busy. Extra memory is the
growth of the peak resident set over one forward and backward pass, in a child of its own.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core import geometry  # noqa: E402
from core.losses import cross_view, nt_xent  # noqa: E402

PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in kilobytes elsewhere
BARS = {  # what the measurements should reach
    "nt_xent_speed": "4 times lightly at 4,096 pairs, d = 128",
    "nt_xent_memory": "a tenth of lightly's extra memory there",
    "nt_xent_32768": "1.5e9 extra bytes",
    "small_batches": "as fast as the plain version",
    "uniformity_50000": "5e8 extra bytes",
    "uniformity_speed": "faster than torch.pdist where that fits",
}


def plain_nt_xent(a, b, tau):
    """The usual short version: the whole matrix, masked, and cross entropy."""
    n = len(a)
    z = F.normalize(torch.cat([a, b]), dim=1)
    logits = (z @ z.T / tau).masked_fill(torch.eye(2 * n, dtype=torch.bool, device=a.device), -torch.inf)
    return F.cross_entropy(logits, torch.arange(2 * n, device=a.device).roll(n))


def plain_cross_view(a, b, tau):
    """The same for cross-view InfoNCE."""
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / tau
    labels = torch.arange(len(a), device=a.device)
    return F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)


def lightly_nt_xent(a, b, tau):
    """lightly's NTXentLoss."""
    from lightly.loss import NTXentLoss

    return NTXentLoss(temperature=tau)(a, b)


def pdist_uniformity(z, t):
    """The published one-liner."""
    return torch.pdist(F.normalize(z, dim=1)).pow(2).mul(-t).exp().mean().log().item()


LOSSES = {
    "ours": nt_xent, "lightly": lightly_nt_xent, "plain": plain_nt_xent,
    "cross_view": cross_view, "plain_cross_view": plain_cross_view,
}
METRICS = {"uniformity": geometry.uniformity, "pdist": pdist_uniformity}


def run_once(name, n, dim, parameter):
    """One pass; for losses forward and backward. Returns wall and processor seconds."""
    generator = torch.Generator().manual_seed(n)
    z = [torch.randn(n, dim, generator=generator) for _ in range(2)]
    wall, cpu = time.perf_counter(), time.process_time()
    if name in METRICS:
        METRICS[name](z[0], parameter)
    else:
        LOSSES[name](*(view.requires_grad_() for view in z), parameter).backward()
    return time.perf_counter() - wall, time.process_time() - cpu


def child(names, n, dim, parameter, threads, turns):
    """Measured in this process: best wall and processor seconds per name, or the extra memory of a single pass."""
    torch.set_num_threads(threads)
    for name in names:
        run_once(name, 64, dim, parameter)  # libraries loaded, threads started
    if turns == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run_once(names[0], n, dim, parameter)
        return {"extra_bytes": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * PEAK_UNIT}
    times = {name: [] for name in names}
    for _ in range(turns):
        for name in names:
            times[name].append(run_once(name, n, dim, parameter))
    return {name: {"wall": min(w for w, _ in pairs), "cpu": min(c for _, c in pairs)} for name, pairs in times.items()}


def measure(names, n, dim, parameter, threads=1, turns=5):
    """Run `child` in a process of its own."""
    call = json.dumps([names, n, dim, parameter, threads, turns])
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    out = subprocess.run(
        [sys.executable, __file__, "--child", call], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    )
    return json.loads(out.stdout.splitlines()[-1])


def compare(ours, peer, n, dim, parameter, threads=1, turns=5):
    """Both times and how many times faster ours is."""
    found = measure([ours, peer], n, dim, parameter, threads, turns)
    return {
        "n": n, "dim": dim, "parameter": parameter, "threads": threads, "ours": found[ours], peer: found[peer],
        "speed_ratio": round(found[peer]["wall"] / found[ours]["wall"], 2),
        "cpu_ratio": round(found[peer]["cpu"] / found[ours]["cpu"], 2),
    }


def memory(ours, peer, n, dim, parameter):
    """Extra bytes of both and how many times less ours takes."""
    extra = {name: measure([name], n, dim, parameter, turns=0)["extra_bytes"] for name in (ours, peer)}
    return {"n": n, "dim": dim, "parameter": parameter, **extra, "ratio": round(extra[peer] / max(extra[ours], 1), 1)}


def alone(name, n, dim, parameter, threads):
    """Time and extra memory of something too large for its peers."""
    return {**measure([name], n, dim, parameter, threads, 1), **measure([name], n, dim, parameter, threads, 0)}


MEASUREMENTS = {
    "nt_xent_speed": lambda: [compare("ours", "lightly", 4096, 128, tau, threads, 3) for tau, threads in SPEED_CASES],
    "nt_xent_memory": lambda: [memory("ours", "lightly", 4096, 128, tau) for tau in (0.1, 0.01)],
    "small_batches": lambda: [
        compare(ours, peer, n, 64, tau, 1, 40)
        for ours, peer in (("ours", "plain"), ("cross_view", "plain_cross_view"))
        for n in (250, 500, 1000)
        for tau in (0.1, 0.01)
    ],
    "uniformity_speed": lambda: [compare("uniformity", "pdist", 10_000, 128, 2, threads, 3) for threads in (1, 2)],
    "uniformity_memory": lambda: memory("uniformity", "pdist", 10_000, 128, 2),
    "uniformity_50000": lambda: alone("uniformity", 50_000, 128, 2, 2),
    "nt_xent_32768": lambda: alone("ours", 32_768, 128, 0.1, 2),
}
SPEED_CASES = [(0.1, 1), (0.1, 2), (0.5, 1), (0.01, 1)]  # tau, threads


def main():
    """Run the chosen measurements and print them as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=[*MEASUREMENTS], help="all if left out")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(*json.loads(arguments.child))))
        return
    machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(), "torch": torch.__version__}
    print(json.dumps({"machine": machine, "bars": BARS, **{name: MEASUREMENTS[name]() for name in arguments.only}}, indent=1))


if __name__ == "__main__":
    main()
