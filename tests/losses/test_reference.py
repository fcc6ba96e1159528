"""Reference lines of the loss against sums, simulations and the losses themselves."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from core.losses import align_uniform, cross_view, generalized, nt_xent, reference
from core.losses.conversion import Conversion, convert


def test_needs_no_torch(root):
    """Pages draw these lines; the page process must stay light."""
    code = (
        "import sys; from core.losses import reference, conversion; from core.geometry import closed_forms, sphere_tests; "
        "import core.geometry, core.losses; core.geometry.uniform_optimum(3); "
        "bad = {'torch', 'timm', 'dask', 'streamlit'} & set(sys.modules); sys.exit(f'imported: {bad}' if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_packages_name_what_they_have():
    import core.geometry
    import core.losses

    for package in (core.losses, core.geometry):
        for name in package.__all__:
            assert callable(getattr(package, name)), name
        with pytest.raises(AttributeError, match="has no attribute 'unheard_of'"):
            package.unheard_of  # noqa: B018


def corners(n):
    """n unit vectors with all cosines -1/(n-1)."""
    centred = np.eye(n) - 1 / n
    return torch.from_numpy(centred / np.linalg.norm(centred, axis=1, keepdims=True))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("tau", [0.05, 0.2, 1.0])
def test_simplex_is_the_loss_on_a_simplex(n, tau):
    z = corners(n) if n > 1 else torch.ones(1, 3, dtype=torch.float64)
    assert float(nt_xent(z, z, tau)) == pytest.approx(reference.simplex(n, tau), abs=1e-10)
    assert float(cross_view(z, z, tau)) / 2 == pytest.approx(reference.simplex(n, tau, "cross_view"), abs=1e-10)


def test_simplex_is_the_least_loss():
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        z = torch.randn(5, 6, generator=generator, dtype=torch.float64)
        assert float(nt_xent(z, z, 0.3)) >= reference.simplex(5, 0.3)


def test_mean_field_is_the_loss_of_many_uniform_images():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(512, 64, generator=generator, dtype=torch.float64)
    for tau in (0.2, 0.5, 1.0):
        assert float(nt_xent(z, z, tau)) == pytest.approx(reference.mean_field(512, 64, tau), abs=0.02)
        assert float(cross_view(z, z, tau)) / 2 == pytest.approx(reference.mean_field(512, 64, tau, "cross_view"), abs=0.02)


@pytest.mark.parametrize(("n", "bits"), [(2, 1), (4, 2), (6, 1), (7, 3)])
@pytest.mark.parametrize(("kind", "views"), [("nt_xent", 2), ("cross_view", 1)])
def test_floor_is_the_mean_over_all_codes(n, bits, kind, views):
    """Every assignment of codes to n images, enumerated."""
    codes = np.stack(np.meshgrid(*[np.arange(2**bits)] * (n - 1)), axis=-1).reshape(-1, n - 1)  # the anchor has code 0
    same = (codes == 0).sum(axis=1)
    assert reference.randbit_floor(n, bits, kind) == pytest.approx(np.log1p(views * same).mean(), abs=1e-12)


def test_floor_is_reached_by_an_encoder_that_keeps_the_code():
    """Embeddings that are the code's own direction, at a cold temperature."""
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(40):
        z = torch.eye(8, dtype=torch.float64)[torch.from_numpy(rng.integers(0, 8, 64))]
        losses.append((float(nt_xent(z, z, 0.02)), float(cross_view(z, z, 0.02)) / 2))
    means, spread = np.mean(losses, axis=0), np.std(losses, axis=0) / math.sqrt(40)
    floors = [reference.randbit_floor(64, 3, kind) for kind in ("nt_xent", "cross_view")]
    assert (np.abs(means - floors) < 5 * spread + 1e-6).all()


def test_finite_temperature_is_above_the_exact_floor():
    for bits in (2, 6, 10):
        values = [reference.randbit_floor_finite_tau(256, bits, tau) for tau in (0.02, 0.1, 0.5)]
        assert [reference.randbit_floor(256, bits), *values] == sorted([reference.randbit_floor(256, bits), *values])
    assert reference.randbit_floor_finite_tau(256, 0, 0.1) == pytest.approx(reference.chance(511))


def test_limits_of_the_lines():
    assert reference.randbit_floor(1, 5) == reference.simplex(1, 0.1) == reference.mean_field(1, 3, 0.1) == 0
    assert reference.randbit_floor(256, 0) == pytest.approx(reference.chance(511), abs=1e-12)
    assert reference.randbit_floor(256, 60) == pytest.approx(0, abs=1e-12)
    assert reference.information_line(256, 60) == 0
    assert reference.information_line(1000, 3, "cross_view") == pytest.approx(math.log(1000 / 8))
    assert reference.saturation_bits(1000, "cross_view") == pytest.approx(9.9658, abs=1e-4)


def test_collapsed_terms_are_those_of_the_loss():
    same = torch.ones(16, 4, dtype=torch.float64)
    for mask in (True, False):
        terms = generalized(same, same, tau=0.3, lam=2.0, mask_self=mask)
        assert float(terms.distribution) == pytest.approx(reference.collapsed_log_sum_exp(16, 0.3, mask), abs=1e-10)
        assert float(terms.alignment) == pytest.approx(0, abs=1e-12)
    assert float(align_uniform(same, same).total) == pytest.approx(0, abs=1e-12)
    assert [reference.collapsed_sliced_wasserstein(64, p) for p in ("hypersphere", "hypercube", "normal")] == [1 / 32, 1 / 3, 1]


