"""The generalized contrastive loss: slow loops, the NT-Xent identity, both conventions."""

import math

import loss_oracles as oracle
import pytest
import torch
from torch.testing import assert_close

from core.losses import LossTerms, NotFiniteError, generalized, log_sum_exp, nt_xent
from core.losses.wasserstein import draw_prior, orthonormal_columns

PRIORS = ["hypersphere", "hypercube", "normal"]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def views(n, d, seed=0, dtype=torch.float64):
    random = seeded(seed)
    a = torch.randn(n, d, generator=random, dtype=torch.float64)
    return a.to(dtype), (a + 0.5 * torch.randn(n, d, generator=random, dtype=torch.float64)).to(dtype)


def slow(a, b, distribution, tau, lam, mask_self, convention, seed=0):
    """Alignment and distribution by loops, in either convention."""
    n, d = a.shape
    notebook = convention == "notebook"
    both = torch.cat([a, b])
    if distribution == "log_sum_exp":
        pull = oracle.alignment(a, b) / (d if notebook else 1)
        push = oracle.log_sum_exp(both, tau, mask_self) - (math.log(d) if notebook else 0)
    else:
        random = seeded(seed)
        sphere = distribution == "hypersphere"
        sample = draw_prior(both.detach(), distribution, random)
        directions = orthonormal_columns(d, d, both.detach(), random)
        ours, theirs = ([oracle.unit(row) for row in z] if sphere else z for z in (a, b))
        pull = oracle.squared_differences(ours, theirs) / (n * d) / (2 if notebook else 1)
        push = oracle.sliced_wasserstein(both, sample, directions, sphere) / (2 * n * d)
    return pull, push


