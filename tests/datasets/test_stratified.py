"""Stratified subsets and splits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.select import split, stratified_order, subset

labels = st.lists(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 7]), min_size=1, max_size=120).map(np.array)


@given(labels)
def test_every_beginning_is_stratified(labels):
    """Each class is within one image of its share, and present once there are as many images as classes."""
    order = stratified_order(labels)
    assert sorted(order) == list(range(len(labels)))
    values, counts = np.unique(labels, return_counts=True)
    for n in range(1, len(labels) + 1):
        chosen = np.array([(labels[order[:n]] == value).sum() for value in values])
        assert (np.abs(chosen - counts * n / len(labels)) < 1.5 + len(values) / 2).all()
        if n >= len(values):
            assert (chosen > 0).all()


def test_balanced_classes_stay_balanced():
    labels = np.repeat(np.arange(10), 400)
    for n in (10, 25, 1000, 3999):
        counts = np.bincount(labels[subset(labels, n)], minlength=10)
        assert counts.max() - counts.min() <= 1 and counts.sum() == n


@given(labels, st.data())
def test_subsets_are_nested_ascending_and_repeatable(labels, data):
    small = data.draw(st.integers(1, len(labels)))
    large = data.draw(st.integers(small, len(labels)))
    assert set(subset(labels, small)) <= set(subset(labels, large))
    assert (np.diff(subset(labels, large)) > 0).all()
    assert (subset(labels, small) == subset(labels, small)).all()


def test_subset_is_a_random_choice_and_not_the_first_rows():
    labels = np.zeros(1000, int)
    assert 400 < subset(labels, 500).mean() < 600


@given(st.lists(st.integers(2, 9), min_size=1, max_size=6), st.sampled_from([0.2, 0.5]))
def test_split_divides_every_class(sizes, share):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    train, test = split(labels, share)
    assert sorted([*train, *test]) == list(range(len(labels)))
    for label, size in enumerate(sizes):
        assert (labels[test] == label).sum() == min(max(round(share * size), 1), size - 1)
