"""Train one run and measure it: RunSpec in, result, curves, checkpoint and embedding out."""

import contextlib
import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save as save_safetensors
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from core import datasets
from core.losses import reference
from core.models import build_encoder
from core.provenance import versions
from core.training.images import Images
from core.training.measure import Features, Look, epoch_metrics, final_metrics, stored_embedding
from core.training.objectives import build_objective
from core.training.online_probe import build_online_probe, build_probe_optimizer
from core.training.optimisation import build_optimizer, schedule
from core.training.spec import USES_LAM, USES_TAU, RunResult, RunSpec

PROGRESS_EVERY = 0.5  # seconds between step records
SMALL_TAU, LARGE_LAM = 0.05, 1.0  # beyond these the dial is worth trying when a loss is not finite
CHECKPOINT_FORMAT = "1"

Progress = Callable[[dict[str, Any]], None]


class TrainedRun(NamedTuple):
    """Everything a run leaves behind."""

    result: RunResult
    history: list[dict[str, Any]]  # one record per epoch
    checkpoint: bytes | None  # safetensors: encoder.*, head.*, probe.*; the spec is in its metadata
    embedding: dict[str, np.ndarray] | None  # see core.training.measure.stored_embedding


class Diverged(Exception):
    """The loss or the weights stopped being finite."""


class Stopped(Exception):
    """The caller asked to stop."""


def fit(spec: RunSpec, on_progress: Progress | None = None, should_stop: Callable[[], bool] | None = None) -> RunResult:
    """Train and measure one run; see `train_run` for curves and artefacts.

    Args:
        spec: The settings.
        on_progress: Called with a record of kind "step" about twice a second and of kind "epoch" after each epoch.
        should_stop: Asked after every batch; True ends the run with status "stopped".

    Returns:
        What was measured. A run whose loss stops being finite has status "diverged" and no accuracies.

    Raises:
        ValueError: If the settings do not fit the data (batch larger than the training set, image too small, ...).
    """
    return train_run(spec, on_progress, should_stop).result


def train_run(
    spec: RunSpec, on_progress: Progress | None = None, should_stop: Callable[[], bool] | None = None, attempt: int = 1
) -> TrainedRun:
    """Train and measure one run. Same spec and device: same result.

    Args:
        spec: The settings.
        on_progress: As in `fit`; every record carries the attempt number.
        should_stop: As in `fit`.
        attempt: Number of this try, for the records.
    """
    started = time.perf_counter()
    device = resolve_device(spec.device)
    with pinned(spec.threads, spec.seed):
        data = datasets.load(spec, on_progress)
        images = Images(data, spec, device)
        run = Run(spec, images, device, on_progress or (lambda record: None), should_stop or (lambda: False), attempt)
        status = run.train()
        train_seconds = time.perf_counter() - run.started
        measured, embedding = run.measure() if status == "finished" else ({}, None)
    result = RunResult(
        run_id=spec.run_id,
        status=status,
        epochs_done=len(run.history),
        n_train=images.n_train,
        n_test=images.n_test,
        classes=len(data.classes),
        h_dim=run.encoder.h_dim,
        device=device_name(device),
        versions=versions(),
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        train_seconds=round(train_seconds, 3),
        seconds=round(time.perf_counter() - started, 3),
        notes=(*data.notes, *(images.rival.notes if images.rival else ()), *run.notes, *measured.pop("notes", ())),
        **{**run.summary(), **measured},
    )
    return TrainedRun(result, run.history, run.checkpoint(data.classes) if status != "diverged" else None, embedding)


@contextlib.contextmanager
def pinned(threads: int, seed: int) -> Iterator[None]:
    """Pin the threads of torch and of the linear algebra below it, and torch's global random state; put all back."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with (
            threadpool_limits(threads),
            torch.random.fork_rng(devices=range(torch.cuda.device_count()) if torch.cuda.is_available() else []),
        ):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)


def resolve_device(name: str) -> torch.device:
    """ "auto" is CUDA, else Apple's MPS, else the CPU.

    Raises:
        ValueError: If the named device does not exist here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device: must be auto, cpu or an accelerator that torch finds here, got {name!r} ({reason})."
        ) from error
    return device


