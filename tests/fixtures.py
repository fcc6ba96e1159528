"""Made-up studies for tests of pages and figures: plausible shapes, invented numbers. Never shipped, never shown to users."""

import gzip
import json
import math
import time
from pathlib import Path

import numpy as np

from core.losses.reference import chance, randbit_floor
from core.studies.files import append_lines, write_json
from core.studies.process import identity
from core.studies.study import StudySpec
from core.training.spec import CONTRASTIVE, RunResult, RunSpec

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "data" / "studies"
TEST_IMAGES, CLASSES, DIMENSIONS = 200, 10, 16


def study(name: str = "randbit-mnist-5k", seeds: tuple[int, ...] | None = None) -> StudySpec:
    """A shipped definition, with three seeds unless it is the small one, whatever the file says."""
    spec = StudySpec.from_toml(STUDIES / f"{name}.toml")
    seeds = seeds or ((0,) if name == "randbit-quick" else (0, 1, 2))
    return StudySpec.model_validate({**spec.model_dump(), "seeds": seeds})


def result(spec: RunSpec, **changes) -> RunResult:
    """Invented measurements with the expected shape: digits fall as bits rise, sooner for a large temperature."""
    random = np.random.default_rng(spec.seed * 1000 + spec.bits)
    learned = spec.objective in CONTRASTIVE
    middle = 10 - 4 * math.log2(spec.tau / 0.05) / 2
    kept = 1 / (1 + math.exp((spec.bits - middle) / 1.6)) if learned else 1.0
    top = {"supervised": 0.97, "untrained": 0.80 - 0.02 * spec.bits}.get(spec.objective, 0.95)
    linear = float(np.clip(0.1 + (top - 0.1) * kept + random.normal(0, 0.012), 0.05, 0.995))
    bits_known = spec.bits * (0.96 - 0.01 * spec.bits) * (1 - 0.5 * kept) if learned else 0.2 * spec.bits
    n = spec.batch_size
    kind = "cross_view" if spec.objective == "cross_view" else "nt_xent"
    scale = 2 if kind == "cross_view" else 1
    floor = scale * randbit_floor(n, spec.bits, kind) if learned else None
    values = dict(
        run_id=spec.run_id, status="finished", linear_accuracy=linear, linear_c=1.0, linear_converged=True,
        knn_accuracy=linear - 0.02, knn_k=20, online_accuracy=max(0.08, linear - 0.05),
        bit_accuracy=0.5 + 0.48 * (bits_known / spec.bits) if spec.bits else None, bits_known=bits_known if spec.bits else None,
        alignment=0.12 + 0.01 * spec.bits if learned else None, uniformity=-3.4 + 0.05 * spec.bits if learned else None,
        tolerance=0.4 * kept if learned else None, rankme=20.0 - spec.bits / 2 if learned else None, rankme_h=60.0,
        loss=(0.6 if spec.bits == 0 else 0.9 * floor + 0.05) if learned else 0.05,
        loss_floor=floor,
        loss_chance=scale * chance(n if kind == "cross_view" else 2 * n - 1) if learned else math.log(CLASSES),
        epochs_done=spec.epochs, seconds=21.0 + random.uniform(0, 3), train_seconds=18.0, samples_per_second=4400.0,
        n_train=4000, n_test=1000, classes=CLASSES, h_dim=128, device="cpu",
        versions={"python": "3.11.7", "torch": "2.14.1", "contrastive_lens": "0.1.0"}, finished_at="2026-11-29T12:00:00+00:00",
    )  # fmt: skip
    return RunResult(**values | rivals(spec, random) | changes)


def rivals(spec: RunSpec, random: np.random.Generator) -> dict[str, float]:
    """Invented accuracies of what competes with the class: with digits or a large neighbour it is suppressed, without labels."""
    learned = spec.objective in CONTRASTIVE
    noise = random.normal(0, 0.01)
    if spec.scene == "two_sizes":
        share = (spec.digit_size - 20) / 24 if learned else 0.0
        small = {"supervised": 0.9, "untrained": 0.3}.get(spec.objective, 0.85) - 0.5 * share + noise
        return {"small_digit_accuracy": small, "linear_accuracy": small, "large_digit_accuracy": 0.85 + 0.1 * share + noise}
    if spec.dataset != "folder":
        return {}
    objects = {"supervised": 0.62, "untrained": 0.3}.get(spec.objective, 0.52) + noise
    colors = {"color_accuracy": 0.7 - 0.2 * spec.color_strength + noise, "color_chance": 0.16, "color_class_accuracy": 0.25}
    if spec.digits:
        share = math.log2(spec.digits) / 12 if learned else 0.0
        colors |= {"linear_accuracy": objects - 0.25 * share, "digit_accuracy": 0.2 + 0.7 * share + noise}
    elif not spec.bits:
        colors["linear_accuracy"] = objects - 0.1 * (0.5 - min(spec.color_strength, 0.5)) * learned
    return colors


