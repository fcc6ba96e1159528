"""Cross entropy and NCE on the scores of one anchor, and the identity with InfoNCE."""

import numpy as np
import pytest

from core.losses.relatives import class_cross_entropy, nce
from core.losses.softmax import gradient, info_nce

SCORES = np.array([0.2, 0.5, 0.1, -0.3])


@pytest.mark.parametrize("tau", [0.05, 0.5, 3.0])
def test_info_nce_is_cross_entropy_with_target_zero(tau):
    reading = class_cross_entropy(SCORES / tau, 0)
    assert reading.loss == pytest.approx(info_nce(SCORES[0], SCORES[1:], tau), abs=1e-12)
    same = gradient(SCORES[0], SCORES[1:], tau)
    assert reading.gradient / tau == pytest.approx([same.positive, *same.negatives], abs=1e-12)


@pytest.mark.parametrize("log_ratio", [0.0, -2.0, 1.5])
def test_nce_against_its_definition_and_finite_differences(log_ratio):
    logits = SCORES / 0.3
    ratio = np.exp(log_ratio)
    data = np.exp(logits) / (np.exp(logits) + ratio)  # u / (u + k p_noise)
    expected = -np.log(data[0]) - np.log(1 - data[1:]).sum()
    reading = nce(logits[0], logits[1:], log_ratio)
    assert reading.loss == pytest.approx(expected, rel=1e-12)
    assert reading.probabilities == pytest.approx(data, rel=1e-12)
    steps = np.eye(4) * 1e-6
    slopes = [(nce(*split(logits + e), log_ratio).loss - nce(*split(logits - e), log_ratio).loss) / 2e-6 for e in steps]
    assert reading.gradient == pytest.approx(slopes, abs=1e-7)


def split(logits):
    """First logit and the rest."""
    return logits[0], logits[1:]


def test_a_constant_added_to_all_scores_changes_nce_only():
    moved = SCORES + 1.0
    assert class_cross_entropy(moved, 2).loss == pytest.approx(class_cross_entropy(SCORES, 2).loss, abs=1e-12)
    assert info_nce(moved[0], moved[1:], 0.2) == pytest.approx(info_nce(SCORES[0], SCORES[1:], 0.2), abs=1e-12)
    assert abs(nce(*split(moved)).loss - nce(*split(SCORES)).loss) > 0.5


def test_huge_scores_stay_finite():
    assert nce(-1000.0, [1000.0]).loss == pytest.approx(2000)
    assert class_cross_entropy([1000.0, -1000.0], 1).loss == pytest.approx(2000)


def test_target_out_of_range():
    with pytest.raises(ValueError, match=r"target must be from 0 to 3, got 4\."):
        class_cross_entropy(SCORES, 4)
