"""Gaussian blur of whole batches, one width per image."""

import torch
from torch import Tensor

PROBABILITY = 0.5  # of an image to be blurred, SimCLR
SIGMA = (0.1, 2.0)  # pixels, uniform, SimCLR
SMALLEST_SIDE = 32  # pixels; images up to this size are not blurred
KERNEL_SHARE = 0.1  # kernel size as a share of the image's side, made odd


def kernel_size(side: int) -> int:
    """Number of taps for an image side in pixels: a tenth of the side, rounded down, then up to the next odd number."""
    return int(KERNEL_SHARE * side) // 2 * 2 + 1


def blur(x: Tensor, sigma: Tensor) -> Tensor:
    """Blur each image with its own sigma; the border is mirrored, as torchvision's gaussian_blur.

    Args:
        x: Images, float [n, c, h, w].
        sigma: Standard deviation in pixels, float [n], > 0.

    Returns:
        float [n, c, h, w].
    """
    height, width = x.shape[2:]
    with torch.autocast(x.device.type, enabled=False):
        rows = _matrix(height, sigma)[:, None]  # [n, 1, h, h]
        columns = _matrix(width, sigma)[:, None]
        return rows @ x @ columns.transpose(2, 3)


def _matrix(side: int, sigma: Tensor) -> Tensor:
    """The blur along one side as a matrix per image [n, side, side]: row i holds the weights of the pixels that make pixel i."""
    reach = kernel_size(side) // 2
    offsets = torch.arange(-reach, reach + 1, device=sigma.device)
    weights = torch.exp(-0.5 * (offsets / sigma[:, None]) ** 2)  # [n, taps]
    weights = weights / weights.sum(1, keepdim=True)
    source = (torch.arange(side, device=sigma.device)[:, None] + offsets).abs()  # [side, taps]; mirrored at the first pixel,
    source = torch.minimum(source, 2 * (side - 1) - source)  # and at the last one, neither of them repeated
    taps = torch.nn.functional.one_hot(source, side).to(sigma.dtype)  # [side, taps, side]
    return torch.einsum("nt,itj->nij", weights, taps)
