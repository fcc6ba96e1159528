"""Stores made without training, for tests of readers."""

import json
from pathlib import Path

import numpy as np

from core.studies.store import Store
from core.studies.study import StudySpec
from core.studies.trained import Trained
from core.studies.writer import StudyWriter
from core.training.spec import RunResult, RunSpec

STUDY = """
name = "s"
title = "A study"
seeds = [0, 1]
[base]
epochs = 2
[[block]]
label = "NT-Xent"
[block.grid]
bits = [0, 5, 10]
[[block]]
label = "Supervised"
objective = "supervised"
"""


def definition() -> StudySpec:
    return StudySpec.from_text(STUDY)


def trained(run: RunSpec, status: str = "finished", rows: int = 700) -> Trained:
    """A run as it comes back; its numbers depend on its settings."""
    result = RunResult(
        run_id=run.run_id,
        status=status,
        linear_accuracy=0.9 - 0.05 * run.bits if status == "finished" else None,
        loss=1.5,
        epochs_done=run.epochs,
        seconds=10.0,
        n_train=4000,
        n_test=1000,
        device="CPU, 1 thread",
        versions={"torch": "2.14.1", "contrastive_lens": "0.1.0"},
        finished_at="2026-11-29T12:00:00+00:00",
    )
    history = [{"epoch": epoch, "loss": 3.0 / epoch, "uniformity": -1.0 * epoch} for epoch in range(1, run.epochs + 1)]
    z = np.random.default_rng(run.seed).normal(size=(rows, 4)).astype(np.float16)
    labels = np.arange(rows) % 10
    arrays = {"z": z, "pca": z[:, :3].astype(np.float32), "labels": labels, "index": np.arange(rows)}
    arrays["similarity_counts"] = np.ones(5)
    return Trained(result.model_dump(mode="json"), history, b"weights", arrays)


def fill(root: Path, count: int | None = None) -> tuple[Store, StudySpec]:
    """A store with the first `count` runs of the study ended, as a supervisor that was then killed leaves it."""
    store, study = Store(root), definition()
    store.folder(study.name).mkdir(parents=True, exist_ok=True)
    writer = StudyWriter(store, study)
    writer.open()
    for run in study.expand()[:count]:
        writer.end(run, writer.begin(run), trained(run))
    writer.close()
    return store, study


def many_rows(path: Path, count: int) -> None:
    """A summary of `count` runs with everything measured."""
    result = trained(RunSpec()).result | {"knn_accuracy": 0.5, "alignment": 0.2, "uniformity": -3.1, "tolerance": 0.4}
    result |= {"rankme": 20.0, "bit_accuracies": [0.9] * 10, "bits_known": 4.0, "notes": ["the probe did not converge"]}
    with open(path, "w") as file:
        for n in range(count):
            spec = {"bits": n % 21, "tau": 0.05 + n % 7 / 10, "seed": n, "epochs": 20, "lr": 0.002}
            run_id = f"{n:012x}"
            row = {"run_id": run_id, "label": "NT-Xent", "attempt": 1, "spec": spec, "result": {**result, "run_id": run_id}}
            file.write(json.dumps(row) + "\n")