def device_name(device: torch.device) -> str:
    """What to print as the device: the model of a GPU, or CPU with the thread count."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type.upper()}, {torch.get_num_threads()} thread{'s' * (torch.get_num_threads() > 1)}"


def _remedies(spec: RunSpec) -> str:
    """What may keep the loss finite: only dials that the objective has, and that are far out."""
    ways = ["lower the learning rate"]
    if spec.objective in USES_TAU and spec.tau < SMALL_TAU:
        ways.append("raise tau")
    if spec.objective in USES_LAM and spec.weight > LARGE_LAM:
        ways.append("lower lam")
    return ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])} or {ways[-1]}"


class Run:
    """One training in progress: encoder, objective, online probe and the records so far."""

    def __init__(self, spec: RunSpec, images: Images, device: torch.device, on_progress: Progress, should_stop, attempt: int):
        self.spec, self.images, self.device = spec, images, device
        self.on_progress, self.should_stop, self.attempt = on_progress, should_stop, attempt
        self.started = time.perf_counter()
        # Weights start on the CPU, so that the same seed starts the same on every device.
        encoder = build_encoder(spec, images.channels, images.side)
        self.objective = build_objective(spec, encoder, classes=images.classes, image_size=images.side, n_train=images.n_train)
        self.objective.to(device)
        self.encoder = encoder.to(device, memory_format=torch.channels_last)
        self.probe = build_online_probe(spec, encoder.h_dim, images.classes).to(device)
        self.generator = torch.Generator(device).manual_seed(spec.seed)
        self.order = torch.Generator().manual_seed(spec.seed)
        self.bfloat16 = spec.precision == "bfloat16" or (spec.precision == "auto" and device.type == "cuda")
        self.turn = 0  # training steps so far
        self.history: list[dict[str, Any]] = []
        self.seen: Look | None = None  # what the encoder made of the kept test rows after the last epoch
        self.kept: list[tuple[int, Tensor]] = []  # epoch, z of the kept test rows
        self.notes: list[str] = []
        self.features = Features(spec, images, self.encoder, self.objective.head, device)

    @property
    def steps_per_epoch(self) -> int:
        return self.images.n_train // self.spec.batch_size

    def optimizers(self) -> tuple[list, list]:
        """What trains the encoder with its objective, and the online probe; and the learning-rate schedule of each."""
        optimizers = [
            build_optimizer(self.spec, [self.encoder, self.objective]),
            build_probe_optimizer(self.spec, self.probe),
        ]
        factor = schedule(self.spec, self.steps_per_epoch)
        return optimizers, [torch.optim.lr_scheduler.LambdaLR(optimizer, factor) for optimizer in optimizers]

    def train(self) -> str:
        """Run all epochs. Returns the status: finished, diverged or stopped."""
        if self.spec.objective == "untrained" or self.spec.epochs == 0:
            return "finished"
        left_out = self.images.n_train % self.spec.batch_size
        if left_out:
            self.notes.append(
                f"the last {left_out} of {self.images.n_train} images of each epoch do not fill a batch and are left out"
            )
        optimizers, schedulers = self.optimizers()
        if self.spec.save_every:
            self.kept.append((0, self.features.kept_z()))  # where the embedding starts
        try:
            for epoch in range(1, self.spec.epochs + 1):
                self.epoch(epoch, optimizers, schedulers)
        except Diverged as error:
            self.notes.append(str(error))
            return "diverged"
        except Stopped:
            return "stopped"
        return "finished"

    def epoch(self, epoch: int, optimizers: list, schedulers: list) -> None:
        """One pass over the training images, then the epoch's record."""
        spec, batch = self.spec, self.spec.batch_size
        self.encoder.train()
        self.objective.train()
        started = last_word = time.perf_counter()
        order = torch.randperm(self.images.n_train, generator=self.order) if spec.shuffle else torch.arange(self.images.n_train)
        order = order.to(self.device)
        totals: dict[str, Tensor] = {}
        for step in range(self.steps_per_epoch):
            rows = order[step * batch : (step + 1) * batch]
            losses = self.step(rows, optimizers, schedulers)
            for name, value in losses.items():
                totals[name] = totals.get(name, 0) + value
            if self.should_stop():
                raise Stopped
            now = time.perf_counter()
            if now - last_word > PROGRESS_EVERY:
                last_word = now
                self.say(
                    kind="step",
                    epoch=epoch,
                    epochs=spec.epochs,
                    step=step + 1,
                    steps=self.steps_per_epoch,
                    loss=float(losses["loss"]),
                    samples_per_second=round((step + 1) * batch / (now - started), 1),
                )
                if not math.isfinite(float(losses["loss"])):
                    break
        seconds = time.perf_counter() - started
        means = {name: float(total) / self.steps_per_epoch for name, total in totals.items()}
        if not math.isfinite(means["loss"]):
            raise Diverged(f"the loss was not finite in epoch {epoch}; {_remedies(spec)}")
        if not all(torch.isfinite(parameter).all() for parameter in self.encoder.parameters()):
            raise Diverged(f"the weights were not finite after epoch {epoch}; {_remedies(spec)}")
        self.seen = self.features.look()
        record = {
            "kind": "epoch",
            "epoch": epoch,
            "epochs": spec.epochs,
            **means,
            "loss_floor": self.loss_floor,
            "lr": schedulers[0].get_last_lr()[0],
            **epoch_metrics(self.features, self.seen, self.probe),
            "seconds": round(seconds, 4),
            "samples_per_second": round(self.steps_per_epoch * batch / seconds, 1),
        }
        if spec.save_every and (epoch % spec.save_every == 0 or epoch == spec.epochs):
            self.kept.append((epoch, self.seen.z))
        self.history.append(record)
        self.say(**record)

    def step(self, rows: Tensor, optimizers: list, schedulers: list) -> dict[str, Tensor]:
        """One update on the images of these rows. Returns detached scalars."""
        spec, images = self.spec, self.images
        a, b = images.views(rows, spec, self.generator, turn=self.turn)
        self.turn += 1
        a, b = (view.contiguous(memory_format=torch.channels_last) for view in (a, b))
        labels = images.train_labels[rows]
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bfloat16):
            out = self.objective(self.encoder, a, b, images.planes(rows), labels, self.generator)
            probe_loss = F.cross_entropy(self.probe(out.h.detach()).float(), labels)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        (out.loss + probe_loss).backward()  # disjoint parameters: the probe does not touch the encoder
        for optimizer, scheduler in zip(optimizers, schedulers, strict=True):
            optimizer.step()
            scheduler.step()
        self.objective.after_step(self.encoder)
        return {
            "loss": out.loss.detach(),
            **{f"loss_{name}": part.detach() for name, part in out.parts.items()},
            "probe_loss": probe_loss.detach(),
        }

    def say(self, **record: Any) -> None:
        """Send a record to whoever listens."""
        self.on_progress({**record, "attempt": self.attempt})

    @property
    def loss_floor(self) -> float | None:
        """Best expected loss of an encoder that keeps the shared bits only, on the objective's own scale."""
        if self.spec.objective == "nt_xent":
            return reference.randbit_floor(self.spec.batch_size, self.spec.bits, "nt_xent")
        if self.spec.objective == "cross_view":  # the loss sums both directions
            return 2 * reference.randbit_floor(self.spec.batch_size, self.spec.bits, "cross_view")
        return None

    @property
    def loss_chance(self) -> float | None:
        """The loss when all embeddings are equal."""
        if self.spec.objective == "nt_xent":
            return reference.chance(2 * self.spec.batch_size - 1)
        if self.spec.objective == "cross_view":
            return 2 * reference.chance(self.spec.batch_size)
        if self.spec.objective == "moco":
            return reference.chance(self.spec.queue + 1)
        if self.spec.objective == "supervised":
            return reference.chance(self.images.classes)
        return None

    def summary(self) -> dict[str, Any]:
        """What training itself says about the run."""
        last = self.history[-1] if self.history else {}
        rates = [record["samples_per_second"] for record in self.history]
        return {
            "loss": last.get("loss"),
            "loss_floor": self.loss_floor if self.history else None,
            "loss_chance": self.loss_chance if self.history else None,
            "online_accuracy": last.get("online_accuracy"),
            "samples_per_second": float(np.median(rates)) if rates else None,
        }

    def measure(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Evaluate the frozen encoder; its state is the same before and after."""
        before = state_digest(self.encoder)
        self.say(kind="evaluating")
        seen = self.seen or self.features.look()
        metrics, predicted = final_metrics(self.features, seen, self.probe if self.history else None)
        embedding = stored_embedding(self.features, seen, predicted, self.kept)
        if state_digest(self.encoder) != before:
            raise RuntimeError("The encoder changed during its evaluation; the measured values cannot be trusted.")
        return metrics, embedding

    def checkpoint(self, classes: tuple[str, ...]) -> bytes:
        """Encoder, head and probe as safetensors; the settings travel in the metadata."""
        parts = {"encoder": self.encoder, "head": self.objective.head, "probe": self.probe}
        tensors = {
            f"{part}.{name}": tensor.detach().cpu().contiguous()
            for part, module in parts.items()
            for name, tensor in module.state_dict().items()
        }
        metadata = {
            "format_version": CHECKPOINT_FORMAT,
            "spec": self.spec.canonical_json(),
            "run_id": self.spec.run_id,
            "channels": str(self.images.channels),
            "image_size": str(self.images.side),
            "classes": json.dumps(list(classes)),
            "versions": json.dumps(versions()),
        }
        return sorted_header(save_safetensors(tensors, metadata))


def sorted_header(file: bytes) -> bytes:
    """The same safetensors file with its header's keys in order, so that equal contents give equal bytes."""
    length = int.from_bytes(file[:8], "little")
    header = json.dumps(json.loads(file[8 : 8 + length]), sort_keys=True, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + file[8 + length :]


def state_digest(module: nn.Module) -> str:
    """SHA-256 over all parameters and buffers, batch-norm statistics included."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
