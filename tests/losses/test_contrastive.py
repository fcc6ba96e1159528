"""NT-Xent and cross-view InfoNCE: value and gradient against slow loops, invariances, edges."""

import loss_oracles as oracle
import numpy as np
import pytest
import torch
from torch.testing import assert_close

from core.losses import NotFiniteError, cross_view, log_sum_exp, nt_xent

TAUS = [0.005, 0.01, 0.0156, 0.016, 0.05, 0.1, 0.5, 1.0, 10.0]  # on both sides of 1/64, where the kernel changes its way
LOSSES = [(nt_xent, oracle.nt_xent), (cross_view, oracle.cross_view)]
LOSS_IDS = ["nt_xent", "cross_view"]


def views(n, d, seed=0, dtype=torch.float64, noise=0.7):
    """Two noisy views of n random rows, not normalised."""
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(n, d, generator=generator, dtype=torch.float64) * 3
    b = a + noise * torch.randn(n, d, generator=generator, dtype=torch.float64) * 3
    return a.to(dtype), b.to(dtype)


def measured(loss, *tensors):
    """Value and gradients of a loss from core."""
    copies = [tensor.clone().requires_grad_() for tensor in tensors]
    value = loss(*copies)
    value.backward()
    return value.detach(), [copy.grad for copy in copies]


