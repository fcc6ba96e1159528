"""Decoder of the autoencoder baseline: from the representation h back to the input image."""

import itertools
import math

from torch import Tensor, nn

from core.models.conv import FILTERS, glorot_uniform

START = 4  # pixels a side of the first feature map; doubled until the image is covered


class Decoder(nn.Module):
    """ConvN turned round: a dense layer, then transposed convolutions of stride 2, cut to the image size.

    Batch norm and ReLU stand between the layers, as in the encoder. The kernel has 4 pixels, so that every output pixel is
    reached by equally many inputs (3 would leave a checkerboard). No layer works at the full size of the image before the last,
    which keeps a step to a few times the encoder's own.

    Channels that are constant over each image (RandBit) are rebuilt by one dense layer, one value each. As whole pictures they
    cost as much as the image, and twenty of them were hardly rebuilt after 240 steps.
    """

    def __init__(self, h_dim: int, channels: int, image_size: int, planes: int = 0):
        super().__init__()
        doublings = max(1, math.ceil(math.log2(image_size / START)))
        self.image_size = image_size
        wide, narrow = FILTERS[-1], FILTERS[0]
        widths = [wide] * max(1, doublings - 1) + [narrow] * (doublings > 1)
        layers: list[nn.Module] = [nn.Linear(h_dim, wide * START * START, bias=False), nn.Unflatten(1, (wide, START, START))]
        for before, after in itertools.pairwise(widths):
            layers += [*_normed(before), nn.ConvTranspose2d(before, after, 4, 2, padding=1, bias=False)]
        layers += [*_normed(widths[-1]), nn.ConvTranspose2d(widths[-1], channels, 4, 2, padding=1)]
        self.grow = nn.Sequential(*layers)
        self.planes = nn.Linear(h_dim, planes) if planes else None
        self.apply(glorot_uniform)

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor | None]:
        """h [n, h_dim] -> pictures [n, channels, image_size, image_size] and planes [n, planes] (None without), unbounded."""
        x = self.grow(h)
        cut = (x.shape[-1] - self.image_size) // 2
        x = x[..., cut : cut + self.image_size, cut : cut + self.image_size]
        return x, None if self.planes is None else self.planes(h)


def _normed(filters: int) -> tuple[nn.Module, nn.Module]:
    return nn.BatchNorm2d(filters), nn.ReLU(inplace=True)


def build_decoder(h_dim: int, channels: int, image_size: int, planes: int = 0) -> nn.Module:
    """A fresh decoder for images of `channels` channels, `image_size` pixels a side, and `planes` further constant channels."""
    return Decoder(h_dim, channels, image_size, planes)
