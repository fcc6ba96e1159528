"""The loss that a RunSpec asks for is the public loss with its settings."""

import pytest
import torch
from torch.testing import assert_close

from core.losses import align_uniform, alignment, cross_view, from_spec, generalized, nt_xent
from core.training.spec import CONTRASTIVE, RunSpec

TWO_VIEWS = sorted(CONTRASTIVE - {"moco"})


def views(n=6, d=4, dtype=torch.float32):
    random = torch.Generator().manual_seed(0)
    return [torch.randn(n, d, generator=random).to(dtype) for _ in range(2)]


def public(spec, a, b):
    """The same through the public functions."""
    random = torch.Generator().manual_seed(7)
    convention = spec.convention
    mask = False if convention == "notebook" else spec.mask_self
    options = dict(tau=spec.tau, lam=spec.weight, mask_self=mask, convention=convention, generator=random)
    return {
        "nt_xent": lambda: nt_xent(a, b, spec.tau),
        "cross_view": lambda: cross_view(a, b, spec.tau),
        "gcl": lambda: generalized(a, b, **options).total,
        "swd_hypersphere": lambda: generalized(a, b, "hypersphere", **options).total,
        "swd_hypercube": lambda: generalized(a, b, "hypercube", **options).total,
        "swd_normal": lambda: generalized(a, b, "normal", **options).total,
        "align_uniform": lambda: align_uniform(a, b, spec.weight).total,
        "alignment": lambda: alignment(a, b),
        "uniformity": lambda: align_uniform(a, b, 1.0).distribution,
    }[spec.objective]()


GENERALIZED = [objective for objective in TWO_VIEWS if objective.startswith(("gcl", "swd"))]


@pytest.mark.parametrize(
    ("objective", "convention"), [(o, "standard") for o in TWO_VIEWS] + [(o, "notebook") for o in GENERALIZED]
)
@pytest.mark.parametrize("settings", [{}, {"tau": 0.3}, {"tau": 0.3, "lam": 2.0}, {"tau": 0.3, "lam": 2.0, "mask_self": False}])
def test_equals_the_public_loss(objective, convention, settings):
    if convention == "notebook":
        settings = {name: value for name, value in settings.items() if name != "mask_self"}  # refused
    spec = RunSpec(objective=objective, convention=convention, **settings)
    a, b = views()
    terms = from_spec(spec)(a, b, torch.Generator().manual_seed(7))
    assert_close(terms.total, public(spec, a, b))


@pytest.mark.parametrize("objective", TWO_VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_trains_in_an_autocast_region(objective, dtype):
    a, b = (z.requires_grad_() for z in views(dtype=dtype))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        terms = from_spec(RunSpec(objective=objective))(a, b, torch.Generator().manual_seed(1))
    terms.total.backward()
    assert all(term.dtype == torch.float32 and term.shape == () for term in terms)
    assert a.grad.isfinite().all() and a.grad.any()


@pytest.mark.parametrize("objective", TWO_VIEWS)
def test_parts_make_up_the_total(objective):
    spec = RunSpec(objective=objective, tau=0.3)
    a, b = (z.double() for z in views())
    total, pull, push = from_spec(spec)(a, b)
    expected = {
        "nt_xent": (pull - 1) / 0.3 + push,
        "cross_view": 2 * (pull - 1) / 0.3 + push,
        "alignment": pull,
        "uniformity": push,
    }.get(objective, pull + spec.weight * push)
    assert_close(total, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("objective", TWO_VIEWS)
@pytest.mark.parametrize("tau", [0.01, 0.1])
def test_rows_that_are_not_finite_give_a_loss_that_is_not(objective, tau):
    """The training loop watches the value, on every device; nothing is raised and nothing looks like a number."""
    a, b = views()
    a[1, 1] = torch.nan
    assert not from_spec(RunSpec(objective=objective, tau=tau))(a, b).total.isfinite()


def test_shapes_are_still_checked():
    with pytest.raises(ValueError, match="must have the same shape"):
        from_spec(RunSpec())(torch.ones(4, 3), torch.ones(5, 3))
    with pytest.raises(ValueError, match="at least 2 rows"):
        from_spec(RunSpec(objective="uniformity"))(torch.ones(1, 3), torch.ones(1, 3))


@pytest.mark.parametrize("objective", ["moco", "supervised", "autoencoder", "untrained"])
def test_other_objectives_are_named(objective):
    with pytest.raises(ValueError) as error:
        from_spec(RunSpec(objective=objective, batch_size=256, queue=1024))
    assert str(error.value) == (
        "objective must be one of nt_xent, cross_view, gcl, swd_hypersphere, swd_hypercube, swd_normal, align_uniform, "
        f"alignment, uniformity for a loss of two views, got {objective!r}."
    )


def test_random_numbers_come_from_the_generator():
    a, b = views()
    loss = from_spec(RunSpec(objective="swd_normal"))
    first, second = (loss(a, b, torch.Generator().manual_seed(seed)).total for seed in (1, 2))
    assert first != second
    assert loss(a, b, torch.Generator().manual_seed(1)).total == first