@pytest.mark.parametrize(("loss", "slow"), LOSSES, ids=LOSS_IDS)
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(("n", "d"), [(1, 3), (2, 1), (2, 2), (4, 3), (5, 8)])
def test_value_and_gradient_equal_the_slow_loop(loss, slow, tau, n, d):
    a, b = views(n, d, seed=n * 10 + d)
    value, grads = measured(lambda x, y: loss(x, y, tau), a, b)
    expected, expected_grads = oracle.gradients(lambda x, y: slow(x, y, tau), a, b)
    assert value.dtype == torch.float64
    assert_close(value, expected, rtol=1e-10, atol=1e-12)
    for grad, expected_grad in zip(grads, expected_grads, strict=True):
        assert_close(grad, expected_grad, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("loss", "slow"), LOSSES, ids=LOSS_IDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("tau", [0.005, 0.01, 0.05, 0.1, 0.5, 10.0])
def test_narrow_inputs_compute_in_float32(loss, slow, dtype, tau):
    """The oracle sees the same rounded inputs, so what is left is float32's own rounding of pull and push, each of size 1/tau."""
    a, b = views(5, 8, dtype=dtype)
    value, grads = measured(lambda x, y: loss(x, y, tau), a, b)
    expected, expected_grads = oracle.gradients(lambda x, y: slow(x, y, tau), a, b)
    assert value.dtype == torch.float32
    assert_close(value.double(), expected, rtol=2e-6, atol=1e-6 / tau)
    for grad, expected_grad in zip(grads, expected_grads, strict=True):
        assert grad.dtype == dtype
        scale = float(expected_grad.abs().max())
        assert_close(grad.double(), expected_grad, rtol=0, atol=torch.finfo(dtype).eps * scale + 2e-7 / tau)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("mixed", [(torch.float16, torch.float32), (torch.bfloat16, torch.float64)])
def test_views_of_different_dtypes_meet_in_the_wider(loss, mixed):
    a, b = views(4, 6)
    value = loss(a.to(mixed[0]), b.to(mixed[1]), 0.2)
    assert value.dtype == torch.promote_types(mixed[1], torch.float32)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_autocast_does_not_reach_the_products(loss, dtype):
    """Bug seen elsewhere: after .float() the product inside an autocast region still came out as bfloat16."""
    a, b = views(6, 16, dtype=dtype)
    outside = measured(lambda x, y: loss(x, y, 0.05), a, b)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = measured(lambda x, y: loss(x, y, 0.05), a, b)
    assert inside[0].dtype == torch.float32
    assert_close(inside, outside, rtol=0, atol=0)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("tau", [1e-3, 0.07, 1.0, 10.0])
@pytest.mark.parametrize("autocast", [False, True])
def test_a_row_of_zeros_is_finite_and_takes_no_gradient(loss, dtype, tau, autocast):
    a, b = views(4, 6, dtype=dtype)
    a[1] = 0
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        value, grads = measured(lambda x, y: loss(x, y, tau), a, b)
    assert value.isfinite() and value.dtype == torch.promote_types(dtype, torch.float32)
    assert all(grad.isfinite().all() for grad in grads)
    assert not grads[0][1].any()
    slow = {nt_xent: oracle.nt_xent, cross_view: oracle.cross_view}[loss]
    assert_close(value.double(), slow(a.double(), b.double(), tau), rtol=2e-6, atol=1e-6 / tau)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_size_of_rows_does_not_matter(loss, size):
    """Squares of these entries leave the range of float32."""
    a, b = views(4, 6, dtype=torch.float32)
    assert_close(loss(a * size, b, 0.1), loss(a, b, 0.1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("tau", [0.005, 0.1, 2.0])
def test_symmetric_and_blind_to_the_order_of_images(loss, tau):
    a, b = views(7, 5)
    value, (grad_a, grad_b) = measured(lambda x, y: loss(x, y, tau), a, b)
    swapped, (swapped_b, swapped_a) = measured(lambda x, y: loss(x, y, tau), b, a)
    assert_close(swapped, value, rtol=1e-12, atol=1e-12)
    assert_close((swapped_a, swapped_b), (grad_a, grad_b), rtol=1e-10, atol=1e-12)
    order = torch.randperm(7, generator=torch.Generator().manual_seed(1))
    shuffled, (shuffled_a, _) = measured(lambda x, y: loss(x, y, tau), a[order], b[order])
    assert_close(shuffled, value, rtol=1e-12, atol=1e-12)
    assert_close(shuffled_a, grad_a[order], rtol=1e-10, atol=1e-12)


def test_shuffling_one_view_only_changes_the_loss():
    """Positives are found by row: broken pairs must cost."""
    a, b = views(7, 5)
    assert nt_xent(a, b.roll(1, 0), 0.1) > nt_xent(a, b, 0.1) + 1


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
def test_swapping_the_views_of_one_image(loss):
    """NT-Xent treats both views alike image by image; the cross-view form does not."""
    a, b = views(6, 5)
    x, y = a.clone(), b.clone()
    x[2], y[2] = b[2], a[2]
    if loss is nt_xent:
        assert_close(loss(x, y, 0.3), loss(a, b, 0.3), rtol=1e-12, atol=1e-12)
    else:
        assert abs(loss(x, y, 0.3) - loss(a, b, 0.3)) > 1e-3


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
def test_rotations_and_lengths_do_not_matter(loss):
    a, b = views(6, 5)
    turn = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(3))).Q
    lengths = torch.linspace(0.1, 9, 6, dtype=torch.float64)[:, None]
    assert_close(loss(a @ turn * lengths, b @ turn, 0.1), loss(a, b, 0.1), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
def test_gradient_is_at_right_angles_to_each_row(loss):
    """The loss sees directions only, so moving a row outward changes nothing."""
    a, b = views(6, 5)
    _, grads = measured(lambda x, y: loss(x, y, 0.1), a, b)
    assert_close((grads[0] * a).sum(1), torch.zeros(6, dtype=torch.float64), rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("tau", [1e-3, 0.1, 1.0, 10.0])
def test_one_pair_is_exactly_zero(loss, dtype, tau):
    a, b = views(1, 8, dtype=dtype)
    value, grads = measured(lambda x, y: loss(x, y, tau), a, b)
    assert value == 0
    assert not any(grad.any() for grad in grads)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("tau", [1e-3, 2e-3, 5e-3, 0.0112, 0.02, 0.07, 0.1, 0.5, 1.0, 10.0])
def test_never_overflows(loss, dtype, tau):
    """A plain exp is NaN in float32 below tau 0.0112 and in half below 0.09."""
    a, b = views(6, 4, dtype=dtype, noise=0.0)
    value, grads = measured(lambda x, y: loss(x, -y, tau), a, b)  # positives antipodal: the worst case
    assert value.isfinite() and all(grad.isfinite().all() for grad in grads)
    slow = {nt_xent: oracle.nt_xent, cross_view: oracle.cross_view}[loss]
    assert_close(value.double(), slow(a.double(), -b.double(), tau), rtol=1e-5, atol=1e-5)


def test_identical_rows_have_the_chance_value_and_no_gradient():
    a = torch.ones(64, 16)
    value, grads = measured(lambda x, y: nt_xent(x, y, 0.1), a, a)
    assert float(value) == pytest.approx(np.log(127), abs=2e-6)
    assert all(grad.abs().max() < 1e-7 for grad in grads)


def test_sizes_come_from_the_tensor_at_hand():
    """Masks built for one batch must not outlive it: 8 images, then fewer."""
    for n in (8, 1, 2, 7, 8):
        a, b = views(n, 5, seed=n)
        assert_close(nt_xent(a, b, 0.1), oracle.nt_xent(a, b, 0.1), rtol=1e-10, atol=1e-12)


def test_mean_of_logs_not_log_of_mean():
    """Anchors of different difficulty tell the two apart."""
    a = torch.tensor([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.0]], dtype=torch.float64)
    logits = [[oracle.cosine(a[i], row) / 0.5 for k, row in enumerate([*a, *a]) if k != i] for i in range(3)]
    losses = torch.stack([oracle.log_sum(row) - 2 for row in logits])
    assert_close(nt_xent(a, a, 0.5), losses.mean(), rtol=1e-12, atol=1e-12)
    assert abs(float(nt_xent(a, a, 0.5) + torch.log(torch.exp(-losses).mean()))) > 0.01


def test_arrays_are_taken_too():
    a, b = views(4, 3)
    assert_close(nt_xent(a.numpy(), b.numpy(), 0.1), nt_xent(a, b, 0.1))


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
def test_meta_device(loss):
    """A stray tensor on the CPU would fail here."""
    a = torch.empty(6, 4, device="meta", requires_grad=True)
    value = loss(a, torch.empty(6, 4, device="meta"), 0.1)
    value.backward()
    assert value.device.type == "meta" and value.shape == () and a.grad.shape == (6, 4)


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
def test_gradient_for_one_view_only(loss):
    a, b = views(5, 4)
    a.requires_grad_()
    loss(a, b, 0.1).backward()
    expected = measured(lambda x, y: loss(x, y, 0.1), a.detach(), b)[1][0]
    assert_close(a.grad, expected, rtol=1e-12, atol=1e-12)
    assert b.grad is None


ERRORS = [
    (dict(tau=0), "tau must be a finite number > 0, got 0."),
    (dict(tau=-0.1), "tau must be a finite number > 0, got -0.1."),
    (dict(tau=float("nan")), "tau must be a finite number > 0, got nan."),
    (dict(tau=float("inf")), "tau must be a finite number > 0, got inf."),
    (dict(tau="warm"), "tau must be a finite number > 0, got warm."),
    (dict(z2=torch.ones(3, 5)), "z1 and z2 must have the same shape (n, d), got (4, 5) and (3, 5)."),
    (dict(z2=torch.ones(4, 6)), "z1 and z2 must have the same shape (n, d), got (4, 5) and (4, 6)."),
    (dict(z1=torch.ones(4)), "z1 must have shape (rows, d), got (4,)."),
    (dict(z2=torch.ones(4, 5, 1)), "z2 must have shape (rows, d), got (4, 5, 1)."),
    (dict(z1=torch.ones(0, 5), z2=torch.ones(0, 5)), "z1 must have at least 1 row and 1 dimension, got shape (0, 5)."),
    (dict(z1=torch.ones(4, 0)), "z1 must have at least 1 row and 1 dimension, got shape (4, 0)."),
    (dict(z1=torch.ones(4, 5).long()), "z1 must hold floating-point numbers, got torch.int64. Convert it with .float()."),
    (dict(z2=torch.ones(4, 5, device="meta")), "z1 and z2 must be on the same device, got cpu and meta."),
]


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize(("change", "text"), ERRORS)
def test_bad_input_is_named(loss, change, text):
    arguments = {"z1": torch.ones(4, 5), "z2": torch.ones(4, 5), "tau": 0.1, **change}
    with pytest.raises(ValueError) as error:
        loss(**arguments)
    assert str(error.value) == text


@pytest.mark.parametrize("loss", [nt_xent, cross_view], ids=LOSS_IDS)
@pytest.mark.parametrize("tau", [0.01, 0.1])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("n", [1, 4])
def test_rows_that_are_not_finite_are_counted(loss, tau, bad, n):
    a, b = views(n, 5, dtype=torch.float32)
    a[0, 2] = bad
    with pytest.raises(NotFiniteError) as error:
        loss(a, b, tau)
    assert str(error.value) == (
        f"The loss has no value: 1 of the {n} rows of z1, 0 of the {n} rows of z2 are not finite (NaN or infinity). "
        "Leave these rows out, or find where they arise, for example in a learning rate that is too high."
    )


def test_mean_log_sum_exp_and_alignment_make_up_nt_xent():
    """tau * NT-Xent = -mean cosine + tau * distribution."""
    a, b = views(9, 4)
    for tau in TAUS:
        split = tau * log_sum_exp(torch.cat([a, b]), tau) - torch.nn.functional.cosine_similarity(a, b).mean()
        assert_close(tau * nt_xent(a, b, tau), split, rtol=1e-10, atol=1e-12)
