"""What is measured about an encoder: a few quick values after each epoch, everything at the end."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from core import geometry
from core.evaluation import bit_probes, color_knowledge, knn, linear_probe
from core.evaluation.linear_probe import stratified_rows
from core.models import encode
from core.training.images import in_batches
from core.training.spec import RunSpec

KEPT_ROWS = 1000  # test images whose embedding is measured for geometry and stored
GEOMETRY_ROWS = 1000  # RandBit probes and per-epoch accuracy look at no more test images either
COLOR_ROWS = 5_000  # training images that groups and probes of colours look at
VIEW_SEED = 20_201  # of the two augmented views that alignment is measured on


class Look(NamedTuple):
    """The kept test rows as the encoder sees them now."""

    h: Tensor  # [n, h_dim], without augmentation
    z: Tensor  # [n, d], the same through the head
    z1: Tensor  # [n, d], of two augmented views
    z2: Tensor


class Features:
    """Reads representations out of an encoder, always in eval mode and always from the same test rows."""

    def __init__(self, spec: RunSpec, images, encoder: nn.Module, head: nn.Module, device: torch.device):
        self.spec, self.images, self.encoder, self.head, self.device = spec, images, encoder, head, device
        rows = stratified_rows(images.test_labels.cpu().numpy(), KEPT_ROWS)
        self.rows = torch.from_numpy(rows).to(device)
        # The same two views after every epoch: alignment then moves with the encoder, not with the draw.
        generator = torch.Generator(device).manual_seed(VIEW_SEED)
        views = images.views(self.rows, spec, generator, train=False)
        planes = images.planes(self.rows, train=False)
        self.views = [in_batches(view, planes) for view in views]

    def split(self, train: bool) -> tuple[np.ndarray, np.ndarray]:
        """h of all images of a split [n, h_dim] float32, and their labels."""
        h, _ = encode(self.encoder, self.images.plain(train))
        labels = self.images.train_labels if train else self.images.test_labels
        return h.numpy(), labels.cpu().numpy()

    def kept(self) -> tuple[Tensor, Tensor]:
        """h and z of the kept test rows, without augmentation."""
        return encode(self.encoder, self.images.plain(False, self.rows), self.head)

    def kept_z(self) -> Tensor:
        """z of the kept test rows."""
        return self.kept()[1]

    def look(self) -> Look:
        """The kept test rows, without augmentation and as two augmented views."""
        return Look(*self.kept(), *(encode(self.encoder, view, self.head)[1] for view in self.views))


def epoch_metrics(features: Features, seen: Look, probe: nn.Module) -> dict[str, float]:
    """Alignment and uniformity of z, and the online probe's accuracy, on the kept test rows."""
    labels = features.images.test_labels[features.rows].cpu()
    return {
        "alignment": float(geometry.alignment(seen.z1, seen.z2)),
        "uniformity": uniformity_or_nan(seen.z),
        "online_accuracy": probe_accuracy(probe, seen.h, labels),
    }


def final_metrics(features: Features, seen: Look, probe: nn.Module | None) -> tuple[dict[str, Any], np.ndarray]:
    """All numbers of a RunResult that need the frozen encoder, and the linear probe's class of every test image."""
    h_train, y_train = features.split(train=True)
    h_test, y_test = features.split(train=False)
    linear = linear_probe(h_train, y_train, h_test, y_test)
    neighbours = knn(h_train, y_train, h_test, y_test)
    labels = torch.from_numpy(y_test)[features.rows.cpu()]
    metrics: dict[str, Any] = {
        "linear_accuracy": linear.accuracy,
        "linear_c": linear.c,
        "linear_converged": linear.converged,
        "knn_accuracy": neighbours.accuracy,
        "knn_k": neighbours.k,
        "alignment": float(geometry.alignment(seen.z1, seen.z2)),
        "uniformity": uniformity_or_nan(seen.z),
        "tolerance": float(geometry.tolerance(seen.z, labels)),
        "rankme": float(geometry.rankme(seen.z)),
        "rankme_h": float(geometry.rankme(seen.h)),
    }
    if probe is not None:
        metrics["online_accuracy"] = probe_accuracy(probe, torch.from_numpy(h_test), torch.from_numpy(y_test))
    notes = []
    if not linear.converged:
        notes.append("the linear probe stopped at its iteration limit before it converged")
    if linear.n_train < len(y_train):
        notes.append(f"the linear probe used {linear.n_train:,} of {len(y_train):,} training images")
    if len(features.rows) < len(y_test):
        notes.append(
            f"alignment, uniformity, tolerance and RankMe used {len(features.rows):,} of {len(y_test):,} test images, stratified"
        )
    if features.spec.bits:
        codes = (features.images.train_codes.cpu().numpy(), features.images.test_codes.cpu().numpy())
        knowledge = bit_probes(h_train, codes[0], h_test, codes[1], features.spec.bits)
        metrics |= {
            "bit_accuracies": tuple(round(value, 4) for value in knowledge.accuracies),
            "bit_accuracy": float(np.mean(knowledge.accuracies)),
            "bits_known": knowledge.known,
        }
    metrics |= rival_metrics(features, h_train, h_test, linear.accuracy)
    metrics |= color_metrics(features.images, h_train, y_train, h_test, y_test)
    metrics["notes"] = tuple(notes)
    return {
        name: None if isinstance(value, float) and not np.isfinite(value) else value for name, value in metrics.items()
    }, linear.predicted


