"""ConvN, the small convolutional encoder of the authors' RandBits notebook."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

KERNEL, STRIDE = 3, 2
FILTERS = (32, 64, 64)  # per unit of width
FEW_WINDOWS = 3  # places a side up to which one product over all windows is faster on CPUs


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
        for convolution, filters in zip((nn.Conv2d, nn.Conv2d, ProductConv2d), FILTERS, strict=True):
            filters *= width
            layers += [
                convolution(last, filters, KERNEL, STRIDE, bias=False),
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


class ProductConv2d(nn.Conv2d):
    """The same convolution, unpadded; on CPUs, where windows are few, one matrix product over all of them.

    So they are in the last layer of ConvN: forward and backward take two thirds of the library's time there (64 channels,
    6 -> 2 pixels), half of it at width 2. Nothing is won where windows are many.
    """

    def forward(self, x: Tensor) -> Tensor:
        """[n, c, side, side] -> [n, filters, places, places], channels last in memory."""
        k, stride = self.kernel_size[0], self.stride[0]
        if x.device.type != "cpu" or (x.shape[-1] - k) // stride + 1 > FEW_WINDOWS:
            return super().forward(x)
        windows = Windows.apply(x, k, stride)
        kernels = self.weight.permute(2, 3, 1, 0).flatten(0, 2)  # [k * k * c, filters]
        return (windows @ kernels).permute(0, 3, 1, 2)


class Windows(torch.autograd.Function):
    """All k x k windows of square pictures, one row each: [n, c, side, side] -> [n, places, places, k * k * c], no padding."""

    @staticmethod
    def forward(ctx, x: Tensor, k: int, stride: int) -> Tensor:
        ctx.shape, ctx.k, ctx.stride = x.shape, k, stride
        n, c, side, _ = x.shape
        places = (side - k) // stride + 1
        pixels = x.permute(0, 2, 3, 1).contiguous()
        image, row, column, _ = pixels.stride()
        # A window is k stretches of k * c values that already lie side by side.
        shape, steps = (n, places, places, k, k * c), (image, stride * row, stride * column, row, 1)
        return pixels.as_strided(shape, steps).flatten(3)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:
        (n, c, side, _), k, stride = ctx.shape, ctx.k, ctx.stride
        stretches = grad.unflatten(3, (k, k * c))
        total = grad.new_zeros(n, side, side * c)
        for i in range(grad.shape[1]):
            for j in range(grad.shape[2]):
                top, left = stride * i, stride * j * c
                total[:, top : top + k, left : left + k * c] += stretches[:, i, j]  # windows overlap
        return total.view(n, side, side, c).permute(0, 3, 1, 2), None, None


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
