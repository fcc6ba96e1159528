"""An empty cache and no data folder for every test of the data sets."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

REAL_DATA = "CONTRASTIVE_LENS_DATA"


@pytest.fixture(autouse=True)
def cache_root(request, tmp_path, monkeypatch) -> Path:
    """A fresh cache folder. CONTRASTIVE_LENS_DATA is unset, except for tests of real data."""
    root = tmp_path / "cache"
    monkeypatch.setenv("CONTRASTIVE_LENS_CACHE", str(root))
    if "real_data" not in request.fixturenames:
        monkeypatch.delenv(REAL_DATA, raising=False)
    return root


@pytest.fixture
def save_image():
    """save_image(path, array or Image): write an image file, making its folders."""

    def save(path: Path, pixels, **options) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(np.asarray(pixels))
        image.save(path, **options)
        return path

    return save
