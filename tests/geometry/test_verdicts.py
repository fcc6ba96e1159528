"""The uniformity tests in words: what rejects, what does not, and what chance alone shows."""

import numpy as np
import pytest

from core.geometry.planes import unit
from core.geometry.sphere_tests import bingham, cosine_gap, rayleigh
from core.geometry.verdicts import verdicts

RANDOM = np.random.default_rng(0)


def said(z) -> dict[str, str]:
    z = unit(z)
    return {verdict.name: verdict.said for verdict in verdicts(rayleigh(z), bingham(z), cosine_gap(z), len(z))}


def test_uniform_points_pass_and_the_effects_are_those_of_chance():
    z = unit(RANDOM.normal(size=(400, 3)))
    words = said(z)
    assert words["Rayleigh"].startswith("Not told apart from uniform points (p = ")
    assert "400 uniform points show about 0.050." in words["Bingham"]
    effects = [(rayleigh(x).effect, bingham(x).effect) for x in (unit(RANDOM.normal(size=(400, 8))) for _ in range(40))]
    np.testing.assert_allclose(np.sqrt(np.square(effects).mean(axis=0)), 0.05, rtol=0.15)


def test_two_opposite_clusters_are_seen_by_bingham_and_not_by_rayleigh():
    z = np.r_[RANDOM.normal([5, 0, 0], 0.1, (100, 3)), RANDOM.normal([-5, 0, 0], 0.1, (100, 3))]
    words = said(z)
    assert words["Rayleigh"].startswith("Not told apart") and words["Bingham"].startswith("Not uniform (p < 0.001)")


def test_a_small_but_certain_departure_is_called_slight():
    z = unit(RANDOM.normal(size=(5000, 3)) + np.array([0.08, 0, 0]))
    assert said(z)["Rayleigh"].startswith("Slightly off uniform")


def test_fields_in_a_dictionary_do_as_well():
    z = unit(RANDOM.normal(size=(50, 3)))
    tests = rayleigh(z), bingham(z), cosine_gap(z)
    assert verdicts(*tests, 50) == verdicts(*(test._asdict() for test in tests), 50)
    assert verdicts(*tests, 50)[2].effect == f"{tests[2].gap:.3f}, difference of cumulative shares"
    with pytest.raises(KeyError):
        verdicts({}, *tests[1:], 50)
