"""The study of flat embeddings with invented numbers and three kept epochs, for tests of pages."""

from pathlib import Path

import numpy as np

from core.training.spec import RunSpec
from tests import fixtures

STUDY = "hypersphere-mnist-5k"


def fill_flat(root: Path) -> list[RunSpec]:
    """Write the study into a store as if it had been shipped.

    Args:
        root: Store root, made if missing.

    Returns:
        Its runs.
    """
    runs = fixtures.fill(root, fixtures.study(STUDY, seeds=(0,)), embeddings=False)
    for run in runs:
        arrays = fixtures.embedding(run, run.head_dim)
        n = len(arrays["z"])
        arrays |= {"h": np.random.default_rng(0).normal(size=(n, 8)).astype(np.float16), "positive": np.full(n, 0.9, np.float32)}
        if run.objective != "untrained":
            turned = np.roll(arrays["z"], 1, axis=1)  # the same embedding with other axes
            arrays |= {"epochs": np.array([0, 1, 15]), "z_epochs": np.stack([turned, arrays["z"], arrays["z"]])}
        folder = root / STUDY / run.run_id
        folder.mkdir(exist_ok=True)
        np.savez_compressed(folder / "embedding.npz", **arrays)
    return runs
