"""Claims: what decides, on hand-made cells; stories and titles made from the same numbers."""

import numpy as np
import pandas as pd
import pytest

from core.figures.claims import change, claims
from core.figures.contest_story import contest_story, contest_title
from core.figures.contests import CONTESTS, chances


def cells(*lines: tuple, seeds: int = 2) -> pd.DataFrame:
    """Folded cells from lines (series, kind, tau, {x: (mean, sd)})."""
    rows = [
        {"series": name, "kind": kind, "place": place, "objective": "nt_xent" if kind == "contrastive" else kind, "tau": tau,
         "batch_size": 250, "width": 1,
         "x": x, "mean": mean, "sd": sd if seeds > 1 else np.nan, "low": mean - sd, "high": mean + sd, "n": seeds, "total": seeds,
         "diverged": 0, "failed": 0, "run_ids": ("a" * 12,), "values": (mean,), "run_id": f"{place}{x:g}"}
        for place, (name, kind, tau, points) in enumerate(lines)
        for x, (mean, sd) in points.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


LOW = ("tau 0.05", "contrastive", 0.05, {0: (0.52, 0.01), 256: (0.40, 0.01), 4000: (0.33, 0.01)})
HIGH = ("tau 0.2", "contrastive", 0.2, {0: (0.50, 0.01), 256: (0.34, 0.01), 4000: (0.26, 0.01)})
LABELS = ("Supervised", "supervised", 0.1, {0: (0.60, 0.01), 4000: (0.58, 0.01)})
DIGIT = ("tau 0.05", "contrastive", 0.05, {256: (0.6, 0.02), 4000: (0.8, 0.02)})
DIGIT_HIGH = ("tau 0.2", "contrastive", 0.2, {256: (0.7, 0.02), 4000: (0.9, 0.02)})


def status(found) -> dict[str, str]:
    return {claim.text: claim.status for claim in found}


def test_claims_that_the_numbers_carry_hold():
    found = claims("digits", cells(LOW, HIGH, LABELS), cells(DIGIT, DIGIT_HIGH), 0.1)
    assert set(status(found).values()) == {"holds"} and len(found) == 4
    assert found[0].said == (
        "linear probe, from 0 to 4,000 on the dial: "
        "tau 0.05 0.520 ± 0.010 to 0.330 ± 0.010; tau 0.2 0.500 ± 0.010 to 0.260 ± 0.010"
    )
    # By hand: gains 0.06 and 0.07, spread sqrt(4 * 0.01**2) / 2.
    assert found[-1].said == "linear probe, temperature 0.05 less 0.2, mean over 2 values of the dial: +0.065 ± 0.010"


def test_a_difference_within_the_spread_gives_no_verdict():
    """Seven hundredths less, with as much spread, were told as a claim that does not hold."""
    noisy = ("tau 0.05", "contrastive", 0.05, {0: (0.52, 0.05), 4000: (0.45, 0.05)})
    found = claims("digits", cells(noisy, LABELS), cells(DIGIT), 0.1)
    assert found[0].status == "open" and found[0].said.endswith("(within the spread over seeds: no verdict)")
    assert found[-1].status == "open" and found[-1].said == "the study has one temperature only"


@pytest.mark.parametrize(
    ("after", "sd", "verdict"),
    [
        (0.495, 0.001, "does not hold"),
        (0.55, 0.01, "does not hold"),
        (0.495, 0.01, "open"),
        (0.55, 0.1, "open"),
        (0.47, 0.01, "holds"),
    ],
)
def test_a_change_is_refuted_only_where_the_spread_leaves_no_room_for_it(after, sd, verdict):
    """From 0.51 ± 0; twice the spread added to the loss, by hand: 0.017, none, 0.035, 0.16, 0.06; 0.02 would count."""
    line = ("tau 0.05", "contrastive", 0.05, {0: (0.51, 0.0), 4000: (after, sd)})
    found = claims("digits", cells(line), cells(DIGIT), 0.1)[0]
    assert found.status == verdict
    refuted = ("tau 0.2", "contrastive", 0.2, {0: (0.5, 0.001), 4000: (0.5, 0.001)})
    assert claims("digits", cells(line, refuted), cells(DIGIT), 0.1)[0].status == "does not hold"  # one line is enough


def test_a_line_that_the_study_lacks_is_named():
    assert said_of("digits", "Training with labels", cells(LOW)) == "the study has no supervised line"
    queued = ("Supervised", "supervised", 0.1, {0: (np.nan, np.nan)})
    waiting = cells(LOW, queued)
    waiting.loc[waiting["kind"] == "supervised", "n"] = 0
    assert said_of("digits", "Training with labels", waiting) == "nothing to compare yet"
    assert said_of("color_strength", "Training with labels", cells(LOW)) == "the study has no supervised line"


def said_of(dial: str, start: str, first: pd.DataFrame) -> str:
    """What is said of the claim that starts so."""
    return next(claim.said for claim in claims(dial, first, cells(DIGIT), 0.1) if claim.text.startswith(start))


def test_a_few_bits_are_not_refuted_by_a_dial_that_ends_early():
    """Three lines of four had lost more than half at 8 bits, and the claim was told not to hold."""
    lost = ("width 1", "contrastive", 0.1, {0: (0.9, 0.01), 8: (0.4, 0.01)})
    kept = ("width 2", "contrastive", 0.1, {0: (0.9, 0.01), 8: (0.61, 0.01)})
    early = claims("bits", cells(lost, kept), cells(), 0.1)[0]
    assert early.status == "open"  # by hand: 0.29 of 0.8 is 36 %
    assert early.said.endswith("width 2 loses least, 36% (the dial ends at 8: too few bits to refute it)")
    assert claims("bits", cells(lost), cells(), 0.1)[0].status == "holds"
    assert claims("bits", cells(lost), cells(), 0.1)[0].said.endswith("Of what is above chance, 62% is lost")
    late = (*kept[:3], {0: (0.9, 0.01), 10: (0.6, 0.01)})
    assert claims("bits", cells(late), cells(), 0.1)[0].status == "does not hold"


def test_no_more_than_all_is_lost():
    line = ("tau 0.1", "contrastive", 0.1, {0: (0.5, 0.01), 20: (0.09, 0.01)})
    assert claims("bits", cells(line), cells(), 0.1)[0].said.endswith("100% is lost")


def test_a_digit_that_was_hardly_learned_is_told():
    faint = ("tau 0.1", "contrastive", 0.1, {20: (0.148, 0.002), 44: (0.107, 0.002)})
    found = claims("digit_size", cells(faint), cells(faint), 0.1)[0]
    assert found.status == "holds" and found.said.endswith("Even at the low end, it is hardly above chance (0.1)")


def test_labels_that_gain_within_the_spread_decide_nothing():
    labels = ("Supervised", "supervised", 0.1, {0: (0.50, 0.03), 1: (0.54, 0.03)})
    found = claims("color_strength", cells(LOW, labels), cells(DIGIT), 0.1)[-1]
    assert (found.status, found.said[-48:]) == ("open", "(a gain within the spread over seeds: no verdict)"[-48:])


def test_no_difference_is_said_of_the_feature_that_shows_none():
    """The rival may well have moved: the sentence ended in "no difference" beside a clear one."""
    noisy = ("tau 0.1", "contrastive", 0.1, {0: (0.428, 0.003), 1: (0.420, 0.006)})
    rival = ("tau 0.1", "contrastive", 0.1, {0: (0.763, 0.003), 1: (0.694, 0.002)})
    told = contest_story(CONTESTS["color_strength"], cells(noisy), cells(rival))
    assert told.endswith("from 0.763 ± 0.003 to 0.694 ± 0.002: for the class, no difference beyond the spread over seeds.")


def test_one_seed_gives_no_verdict():
    found = claims("digits", cells(LOW, HIGH, LABELS, seeds=1), cells(DIGIT, seeds=1), 0.1)
    assert set(status(found).values()) == {"open"}
    assert found[0].said.endswith("(one seed at an end: no spread, no verdict)")


def test_a_rival_that_does_not_move_gains_nothing():
    """A thousandth more for the rival was told as its gain, beside a real loss of the first feature."""
    still = ("tau 0.2", "contrastive", 0.2, {256: (0.150, 0.01), 4000: (0.151, 0.01)})
    assert "the object gave way." in contest_story(CONTESTS["digits"], cells(LOW, HIGH), cells(still))
    alone = contest_story(CONTESTS["digits"], cells(LOW, HIGH, seeds=1), cells(still, seeds=1))
    assert "the object gave way (one seed: not certain)." in alone


def some_seeds(table: pd.DataFrame, values: tuple) -> pd.DataFrame:
    """The cells as they are where only these values of the dial were run twice."""
    once = ~table["x"].isin(values)
    return table.assign(sd=table["sd"].mask(once), n=table["n"].mask(once, 1))


def test_a_temperature_is_judged_over_the_whole_dial_or_not_at_all():
    """With two seeds at the ends only, the far end alone decided, where nothing is left to differ."""
    found = claims("digits", some_seeds(cells(LOW, HIGH), (0, 4000)), cells(DIGIT), 0.1)[-1]
    assert (found.status, found.said) == (
        "open",
        "linear probe, temperature 0.05 less 0.2, mean over 2 values of the dial: +0.065 "
        "(two seeds on both sides at 1 of them: no spread, no verdict)",
    )


def test_ends_with_two_seeds_decide_what_compares_the_ends():
    found = status(claims("digits", some_seeds(cells(LOW, HIGH, LABELS), (0, 4000)), cells(DIGIT), 0.1))
    assert found["More different digits: the object is learned less"] == "holds"
    assert found["Training with labels is hardly affected"] == "holds"


def test_reconstruction_is_judged_by_the_share_that_it_loses():
    """Invented values: 0.343 to 0.135 is less than 0.445 to 0.109, yet most of what was known."""
    learned = ("tau 0.1", "contrastive", 0.1, {0: (0.445, 0.002), 20: (0.109, 0.002)})
    rebuilt = ("Autoencoder", "autoencoder", 0.1, {0: (0.343, 0.002), 20: (0.135, 0.002)})
    found = next(claim for claim in claims("bits", cells(learned, rebuilt), cells(), 0.1) if claim.text.startswith("Recon"))
    # By hand: 0.208 of 0.243 is 86 %, 0.336 of 0.345 is 97 %.
    assert (found.status, found.said) == (
        "does not hold",
        "linear probe, from 0 to 20 on the dial: Autoencoder 0.343 ± 0.002 to 0.135 ± 0.002. Of what is above chance, "
        "Autoencoder loses 86%, the contrastive line that keeps most 97%. Every channel counts alike in what is rebuilt: "
        "with many bits, they are most of it",
    )


def test_a_loss_within_the_spread_is_no_refutation():
    noisy = ("Supervised", "supervised", 0.1, {0: (0.60, 0.04), 4000: (0.54, 0.04)})
    found = status(claims("digits", cells(LOW, noisy), cells(DIGIT), 0.1))
    assert found["Training with labels is hardly affected"] == "open"


def test_labels_that_suffer_refute_the_claim():
    hurt = ("Supervised", "supervised", 0.1, {0: (0.60, 0.01), 4000: (0.50, 0.01)})
    found = claims("digits", cells(LOW, hurt), cells(DIGIT), 0.1)
    assert status(found)["Training with labels is hardly affected"] == "does not hold"


def test_bits_need_half_of_what_was_learned_and_compare_reconstruction():
    clean = ("tau 0.1", "contrastive", 0.1, {0: (0.9, 0.01), 20: (0.7, 0.01)})
    kept = ("Autoencoder", "autoencoder", 0.1, {0: (0.8, 0.01), 20: (0.78, 0.01)})
    found = status(claims("bits", cells(clean, kept), cells(), 0.1))
    assert found["A few added bits quickly destroy what is learned of the class"] == "does not hold"  # a quarter is gone
    assert found["Reconstruction suffers little"] == "holds"
    assert status(claims("bits", cells(clean), cells(), 0.1))["Reconstruction suffers little"] == "open"


def test_sizes_and_colours_have_their_own_claims():
    small = ("tau 0.1", "contrastive", 0.1, {11: (0.8, 0.01), 46: (0.3, 0.01)})
    large = ("tau 0.1", "contrastive", 0.1, {11: (0.8, 0.01), 46: (0.93, 0.01)})
    assert [claim.status for claim in claims("digit_size", cells(small), cells(large), 0.1)][:2] == ["holds", "holds"]
    better = ("tau 0.1", "contrastive", 0.1, {0.0: (0.4, 0.01), 1.0: (0.5, 0.01)})
    colors = ("tau 0.1", "contrastive", 0.1, {0.0: (0.7, 0.01), 1.0: (0.71, 0.01)})
    found = claims("color_strength", cells(better), cells(colors), 0.1)
    assert [claim.status for claim in found] == ["holds", "does not hold", "open"]


def test_no_contrastive_run_no_claims():
    assert claims("digits", cells(LABELS), cells(LABELS), 0.1) == []


def test_change_adds_variances():
    line = cells(("a", "contrastive", 0.1, {0: (0.5, 0.03), 1: (0.4, 0.04)}))
    moved = change(line.iloc[0], line.iloc[1], "linear_accuracy")
    assert moved.value == pytest.approx(-0.1) and moved.spread == pytest.approx(0.05) and not moved.clear


def test_title_and_story_say_what_gave_way():
    contest = CONTESTS["digits"]
    first, second = cells(LOW, HIGH, LABELS), cells(DIGIT, DIGIT_HIGH)
    assert contest_title(contest, first, 0.1) == "4,000 digit images cost 60% of object recognition"
    told = contest_story(contest, first, second)
    assert told.startswith(
        "With tau 0.2, as the different digit images go from 0 to 4,000, the accuracy on the object goes from 0.500 ± 0.010 to "
        "0.260 ± 0.010, that on the digit, from 256 on, from 0.700 ± 0.020 to 0.900 ± 0.020: the digit"
    )  # where no digit is, none is known: the two begin at different values of the dial
    assert "the digit gained what the object lost." in told and "the object is still there to be learned" in told


def test_a_line_that_falls_alone_is_told_as_such():
    """As digits on Tiny-ImageNet gave it: the line that changed most fell, the others did not."""
    flat = ("tau 0.05", "contrastive", 0.05, {0: (0.372, 0.010), 4000: (0.379, 0.006)})
    falls = ("tau 0.1", "contrastive", 0.1, {0: (0.391, 0.008), 4000: (0.369, 0.001)})
    told = contest_story(CONTESTS["digits"], cells(flat, falls), cells(DIGIT))
    assert "With tau 0.1" in told and told.endswith("the object gave way, but clearly so in 1 of 2 lines only.")
    assert "lines only" not in contest_story(CONTESTS["digits"], cells(LOW, HIGH), cells(DIGIT, DIGIT_HIGH))


def test_a_rival_that_training_unlearns_is_told():
    contest = CONTESTS["digits"]
    lost = ("tau 0.2", "contrastive", 0.2, {256: (0.15, 0.0), 4000: (0.15, 0.0)})
    fresh = ("Untrained", "untrained", 0.1, {256: (0.31, 0.0), 4000: (0.313, 0.0)})
    told = contest_story(contest, cells(LOW, HIGH), cells(lost, fresh))
    assert told.endswith(
        "Training itself unlearns the digit: an untrained encoder reaches 0.313 ± 0.000, this one 0.150 ± 0.000."
    )
    assert "unlearns" not in contest_story(contest, cells(LOW, HIGH), cells(DIGIT, DIGIT_HIGH, fresh))


def test_of_what_was_hardly_known_no_share_is_told():
    weak = cells(("tau 0.1", "contrastive", 0.1, {20: (0.15, 0.0), 44: (0.11, 0.0)}))
    assert contest_title(CONTESTS["digit_size"], weak, 0.1) == (
        "A digit of 44 px beside it: fixed digit accuracy from 0.15 to 0.11"
    )


def test_nothing_is_claimed_from_one_value():
    contest = CONTESTS["digits"]
    lonely = cells(("tau 0.1", "contrastive", 0.1, {16: (0.4, 0.01)}))
    assert contest_title(contest, lonely, 0.1) == "What is left of the object when digits are laid over it?"
    assert contest_story(contest, lonely, lonely) == ""
    uncertain = contest_story(contest, cells(LOW, seeds=1), cells(DIGIT, seeds=1))
    assert "(one seed: not certain)" in uncertain


def test_a_few_thousandths_of_one_seed_are_no_suppression():
    """As colour strength on CIFAR-10 gave it: 0.430 to 0.424, one seed."""
    flat = cells(("tau 0.1", "contrastive", 0.1, {0: (0.430, 0.0), 1: (0.424, 0.0)}), seeds=1)
    rival = cells(("tau 0.1", "contrastive", 0.1, {0: (0.764, 0.0), 1: (0.692, 0.0)}), seeds=1)
    told = contest_story(CONTESTS["color_strength"], flat, rival)
    assert told.endswith("the class hardly changed (one seed: not certain).") and "gave way" not in told


def levers(rows: dict[tuple[int, int], dict[int, float]], sd: float = 0.01) -> dict[str, str]:
    """Verdict and words of each claim about a setting, from lines (batch size, width) -> bits -> mean."""
    known = {f"{key}": {x: (mean, sd) for x, mean in points.items()} for key, points in rows.items()}
    lines = cells(*((name, "contrastive", 0.1, points) for name, points in known.items()))
    keys = [key for key, points in rows.items() for _ in points]
    table = lines.assign(batch_size=[batch for batch, _ in keys], width=[width for _, width in keys])
    return {claim.text: (claim.status, claim.said) for claim in claims("bits", table, table.iloc[:0], 0.1)}


def test_batch_and_width_are_judged_with_all_else_equal():
    base, larger, wider = {0: 0.9, 5: 0.5, 8: 0.3}, {0: 0.9, 5: 0.54, 8: 0.36}, {0: 0.95, 5: 0.51, 8: 0.29}
    found = levers({(125, 1): base, (250, 1): wider, (500, 1): larger, (250, 2): wider})
    # By hand: 500 less 125 is 0.04 and 0.06; the spread sqrt(4 * 0.01**2) / 2. Width 2 is compared with width 1 at batch 250.
    said = "linear probe, batch size 500 less 125, mean over 2 values of the dial: +0.050 ± 0.010"
    assert found["A larger batch helps slightly"] == ("holds", said)
    assert found["A larger encoder does not help"][0] == "holds" and "+0.000" in found["A larger encoder does not help"][1]
    assert found["A lower temperature helps slightly"] == ("open", "the study has one temperature only")


def test_a_width_that_helps_refutes_the_claim_and_noise_decides_nothing():
    base, better = {0: 0.9, 5: 0.5}, {0: 0.9, 5: 0.6}
    assert levers({(250, 1): base, (250, 2): better})["A larger encoder does not help"][0] == "does not hold"
    assert levers({(250, 1): base, (500, 1): better}, sd=0.05)["A larger batch helps slightly"][0] == "open"
    assert levers({(250, 1): base, (250, 2): better}, sd=0.05)["A larger encoder does not help"][0] == "open"
    assert levers({(250, 1): better, (500, 1): base})["A larger batch helps slightly"][0] == "does not hold"
    assert "A larger batch helps slightly" not in levers({(250, 1): base, (250, 2): better})


def test_chances_come_from_the_runs():
    runs = pd.DataFrame({"classes": [20, 20], "color_chance": [0.2, 0.3]})
    assert chances(CONTESTS["digits"], runs) == (0.05, 0.1)
    assert chances(CONTESTS["digit_size"], runs) == (0.1, 0.1)
    assert chances(CONTESTS["color_strength"], runs) == (0.05, 0.25)
    assert chances(CONTESTS["color_strength"], runs.iloc[:0]) == (None, None)
