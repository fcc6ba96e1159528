"""What a supervisor knows about runs in progress, and how long the rest will take."""

import pytest

from core.studies.progress import Active, preparing, seconds_left
from core.training.spec import RunSpec


def test_steps_and_epochs_move_the_share_and_a_new_worker_starts_over():
    one = Active(RunSpec(epochs=4), "A")
    one.submit()
    one.begin("first", 1)
    one.advance({"kind": "step", "epoch": 2, "step": 8, "steps": 16, "samples_per_second": 100.0})
    assert (one.epoch, one.share, one.rate) == (0, 0.375, 100.0)
    one.advance({"kind": "epoch", "epoch": 2})
    assert (one.epoch, one.share, one.rate) == (2, 0.5, 100.0)
    one.begin("second", 2)
    assert (one.epoch, one.share, one.tries, one.attempt) == (0, 0.0, 2, 2)
    one.submit()
    assert one.execution == "" and one.submissions == 2


def test_preparing_the_data_is_an_activity_until_training_begins():
    one = Active(RunSpec(epochs=4), "A")
    one.advance({"kind": "download", "file": "train-images", "done": 34, "total": 100, "rate": 1e6})
    assert one.facts()["activity"] == "downloading train-images: 34 %" and one.share == 0
    one.advance({"kind": "step", "epoch": 1, "step": 0, "steps": 16})
    assert one.facts()["activity"] == ""


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"kind": "resize", "done": 1, "total": 3}, "resizing images: 33 %"),
        ({"kind": "read", "file": "x.gz", "done": 0, "total": 10}, "reading x.gz: 0 %"),
        ({"kind": "decode", "done": 10, "total": 10}, "reading images: 100 %"),
        ({"kind": "download", "file": "x", "done": 10, "total": 0}, ""),
        ({}, ""),
    ],
)
def test_what_is_said_about_the_data(record, text):
    assert preparing(record) == text


def test_seconds_left_take_off_what_is_done():
    runs = [RunSpec(bits=bits, epochs=10) for bits in range(4)]
    timed = [(RunSpec(seed=5, epochs=10), 40.0)]
    half = Active(runs[0], "A")
    half.share = 0.5
    assert seconds_left(runs[1:], [half], timed, workers=2) == (3 * 40 + 20) / 2
    assert seconds_left(runs[1:2], [], timed, workers=8) == 40  # one run cannot be shared out
    assert seconds_left([], [], timed, workers=2) == 0.0
    assert seconds_left(runs, [], [], workers=2) is None
