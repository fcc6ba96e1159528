"""A run of a study in the form of an inspection, from the embedding that it stored. Without torch."""

from typing import Any

import numpy as np

from core.geometry.closed_forms import finite_sample_bound, uniform_optimum
from core.geometry.sphere_tests import bingham, cosine_gap, rayleigh
from core.inspections.store import Inspection
from core.studies.store import Store
from core.training.spec import RunResult

BINS = 200
NEIGHBOURS = 10
H_NUMBERS = {"linear_accuracy": "linear_accuracy", "knn_accuracy": "knn_accuracy", "rankme": "rankme_h", "dim": "h_dim"}
Z_NUMBERS = ("alignment", "uniformity", "tolerance", "rankme")


def from_run(store: Store, study: str, run_id: str) -> Inspection | None:
    """What a run's stored embedding and result say, in the shape of an inspection.

    Args:
        store: Where the study lies.
        study: Its name.
        run_id: The run.

    Returns:
        Arrays of z (and of h where the run kept it), numbers of its result; parts that were not stored are absent. None if
        the run has no embedding.
    """
    stored = store.embedding(study, run_id)
    if stored is None or "z" not in stored or "labels" not in stored:
        return None
    result, spec = store.result(study, run_id), store.spec(study, run_id)
    arrays = {name: stored[name] for name in ("z", "labels", "index", "predicted", "code", "h") if name in stored}
    labels = arrays["labels"].astype(np.int64)
    unit = _unit(stored["z"])
    arrays |= {"pca_z": stored["pca"].astype(np.float32)} if "pca" in stored else {}
    arrays |= _histograms(unit, labels, stored.get("positive"))
    arrays["singular_z"] = _spectrum(unit)
    if "h" in stored:
        arrays["singular_h"] = _spectrum(_unit(stored["h"]))
    arrays["neighbours"], arrays["neighbour_cosine"] = _neighbours(_unit(stored["h"]) if "h" in stored else unit)
    if "predicted" in arrays:
        classes = max(int(labels.max()), int(arrays["predicted"].max())) + 1
        counts = np.zeros((classes, classes), dtype=np.int64)
        np.add.at(counts, (labels, arrays["predicted"].astype(np.int64)), 1)
        arrays["confusion"] = counts
    summary = _summary(result, unit) | {"run": {"study": study, "run_id": run_id}, "n_test": len(labels)}
    if spec is not None:
        summary |= {"dataset": spec.dataset, "bits_in_image": spec.bits, "seed": spec.seed}
    return Inspection(None, {}, summary, arrays)


def _summary(result: RunResult | None, unit: np.ndarray) -> dict[str, Any]:
    n, dim = unit.shape
    z: dict[str, Any] = {"dim": dim, "rows": n, "uniformity_optimum": uniform_optimum(dim)}
    if n >= 2 and dim >= 2:
        z |= {"uniformity_bound": finite_sample_bound(n, dim)}
        z |= {name: test(unit)._asdict() for name, test in (("rayleigh", rayleigh), ("bingham", bingham))}
        z["cosine_gap"] = cosine_gap(unit)._asdict()
    if result is None:
        return {"z": z}
    z |= {name: value for name in Z_NUMBERS if (value := getattr(result, name)) is not None}
    h = {name: value for name, field in H_NUMBERS.items() if (value := getattr(result, field)) not in (None, 0)}
    made = {"device": result.device, "versions": result.versions, "finished_at": result.finished_at, "notes": [*result.notes]}
    return {"h": h, "z": z, "n_train": result.n_train, **made}


def _unit(z: np.ndarray) -> np.ndarray:
    """Rows of norm 1, float32; rows without a direction are left out of nothing and stay zero."""
    z = np.asarray(z, dtype=np.float32)
    return z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12)


def _histograms(unit: np.ndarray, labels: np.ndarray, positive: np.ndarray | None) -> dict[str, np.ndarray]:
    """Cosines of all pairs; a run keeps at most 1,000 rows, so all pairs fit into memory."""
    edges = np.linspace(-1, 1, BINS + 1)
    upper = np.triu_indices(len(unit), 1)
    cosines = np.clip((unit @ unit.T)[upper], -1, 1)
    same = (labels[:, None] == labels[None, :])[upper]
    found = {
        "cos_edges": edges,
        "cos_same_z": np.histogram(cosines[same], edges)[0],
        "cos_different_z": np.histogram(cosines[~same], edges)[0],
    }
    if positive is not None:
        found["cos_positive_z"] = np.histogram(np.clip(positive, -1, 1), edges)[0]
    return found


def _spectrum(unit: np.ndarray) -> np.ndarray:
    """Eigenvalues of the covariance of the unit rows, largest first, as `core.geometry.spectrum`."""
    centred = unit.astype(np.float64) - unit.mean(axis=0, dtype=np.float64)
    values = np.linalg.eigvalsh(centred.T @ centred / len(unit))[::-1]
    return np.where(values > len(values) * np.finfo(np.float64).eps * max(values[0], 0.0), values, 0.0)


def _neighbours(unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The most similar other rows of each row, and their cosines."""
    count = min(NEIGHBOURS, len(unit) - 1)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    rows = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return rows.astype(np.int32), np.take_along_axis(cosines, rows, axis=1).astype(np.float16)
