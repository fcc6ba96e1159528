"""Points under a loss: they go down, they end where theory says, and equal settings give equal paths."""

import numpy as np
import pytest
import torch

from core.geometry.closed_forms import uniform_optimum
from core.losses import from_spec, log_sum_exp
from core.losses.flow import starting_points, trajectory
from core.losses.trajectory import evenly_spread
from core.training.spec import RunSpec


@pytest.mark.parametrize("tau", [0.05, 0.1, 0.5, 2.0])
def test_nt_xent_ends_evenly_spread_on_the_circle(tau):
    flow = trajectory("gcl", tau, points=100, frames=120)
    theory = evenly_spread("gcl", "circle", 50, tau)
    assert theory.exact
    assert flow.alignment[-1] == pytest.approx(0, abs=1e-6)
    assert flow.distribution[-1] == pytest.approx(theory.distribution, abs=2e-4)
    assert flow.total[-1] >= theory.alignment + tau * theory.distribution - 1e-9


def test_uniformity_ends_at_the_optimum_of_the_circle_and_the_sphere():
    for space, dim in (("circle", 2), ("sphere", 3)):
        flow = trajectory("uniformity", space=space, points=100, frames=120)
        n = 50
        with_self_pairs = np.log(((n - 1) * np.exp(flow.distribution[-1]) + 1) / n)
        assert with_self_pairs == pytest.approx(uniform_optimum(dim), abs=1e-3)


def test_the_hypersphere_prior_is_reached():
    x = torch.as_tensor(trajectory("swd_hypersphere", lam=10.0).positions[-1]).double()
    assert x.norm(dim=1) == pytest.approx(np.ones(200), abs=1e-6)
    kernel = torch.exp(-2 * torch.cdist(x, x) ** 2)  # self pairs and second views included: bounded by the optimum
    assert float(kernel.mean().log()) == pytest.approx(uniform_optimum(2), abs=0.01)


@pytest.mark.parametrize(("objective", "variance"), [("swd_normal", 1.0), ("swd_hypercube", 1 / 3)])
def test_the_planes_priors_are_reached(objective, variance):
    flow = trajectory(objective, lam=10.0, space="plane")
    assert flow.positions[-1].var(axis=0) == pytest.approx([variance] * 2, rel=0.06)
    assert flow.distribution[-1] < 0.05 * flow.distribution[0] and flow.identity is None


@pytest.mark.parametrize("tau", [0.01, 0.05, 0.5, 5.0, 50.0])
@pytest.mark.parametrize("space", ["circle", "sphere"])
def test_the_loss_never_rises_at_any_temperature(tau, space):
    flow = trajectory("nt_xent", tau, space=space, points=40, frames=30)
    assert np.isfinite(flow.total).all() and (np.diff(flow.total) <= 0).all()
    assert np.linalg.norm(flow.positions, axis=2) == pytest.approx(np.ones((31, 40)), abs=1e-6)


def test_a_step_follows_the_gradient_of_the_loss():
    """One frame is one step: its direction must be minus the gradient of the loss in core.losses, along the sphere."""
    flow = trajectory("gcl", 0.3, 0.7, points=20, frames=1, seed=4)
    x = starting_points("circle", 20, "cluster", 4).requires_grad_()
    loss = from_spec(RunSpec(objective="gcl", tau=0.3, lam=0.7))(*x.chunk(2), None).total
    (gradient,) = torch.autograd.grad(loss, x)
    moved = torch.as_tensor(flow.positions[1]).double() - x.detach()
    cosine = -(moved * gradient).sum() / (moved.norm() * gradient.norm())
    assert float(cosine) > 0.999  # the step back onto the circle bends the chord a little


def test_one_part_alone():
    pulled = trajectory("gcl", 0.5, push=False, points=40, frames=60)
    assert pulled.total[-1] == pytest.approx(0, abs=1e-9) and pulled.total == pytest.approx(pulled.alignment)
    assert pulled.distribution[-1] > trajectory("gcl", 0.5, points=40, frames=60).distribution[-1] + 0.3
    pushed = trajectory("gcl", 0.5, 0.3, pull=False, points=40, frames=30)
    assert pushed.total == pytest.approx(0.3 * pushed.distribution)


def test_the_identity_holds_at_the_last_frame():
    flow = trajectory("gcl", 0.2, 1.0, points=60, frames=5)
    assert flow.identity.left == pytest.approx(flow.identity.right, abs=1e-12)
    assert flow.identity.gradient_ratio == pytest.approx(0.2, rel=1e-10)
    assert flow.identity.gradient_cosine == pytest.approx(1, abs=1e-12)


def test_equal_arguments_give_equal_arrays():
    for options in ({"objective": "gcl"}, {"objective": "swd_hypersphere", "lam": 5.0}):
        first, second = (trajectory(**options, points=20, frames=10, seed=3) for _ in range(2))
        assert (first.positions == second.positions).all() and (first.total == second.total).all()
        assert (trajectory(**options, points=20, frames=10, seed=4).positions != first.positions).any()


@pytest.mark.parametrize("mask_self", [True, False])
@pytest.mark.parametrize("tau", [0.05, 0.5])
def test_the_closed_form_of_the_circle_is_the_loss_of_equally_spaced_points(tau, mask_self):
    angles = 2 * np.pi * np.arange(30) / 30
    x = torch.as_tensor(np.stack([np.cos(angles), np.sin(angles)], 1))
    value = float(log_sum_exp(torch.cat([x, x]), tau, mask_self))
    assert evenly_spread("gcl", "circle", 30, tau, mask_self).distribution == pytest.approx(value, abs=1e-12)
    notebook = float(from_spec(RunSpec(objective="gcl", tau=tau, convention="notebook"))(x, x, None).distribution)
    assert evenly_spread("gcl", "circle", 30, tau, convention="notebook").distribution == pytest.approx(notebook, abs=1e-12)


def test_the_closed_form_of_the_sphere_is_the_loss_of_a_design():
    """The twelve corners of an icosahedron are a spherical 5-design: at a wide kernel they count as perfectly even."""
    golden = (1 + 5**0.5) / 2
    corners = [(0, i, j * golden) for i in (1, -1) for j in (1, -1)]
    x = torch.tensor([c[k:] + c[:k] for c in corners for k in range(3)], dtype=torch.float64)
    value = float(log_sum_exp(torch.cat([x, x]), 1.0))
    theory = evenly_spread("gcl", "sphere", 12, 1.0)
    assert theory.distribution == pytest.approx(value, abs=1e-4) and not theory.exact
    assert evenly_spread("gcl", "sphere", 12, 0.01) is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"space": "torus"}, "space must be one of circle, sphere, plane, got 'torus'."),
        ({"objective": "swd_normal"}, "swd_normal lives on the plane: its rows are not normalised, got space 'circle'."),
        ({"space": "plane"}, "gcl lives on the circle or the sphere, got space 'plane'."),
        ({"points": 7}, "points must be an even number from 4 to 1000 (two views of each image), got 7."),
        ({"frames": 0}, "frames must be from 1 to 1000, got 0."),
        ({"start": "spiral"}, "start must be one of cluster, random, collapsed, got 'spiral'."),
        ({"pull": False, "push": False}, "at least one of the two terms must take part"),
    ],
)
def test_wrong_options_are_named(options, text):
    with pytest.raises(ValueError) as error:
        trajectory(**options)
    assert str(error.value).startswith(text)
