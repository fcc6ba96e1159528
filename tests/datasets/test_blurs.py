"""Batched Gaussian blur against torchvision's."""

import pytest
import torch
from torchvision.transforms.v2 import functional as peer

from core.datasets import blurs


@pytest.mark.parametrize(("side", "taps"), [(33, 3), (48, 5), (64, 7), (96, 9), (224, 23)])
def test_kernel_is_a_tenth_of_the_side_and_odd(side, taps):
    """SimCLR: kernel side // 10, as radius twice and the centre."""
    assert blurs.kernel_size(side) == taps == 2 * (side // 10 // 2) + 1


@pytest.mark.parametrize(("height", "width", "channels"), [(48, 48, 3), (40, 72, 1)])
def test_blur_equals_torchvision(height, width, channels):
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(12, channels, height, width, generator=generator)
    sigma = 0.1 + 1.9 * torch.rand(12, generator=generator)
    kernel = [blurs.kernel_size(width), blurs.kernel_size(height)]
    expected = torch.stack([peer.gaussian_blur(image, kernel, [float(s)] * 2) for image, s in zip(x, sigma, strict=True)])
    torch.testing.assert_close(blurs.blur(x, sigma), expected, atol=2e-6, rtol=0)


def test_a_flat_image_stays_flat():
    x = torch.full((2, 1, 64, 64), 0.7)
    torch.testing.assert_close(blurs.blur(x, torch.tensor([0.1, 2.0])), x, atol=1e-6, rtol=0)