def rival_metrics(features: Features, h_train: np.ndarray, h_test: np.ndarray, class_accuracy: float) -> dict[str, float]:
    """Accuracy of a linear probe for what competes with the class inside the picture; empty without a rival.

    The digit of DigitOnImage is probed on pictures of its own: training pictures with any training digit, test pictures with
    digits that no training picture ever carried, so its chance is a tenth however few digits the encoder was trained with.
    """
    images, rival = features.images, features.images.rival
    if rival is None or rival.metric is None:
        return {}
    probe = rival.own_features
    y_train, y_test = images.rival_labels(True, probe=probe), images.rival_labels(False, probe=probe)
    if probe:
        h_train, h_test = (encode(features.encoder, images.plain(train, probe=True))[0].numpy() for train in (True, False))
    known = {rival.metric: linear_probe(h_train, y_train, h_test, y_test).accuracy}
    return known if probe else known | {"small_digit_accuracy": class_accuracy}


def color_metrics(
    images, h_train: np.ndarray, y_train: np.ndarray, h_test: np.ndarray, y_test: np.ndarray
) -> dict[str, float | None]:
    """How much of the colours the encoder keeps, and how much of the class they give away; empty for grey images."""
    if images.train.shape[3] < 3:
        return {}
    rows = stratified_rows(y_train, COLOR_ROWS)
    pictures = images.train[torch.from_numpy(rows)].cpu().numpy(), images.test.cpu().numpy()
    colors = color_knowledge(*pictures, h_train[rows], y_train[rows], h_test, y_test)
    return {
        "color_accuracy": colors.group_accuracy,
        "color_chance": colors.group_chance,
        "color_class_accuracy": colors.class_accuracy,
    }


def stored_embedding(
    features: Features, seen: Look, predicted: np.ndarray, kept: list[tuple[int, Tensor]]
) -> dict[str, np.ndarray]:
    """The arrays of embedding.npz, for the n kept test rows.

    z float16 [n, d] unit rows; norms float32 [n], length of each raw z; h float16 [n, h_dim]; pca float32 [n, 3],
    centred projection of z (z itself for d <= 3); positive float32 [n], cosine of two augmented views; labels,
    index, predicted int64 [n]; code uint32 [n] (RandBit only); with save_every also epochs int64 [e], from 0
    (before training) to the last, and z_epochs float16 [e, n, d], unit rows.
    """
    rows = features.rows.cpu().numpy()
    unit = torch.nn.functional.normalize(seen.z, dim=1)
    arrays = {
        "z": unit.half().numpy(),
        "norms": seen.z.norm(dim=1).numpy(),
        "h": seen.h.half().numpy(),
        "pca": pca3(unit),
        "positive": torch.nn.functional.cosine_similarity(seen.z1, seen.z2).numpy(),
        "labels": features.images.test_labels[features.rows].cpu().numpy(),
        "index": rows,
        "predicted": predicted[rows],
    }
    if features.spec.bits:
        arrays["code"] = features.images.test_codes[features.rows].cpu().numpy().astype(np.uint32)
    if kept:
        arrays["epochs"] = np.array([epoch for epoch, _ in kept], dtype=np.int64)
        arrays["z_epochs"] = torch.stack([torch.nn.functional.normalize(z, dim=1).half() for _, z in kept]).numpy()
    return arrays


def pca3(z: Tensor) -> np.ndarray:
    """First three principal coordinates [n, 3] float32; z itself, padded with zeros, when it has at most 3 dimensions."""
    if z.shape[1] <= 3:
        return torch.nn.functional.pad(z, (0, 3 - z.shape[1])).numpy()
    centred = (z - z.mean(0)).double()
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    axes = axes[:3]
    signs = axes.gather(1, axes.abs().argmax(1, keepdim=True)).sign()  # the same picture on every machine
    return (centred @ (axes * signs).T).float().numpy()


def probe_accuracy(probe: nn.Module, h: Tensor, labels: Tensor) -> float:
    """Share of images that the online probe gets right."""
    with torch.no_grad():
        predicted = probe(h.to(next(probe.parameters()).device)).argmax(1).cpu()
    return float((predicted == labels).float().mean())


def uniformity_or_nan(z: Tensor) -> float:
    """Uniformity, or NaN where fewer than two rows, or rows with a direction, leave it undefined."""
    return float(geometry.uniformity(z)) if len(z) > 1 else float("nan")
