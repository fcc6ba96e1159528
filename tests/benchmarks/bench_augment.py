"""Speed of two-view augmentation on one CPU core: against lightly's SimCLRTransform, and as a share of a training step.

    python -m tests.benchmarks.bench_augment

Prints JSON. Times are processor time of one thread, in milliseconds per batch of two views of every image; ours and the
peer's are measured in turn, so that a busy machine disturbs both alike, and the median of the rounds is kept.
lightly's transform gets PIL images, the form it is fastest with, and its results are not even stacked into a batch.
"""

import json
import platform
import statistics
import time
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from core.datasets import load, randbit
from core.datasets.augment import two_views
from core.models import build_encoder
from core.training.spec import RunSpec

ROUNDS = 7
REPEATS = 5  # of the fast measurements, per round
BUDGETS = {"ratio to lightly, 32 px simclr": 10, "crop recipe, 28 px, 250 images, ms": 7}


def milliseconds(function: Callable[[], object], repeats: int = REPEATS) -> float:
    """Fastest of some calls: other processes only ever add time."""
    times = []
    for _ in range(repeats):
        began = time.thread_time()
        function()
        times.append(time.thread_time() - began)
    return 1000 * min(times)


def medians(functions: dict[str, tuple[Callable[[], object], int]]) -> dict[str, float]:
    """Median over rounds of each measurement; all of them once per round."""
    rounds: dict[str, list[float]] = {name: [] for name in functions}
    for function, _ in functions.values():
        function()
    for _ in range(ROUNDS):
        for name, (function, repeats) in functions.items():
            rounds[name].append(milliseconds(function, repeats))
    return {name: round(statistics.median(times), 2) for name, times in rounds.items()}


def batch(n: int, channels: int, side: int) -> Tensor:
    """Random pixels in the layout in which data sets hold them."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (n, side, side, channels), generator=generator, dtype=torch.uint8).permute(0, 3, 1, 2)


def ours(images: Tensor, recipe: str) -> Callable[[], object]:
    generator = torch.Generator().manual_seed(0)
    return lambda: two_views(images, recipe, 0.5, generator)


def lightly(images: Tensor) -> Callable[[], object]:
    from lightly.transforms import SimCLRTransform

    side = images.shape[2]
    transform = SimCLRTransform(input_size=side, cj_strength=0.5, gaussian_blur=0.5 if side > 32 else 0.0, normalize=None)
    pictures = [Image.fromarray(image.permute(1, 2, 0).numpy()) for image in images]
    return lambda: [transform(picture) for picture in pictures]


def conv_step(images: Tensor) -> Callable[[], object]:
    """Forward and backward of ConvN on both views of a batch, with a loss that costs nothing."""
    encoder = build_encoder(RunSpec(), 1, 28).to(memory_format=torch.channels_last)
    views = torch.cat(two_views(images, "crop", 0.5, torch.Generator().manual_seed(0)))
    views = views.contiguous(memory_format=torch.channels_last)

    def step() -> None:
        encoder.zero_grad(set_to_none=True)
        F.mse_loss(encoder(views), torch.zeros(())).backward()

    return step


def codes() -> Callable[[], object]:
    images = load(RunSpec()).train.images
    return lambda: randbit.codes(images)


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    digits, small, middle = batch(250, 1, 28), batch(250, 3, 32), batch(64, 3, 96)
    code = torch.arange(250)
    view = two_views(digits, "crop", 0.5, torch.Generator().manual_seed(0))[0]
    times = medians({
        "crop, 250 x 28 px x 1": (ours(digits, "crop"), REPEATS),
        "simclr, 250 x 28 px x 1": (ours(digits, "simclr"), REPEATS),
        "crop, 250 x 32 px x 3": (ours(small, "crop"), REPEATS),
        "simclr, 250 x 32 px x 3": (ours(small, "simclr"), REPEATS),
        "simclr, 64 x 96 px x 3": (ours(middle, "simclr"), REPEATS),
        "lightly SimCLRTransform, 250 x 32 px x 3": (lightly(small), 1),
        "lightly SimCLRTransform, 64 x 96 px x 3": (lightly(middle), 1),
        "ConvN forward and backward, 2 x 250 x 28 px": (conv_step(digits), REPEATS),
        "append 10 bits, 250 x 28 px x 1": (lambda: randbit.append_bits(view, code, 10), REPEATS),
        "RandBit codes, 4,000 x 28 px x 1": (codes(), REPEATS),
    })
    crop = times["crop, 250 x 28 px x 1"]
    report = {
        "what": "milliseconds of one thread for two views of each image",
        "times_ms": times,
        "ratio to lightly, 32 px simclr": round(
            times["lightly SimCLRTransform, 250 x 32 px x 3"] / times["simclr, 250 x 32 px x 3"], 1),
        "ratio to lightly, 96 px simclr": round(
            times["lightly SimCLRTransform, 64 x 96 px x 3"] / times["simclr, 64 x 96 px x 3"], 1),
        "crop recipe as a share of the ConvN step": round(crop / times["ConvN forward and backward, 2 x 250 x 28 px"], 3),
        "budgets": BUDGETS,
        "torch": torch.__version__,
        "machine": f"{platform.machine()}, {platform.system()}, 1 thread",
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
