"""Gradient agreement with NT-Xent against the values checked for the theory reference."""

import numpy as np
import pytest

from core.losses.agreement import gradient_agreement


@pytest.mark.parametrize(
    ("tau", "as_read", "divided"), [(0.1, -0.88, 0.92), (0.2, -0.70, 0.989), (0.5, 0.15, 0.9999), (1.0, 0.24, 0.99998)]
)
def test_the_notebooks_lambda(tau, as_read, divided):
    """lambda = tau in the notebook's convention, as one reads the paper, and lambda = tau / d (theory, section 2.5)."""
    notebook = gradient_agreement(tau, np.array([tau, tau / 128]))[2]
    assert notebook == pytest.approx([as_read, divided], abs=0.02)


@pytest.mark.parametrize("tau", [0.05, 0.2, 1.0])
def test_lambda_equal_tau_is_nt_xent_in_our_convention_only(tau):
    lams = tau * np.array([0.5, 1.0, 2.0])
    masked = gradient_agreement(tau, lams)[0]
    assert masked[1] == pytest.approx(1, abs=1e-12)
    assert (masked[[0, 2]] < 1 - 1e-6).all()


def test_the_notebook_is_our_unmasked_loss_at_a_smaller_weight():
    lams = np.array([0.02, 0.1, 0.5])
    kept = gradient_agreement(0.2, lams, n=16, dim=32)[1]
    notebook = gradient_agreement(0.2, lams / 32, n=16, dim=32)[2]
    assert kept == pytest.approx(notebook, abs=1e-12)


def test_sizes_are_limited():
    with pytest.raises(ValueError, match=r"^n must be from 2 to 512 and dim from 2 to 512, got 1 and 128\.$"):
        gradient_agreement(0.1, np.array([0.1]), n=1)
