"""Three readings of the same scores: values, gradients, and what the title claims."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from core.figures.theme import LIGHT
from core.figures.three_losses import read, three_losses

SCORES, TAU = np.array([0.8, 0.6, 0.2, -0.3]), 0.5


def test_gradients_are_the_closed_forms():
    fig = three_losses(read(SCORES, TAU, target=2, log_noise_ratio=0.5), LIGHT)
    logits = SCORES / TAU
    p = softmax(logits)
    classes, nce, info_nce = (np.asarray(trace.x) for trace in fig.data)
    assert classes == pytest.approx(p - np.eye(4)[2], abs=1e-6)
    assert nce == pytest.approx(expit(logits - 0.5) - np.eye(4)[0], abs=1e-6)
    assert info_nce == pytest.approx(p - np.eye(4)[0], abs=1e-6)


def test_info_nce_equals_cross_entropy_with_target_zero_but_by_another_formula():
    readings = read(SCORES, TAU)
    assert readings.info_nce.loss == pytest.approx(readings.classes.loss, abs=1e-14)
    assert readings.info_nce.gradient == pytest.approx(readings.classes.gradient, abs=1e-14)
    assert "InfoNCE is cross entropy with target 0" in three_losses(readings, LIGHT).layout.title.text
    assert "With class 2 as the answer" in three_losses(read(SCORES, TAU, target=2), LIGHT).layout.title.text


def test_only_nce_notices_a_constant():
    before, after = read(SCORES, TAU), read(SCORES, TAU, shift=3.0)
    assert after.info_nce.loss == pytest.approx(before.info_nce.loss)
    assert after.classes.loss == pytest.approx(before.classes.loss)
    assert after.nce.loss > before.nce.loss + 1


def test_sigmoids_need_not_sum_to_one():
    fig = three_losses(read(SCORES, TAU), LIGHT)
    assert f"1.00 · {expit(SCORES / TAU).sum():.2f} · 1.00" in fig.layout.title.text
