"""Encoders side by side: their numbers, spectra and likeness, whether they come from checkpoints, runs or epochs of one run."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from core.geometry.alike import alignment_table, pair_uniformity
from core.geometry.closed_forms import uniform_optimum
from core.geometry.planes import leading, unit

MOST = 6  # encoders at once
SPACES = ("h", "z")
SPREAD = 10_000_000  # more images than a test split has: tells images of different data sets apart


class Encoder(NamedTuple):
    """One encoder, and what is known about it."""

    id: str
    name: str  # as shown
    images: str  # which test images: equal text, equal images for equal indexes
    h: Mapping[str, Any]  # numbers of the representation: linear_accuracy, knn_accuracy, rankme, dim, ...
    z: Mapping[str, Any]  # numbers of the embedding: alignment, uniformity, ...; empty without a projector
    arrays: Mapping[str, np.ndarray]  # z or h [n, d], labels, index [n], singular_h, singular_z, ...

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Numbers of the embedding, or without a projector of h, which then is the embedding."""
        return self.z or self.h


METRIC_COLUMNS = {
    "linear probe": ("h", "linear_accuracy"),
    "kNN": ("h", "knn_accuracy"),
    "alignment": ("", "alignment"),
    "uniformity": ("", "uniformity"),
    "above optimum": ("", None),
    "tolerance": ("", "tolerance"),
    "RankMe of z": ("z", "rankme"),
    "RankMe of h": ("h", "rankme"),
    "mean vector": ("", "rayleigh"),
    "axes": ("", "bingham"),
    "cosine gap": ("", "cosine_gap"),
}


def metrics_table(encoders: Sequence[Encoder]) -> pd.DataFrame:
    """One row per encoder; what was not measured is NaN.

    Returns:
        Columns encoder, d and those of METRIC_COLUMNS. "above optimum" is uniformity minus that of uniform points; "mean
        vector" and "axes" are the effects of Rayleigh's and Bingham's tests.
    """
    rows = []
    for encoder in encoders:
        row: dict[str, Any] = {"encoder": encoder.name, "d": encoder.numbers.get("dim")}
        for name, (space, field) in METRIC_COLUMNS.items():
            found = getattr(encoder, space) if space else encoder.numbers
            value = _above_optimum(found) if field is None else found.get(field)
            if isinstance(value, Mapping):  # a test: the size of its effect
                value = value.get("effect", value.get("gap"))
            row[name] = np.nan if value is None else float(value)
        rows.append(row)
    return pd.DataFrame(rows, columns=["encoder", "d", *METRIC_COLUMNS])


def likeness(encoders: Sequence[Encoder], space: str) -> np.ndarray:
    """CKA of all pairs on the test images that both have seen, shape (k, k); NaN where there are none, or no such space.

    Args:
        encoders: What is compared.
        space: "h" or "z".
    """
    kinds = list(dict.fromkeys(encoder.images for encoder in encoders))
    rows = [np.asarray(encoder.arrays["index"]) + SPREAD * kinds.index(encoder.images) for encoder in encoders]
    return alignment_table([encoder.arrays.get(space) for encoder in encoders], rows)


def flat_arrays(encoder: Encoder) -> dict[str, np.ndarray] | None:
    """Arrays for small pictures: z unit rows, pca, labels; None if no embedding is stored."""
    z = encoder.arrays.get("z", encoder.arrays.get("h"))
    if z is None:
        return None
    rows = unit(z)
    pca = encoder.arrays.get("pca_z", encoder.arrays.get("pca_h"))
    return {"z": rows, "pca": leading(rows, 3).points if pca is None else pca, "labels": np.asarray(encoder.arrays["labels"])}


def epoch_numbers(z_epochs: np.ndarray, epochs: Sequence[int], history: pd.DataFrame) -> pd.DataFrame:
    """What is known about kept epochs of a run.

    Args:
        z_epochs: Unit rows, shape (e, n, d).
        epochs: Their numbers, (e,).
        history: One row per trained epoch: epoch, loss, alignment, online_accuracy, ...

    Returns:
        Columns epoch, loss, online probe, alignment, uniformity, above optimum; uniformity is that of the stored rows, so it
        is known before training, too. The rest is NaN there.
    """
    optimum = uniform_optimum(z_epochs.shape[2])
    known = history.drop_duplicates("epoch", keep="last").set_index("epoch") if len(history) else pd.DataFrame()
    rows = []
    for z, epoch in zip(z_epochs, epochs, strict=True):
        there = known.loc[epoch] if epoch in known.index else {}
        spread = pair_uniformity(unit(z))
        rows.append(
            {
                "epoch": int(epoch),
                "loss": there.get("loss", np.nan),
                "online probe": there.get("online_accuracy", np.nan),
                "alignment": there.get("alignment", np.nan),
                "uniformity": spread,
                "above optimum": spread - optimum,
            }
        )
    return pd.DataFrame(rows)


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the parts that all of them share: "NT-Xent, d = 2" and "Supervised, d = 2" lose the dimension.

    Args:
        names: Parts are separated by ", ".
    """
    parts = [name.split(", ") for name in names]
    shared = set.intersection(*map(set, parts)) if len(names) > 1 else set()
    short = [", ".join(part for part in own if part not in shared) for own in parts]
    return short if all(short) and len(set(short)) == len(set(names)) else list(names)


def spaced(count: int, most: int = MOST) -> list[int]:
    """Places of at most `most` of `count` things, first and last among them, evenly between."""
    if count <= most:
        return list(range(count))
    return sorted({round(place) for place in np.linspace(0, count - 1, most)})


def _above_optimum(numbers: Mapping[str, Any]) -> float | None:
    value, dim = numbers.get("uniformity"), numbers.get("dim")
    return None if value is None or not dim else float(value) - uniform_optimum(int(dim))