@pytest.mark.parametrize("convention", ["standard", "notebook"])
@pytest.mark.parametrize("distribution", ["log_sum_exp", *PRIORS])
@pytest.mark.parametrize(("tau", "lam"), [(0.005, 0.3), (0.05, 0.05), (0.2, 2.0), (1.0, 0.0), (10.0, 5.0)])
@pytest.mark.parametrize(("n", "d"), [(1, 2), (4, 3), (3, 1)])
def test_value_and_gradient_equal_the_slow_loops(convention, distribution, tau, lam, n, d):
    a, b = views(n, d, seed=n)
    for mask_self in (True, False):

        def total(x, y, mask_self=mask_self):
            pull, push = slow(x, y, distribution, tau, lam, mask_self, convention)
            return pull + lam * push

        expected, expected_grads = oracle.gradients(total, a, b)
        ours = [a.clone().requires_grad_(), b.clone().requires_grad_()]
        terms = generalized(
            *ours, distribution, tau=tau, lam=lam, mask_self=mask_self, convention=convention, generator=seeded()
        )
        terms.total.backward()
        pull, push = slow(a, b, distribution, tau, lam, mask_self, convention)
        assert isinstance(terms, LossTerms)
        assert_close(terms.total.detach(), expected, rtol=1e-9, atol=1e-12)
        assert_close((terms.alignment.detach(), terms.distribution.detach()), (pull, push), rtol=1e-9, atol=1e-12)
        assert_close([z.grad for z in ours], expected_grads, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("distribution", ["log_sum_exp", *PRIORS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("autocast", [False, True])
def test_narrow_inputs_compute_in_float32(distribution, dtype, autocast):
    a, b = views(6, 4, dtype=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        terms = generalized(a, b, distribution, tau=0.07, lam=0.5, generator=seeded())
    wide = generalized(a.float(), b.float(), distribution, tau=0.07, lam=0.5, generator=seeded())
    assert all(term.dtype == torch.float32 for term in terms)
    assert_close(tuple(terms), tuple(wide), rtol=0, atol=0)


@pytest.mark.parametrize("tau", [0.005, 0.1, 0.2, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("mask_self", [True, False])
def test_anchor_14_lam_equal_to_tau_is_nt_xent(tau, mask_self):
    """L - 1 = tau * NT-Xent, and the gradient is exactly tau times as large."""
    def nt_xent_by(x, y):
        if mask_self:
            return tau * nt_xent(x, y, tau)
        cosines = torch.nn.functional.cosine_similarity(x, y)
        return tau * log_sum_exp(torch.cat([x, y]), tau, mask_self=False) - cosines.mean()

    found = []
    for loss in (lambda x, y: generalized(x, y, tau=tau, lam=tau, mask_self=mask_self).total - 1, nt_xent_by):
        views_here = [z.requires_grad_() for z in views(64, 128)]
        value = loss(*views_here)
        value.backward()
        found.append((value.detach(), *(z.grad for z in views_here)))
    assert_close(found[0], found[1], rtol=0, atol=1e-12)


def test_lam_scales_the_distribution_only():
    a, b = views(8, 5)
    for distribution in ("log_sum_exp", *PRIORS):
        terms = [generalized(a, b, distribution, tau=0.3, lam=lam, generator=seeded()) for lam in (0.0, 1.0, 2.5)]
        assert_close(terms[0].total, terms[0].alignment)
        assert_close(terms[2].total - terms[0].total, 2.5 * (terms[1].total - terms[0].total), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("distribution", ["log_sum_exp", *PRIORS])
@pytest.mark.parametrize("convention", ["standard", "notebook"])
def test_symmetric_and_blind_to_the_order_of_images(distribution, convention):
    a, b = views(7, 4)

    def total(x, y):
        return generalized(x, y, distribution, tau=0.2, lam=0.7, convention=convention, generator=seeded()).total

    order = torch.randperm(7, generator=seeded(1))
    assert_close(total(b, a), total(a, b), rtol=1e-12, atol=1e-12)
    assert_close(total(a[order], b[order]), total(a, b), rtol=1e-12, atol=1e-12)


def test_the_mask_follows_the_convention_unless_it_is_given():
    a, b = views(5, 4)
    for convention, masked in (("standard", True), ("notebook", False)):
        by_default = generalized(a, b, tau=0.2, lam=1.0, convention=convention)
        given = generalized(a, b, tau=0.2, lam=1.0, convention=convention, mask_self=masked)
        other = generalized(a, b, tau=0.2, lam=1.0, convention=convention, mask_self=not masked)
        assert by_default == given and by_default.total != other.total


@pytest.mark.parametrize("distribution", ["log_sum_exp", *PRIORS])
def test_identical_rows_are_finite(distribution):
    a = torch.ones(8, 4, requires_grad=True)
    terms = generalized(a, a.detach(), distribution, tau=0.1, lam=1.0, generator=seeded())
    terms.total.backward()
    assert terms.total.isfinite() and a.grad.isfinite().all()


@pytest.mark.parametrize("distribution", ["log_sum_exp", *PRIORS])
def test_meta_device(distribution):
    a = torch.empty(6, 4, device="meta", requires_grad=True)
    terms = generalized(a, torch.empty(6, 4, device="meta"), distribution, tau=0.1, lam=0.5)
    terms.total.backward()
    assert all(term.device.type == "meta" for term in terms)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dict(lam=-1.0), "lam must be a finite number >= 0, got -1.0."),
        (dict(lam=float("nan")), "lam must be a finite number >= 0, got nan."),
        (dict(lam=float("inf")), "lam must be a finite number >= 0, got inf."),
        (dict(lam=1e300), "lam must be at most 1e+15, got 1e+300: above that, the loss would not be finite."),
        (dict(tau=0.0), "tau must be a finite number > 0, got 0.0."),
        (dict(distribution="sphere"), "distribution must be one of log_sum_exp, hypersphere, hypercube, normal, got 'sphere'."),
        (dict(convention="paper"), "convention must be one of standard, notebook, got 'paper'."),
        (dict(z2=torch.ones(4, 2)), "z1 and z2 must have the same shape (n, d), got (4, 3) and (4, 2)."),
    ],
)
def test_bad_input_is_named(change, text):
    with pytest.raises(ValueError) as error:
        generalized(**{"z1": torch.ones(4, 3), "z2": torch.ones(4, 3), "tau": 0.1, "lam": 1.0, **change})
    assert str(error.value) == text


@pytest.mark.parametrize("distribution", ["log_sum_exp", *PRIORS])
def test_rows_that_are_not_finite_are_counted(distribution):
    a, b = views(5, 3)
    b[2] = torch.nan
    with pytest.raises(NotFiniteError, match="0 of the 5 rows of z1, 1 of the 5 rows of z2"):
        generalized(a, b, distribution, tau=0.1, lam=1.0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_tiny_temperature_has_finite_gradients_or_is_refused(dtype):
    a, b = views(6, 4, dtype=dtype)
    for tau in (1e-8, 1e-15):
        z = a.clone().requires_grad_()
        for loss in (generalized(z, b, tau=tau, lam=1.0).total, nt_xent(z, b, tau)):
            (grad,) = torch.autograd.grad(loss, z)
            assert loss.isfinite() and grad.isfinite().all()
    for tau in (1e-16, 1e-30, 1e-300):
        for loss in (lambda t: generalized(a, b, tau=t), lambda t: nt_xent(a, b, t)):
            with pytest.raises(ValueError, match="tau must be at least 1e-15"):
                loss(tau)