def history(spec: RunSpec, end: RunResult) -> list[dict]:
    """Epochs that end in the run's values."""
    loss, online = end.loss or 0.0, end.online_accuracy or 0.1
    records = []
    for epoch in range(1, spec.epochs + 1):
        share = 1 - math.exp(-4 * epoch / spec.epochs)
        start = end.loss_chance or 3.0
        records.append(
            {
                "kind": "epoch",
                "epoch": epoch,
                "loss": start + (loss - start) * share,
                "loss_floor": end.loss_floor,
                "alignment": end.alignment,
                "uniformity": end.uniformity,
                "online_accuracy": 0.1 + (online - 0.1) * share,
                "samples_per_second": 4400.0,
                "seconds": 0.9 * epoch,
            }
        )
    return records


def embedding(spec: RunSpec, dimensions: int = DIMENSIONS) -> dict[str, np.ndarray]:
    """Unit vectors clustered by class where digits are kept, by code where they are suppressed."""
    random = np.random.default_rng(spec.seed)
    labels = np.arange(TEST_IMAGES) % CLASSES
    code = random.integers(0, 2**spec.bits, TEST_IMAGES).astype(np.uint32) if spec.bits else np.zeros(TEST_IMAGES, np.uint32)
    by = labels if spec.bits < 8 else code % 64
    centres = random.normal(size=(64, dimensions))
    z = centres[by] + 0.35 * random.normal(size=(TEST_IMAGES, dimensions))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    centred = z - z.mean(0)
    components = np.linalg.svd(centred, full_matrices=False)[2][:3]
    pca = z if dimensions <= 3 else centred @ components.T
    pca = np.pad(pca, ((0, 0), (0, 3 - pca.shape[1])))
    return {
        "z": z.astype(np.float16), "pca": pca.astype(np.float32), "labels": labels.astype(np.int64),
        "index": np.arange(TEST_IMAGES), "code": code, "predicted": labels.astype(np.int64),
    }  # fmt: skip


def fill(
    root: Path,
    spec: StudySpec,
    *,
    runs: int | None = None,
    folders: bool = False,
    results: dict[str, dict] | None = None,
    embeddings: bool = True,
) -> list[RunSpec]:
    """Write a study as the supervisor would have left it.

    Args:
        root: Store root, made if missing.
        spec: The study.
        runs: How many of its runs have ended; None = all.
        folders: Write run folders with metrics and checkpoints' neighbours instead of the shipped short form.
        results: Changes of single results by run id, for diverged and failed runs.
        embeddings: Write embedding.npz for every run of the first seed.

    Returns:
        The runs that have ended.
    """
    folder = root / spec.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(spec.to_toml(), encoding="utf-8")
    ended = spec.expand()[:runs]
    curves, rows = [], []
    for run in ended:
        measured = result(run, **(results or {}).get(run.run_id, {}))
        written = measured.model_dump(mode="json")
        about = {"label": spec.label_of(run), "spec": run.changed()}
        rows.append({"run_id": run.run_id, "attempt": 1, "result": written, **about})
        epochs = history(run, measured) if run.epochs and run.objective != "untrained" else []
        if folders:
            (folder / run.run_id).mkdir(exist_ok=True)
            write_json(folder / run.run_id / "spec.json", about, durable=False)
            append_lines(folder / run.run_id / "metrics.jsonl", [{"attempt": 1, **record} for record in epochs])
            write_json(folder / run.run_id / "result.json", {"attempt": 1, "result": written}, durable=False)
        curves.append({"run_id": run.run_id, "history": epochs})
        if embeddings and run.seed == 0 and run.objective in CONTRASTIVE:
            (folder / run.run_id).mkdir(exist_ok=True)
            np.savez_compressed(folder / run.run_id / "embedding.npz", **embedding(run))
    append_lines(folder / "results.jsonl", rows)
    if not folders:
        (folder / "curves.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, curves)).encode()))
    return ended


def set_state(
    root: Path, spec: StudySpec, status: str, *, heartbeat: float | None = None, running: int = 0, alive: bool = True, **more
) -> None:
    """Write state.json.

    Args:
        root: Store root.
        spec: The study.
        status: As the supervisor writes it.
        heartbeat: Seconds since 1970; None = now.
        running: Runs in progress, taken after those that have ended.
        alive: Name this process as the supervisor; False names none that lives.
        more: Further fields.
    """
    now = time.time()
    folder = root / spec.name
    folder.mkdir(parents=True, exist_ok=True)
    summary = folder / "results.jsonl"
    ended = len(summary.read_text().splitlines()) if summary.exists() else 0
    runs = spec.expand()
    at_work = []
    for run in runs[ended : ended + running]:
        about = {"label": spec.label_of(run), "spec": run.changed()}
        (folder / run.run_id).mkdir(exist_ok=True)
        write_json(folder / run.run_id / "spec.json", about, durable=False)
        append_lines(folder / run.run_id / "metrics.jsonl", history(run, result(run))[:6])
        pulse = {"attempt": 1, "epoch": 6, "epochs": run.epochs, "share": 0.3, "samples_per_second": 4400.0, "began": now - 6}
        at_work.append({"run_id": run.run_id, "label": spec.label_of(run), **pulse})
    process = identity() if alive else {**identity(), "pid": 2**22 + 1, "created": 1.0}
    beat = now if heartbeat is None else heartbeat
    facts = {"status": status, "heartbeat": beat, "started": now - 60, "total": len(runs), "workers": 2, "seconds_left": 90.0}
    write_json(folder / "state.json", {**facts, "running": at_work, **process, **more}, durable=False)
