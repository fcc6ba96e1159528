"""What the online probe's start and weight decay do to its accuracy: the notebook's probe beside ours, on one encoder.

    python -m tests.benchmarks.probe_start            prints a line per run, about 4 minutes each; needs the MNIST files
    python -m tests.benchmarks.probe_start --write    also writes data/results/benchmarks/probe_start.json

The authors' RandBits notebook starts its probe as Keras does (Glorot-uniform weights) and lets the weight decay act on it; our
online probe starts as torch does and has no decay. Probes see h without a gradient, so all of them are trained beside one and
the same encoder, a run of the study official-randbits-mnist, and asked about all test images.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from core import datasets
from core.models.conv import glorot_uniform
from core.provenance import today, versions
from core.studies import shipped
from core.studies.files import write_json
from core.training.images import Images
from core.training.loop import Run, pinned
from core.training.measure import probe_accuracy
from core.training.optimisation import PROBE_LR, schedule
from core.training.spec import RunSpec

OUT = Path(__file__).resolve().parents[2] / "data" / "results" / "benchmarks" / "probe_start.json"
STUDY, SEED = "official-randbits-mnist", 0
CELLS = ((0, 0.1), (5, 0.1), (5, 0.2))  # bits and tau
CPU = torch.device("cpu")


class Listening(nn.Linear):
    """The run's own probe, which keeps what it was asked about."""

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """Logits [n, classes] of h [n, h_dim]."""
        self.h = h
        return super().forward(h)


def companion(run: Run, glorot: bool, decay: float) -> tuple[nn.Linear, Callable[[torch.Tensor, torch.Tensor], None]]:
    """Another probe of the run, and what trains it on one batch of h [n, h_dim] and labels [n]."""
    probe = nn.Linear(run.encoder.h_dim, run.images.classes)
    if glorot:
        glorot_uniform(probe)
    groups = [{"params": [probe.weight], "weight_decay": decay}, {"params": [probe.bias]}]
    optimizer = torch.optim.Adam(groups, lr=PROBE_LR)
    decline = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule(run.spec, run.steps_per_epoch))

    def train(h: torch.Tensor, labels: torch.Tensor) -> None:
        optimizer.zero_grad()
        F.cross_entropy(probe(h), labels).backward()
        optimizer.step()
        decline.step()

    return probe, train


def measure(spec: RunSpec) -> dict[str, float]:
    """Train one run with its probe and the notebook's kinds beside it. Returns test accuracies, 0 to 1, by kind."""
    with pinned(1, spec.seed):
        images = Images(datasets.load(spec), spec, CPU)
        run = Run(spec, images, CPU, lambda record: None, lambda: False, 1)
        run.probe.__class__ = Listening
        companions = {
            "Keras' start": companion(run, True, 0.0),
            "Keras' start and decay": companion(run, True, spec.weight_decay),
        }
        step = run.step

        def step_of_all(rows: torch.Tensor, *rest) -> dict[str, torch.Tensor]:
            said = step(rows, *rest)
            for _, train in companions.values():
                train(run.probe.h.detach(), images.train_labels[rows])
            return said

        run.step = step_of_all
        run.train()
        h, labels = run.features.split(train=False)
        probes = {"ours": run.probe} | {name: probe for name, (probe, _) in companions.items()}
        return {name: probe_accuracy(probe, torch.as_tensor(h), torch.as_tensor(labels)) for name, probe in probes.items()}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    asked = parser.parse_args()
    rows = []
    for spec in shipped.definition(STUDY).expand():
        if spec.seed == SEED and (spec.bits, spec.tau) in CELLS:
            rows.append({"bits": spec.bits, "tau": spec.tau, "seed": spec.seed, "run_id": spec.run_id, "accuracy": measure(spec)})
            print(rows[-1], flush=True)
    if asked.write:
        what = "Test accuracy of online probes trained beside one encoder"
        write_json(OUT, {"what": what, "study": STUDY, "versions": versions(), "measured_at": today(), "rows": rows})


if __name__ == "__main__":
    main()
