"""The measured cost of a full softmax, as shipped and as drawn."""

import json

import numpy as np
import pytest

from core.figures.full_softmax_cost import cost_title, full_softmax_cost
from core.figures.theme import LIGHT
from tests.benchmarks.full_softmax import BATCH, DIM, OUT, predicted_bytes


@pytest.fixture
def shipped() -> dict:
    """The file in data/results."""
    return json.loads(OUT.read_text("utf-8"))


def test_points_are_the_measured_numbers(shipped):
    fig = full_softmax_cost(shipped, LIGHT)
    rows = [row for row in shipped["rows"] if row["kind"] == "full softmax"]
    memory, seconds = fig.data[:2]
    assert np.asarray(memory.x) == pytest.approx([row["size"] for row in rows])
    assert np.asarray(memory.y) == pytest.approx([row["extra_bytes"] / 1e9 for row in rows], rel=1e-6)
    assert np.asarray(seconds.y) == pytest.approx([row["fastest"] for row in rows], rel=1e-6)


def test_what_was_not_run_is_a_cross_with_its_prediction(shipped):
    fig = full_softmax_cost(shipped, LIGHT)
    crosses = [trace for trace in fig.data if trace.marker.symbol == "x-thin"]
    assert [trace.x[0] for trace in crosses] == [row["size"] for row in shipped["not_run"]]
    assert "1,281,167 instances would take 5.9 GB" in cost_title(shipped)


def test_the_shipped_file_says_how_it_was_made(shipped):
    assert shipped["settings"]["batch"] == BATCH and shipped["settings"]["dim"] == DIM
    assert shipped["versions"]["torch"] and shipped["machine"]["processor"] and shipped["measured_at"]


def test_prediction_agrees_with_the_large_measurements(shipped):
    """Smaller sizes lie above it: blocks under 32 MiB stay with the process when they are freed."""
    for row in shipped["rows"]:
        assert row["predicted_bytes"] == predicted_bytes(row["kind"], row["size"])
        assert row["extra_bytes"] > row["predicted_bytes"]
        if row["size"] >= 50_000:
            assert row["extra_bytes"] == pytest.approx(row["predicted_bytes"], rel=0.05)


def test_the_predicted_line_is_counted_and_reaches_what_was_not_run(shipped):
    line = next(trace for trace in full_softmax_cost(shipped, LIGHT).data if "predicted" in (trace.hovertemplate or ""))
    sizes = np.asarray(line.x)
    assert line.mode == "lines" and sizes.max() == shipped["not_run"][0]["size"]
    assert np.asarray(line.y) == pytest.approx(4 * sizes * (4 * BATCH + DIM) / 1e9, rel=1e-6)
