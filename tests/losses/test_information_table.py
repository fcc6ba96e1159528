"""The shipped bounds are what the code computes."""

import pytest

from core.losses import information_table
from core.losses.information_table import DIMENSIONS, RHOS, SIZES, bounds, computed
from core.losses.mutual_information import gaussian_information


@pytest.mark.parametrize("rho", [0.3, 0.95])
def test_the_file_holds_what_the_code_computes(rho):
    again = computed(rho, SIZES[:3])
    for dim in DIMENSIONS:
        for row, shipped in zip(again[str(dim)], bounds(rho)[0][dim], strict=False):
            assert tuple(row) == pytest.approx(shipped, rel=1e-5)


def test_every_correlation_of_the_pages_is_there_and_below_its_bounds():
    for rho in RHOS:
        found, truths = bounds(rho)
        for dim in DIMENSIONS:
            assert truths[dim] == gaussian_information(dim, rho) and len(found[dim]) == len(SIZES)
            assert all(bound.estimate <= truths[dim] + 5 * bound.spread for bound in found[dim])


def test_another_correlation_is_refused():
    with pytest.raises(ValueError, match=r"rho must be one of 0\.3, .*, got 0\.6"):
        information_table.bounds(0.6)
