"""CKA, Procrustes and histograms of similarities."""

import math

import numpy as np
import pytest
import torch

from core import geometry


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def turn(d, seed=5):
    return np.linalg.qr(rows(d, d, seed))[0]


def test_cka_equals_the_kernel_form():
    """HSIC of centred Gram matrices, as defined, with n x n matrices."""
    x, y = rows(20, 4), rows(20, 7, 1) + rows(20, 4) @ rows(4, 7, 2)
    centre = np.eye(20) - 1 / 20
    k, m = centre @ x @ x.T @ centre, centre @ y @ y.T @ centre
    expected = (k * m).sum() / math.sqrt((k * k).sum() * (m * m).sum())
    assert geometry.cka(x, y) == pytest.approx(expected, abs=1e-12)


def test_cka_limits():
    x = rows(30, 5)
    assert geometry.cka(x, x @ turn(5) * 8 + 3) == pytest.approx(1, abs=1e-12)
    assert geometry.cka(x, x @ rows(5, 5, 3)) < 0.999  # not blind to general linear maps
    a = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert geometry.cka(a, np.array([[1.0], [1.0], [-1.0], [-1.0]])) == pytest.approx(0, abs=1e-12)
    assert math.isnan(geometry.cka(x, np.ones((30, 2))))


def test_cka_of_unrelated_embeddings():
    assert geometry.cka(rows(400, 100), rows(400, 100, 1)) == pytest.approx(100 / 500, abs=0.02)


def test_procrustes_undoes_a_rotation_and_a_mirror():
    z = rows(30, 3)
    for mirror in (np.eye(3), np.diag([1, 1, -1])):
        found = geometry.procrustes(z @ turn(3) @ mirror, z)
        assert found.aligned.numpy() == pytest.approx(z, abs=1e-10)
        assert found.distance == pytest.approx(0, abs=1e-10)
        assert (found.rotation.T @ found.rotation).numpy() == pytest.approx(np.eye(3), abs=1e-12)


def test_procrustes_is_the_best_turn():
    z, target = rows(30, 2), rows(30, 2, 1)
    best = geometry.procrustes(z, target).distance
    for angle in np.linspace(0, 2 * math.pi, 50):
        c, s = math.cos(angle), math.sin(angle)
        for mirror in (1, -1):
            moved = z @ np.array([[c, -s * mirror], [s, c * mirror]])
            assert np.sqrt(((moved - target) ** 2).sum(axis=1).mean()) >= best - 1e-12


def test_procrustes_keeps_the_dtype():
    found = geometry.procrustes(torch.randn(5, 3), torch.randn(5, 3))
    assert found.aligned.dtype == torch.float32


def slow_histograms(z, labels, z2, bins):
    """One pair at a time."""
    unit = [row / np.linalg.norm(row) for row in z]
    edges = np.linspace(-1, 1, bins + 1)

    def count(values):
        return np.histogram(np.clip(values, -1, 1), edges)[0]

    pairs = [(i, j) for i in range(len(z)) for j in range(i)]
    same = [unit[i] @ unit[j] for i, j in pairs if labels[i] == labels[j]]
    different = [unit[i] @ unit[j] for i, j in pairs if labels[i] != labels[j]]
    positive = [x @ y / np.linalg.norm(y) for x, y in zip(unit, z2, strict=True)]
    return count(same), count(different), count(positive)


@pytest.mark.parametrize("block", [7, 1000])
def test_histograms_equal_the_slow_loop(monkeypatch, block):
    from core.geometry import similarities

    monkeypatch.setattr(similarities, "BLOCK_ROWS", block)
    z, labels = rows(40, 3), np.random.default_rng(0).integers(0, 4, 40)
    z2 = z + 0.3 * rows(40, 3, 1)
    found = geometry.similarity_histograms(z, labels, z2, bins=37)  # an odd number: no edge at 0
    same, different, positive = slow_histograms(z, labels, z2, 37)
    assert (found.same_class == same).all() and (found.different_class == different).all() and (found.positive == positive).all()
    assert found.edges == pytest.approx(np.linspace(-1, 1, 38))
    assert found.same_class.sum() + found.different_class.sum() == 40 * 39 / 2


def test_histograms_without_labels_or_second_view():
    z = rows(20, 3)
    found = geometry.similarity_histograms(z)
    assert found.positive is None and not found.same_class.any() and found.different_class.sum() == 190
    single = geometry.similarity_histograms(z, np.zeros(20, dtype=int))
    assert (single.same_class == found.different_class).all() and not single.different_class.any()


def test_histograms_of_equal_rows_fall_in_the_last_bin():
    """In float32 the cosine of equal rows can come out above 1, where a histogram would lose it."""
    z = torch.randn(1, 37).expand(50, 37)
    found = geometry.similarity_histograms(z, torch.zeros(50, dtype=torch.long), z)
    assert found.same_class[-1] == 50 * 49 / 2 and found.positive[-1] == 50


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: geometry.cka(rows(3, 2), rows(4, 2)), "x and y must embed the same images in the same order, got 3 and 4 rows."),
        (lambda: geometry.cka(rows(1, 2), rows(1, 2)), "x must have at least 2 rows, got 1."),
        (
            lambda: geometry.procrustes(rows(3, 2), rows(3, 3)),
            "z and target must have the same shape (n, d), got (3, 2) and (3, 3).",
        ),
        (lambda: geometry.similarity_histograms(rows(3, 2), [0, 1]), "labels must have shape (3,), one per row of z, got (2,)."),
        (lambda: geometry.similarity_histograms(rows(3, 2), bins=0), "bins must be >= 1, got 0."),
        (
            lambda: geometry.similarity_histograms(rows(3, 2), z2=rows(4, 2)),
            "z and z2 must have the same shape (n, d), got (3, 2) and (4, 2).",
        ),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text
