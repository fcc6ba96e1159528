"""The plane of uniformity and tolerance: points, labels, and what the title claims."""

import numpy as np
import pandas as pd
import pytest

from core import published
from core.figures.theme import LIGHT
from core.figures.uniformity_tolerance import trade_off, uniformity_tolerance

TAUS = (0.02, 0.1, 0.12, 0.5, 2.0)


@pytest.fixture
def runs() -> pd.DataFrame:
    """Two seeds at five temperatures, made up; 0.1 and 0.12 lie almost on top of each other."""
    rows = [
        dict(
            tau=tau,
            seed=seed,
            status="finished",
            uniformity=-3.8 + tau / 2,
            tolerance=0.1 + tau / 5,
            linear_accuracy=0.9 + (tau == 0.12) / 20,
        )
        for tau in TAUS
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows)


def wang_liu() -> pd.DataFrame:
    """The contrastive and the simple loss on CIFAR-10."""
    rows = published.rows(dataset="cifar10")
    return rows[(rows["source"] == "wang_liu_2021") & rows["setting"].isin(["contrastive loss", "simple loss"])]


def test_points_are_means_and_the_most_accurate_is_outlined(runs):
    ours, theirs = uniformity_tolerance(runs, LIGHT, published=wang_liu(), optimum=-3.9).data
    assert np.asarray(ours.x) == pytest.approx([-3.8 + tau / 2 for tau in TAUS])
    assert list(ours.marker.size) == [11, 11, 17, 11, 11]
    assert list(theirs.text) == ["0.07", "0.3", "0.7", "1", "∞"]
    assert theirs.y[-1] == pytest.approx(0.61)


def test_labels_that_would_touch_are_left_out_but_never_the_best(runs):
    apart = uniformity_tolerance(runs, LIGHT).data[0]
    assert list(apart.text) == [f"{tau:g}" for tau in TAUS] and len(apart.textposition) == len(TAUS)
    crowd = [runs.assign(tau=0.12 + step / 1000, linear_accuracy=0.5, uniformity=-3, tolerance=0.2) for step in range(1, 21)]
    crowded = pd.concat([runs, *crowd])
    best = crowded.groupby("tau")["linear_accuracy"].mean().idxmax()
    texts = [text for text in uniformity_tolerance(crowded, LIGHT).data[0].text if text]
    assert f"{best:g}" in texts and len(texts) < crowded["tau"].nunique()


def test_the_title_says_what_the_points_say():
    up, down = pd.Series([1.0, 2.0, 3.0, 4.0]), pd.Series([4.0, 3.0, 2.0, 1.0])
    assert trade_off(up, up) == "The more uniform, the less tolerant: rank correlation 1.00 over 4 temperatures"
    assert trade_off(up, down) == "Uniformity and tolerance do not trade off here: rank correlation −1.00"
    assert trade_off(up[:2], up[:2]) == "Uniformity and tolerance of each temperature"
    assert "less tolerant: rank correlation 1.00 over 5" in uniformity_tolerance(
        pd.DataFrame(), LIGHT, published=wang_liu()
    ).layout.title.text.replace("<br>", " ")


def test_nothing_measured_and_nothing_published():
    assert len(uniformity_tolerance(pd.DataFrame(), LIGHT).data) == 0
