"""A made-up finished inspection: plausible shapes, invented numbers, written as the job writes it. No torch."""

from pathlib import Path

import numpy as np

from core.geometry.closed_forms import uniform_optimum
from core.geometry.sphere_tests import bingham, cosine_gap, rayleigh
from core.inspections.spec import InspectionSpec
from core.inspections.store import InspectionStore

ROWS, CLASSES, H, Z = 120, 10, 24, 8
DIGEST = "ab" * 32


def spec(**changes) -> InspectionSpec:
    """Settings of the invented inspection."""
    values = dict(source="/nowhere/encoder.pth", sha256=DIGEST, name="encoder.pth", n_train=200, n_test=ROWS, bits=5)
    return InspectionSpec(**values | changes)


def arrays(seed: int = 0) -> dict[str, np.ndarray]:
    """Clusters by class in h and z, and everything that is made of them."""
    random = np.random.default_rng(seed)
    labels = np.arange(ROWS) % CLASSES
    found = {"labels": labels.astype(np.int64), "index": np.arange(ROWS, dtype=np.int64) * 3}
    predicted = np.where(random.random(ROWS) < 0.8, labels, (labels + 1) % CLASSES)
    found |= {"predicted": predicted.astype(np.int64), "code": random.integers(0, 32, ROWS).astype(np.uint32)}
    edges = np.linspace(-1, 1, 201)
    found["cos_edges"] = edges
    for space, dim in (("h", H), ("z", Z)):
        x = random.normal(size=(CLASSES, dim))[labels] + 0.5 * random.normal(size=(ROWS, dim))
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        cosines, same = unit @ unit.T, labels[:, None] == labels[None, :]
        upper = np.triu(np.ones_like(same), 1).astype(bool)
        found |= {
            space: x.astype(np.float16),
            f"singular_{space}": np.sort(np.linalg.eigvalsh(np.cov(unit.T)))[::-1],
            f"pca_{space}": x[:, :3].astype(np.float32), f"tsne_{space}": x[:, 3:5].astype(np.float32),
            f"cos_same_{space}": np.histogram(cosines[same & upper], edges)[0],
            f"cos_different_{space}": np.histogram(cosines[~same & upper], edges)[0],
            f"cos_positive_{space}": np.histogram(random.uniform(0.7, 1, ROWS), edges)[0],
        }  # fmt: skip
        if space == "h":
            np.fill_diagonal(cosines, -2)
            near = np.argsort(-cosines, axis=1)[:, :10]
            found["neighbours"] = near.astype(np.int32)
            found["neighbour_cosine"] = np.take_along_axis(cosines, near, 1).astype(np.float16)
    found["confusion"] = np.zeros((CLASSES, CLASSES), dtype=np.int64)
    np.add.at(found["confusion"], (labels, predicted), 1)
    return found


def summary(made: dict[str, np.ndarray]) -> dict:
    """Numbers that go with the arrays."""

    def space(name: str, accuracy: float) -> dict:
        x = made[name].astype(np.float64)
        tests = {"rayleigh": rayleigh(x), "bingham": bingham(x), "cosine_gap": cosine_gap(x)}
        return {
            "linear_accuracy": accuracy, "knn_accuracy": accuracy - 0.05, "alignment": 0.2, "uniformity": -2.0,
            "uniformity_optimum": uniform_optimum(x.shape[1]), "tolerance": 0.6, "rankme": 6.0, "participation_ratio": 5.0,
            "dead_dimensions": 1, "dim": x.shape[1], "rows": len(x), **{key: test._asdict() for key, test in tests.items()},
        }  # fmt: skip

    altered = {"accuracy": 0.31, "same_image": 0.2, "same_feature": 0.8, "neither": 0.01}
    return {
        "h": space("h", 0.83), "z": space("z", 0.61), "chance": 0.1, "classes": [str(k) for k in range(CLASSES)],
        "competing": [{"name": "other_bits", "h": altered, "z": altered}, {"name": "coarse", "h": altered, "z": altered}],
        "bits": {"known": 4.2, "accuracies": [0.95] * 5, "bits": 5}, "dataset": "mnist-5k", "n_train": 200, "n_test": ROWS,
        "n_test_all": 1000, "seed": 0, "image_size": 28, "views": {"recipe": "crop", "color_strength": 0.5},
        "encoder": {"architecture": "ConvN", "h_dim": H, "z_dim": Z, "bits": 5, "normalisation": "none", "channels": 6},
        "notes": ["a note for the reader"], "device": "CPU, 1 thread",
        "versions": {"torch": "2.14.1", "contrastive_lens": "0.1.0"},
        "finished_at": "2026-11-30T00:00:00+00:00", "seconds": {"encoding": 1.0, "total": 2.0}, "forward_share": 0.5,
    }  # fmt: skip


def write(root: Path, **changes) -> str:
    """Write a finished inspection; returns its id."""
    store, asked, made = InspectionStore(root), spec(**changes), arrays()
    store.create(asked)
    store.write_result(asked.inspection_id, {"architecture": "ConvN", "layout_name": "Contrastive Lens run"}, summary(made), made)
    store.write_state(asked.inspection_id, status="finished", share=1.0, started=1.0, heartbeat=2.0)
    return asked.inspection_id
