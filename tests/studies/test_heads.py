"""The claim about deeper heads: the verdict follows from the numbers."""

import numpy as np
import pandas as pd
import pytest

from core.studies.heads import claim_sentence, fold_heads, judge_heads

LOSSES = ("nt_xent", "gcl", "swd_hypersphere", "swd_hypercube", "swd_normal")


def runs(gaps: dict[int, float], noise: float = 0.002, seeds: int = 3, epochs: int = 20, seed: int = 0) -> pd.DataFrame:
    """Losses spread evenly over `gap` at each depth, plus noise."""
    random = np.random.default_rng(seed)
    rows = []
    for depth, gap in gaps.items():
        for place, loss in enumerate(LOSSES):
            for s in range(seeds):
                value = 0.9 + gap * place / (len(LOSSES) - 1) + noise * random.standard_normal()
                rows.append((loss, 0.2, None if loss == "nt_xent" else 10.0, depth, epochs, s, "finished", value))
    columns = ["objective", "tau", "lam", "head_layers", "epochs", "seed", "status", "linear_accuracy"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(run_id=[f"{i:012x}" for i in range(len(table))])


def test_cells_fold_seeds_and_count_the_rest():
    table = runs({1: 0.0})
    table.loc[0, "status"] = "diverged"
    table.loc[1, "status"] = "running"
    cells = fold_heads(table, "linear_accuracy")
    assert len(cells) == 5
    first = cells[cells["objective"] == "nt_xent"].iloc[0]
    assert (first["n"], first["diverged"], first["seeds"]) == (1, 1, (2,)) and np.isnan(first["lam"]) and np.isnan(first["sd"])
    other = cells[cells["objective"] == "gcl"].iloc[0]
    expected = table[table["objective"] == "gcl"]["linear_accuracy"]
    assert other["mean"] == pytest.approx(expected.mean()) and other["sd"] == pytest.approx(expected.std(ddof=1))
    assert fold_heads(table.iloc[:0], "linear_accuracy").empty


@pytest.mark.parametrize(
    ("gaps", "verdict", "words"),
    [
        ({1: 0.06, 2: 0.03, 3: 0.01, 4: 0.0}, "vanish", "The claim holds here"),
        ({1: 0.06, 4: 0.03}, "shrink", "They shrink but do not vanish"),
        ({1: 0.03, 4: 0.03}, "unclear", "The claim is not shown here"),
        ({1: 0.01, 4: 0.06}, "grow", "The opposite of the claim"),
    ],
)
def test_the_verdict_follows_the_numbers(gaps, verdict, words):
    claim = judge_heads(fold_heads(runs(gaps), "linear_accuracy"), 20)
    assert claim.verdict == verdict
    assert claim.gaps[0].gap == pytest.approx(gaps[1], abs=0.008) and claim.shrink == pytest.approx(gaps[1] - gaps[4], abs=0.01)
    said = claim_sentence(claim, "linear probe")
    assert f"{'smaller' if claim.shrink >= 0 else 'larger'} by {100 * abs(claim.shrink):.1f} points [" in said
    assert words in said and f"{100 * claim.gaps[0].gap:.1f} points with 1 layer" in said and "3 seeds" in said


def test_the_best_and_the_worst_loss_are_named():
    claim = judge_heads(fold_heads(runs({1: 0.06, 4: 0.03}), "linear_accuracy"), 20)
    names = {"nt_xent": "NT-Xent", "swd_normal": "SWD, normal"}
    assert claim_sentence(claim, "kNN", names).endswith(" With either head SWD, normal is best and NT-Xent worst.")
    turned = claim._replace(gaps=(claim.gaps[0], claim.gaps[-1]._replace(best="nt_xent", worst="swd_normal")))
    said = claim_sentence(turned, "kNN", names)
    assert said.endswith(
        " With 1 layer SWD, normal is best and NT-Xent worst; with 4 layers NT-Xent is best and SWD, normal worst."
    )
    alone = judge_heads(fold_heads(runs({1: 0.06, 4: 0.03}, seeds=1), "linear_accuracy"), 20)
    assert "is best and" in claim_sentence(alone, "kNN", names)


def test_a_gap_too_small_to_matter_counts_as_vanished_even_when_it_is_significant():
    claim = judge_heads(fold_heads(runs({1: 0.06, 4: 0.006}, noise=0.0002), "linear_accuracy"), 20)
    assert claim.gaps[-1].p < 0.001 and claim.verdict == "vanish"


def test_one_seed_decides_nothing():
    claim = judge_heads(fold_heads(runs({1: 0.06, 4: 0.0}, seeds=1), "linear_accuracy"), 20)
    assert claim.verdict == "unclear" and np.isnan(claim.low)
    assert claim_sentence(claim, "kNN").endswith("one seed cannot say whether that is more than noise.")


def test_only_losses_measured_at_every_depth_are_compared():
    table = runs({1: 0.06, 4: 0.0})
    table = table[~((table["objective"] == "swd_normal") & (table["head_layers"] == 4))]
    claim = judge_heads(fold_heads(table, "linear_accuracy"), 20)
    assert [gap.losses for gap in claim.gaps] == [4, 4] and claim.gaps[0].gap == pytest.approx(0.045, abs=0.008)
    assert judge_heads(fold_heads(table[table["head_layers"] == 1], "linear_accuracy"), 20) is None
    assert judge_heads(fold_heads(table, "linear_accuracy"), 5) is None


def test_equal_cells_give_equal_intervals():
    cells = fold_heads(runs({1: 0.02, 4: 0.01}), "linear_accuracy")
    assert judge_heads(cells, 20) == judge_heads(cells, 20)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    hits = 0
    for seed in range(60):
        claim = judge_heads(fold_heads(runs({1: 0.06, 4: 0.02}, noise=0.003, seed=seed), "linear_accuracy"), 20, draws=500)
        hits += claim.low <= 0.04 <= claim.high
    assert hits >= 50