def test_codes_in_the_generalized_loss():
    """At lam = tau the line is 1 + tau times the floor of NT-Xent."""
    assert 0.1 * reference.log_sum_exp_of_codes(250, 5, 0.1) == pytest.approx(1 + 0.1 * reference.randbit_floor(250, 5))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: reference.chance(0), "candidates must be >= 1, got 0."),
        (lambda: reference.randbit_floor(0, 3), "n must be >= 1 image, got 0."),
        (lambda: reference.randbit_floor(8, -1), "bits must be >= 0, got -1."),
        (lambda: reference.randbit_floor(8, 1, "moco"), "kind must be one of nt_xent, cross_view, got 'moco'."),
        (lambda: reference.simplex(8, 0), "tau must be a finite number > 0, got 0."),
        (lambda: reference.mean_field(8, 4, math.nan), "tau must be a finite number > 0, got nan."),
        (lambda: reference.collapsed_sliced_wasserstein(0, "normal"), "dim must be >= 1, got 0."),
        (
            lambda: convert(1, "sum", "paper", "paper", dim=2, rows=2),
            "kind must be one of log_sum_exp, sliced_wasserstein, got 'sum'.",
        ),
        (
            lambda: convert(1, "log_sum_exp", "ours", "paper", dim=2, rows=2),
            "source must be one of standard, notebook, paper, got 'ours'.",
        ),
        (lambda: convert(-1, "log_sum_exp", "paper", "paper", dim=2, rows=2), "lam must be a finite number >= 0, got -1."),
        (lambda: convert(1, "log_sum_exp", "paper", "paper", dim=0, rows=2), "dim must be >= 1 and rows >= 2, got 0 and 2."),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text


def as_written(writing, kind, a, b, tau, lam):
    """The loss of each convention, put together from parts."""
    n, d = a.shape
    rows = 2 * n
    random = torch.Generator().manual_seed(0)
    if kind == "log_sum_exp":
        if writing == "paper":
            cosine = torch.nn.functional.cosine_similarity(a, b).sum()
            spread = generalized(a, b, tau=tau, lam=1.0, mask_self=True).distribution
            return -2 * cosine / n + lam / n * rows * spread  # ordered pairs: 2n of them, over n
        return generalized(a, b, tau=tau, lam=lam, mask_self=False, convention=writing).total
    if writing == "paper":
        terms = generalized(a, b, "normal", lam=0.0, generator=random)
        return terms.alignment + lam * terms.distribution * rows / d
    return generalized(a, b, "normal", lam=lam, convention=writing, generator=random).total


@pytest.mark.parametrize("kind", ["log_sum_exp", "sliced_wasserstein"])
@pytest.mark.parametrize("source", ["standard", "notebook", "paper"])
@pytest.mark.parametrize("target", ["standard", "notebook", "paper"])
def test_anchor_17_conversions_hold_for_the_losses_themselves(kind, source, target):
    """Value: L_target = scale * L_source + shift. The paper masks the self term and the notebook does not, so between
    these two only the weights can be compared."""
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(16, 8, generator=generator, dtype=torch.float64) for _ in range(2))
    lam, tau = 0.7, 0.4
    found = convert(lam, kind, source, target, dim=8, rows=32)
    assert isinstance(found, Conversion) and found.text.startswith("lam = 0.7 in ")
    back = convert(found.lam, kind, target, source, dim=8, rows=32)
    assert back.lam == pytest.approx(lam) and back.scale == pytest.approx(1 / found.scale)
    masks = {"standard": {True, False}, "notebook": {False}, "paper": {True}}
    if kind == "log_sum_exp" and not masks[source] & masks[target]:
        return
    left, right = (as_written(w, kind, a, b, tau, weight) for w, weight in ((source, lam), (target, found.lam)))
    if kind == "log_sum_exp" and "paper" in (source, target):
        masked = {w: generalized(a, b, tau=tau, lam=weight).total for w, weight in ((source, lam), (target, found.lam))}
        left = masked[source] if source == "standard" else left
        right = masked[target] if target == "standard" else right
    assert float(right) == pytest.approx(float(found.scale * left + found.shift), abs=1e-12)


@pytest.mark.parametrize(
    ("lam", "kind", "source", "expected", "text"),
    [
        (
            5, "sliced_wasserstein", "paper", 20,
            "lam = 5 in the paper's formulas is lam = 20 in our convention (d = 64, 256 embeddings a batch).",
        ),
        (5, "sliced_wasserstein", "notebook", 10, "lam = 5 in the authors' notebook is lam = 10 in our convention."),
        (0.1, "log_sum_exp", "notebook", 6.4, "lam = 0.1 in the authors' notebook is lam = 6.4 in our convention (d = 64)."),
        (0.1, "log_sum_exp", "paper", 0.1, "lam = 0.1 in the paper's formulas is lam = 0.1 in our convention."),
    ],
)
def test_published_weights_in_our_convention(lam, kind, source, expected, text):
    found = convert(lam, kind, source, "standard", dim=64, rows=256)
    assert found.lam == pytest.approx(expected) and found.text == text
    if kind == "sliced_wasserstein" and source == "paper":
        assert convert(lam, kind, source, "standard", dim=128, rows=2048).lam == 80
