"""Encoders side by side: numbers from the right space, likeness on shared images only, epochs with and without history."""

import numpy as np
import pandas as pd
import pytest

from core.comparison import METRIC_COLUMNS, Encoder, epoch_numbers, flat_arrays, likeness, metrics_table, short_names, spaced
from core.geometry.closed_forms import uniform_optimum

RANDOM = np.random.default_rng(0)


def made(name: str, images: str = "a", index=range(20), **more) -> Encoder:
    arrays = {"h": RANDOM.normal(size=(20, 6)), "labels": np.arange(20) % 4, "index": np.array(index)}
    h = {"linear_accuracy": 0.9, "rankme": 5.0, "dim": 6, "uniformity": -1.0}
    return Encoder(name, name, images, h, more.get("z", {}), arrays | more.get("arrays", {}))


def test_the_table_takes_geometry_from_z_and_accuracy_from_h():
    z = {"alignment": 0.2, "uniformity": -1.5, "dim": 2, "rankme": 1.9, "rayleigh": {"effect": 0.4, "p_value": 0.0}}
    z |= {"cosine_gap": {"gap": 0.3, "at": 0.1, "pairs": 10}}
    table = metrics_table([made("with", z=z), made("without")])
    assert list(table.columns) == ["encoder", "d", *METRIC_COLUMNS]
    first, second = table.iloc[0], table.iloc[1]
    assert first[["linear probe", "alignment", "d", "RankMe of z", "RankMe of h"]].tolist() == [0.9, 0.2, 2, 1.9, 5]
    assert first["above optimum"] == pytest.approx(-1.5 - uniform_optimum(2)) and first["mean vector"] == 0.4
    assert first["cosine gap"] == 0.3 and np.isnan(first["axes"])
    assert second["d"] == 6 and second["uniformity"] == -1.0 and np.isnan(second["RankMe of z"])


def test_likeness_needs_the_same_images():
    one = made("one")
    other = made("other", arrays={"h": one.arrays["h"] * 2})
    elsewhere = made("elsewhere", images="b", arrays={"h": one.arrays["h"]})
    table = likeness([one, other, elsewhere], "h")
    assert table[0, 1] == pytest.approx(1) and np.isnan(table[0, 2])
    assert np.isnan(likeness([one], "z")).all()


def test_small_pictures_have_unit_rows_and_components():
    arrays = flat_arrays(made("one"))
    np.testing.assert_allclose(np.linalg.norm(arrays["z"], axis=1), 1, rtol=1e-5)
    assert arrays["pca"].shape == (20, 3)
    assert flat_arrays(made("gone")._replace(arrays={"labels": np.zeros(1), "index": np.zeros(1)})) is None


def test_epochs_have_their_history_and_epoch_zero_its_uniformity():
    z = RANDOM.normal(size=(2, 30, 2))
    history = pd.DataFrame({"epoch": [1, 2, 2], "loss": [3.0, 9.0, 2.0], "alignment": [0.5, 9.0, 0.4]})
    history["online_accuracy"] = [0.1, 9.0, 0.6]  # epoch 2 was run twice, and the last time counts
    table = epoch_numbers(z, [0, 2], history)
    assert np.isnan(table["loss"][0]) and table["loss"][1] == 2.0 and table["online probe"][1] == 0.6
    assert np.isfinite(table["uniformity"]).all()
    np.testing.assert_allclose(table["above optimum"], table["uniformity"] - uniform_optimum(2))
    assert np.isnan(epoch_numbers(z, [0, 2], pd.DataFrame())["alignment"]).all()


def test_names_lose_what_all_share():
    assert short_names(["NT-Xent, d = 2", "Supervised, d = 2"]) == ["NT-Xent", "Supervised"]
    assert short_names(["NT-Xent, d = 2", "NT-Xent, d = 3"]) == ["d = 2", "d = 3"]
    assert short_names(["a, b"]) == ["a, b"] and short_names(["a", "a, b"]) == ["a", "a, b"]


def test_spaced_keeps_both_ends():
    assert spaced(4) == [0, 1, 2, 3] and spaced(16) == [0, 3, 6, 9, 12, 15] and spaced(1) == [0]
