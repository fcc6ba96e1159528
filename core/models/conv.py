"""ConvN, the small convolutional encoder of the authors' RandBits notebook."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

KERNEL, STRIDE = 3, 2
FILTERS = (32, 64, 64)  # per unit of width
FEW_WINDOWS = 3  # places a side up to which a product over all windows beats the library's gradient of the pictures
CACHED_VALUES = 2**18  # floats of windows that are multiplied at once; a megabyte


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
        for convolution, filters in zip((PlainConv2d, ProductConv2d, ProductConv2d), FILTERS, strict=True):
            filters *= width
            layers += [
                convolution(last, filters, KERNEL, STRIDE),
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


class PlainConv2d(nn.Conv2d):
    """A square kernel, unpadded, without bias: batch norm follows."""

    def __init__(self, channels: int, filters: int, k: int, stride: int):
        super().__init__(channels, filters, k, stride, bias=False)


class ProductConv2d(PlainConv2d):
    """The same convolution of square pictures, whose gradients are matrix products over the windows of the pictures on CPUs.

    One step back through the last layer of ConvN takes half the library's time (64 channels, 6 -> 2 pixels), through its second
    layer some 5 % less, at width 2 some 10 %. Other devices, and mixed precision, use the library's own gradients.
    """

    def forward(self, x: Tensor) -> Tensor:
        """[n, c, side, side] -> [n, filters, places, places], channels last in memory."""
        if x.device.type != "cpu" or torch.is_autocast_enabled("cpu"):
            return super().forward(x)
        return Convolution.apply(x, self.weight, self.stride[0])


class Convolution(torch.autograd.Function):
    """Square pictures, square kernels, no padding, no bias; see ProductConv2d."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, stride: int) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.stride = stride
        return F.conv2d(x, weight, stride=stride)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, weight = ctx.saved_tensors
        for_x, for_weight, _ = ctx.needs_input_grad
        return (
            input_gradient(grad, x, weight, ctx.stride) if for_x else None,
            weight_gradient(grad, x, weight, ctx.stride) if for_weight else None,
            None,
        )


def weight_gradient(grad: Tensor, x: Tensor, weight: Tensor, stride: int) -> Tensor:
    """Gradient of the kernels, shape of weight: windows times gradients, a few pictures at a time so that windows stay cached."""
    filters, c, k, _ = weight.shape
    n, _, places, _ = grad.shape
    pixels = x.permute(0, 2, 3, 1).contiguous()
    picture, row, column, _ = pixels.stride()
    # A window is k stretches of k * c values that already lie side by side.
    shape, steps = (n, places, places, k, k * c), (picture, stride * row, stride * column, row, 1)
    windows = pixels.as_strided(shape, steps)
    outputs = grad.permute(0, 2, 3, 1)
    total = grad.new_zeros(k * k * c, filters)
    at_once = max(1, CACHED_VALUES // (places**2 * k**2 * c))
    for some, theirs in zip(windows.split(at_once), outputs.split(at_once), strict=True):
        total.addmm_(some.reshape(-1, k * k * c).T, theirs.reshape(-1, filters))
    return total.view(k, k, c, filters).permute(3, 2, 0, 1)


def input_gradient(grad: Tensor, x: Tensor, weight: Tensor, stride: int) -> Tensor:
    """Gradient of the pictures, shape of x: where windows are few, one product, and overlapping windows are added up."""
    filters, c, k, _ = weight.shape
    n, _, places, _ = grad.shape
    if places > FEW_WINDOWS:
        geometry = ([stride, stride], [0, 0], [1, 1], False, [0, 0], 1)
        return torch.ops.aten.convolution_backward(grad, x, weight, None, *geometry, [True, False, False])[0]
    kernels = weight.permute(2, 3, 1, 0).reshape(-1, filters)  # [k * k * c, filters]
    stretches = (grad.permute(0, 2, 3, 1) @ kernels.T).view(n, places, places, k, k * c)
    total = grad.new_zeros(n, x.shape[2], x.shape[3] * c)
    for i in range(places):
        for j in range(places):
            top, left = stride * i, stride * j * c
            total[:, top : top + k, left : left + k * c] += stretches[:, i, j]
    return total.view(n, x.shape[2], x.shape[3], c).permute(0, 3, 1, 2)


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
