"""Numbers and settings as people read them."""

import pytest

from core.figures.metrics import METRICS, applies, number, plain, setting_text, short_setting, with_spread
from core.training.spec import RunResult


@pytest.mark.parametrize(
    ("value", "spread", "expected"),
    [
        (0.82345, 0.0123, "0.823 ± 0.012"),  # spread begins with 1: two digits
        (0.82345, 0.0345, "0.82 ± 0.03"),  # else one
        (0.82345, 0.0098, "0.823 ± 0.010"),
        (0.82345, 0.2, "0.82 ± 0.20"),
        (0.82344, 0.00012, "0.823 ± 0.000"),  # at most three decimals for an accuracy
        (0.82345, 0.0, "0.823 ± 0.000"),
        (0.82345, None, "0.823"),
        (0.82345, float("nan"), "0.823"),
        (None, 0.1, "–"),
        (float("nan"), 0.1, "–"),
    ],
)
def test_decimals_follow_the_spread(value, spread, expected):
    assert with_spread(value, "linear_accuracy", spread) == expected


def test_losses_have_at_most_four_decimals():
    assert with_spread(0.123456, "loss", 0.0000123) == "0.1235 ± 0.0000"


def test_minus_and_infinity_are_written_as_signs():
    assert number(-3.9375, "uniformity") == "−3.938"
    assert number(float("-inf"), "uniformity") == "−∞"
    assert number(-0.0002, "uniformity") == "0.000"


def test_metrics_are_result_fields():
    assert set(METRICS) <= set(RunResult.model_fields)


def test_settings_in_words():
    assert setting_text("tau", 0.1) == "tau 0.1"
    assert setting_text("objective", "nt_xent") == "NT-Xent"
    assert setting_text("lr", 1e-4) == "learning rate 0.0001"
    assert short_setting("bits", 10) == "10 bits" and short_setting("bits", 1) == "1 bit"
    assert (plain(None), plain(True), plain(1e-5)) == ("auto", "yes", "1e-05")


def test_what_a_setting_means_depends_on_the_objective():
    assert applies("tau", "nt_xent") and not applies("tau", "supervised")
    assert applies("lam", "gcl") and not applies("lam", "nt_xent")
    assert applies("queue", "moco") and not applies("queue", "gcl")
    assert applies("batch_size", "supervised")
