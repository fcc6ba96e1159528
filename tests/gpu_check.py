"""Check a machine with a GPU: `python tests/gpu_check.py > gpu.json`, under five minutes; needs requirements.txt only.

Compares losses and metrics on CPU and GPU, runs one RandBit experiment, and measures a ResNet-18 at 32 px in bfloat16 and
channels-last: throughput, the share of time in forward and backward passes, and peak memory. Prints JSON; exit code 1 when a
comparison fails, 2 where torch sees no CUDA device.
"""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from core import geometry, losses
from core.datasets.augment import two_views
from core.models import build_encoder
from core.provenance import versions
from core.training import RunSpec, fit
from core.training.objectives import build_objective
from core.training.optimisation import build_optimizer

BATCH = 512
WARM_UP, MEASURED = 10, 60


def views(device: str, dtype: torch.dtype, n: int = 256, d: int = 128) -> tuple[torch.Tensor, torch.Tensor]:
    """The same correlated pair of embeddings on every device."""
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(n, d, generator=generator)
    b = a + 0.5 * torch.randn(n, d, generator=generator)
    return a.to(device, dtype), b.to(device, dtype)


def compare() -> dict:
    """Largest relative difference between CPU float64 and GPU, value and gradient, per loss, temperature and input type."""
    worst: dict[str, float] = {}
    functions = {
        "nt_xent": losses.nt_xent,
        "cross_view": losses.cross_view,
        "gcl": lambda a, b, tau: losses.generalized(a, b, tau=tau, lam=0.3).total,
    }
    for name, function in functions.items():
        for tau in (0.005, 0.05, 0.1, 0.5, 10.0):
            for dtype, tolerance in ((torch.float32, 1e-3), (torch.bfloat16, 3e-2)):
                results = []
                for device, kind in (("cpu", torch.float64), ("cuda", dtype)):
                    a, b = (x.to(dtype).to(kind).requires_grad_() for x in views(device, torch.float32))
                    value = function(a, b, tau)
                    value.backward()
                    results.append((float(value), a.grad.double().cpu()))
                (value, gradient), (value_gpu, gradient_gpu) = results
                error = max(
                    abs(value - value_gpu) / max(1.0, abs(value)),
                    float((gradient - gradient_gpu).norm() / gradient.norm().clamp_min(1e-12)),
                )
                key = f"{name}, {str(dtype).removeprefix('torch.')}"
                worst[key] = max(worst.get(key, 0.0), error / tolerance)
    a, b = views("cpu", torch.float32)
    labels = torch.arange(len(a)) % 10
    for name, function in {
        "alignment": lambda z1, z2, y: geometry.alignment(z1, z2),
        "uniformity": lambda z1, z2, y: geometry.uniformity(z1),
        "tolerance": lambda z1, z2, y: geometry.tolerance(z1, y),
        "rankme": lambda z1, z2, y: geometry.rankme(z1),
    }.items():
        cpu, gpu = float(function(a, b, labels)), float(function(a.cuda(), b.cuda(), labels.cuda()))
        worst[name] = abs(cpu - gpu) / max(1.0, abs(cpu)) / 1e-4
    return {"error_over_tolerance": worst, "passed": all(error <= 1 for error in worst.values())}


def randbit() -> dict:
    """One run at 0 and one at 15 bits: the suppression must be there."""
    results = {bits: fit(RunSpec(bits=bits, device="cuda")) for bits in (0, 15)}
    clean, suppressed = results[0].linear_accuracy, results[15].linear_accuracy
    return {
        "settings": RunSpec(device="cuda").changed(),
        "linear_accuracy": {"0 bits": clean, "15 bits": suppressed},
        "seconds": {bits: result.seconds for bits, result in results.items()},
        "passed": clean >= 0.93 and suppressed <= 0.3,
    }


def throughput() -> dict:
    """NT-Xent with a ResNet-18 on 32 px images held on the GPU, SimCLR augmentation included."""
    spec = RunSpec(
        dataset="cifar10",
        encoder="resnet18",
        augment="simclr",
        batch_size=BATCH,
        head_dim=128,
        optimizer="lars",
        lr=1.0,
        warmup_epochs=10,
        device="cuda",
    )
    torch.manual_seed(0)
    encoder = build_encoder(spec, 3, 32)
    objective = build_objective(spec, encoder, classes=10, image_size=32, n_train=50_000).cuda()
    encoder = encoder.to("cuda", memory_format=torch.channels_last)
    optimizer = build_optimizer(spec, [encoder, objective])
    generator = torch.Generator("cuda").manual_seed(0)
    images = torch.randint(0, 256, (BATCH, 32, 32, 3), dtype=torch.uint8, device="cuda", generator=generator).permute(0, 3, 1, 2)
    torch.cuda.reset_peak_memory_stats()

    def step() -> float:
        """One update; returns milliseconds in the forward and backward passes."""
        a, b = two_views(images, "simclr", 0.5, generator)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = objective(
                encoder,
                a.contiguous(memory_format=torch.channels_last),
                b.contiguous(memory_format=torch.channels_last),
                None,
                None,
                generator,
            ).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        end.record()
        optimizer.step()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    for _ in range(WARM_UP):
        step()
    started = time.perf_counter()
    inside = sum(step() for _ in range(MEASURED)) / 1000
    seconds = time.perf_counter() - started
    return {
        "settings": {**spec.changed(), "images": "random, on the GPU", "steps": MEASURED},
        "images_per_second": round(MEASURED * BATCH / seconds),
        "share_in_forward_and_backward": round(inside / seconds, 3),
        "peak_memory_mib": round(torch.cuda.max_memory_allocated() / 2**20),
    }


def main() -> int:
    """Run all checks and print them."""
    if not torch.cuda.is_available():
        print("torch sees no CUDA device here; this script checks machines that have one.", file=sys.stderr)
        return 2
    started = time.perf_counter()
    report = {
        "device": torch.cuda.get_device_name(),
        "versions": versions(),
        "comparison": compare(),
        "randbit": randbit(),
        "throughput": throughput(),
    }
    report["seconds"] = round(time.perf_counter() - started, 1)
    print(json.dumps(report, indent=2))
    return 0 if report["comparison"]["passed"] and report["randbit"]["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
