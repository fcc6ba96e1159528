"""Sliced Wasserstein distance to a prior: slow loop, random directions, priors, ties."""

import loss_oracles as oracle
import pytest
import torch
from torch.testing import assert_close

from core.losses import NotFiniteError, sliced_wasserstein
from core.losses.wasserstein import distance_to_prior, draw_prior, orthonormal_columns

PRIORS = ["hypersphere", "hypercube", "normal"]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def rows(b, d, seed=1, dtype=torch.float64):
    return torch.randn(b, d, generator=seeded(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("projections", [None, 1, 2])
@pytest.mark.parametrize(("b", "d"), [(6, 3), (2, 2), (5, 4)])
def test_value_and_gradient_equal_the_slow_loop(prior, projections, b, d):
    z, random = rows(b, d), seeded()
    sample = draw_prior(z, prior, random)
    directions = orthonormal_columns(d, d if projections is None else projections, z, random)

    def slow(z):
        return oracle.sliced_wasserstein(z, sample, directions, prior == "hypersphere")

    total, (total_grad,) = oracle.gradients(slow, z)
    for scale, divisor in (("mean", b * directions.shape[1]), ("algorithm1", d * directions.shape[1])):
        ours = z.clone().requires_grad_()
        value = sliced_wasserstein(ours, prior, seeded(), projections, scale)
        value.backward()
        assert_close(value.detach(), total / divisor, rtol=1e-10, atol=1e-14)
        assert_close(ours.grad, total_grad / divisor, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True])
def test_narrow_inputs_compute_in_float32(prior, dtype, autocast):
    z = rows(20, 6, dtype=dtype)
    ours = z.clone().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        value = sliced_wasserstein(ours, prior, seeded())
    value.backward()
    sample = draw_prior(z.float(), prior, random := seeded())
    directions = orthonormal_columns(6, 6, z.float(), random).double()
    normalise = prior == "hypersphere"
    expected, (grad,) = oracle.gradients(lambda z: oracle.sliced_wasserstein(z, sample.double(), directions, normalise) / 120, z)
    assert value.dtype == torch.float32 and ours.grad.dtype == dtype
    assert_close(value.double(), expected, rtol=1e-5, atol=1e-6)
    assert_close(ours.grad.double(), grad, rtol=torch.finfo(dtype).eps, atol=1e-5)


@pytest.mark.parametrize("d", [1, 2, 7, 64, 128])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_anchor_58_directions_are_orthonormal(d, dtype, tolerance):
    for columns in {1, max(1, d // 2), d}:
        w = orthonormal_columns(d, columns, torch.empty(0, dtype=dtype), seeded(d))
        assert w.shape == (d, columns) and w.dtype == dtype
        assert_close(w.T @ w, torch.eye(columns, dtype=dtype), rtol=0, atol=tolerance)


def test_directions_are_uniform():
    """Without the sign of R's diagonal, the first entry of Q would always be negative."""
    random = seeded(4)
    draws = torch.stack([orthonormal_columns(3, 3, torch.empty(0, dtype=torch.float64), random) for _ in range(2000)])
    assert draws.mean(dim=0).abs().max() < 4 * (1 / 3 / 2000) ** 0.5  # E W = 0, Var = 1/d
    assert abs(torch.linalg.det(draws).mean()) < 4 / 2000**0.5  # as many rotations as reflections
    assert (draws[:, 0, 0] * draws[:, 1, 1]).mean().abs() < 0.05


def test_priors_are_what_they_are_called():
    like = torch.empty(20_000, 3, dtype=torch.float64)
    cube, normal, sphere = (draw_prior(like, prior, seeded(i)) for i, prior in enumerate(("hypercube", "normal", "hypersphere")))
    assert -1 <= cube.min() < -0.999 and 0.999 < cube.max() <= 1
    assert_close(cube.var(dim=0), torch.full((3,), 1 / 3, dtype=torch.float64), rtol=0.03, atol=0)
    assert_close(normal.var(dim=0), torch.ones(3, dtype=torch.float64), rtol=0.04, atol=0)
    assert_close(sphere.norm(dim=1), torch.ones(20_000, dtype=torch.float64), rtol=1e-12, atol=0)
    assert sphere.mean(dim=0).abs().max() < 0.02
    assert_close(sphere.var(dim=0), torch.full((3,), 1 / 3, dtype=torch.float64), rtol=0.03, atol=0)


@pytest.mark.parametrize("prior", PRIORS)
def test_new_sample_and_directions_at_every_call(prior):
    z, random = rows(10, 4), seeded()
    assert sliced_wasserstein(z, prior, random) != sliced_wasserstein(z, prior, random)
    assert sliced_wasserstein(z, prior, seeded(7)) == sliced_wasserstein(z, prior, seeded(7))
    torch.manual_seed(3)
    first = sliced_wasserstein(z, prior)
    assert sliced_wasserstein(z, prior) != first
    torch.manual_seed(3)
    assert sliced_wasserstein(z, prior) == first  # without a generator, torch's global one


def test_anchor_51_by_hand():
    """H = (0, 2), P = (5, 1), W = 1: ((0-1)^2 + (2-5)^2) = 10, over b d' = 2 or d d' = 1."""
    h, p = torch.tensor([[0.0], [2.0]], dtype=torch.float64), torch.tensor([[5.0], [1.0]], dtype=torch.float64)
    total = oracle.sliced_wasserstein(h, p, torch.ones(1, 1, dtype=torch.float64), normalise=False)
    assert_close(total, torch.tensor(10.0, dtype=torch.float64))
    b, d = h.shape
    assert (total / (b * 1), total / (d * 1)) == (5, 10)


@pytest.mark.parametrize("prior", PRIORS)
def test_anchor_52_same_set_is_zero_and_order_does_not_matter(prior):
    z = rows(12, 5)
    value = sliced_wasserstein(z, prior, seeded())
    order = torch.randperm(12, generator=seeded(2))
    assert_close(sliced_wasserstein(z[order], prior, seeded()), value, rtol=1e-12, atol=1e-14)
    itself = draw_prior(z, prior, seeded(9))  # the sample that the loss will draw
    assert_close(distance_to_prior(itself[order], prior, seeded(9)), torch.zeros((), dtype=torch.float64), rtol=0, atol=1e-20)


@pytest.mark.parametrize(("b", "d", "ratio"), [(256, 64, 4), (2048, 128, 16), (256, 128, 2)])
def test_anchor_53_ratio_of_the_scales(b, d, ratio):
    z = rows(b, d)
    value = [sliced_wasserstein(z, "normal", seeded(), scale=scale) for scale in ("mean", "algorithm1")]
    assert_close(value[1] / value[0], torch.tensor(float(ratio), dtype=torch.float64), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("prior", "b", "d", "expected", "tolerance"),
    [
        ("hypersphere", 256, 64, 0.03125, 0.04),
        ("hypersphere", 256, 128, 0.015625, 0.04),
        ("normal", 256, 64, 1.0, 0.05),
        ("hypercube", 256, 64, 1 / 3, 0.03),
    ],
)
def test_anchor_54_collapsed(prior, b, d, expected, tolerance):
    z = torch.zeros(b, d)
    if prior == "hypersphere":
        z[:, 0] = 3.0
    assert float(sliced_wasserstein(z, prior, seeded())) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize(
    ("prior", "expected"), [("hypersphere", 3.5e-4), ("normal", 2.3e-2), ("hypercube", 7.6e-3)]
)
def test_anchor_55_perfect_match(prior, expected):
    z = draw_prior(torch.empty(256, 64), prior, seeded(11))
    assert float(sliced_wasserstein(z, prior, seeded())) == pytest.approx(expected, rel=0.35)


@pytest.mark.parametrize(
    ("prior", "expected"), [("hypersphere", 2.4e-5), ("normal", 3.2e-3), ("hypercube", 1.0e-3)]
)
def test_anchor_56_perfect_match_of_a_large_batch(prior, expected):
    z = draw_prior(torch.empty(2048, 128), prior, seeded(11))
    assert float(sliced_wasserstein(z, prior, seeded())) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_anchor_57_ties(prior, value):
    """Permutations built from ranks go out of range on ties, that is on collapsed embeddings; a sort does not."""
    z = torch.full((16, 4), value, requires_grad=True)
    distance = sliced_wasserstein(z, prior, seeded())
    distance.backward()
    assert distance.isfinite() and z.grad.isfinite().all()
    if value or prior != "hypersphere":
        assert z.grad.any()


@pytest.mark.parametrize("prior", PRIORS)
def test_descent_reaches_the_prior(prior):
    """Gradient steps on the embeddings bring the distance down to that of a perfect match."""
    random = seeded(5)
    z = (0.01 * torch.randn(128, 3, generator=random) + 0.3).requires_grad_()
    start = sliced_wasserstein(z, prior, random).item()
    optimizer = torch.optim.Adam([z], lr=0.05)
    for _ in range(300):
        optimizer.zero_grad()
        sliced_wasserstein(z, prior, random).backward()
        optimizer.step()
    z = z.detach()
    end = sum(float(sliced_wasserstein(z, prior, random)) for _ in range(20)) / 20
    match = sum(float(sliced_wasserstein(draw_prior(z, prior, random), prior, random)) for _ in range(20)) / 20
    assert end < 1.3 * match < 0.3 * start


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("prior", PRIORS)
def test_smallest_sizes(b, d, prior):
    assert sliced_wasserstein(rows(b, d), prior, seeded()) >= 0


@pytest.mark.parametrize("prior", PRIORS)
def test_meta_device(prior):
    z = torch.empty(6, 4, device="meta", requires_grad=True)
    value = distance_to_prior(z, prior)
    value.backward()
    assert value.shape == () and z.grad.shape == (6, 4)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (dict(prior="sphere"), "prior must be one of hypersphere, hypercube, normal, got 'sphere'."),
        (dict(prior="normal", scale="sum"), "scale must be one of mean, algorithm1, got 'sum'."),
        (dict(prior="normal", n_projections=0), "n_projections must be from 1 to the dimension 3, got 0."),
        (dict(prior="normal", n_projections=4), "n_projections must be from 1 to the dimension 3, got 4."),
        (dict(prior="normal", z=torch.ones(4)), "z must have shape (rows, d), got (4,)."),
        (dict(prior="normal", z=torch.ones(0, 3)), "z must have at least 1 row and 1 dimension, got shape (0, 3)."),
    ],
)
def test_bad_input_is_named(arguments, text):
    with pytest.raises(ValueError) as error:
        sliced_wasserstein(**{"z": torch.ones(5, 3), **arguments})
    assert str(error.value) == text


@pytest.mark.parametrize("prior", PRIORS)
def test_rows_that_are_not_finite_are_counted(prior):
    z = rows(5, 3)
    z[[1, 4], 0] = torch.nan
    with pytest.raises(NotFiniteError, match="2 of the 5 rows of z are not finite"):
        sliced_wasserstein(z, prior)
