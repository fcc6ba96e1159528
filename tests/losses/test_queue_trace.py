"""The watched dictionary against a slow queue and the closed forms of momentum."""

from collections import deque

import numpy as np
import pytest

from core.losses.queue_trace import START, trace


def test_first_in_first_out():
    run = trace(slots=4, momentum=0.9, steps=11)
    queue = deque([START] * 4, maxlen=4)
    for step in range(11):
        queue.append(step)
        assert sorted(run.written[step]) == sorted(queue)
        assert run.slot[step] == step % 4
    assert sorted(run.age[-1]) == [0, 1, 2, 3]
    assert run.age[1].tolist() == [1, 0, START, START]


def test_momentum_update_comes_before_the_keys_are_encoded():
    run = trace(slots=3, momentum=0.8, steps=6)
    key = run.query[0]
    for step in range(6):
        key = 0.8 * key + 0.2 * run.query[step]
        assert run.key[step] == pytest.approx(key)
        assert run.stored[step, step % 3] == pytest.approx(key)


def test_no_momentum_is_the_query_encoder_itself():
    run = trace(slots=3, momentum=0.0, steps=8)
    assert run.lag == pytest.approx(np.zeros(8))


@pytest.mark.parametrize("momentum", [0.5, 0.9])
def test_steady_drift_lags_by_m_over_one_minus_m(momentum):
    run = trace(slots=5, momentum=momentum, steps=400, drift=0.01, jitter=0)
    assert run.lag[-1] == pytest.approx(0.01 * momentum / (1 - momentum), rel=1e-6)
    ages = np.arange(5)
    assert run.disagreement[-1] == pytest.approx(0.01 * np.sqrt((ages**2).mean()), rel=1e-6)


def test_momentum_trades_agreement_for_lag():
    """Under jitter a slow key encoder writes keys that agree, and trails; a copy of the query encoder does the opposite."""
    copy, slow = (trace(slots=8, momentum=m, steps=200) for m in (0.0, 0.95))
    assert slow.disagreement[50:].mean() < copy.disagreement[50:].mean()
    assert slow.lag[50:].mean() > copy.lag[50:].mean()


@pytest.mark.parametrize(("options", "text"), [
    ({"slots": 0, "momentum": 0.9, "steps": 5}, "slots and steps must be at least 1, got 0 and 5."),
    ({"slots": 2, "momentum": 1.0, "steps": 5}, "momentum must be at least 0 and below 1, got 1.0."),
])  # fmt: skip
def test_errors(options, text):
    with pytest.raises(ValueError) as caught:
        trace(**options)
    assert str(caught.value) == text
