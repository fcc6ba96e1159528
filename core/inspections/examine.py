"""Examine a checkpoint: load the encoder, show it the images, measure what comes out. Needs torch."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from core import datasets
from core.checkpoints import CheckpointReport, load_encoder
from core.checkpoints.loading import LoadedEncoder
from core.inspections import measure
from core.inspections.alter import Change, changes
from core.inspections.images import Batch, ShownImages
from core.inspections.measure import Features
from core.inspections.spec import InspectionSpec
from core.inspections.suggest import check_channels, check_size
from core.models import encode
from core.provenance import versions
from core.training.loop import device_name, resolve_device

FORWARD = "forward pass"
# What is done, in this order, and the share of the progress bar that each part takes before anything has been timed.
PARTS = {
    "reading the checkpoint": 0.04,
    "loading the images": 0.04,
    "encoding": 0.7,
    "probes": 0.1,
    "geometry": 0.04,
    "maps": 0.08,
}

Report = Callable[[str, float, float | None], None]  # part, share of everything, images per second


class Stopped(Exception):
    """Somebody asked to stop."""


class Examined(NamedTuple):
    """What an inspection found."""

    report: dict[str, Any]
    summary: dict[str, Any]
    arrays: dict[str, np.ndarray]


class Clock:
    """Adds up the seconds of each part, and those inside the encoder."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self.forward = 0.0
        self.started = time.perf_counter()

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside as that of a part."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - started

    def summary(self) -> dict[str, Any]:
        """Seconds of each part and in all, and the share of the encoder's forward pass."""
        total = time.perf_counter() - self.started
        seconds = {**self.seconds, FORWARD: self.forward, "total": total}
        return {"seconds": {name: round(value, 3) for name, value in seconds.items()}, "forward_share": self.forward / total}


def examine(
    spec: InspectionSpec,
    path: Path | str,
    on_progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
    device: str = "auto",
) -> Examined:
    """Do everything that an inspection asks for.

    Args:
        spec: What is asked.
        path: The checkpoint.
        on_progress: Called with every batch and every part: part, share of all the work, images per second.
        should_stop: Asked as often.
        device: "auto", "cpu", "cuda", ...

    Returns:
        The report, the summary and the arrays, as the store keeps them.

    Raises:
        CheckpointError: If the file cannot be opened or its encoder not be rebuilt.
        DataError: If the data set is not there.
        ValueError: If checkpoint and images do not fit together, or the encoder returns values that are not finite.
        Stopped: If `should_stop` said so.
    """
    say = _Progress(on_progress or (lambda *_: None), should_stop or (lambda: False))
    clock, where = Clock(), resolve_device(device)
    say("reading the checkpoint", 0.0)
    with clock.part("reading the checkpoint"):
        loaded, report = load_encoder(path, **spec.choices)
        _check_file(spec, report)
        image_channels = check_channels(report.in_channels, spec.bits)
        loaded = loaded.to(where, memory_format=torch.channels_last)
    say("loading the images", 0.0)
    with clock.part("loading the images"):
        data = datasets.load(spec.data_spec(), lambda record: say("loading the images", _share(record)))
        check_size(report.plan, data.train.images.shape[1])
        shown = ShownImages(spec, data, image_channels, where)
    altered = changes(shown.test_codes, len(shown.test_rows), shown.own_channels, spec.seed)
    with clock.part("encoding"):
        spaces = _encode(loaded, shown, altered, clock, say)
    with threadpool_limits(1):  # small problems: on a busy machine, threads that wait for one another take many times longer
        summary, arrays = _measure(spec, shown, spaces, altered, clock, say)
    summary |= {
        "encoder": {
            "architecture": report.architecture, "h_dim": loaded.h_dim, "z_dim": loaded.z_dim, "bits": spec.bits,
            "normalisation": loaded.normalisation, "channels": report.in_channels, "parameters": report.parameters,
        },
        "warnings": list(report.warnings),
        "notes": [*data.notes, *_notes(spec, shown, loaded, report, image_channels), *summary.pop("notes")],
        "device": device_name(where), "versions": versions(),
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"), **clock.summary(),
    }  # fmt: skip
    return Examined(report.model_dump(mode="json"), measure.plain(summary), arrays)


class _Progress:
    """Turns a part and its own share into the share of everything, and ends the work when asked to."""

    def __init__(self, on_progress: Report, should_stop: Callable[[], bool]):
        self.on_progress, self.should_stop = on_progress, should_stop

    def __call__(self, part: str, share: float, rate: float | None = None) -> None:
        names = list(PARTS)
        before = sum(PARTS[name] for name in names[: names.index(part)])
        self.on_progress(part, before + PARTS[part] * share, rate)
        if self.should_stop():
            raise Stopped


