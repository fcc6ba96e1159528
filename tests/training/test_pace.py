"""How long a run will take: from its own steps, without doing it."""

from core.training.pace import run_seconds
from core.training.spec import RunSpec

SMALL = dict(n_train=200, n_test=100, batch_size=100, head_dim=8)


def test_time_follows_the_number_of_epochs_and_changes_nothing():
    short, evaluation = run_seconds(RunSpec(epochs=1, **SMALL).changed())
    long, _ = run_seconds(RunSpec(epochs=50, **SMALL).changed())
    assert 0 < short < long and evaluation > 0  # 2 steps against 100


def test_an_untrained_run_costs_its_evaluation_only():
    training, evaluation = run_seconds(RunSpec(objective="untrained", **SMALL).changed())
    assert training == 0 and evaluation > 0
