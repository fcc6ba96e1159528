"""ConvN, the small convolutional encoder of the authors' RandBits notebook."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

KERNEL, STRIDE = 3, 2
FILTERS = (32, 64, 64)  # per unit of width


def conv_output_size(image_size: int) -> int:
    """Pixels a side of the last feature map: three unpadded 3 x 3 convolutions of stride 2 (28 -> 13 -> 6 -> 2)."""
    for _ in FILTERS:
        image_size = (image_size - KERNEL) // STRIDE + 1
    return image_size


class ConvN(nn.Module):
    """Three strided convolutions and one dense layer, each with batch norm and ReLU.

    Args:
        width: Multiplies every layer; 1 gives 32, 64, 64 filters and h of 128 dimensions.
        channels: Input channels, image and bit channels together.
        image_size: Pixels a side, at least 15.
        bn_momentum: Share of the new batch in the running statistics (torch's meaning).
        bn_eps: Added to the variance.

    Attributes:
        h_dim: Dimensions of the representation, 128 * width.

    Raises:
        ValueError: If the image is too small for three strides.

    Source: google-research/simclr, colabs/intriguing_properties/randbits_mnist.ipynb; weights start
        Glorot-uniform, as in Keras.
    """

    def __init__(self, width: int = 1, channels: int = 1, image_size: int = 28, bn_momentum: float = 0.1, bn_eps: float = 1e-5):
        super().__init__()
        side = conv_output_size(image_size)
        if side < 1:
            raise ValueError(f"image_size: the conv encoder needs at least 15 pixels a side, got {image_size}.")
        norm = dict(momentum=bn_momentum, eps=bn_eps)
        layers, last = [], channels
        for filters in FILTERS:
            filters *= width
            layers += [
                nn.Conv2d(last, filters, KERNEL, STRIDE, bias=False),
                nn.BatchNorm2d(filters, **norm),
                nn.ReLU(inplace=True),
            ]
            last = filters
        self.h_dim = 128 * width
        self.channels = channels
        self.convolutions = nn.Sequential(*layers)
        self.dense = nn.Sequential(
            nn.Linear(last * side * side, self.h_dim, bias=False), nn.BatchNorm1d(self.h_dim, **norm), nn.ReLU(inplace=True)
        )
        self.apply(glorot_uniform)

    def forward(self, x: Tensor, planes: Tensor | None = None) -> Tensor:
        """Images to representations.

        Args:
            x: [n, channels, side, side], floats in [0, 1]; without the last b channels if planes are given.
            planes: Values [n, b] of b further channels that are constant over each image (RandBit), or None.

        Returns:
            h [n, h_dim], >= 0.
        """
        first, *others = self.convolutions
        y = first(x) if planes is None else convolve_with_planes(first, x, planes)
        for layer in others:
            y = layer(y)
        return self.dense(torch.flatten(y, 1))


def convolve_with_planes(convolution: nn.Conv2d, x: Tensor, planes: Tensor) -> Tensor:
    """The same as appending the planes to x and convolving, at the cost of x alone.

    Without padding, a constant channel adds its value times the sum of its kernel, everywhere alike.
    """
    weight = convolution.weight  # [filters, c + b, k, k]
    channels = x.shape[1]
    y = F.conv2d(x, weight[:, :channels], stride=convolution.stride)
    offset = planes.to(x.dtype) @ weight[:, channels:].sum((2, 3)).to(x.dtype).T  # [n, filters]
    return y.add_(offset[:, :, None, None].to(y.dtype))  # in place: convolution does not need its output again


def glorot_uniform(module: nn.Module) -> None:
    """Keras' default start for dense and convolution weights; biases start at zero."""
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