def _encode(
    loaded: LoadedEncoder, shown: ShownImages, altered: dict[str, Change], clock: Clock, say: _Progress
) -> dict[str, Features]:
    """Everything that goes through the encoder, as features of h and, with a projector, of z."""
    jobs: dict[str, Iterable[Batch]] = {"train": shown.plain(True), "test": shown.plain(False), "views": shown.views()}
    jobs |= {f"altered {name}": shown.changed(change) for name, change in altered.items()}
    total = len(shown.train_rows) + (3 + len(altered)) * len(shown.test_rows)
    done = 0

    def timed(batches: Iterable[Batch]) -> Iterator[Batch]:
        nonlocal done
        for batch in batches:
            started = time.perf_counter()
            yield batch  # the time until the next batch is asked for is that of the encoder
            clock.forward += time.perf_counter() - started
            done += len(batch[0])
            say("encoding", done / total, done / clock.forward if clock.forward else None)

    found = {name: encode(loaded, timed(batches), head=loaded.projector) for name, batches in jobs.items()}
    for h, _ in found.values():
        bad = int((~h.isfinite().all(dim=1)).sum())
        if bad:
            raise ValueError(
                f"The encoder returns NaN or infinity for {bad} of {len(h)} images. Its weights may be damaged or diverged; "
                "the report counts such weights. Another normalisation, or another branch, may help."
            )
    places = {"h": 0} | ({"z": 1} if loaded.projector is not None else {})
    return {
        space: Features(
            found["train"][place], found["test"][place], shown.split_views(found["views"][place]),
            {name: found[f"altered {name}"][place] for name in altered},
        )
        for space, place in places.items()
    }  # fmt: skip


def _measure(
    spec: InspectionSpec,
    shown: ShownImages,
    spaces: dict[str, Features],
    altered: dict[str, Change],
    clock: Clock,
    say: _Progress,
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Numbers and arrays of all spaces."""
    labels, classes = shown.test_labels, len(shown.data.classes)
    probed: dict[str, measure.Probed] = {}
    bits: dict[str, Any] | None = None
    for place, (space, features) in enumerate(spaces.items()):
        say("probes", place / len(spaces))
        with clock.part("probes"):
            probed[space] = measure.probes(features, shown.train_labels, labels)
            if space == "h" and spec.bits:
                bits = measure.bits_known(features, (shown.train_codes, shown.test_codes), spec.bits)
    say("geometry", 0.0)
    numbers: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {"labels": labels, "index": shown.test_rows, "predicted": probed["h"].predicted}
    with clock.part("geometry"):
        for space, features in spaces.items():
            numbers[space] = probed[space].numbers | measure.sphere_numbers(features, labels)
            arrays |= measure.sphere_arrays(features, labels, space)
        arrays["confusion"] = measure.confusion(labels, probed["h"].predicted, classes)
        arrays["neighbours"], arrays["neighbour_cosine"] = measure.neighbours(spaces["h"].test)
        competing = [_competing(name, change, spaces, probed) for name, change in altered.items()]
    if shown.test_codes is not None:
        arrays["code"] = shown.test_codes
    for place, (space, features) in enumerate(spaces.items()):
        say("maps", place / len(spaces))
        with clock.part("maps"):
            arrays[f"tsne_{space}"] = measure.tsne(features.test, labels, spec.seed)
    notes = [] if all(p.numbers["linear_converged"] for p in probed.values()) else [
        "a linear probe stopped at its iteration limit before it converged"
    ]  # fmt: skip
    if len(labels) > measure.MAP_ROWS:
        notes.append(f"the t-SNE maps show {measure.MAP_ROWS:,} of {len(labels):,} test images, stratified, seed {spec.seed}")
    counts = np.bincount(labels, minlength=classes)
    summary = {
        **numbers, "competing": competing, "bits": bits, "notes": notes, "dataset": spec.dataset,
        "n_train": len(shown.train_rows), "n_test": len(labels), "n_test_all": len(shown.data.test.labels),
        "classes": list(shown.data.classes), "chance": float(counts.max() / counts.sum()), "seed": spec.seed,
        "image_size": shown.side, "views": {"recipe": spec.augment, "color_strength": spec.color_strength},
    }  # fmt: skip
    return summary, arrays


def _competing(name: str, change: Change, spaces: dict[str, Features], probed: dict[str, measure.Probed]) -> dict[str, Any]:
    """One alteration: accuracy of the probe that saw plain images only, and how far the embedding followed it."""
    found: dict[str, Any] = {"name": name}
    for space, features in spaces.items():
        found[space] = {
            "accuracy": probed[space].altered[name],
            **measure.pull(features.test, features.altered[name], change.partner),
        }
    return found


def _check_file(spec: InspectionSpec, report: CheckpointReport) -> None:
    if report.sha256 != spec.sha256:
        raise ValueError(
            f"{spec.name} has changed since it was looked at (its content had the hash {spec.sha256[:12]}, now it has "
            f"{report.sha256[:12]}). Open it again."
        )


def _notes(
    spec: InspectionSpec, shown: ShownImages, loaded: LoadedEncoder, report: CheckpointReport, image_channels: int
) -> Iterator[str]:
    """What a reader of the numbers should know."""
    if shown.own_channels != image_channels:
        yield (
            "the grey images were shown to the encoder with three equal channels"
            if image_channels == 3
            else "the images were turned to grey for an encoder of grey images"
        )
    if len(shown.train_rows) < spec.n_train:
        yield f"{spec.dataset} has {len(shown.train_rows):,} training images, fewer than the {spec.n_train:,} asked for"
    if len(shown.test_rows) < spec.n_test:
        yield f"{spec.dataset} has {len(shown.test_rows):,} test images, fewer than the {spec.n_test:,} asked for"
    guess = report.normalisation_guess
    if guess is not None and guess != loaded.normalisation:
        yield f"checkpoints of this format usually expect the normalisation {guess!r}; {loaded.normalisation!r} was used"
    if report.projector is not None and loaded.projector is None:
        yield f"the projector ({report.projector.text}) cannot be rebuilt from the file, so there is no z"


def _share(record: dict[str, Any]) -> float:
    """How much of a file is downloaded or read."""
    done, total = record.get("done"), record.get("total")
    return min(1.0, done / total) if isinstance(done, int) and total else 0.0
