"""Sentences from numbers: they say what the numbers carry, and no more."""

import pandas as pd
import pytest

from core.figures.story import loss_title, story, takeaway

OTHERS = ("supervised", "autoencoder", "untrained")


def cells(values: dict[str, dict[int, float]], sd: float = 0.01) -> pd.DataFrame:
    """Folded cells: line -> bits -> mean. Lines with the name of another kind are of that kind."""
    rows = [(name, x, mean) for name, line in values.items() for x, mean in line.items()]
    table = pd.DataFrame(rows, columns=["series", "x", "mean"]).assign(sd=sd, n=3, objective="nt_xent", batch_size=250)
    return table.assign(kind=table["series"].where(table["series"].isin(OTHERS), "contrastive"))


def title(values) -> str:
    return takeaway(cells(values), "linear_accuracy", "mnist-5k", 0.1)


def test_erased_needs_every_line_to_lose_nine_tenths():
    """0.95 -> 0.18 is (0.95 - 0.18) / 0.85 = 0.906 of what was above chance."""
    gone = {"tau 0.2": {0: 0.9, 10: 0.12}}
    assert title({"tau 0.1": {0: 0.95, 10: 0.18}, **gone}) == "Ten shared bits erase digit recognition"
    assert title({"tau 0.1": {0: 0.95, 10: 0.40}, **gone}) == "Ten shared bits cost up to 98% of digit recognition"
    alike = {"tau 0.1": {0: 0.95, 10: 0.40}, "tau 0.2": {0: 0.95, 10: 0.42}}
    assert title(alike) == "Ten shared bits cost 65% of digit recognition"


def test_first_number_of_bits_that_erases_is_named():
    assert title({"tau 0.1": {0: 0.95, 5: 0.9, 12: 0.15, 15: 0.1}}).startswith("Twelve shared bits erase")
    assert title({"tau 0.1": {0: 0.95, 1: 0.1}}) == "One shared bit erases digit recognition"


def test_a_low_point_among_higher_ones_erases_nothing():
    """As 40 test images gave it: below chance with 8 bits, well above it with 12 and 16."""
    line = {0: 0.55, 2: 0.6, 4: 0.4, 6: 0.4, 8: 0.09, 12: 0.38, 16: 0.4}
    assert title({"tau 0.1": line}) == "16 shared bits cost 33% of digit recognition"
    assert title({"tau 0.1": {**line, 12: 0.1, 16: 0.12}}).startswith("Eight shared bits erase")


def test_a_partial_line_cannot_prove_erasure():
    """A line whose cell at those bits is missing yet is not counted as erased."""
    assert "erase" not in title({"tau 0.1": {0: 0.95, 15: 0.1}, "tau 0.2": {0: 0.9, 5: 0.85}})


def test_no_effect_is_said_as_such():
    assert title({"tau 0.1": {0: 0.95, 20: 0.93}}) == "Up to 20 shared bits, digit recognition holds"


@pytest.mark.parametrize(
    "values", [{"tau 0.1": {5: 0.3}}, {"tau 0.1": {0: 0.12, 5: 0.1}}, {"supervised": {0: 0.9, 5: 0.8}}]
)
def test_without_a_learned_start_there_is_only_a_question(values):
    """No cell without bits, nothing learned without bits, or no contrastive line: nothing can be said to be lost."""
    assert title(values) == "What is left of the digit when bits are added?"
    assert story(cells(values), "linear_accuracy", 0.1) == ""


def test_story_names_values_instead_and_the_supervised_control():
    table = cells({"tau 0.1": {0: 0.957, 10: 0.49, 15: 0.16}, "supervised": {0: 0.985, 15: 0.962}})
    known = cells({"tau 0.1": {15: 11.8}, "untrained": {15: 8.5}}, sd=0.2)
    assert story(table, "linear_accuracy", 0.1, known) == (
        "With tau 0.1, linear probe accuracy goes from 0.957 ± 0.010 to 0.160 ± 0.010 with 15 bits (chance 0.1). "
        "The encoder knows 11.80 ± 0.20 of the 15 bits, untrained 8.5. "
        "With labels, on the same inputs, it is 0.962 ± 0.010: "
        "the picture is still there, the contrastive loss has no need of it."
    )


def test_one_seed_is_said_to_be_one():
    table = cells({"tau 0.1": {0: 0.445, 10: 0.098}})
    once = table.assign(sd=float("nan"), n=table["x"].map({0: 2, 10: 1}))
    assert story(once, "linear_accuracy", 0.1).endswith("to 0.098 with ten bits (chance 0.1; one seed: not certain).")
    assert "one seed" not in story(table, "linear_accuracy", 0.1)


def test_a_weak_supervised_control_proves_nothing():
    said = story(cells({"tau 0.1": {0: 0.95, 15: 0.16}, "supervised": {15: 0.60}}), "linear_accuracy", 0.1)
    assert said.endswith("With labels, on the same inputs, it is 0.600 ± 0.010.")


def test_loss_title_needs_a_falling_loss_and_saturation():
    falling = cells({"tau 0.1": {0: 3.0, 5: 2.0, 12: 0.1}})
    assert loss_title(falling) == "The bits alone satisfy the loss"
    assert loss_title(falling[falling["x"] < 9]) == "More bits make the contrastive task easier"
    assert loss_title(cells({"tau 0.1": {0: 0.5, 12: 0.6}})).endswith("?")
    # Eight bits suffice for a batch of 125, log2(249) = 7.96, and not for one of 250: one line of two is not all of them.
    up_to_8 = cells({"batch size 125": {0: 1.0, 8: 0.3}, "batch size 250": {0: 1.4, 8: 0.5}})
    small = up_to_8["series"] == "batch size 125"
    up_to_8["batch_size"] = up_to_8["batch_size"].mask(small, 125)
    assert loss_title(up_to_8) == "More bits make the contrastive task easier"
    assert loss_title(up_to_8[small]) == "The bits alone satisfy the loss"


def test_the_story_tells_what_an_autoencoder_kept():
    table = cells({"tau 0.1": {0: 0.957, 10: 0.12}, "autoencoder": {0: 0.941, 10: 0.099}})
    assert story(table, "linear_accuracy", 0.1).endswith("Of an encoder trained to rebuild its input, it is 0.099 ± 0.010.")
