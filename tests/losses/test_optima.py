"""What free scores learn against the closed forms: posterior, density, ratio."""

import numpy as np
import pytest

from core.losses import optima

WORLD = optima.small_world()


def test_the_world_is_made_of_densities():
    for density in (WORLD.first, WORLD.second, WORLD.marginal):
        assert density.sum() == pytest.approx(1)
        assert (density > 0).all()


def test_cross_entropy_learns_the_posterior():
    learned = optima.learn_posterior(WORLD)
    assert learned.fitted == pytest.approx(learned.theory, abs=1e-4)
    assert learned.theory == pytest.approx(WORLD.first / (WORLD.first + WORLD.second))


@pytest.mark.parametrize("k", [1, 5, 20])
def test_nce_learns_a_density_that_sums_to_one_by_itself(k):
    learned = optima.learn_density(WORLD, k)
    assert learned.fitted == pytest.approx(WORLD.first, rel=1e-3, abs=1e-5)
    assert learned.fitted.sum() == pytest.approx(1, abs=1e-4)


def test_without_the_offset_nce_learns_a_ratio_that_depends_on_k():
    few, many = (optima.learn_density(WORLD, k, offset=False) for k in (1, 10))
    assert few.fitted == pytest.approx(few.theory, rel=1e-3)
    assert few.fitted / many.fitted == pytest.approx(np.full(41, 10), rel=1e-3)


@pytest.mark.parametrize("candidates", [2, 3])
def test_info_nce_learns_the_ratio_whatever_the_number_of_candidates(candidates):
    learned = optima.learn_ratio(WORLD, candidates)
    assert learned.fitted == pytest.approx(WORLD.first / WORLD.marginal, rel=2e-3, abs=1e-3)


def test_other_numbers_of_candidates_are_refused():
    with pytest.raises(ValueError, match="candidates must be 2 or 3, the sizes summed exactly, got 4"):
        optima.learn_ratio(WORLD, 4)
