"""Decoder of the autoencoder baseline: from the representation h back to the input image."""

import itertools
import math

from torch import Tensor, nn

from core.models.conv import FILTERS, glorot_uniform

START = 4  # pixels a side of the first feature map; doubled until the image is covered


class Decoder(nn.Module):
    """ConvN turned round: a dense layer, then transposed convolutions of stride 2, cut to the image size.

    The kernel has 4 pixels, so that every output pixel is reached by equally many inputs (3 would leave a checkerboard). No layer
    works at the full size of the image before the last, which keeps a step about as cheap as the encoder's own.
    """

    def __init__(self, h_dim: int, channels: int, image_size: int):
        super().__init__()
        doublings = max(1, math.ceil(math.log2(image_size / START)))
        self.image_size = image_size
        wide, narrow = FILTERS[-1], FILTERS[0]
        self.start = nn.Sequential(
            nn.Linear(h_dim, wide * START * START), nn.ReLU(inplace=True), nn.Unflatten(1, (wide, START, START))
        )
        widths = [wide] * max(1, doublings - 1) + [narrow] * (doublings > 1)
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            layers += [nn.ConvTranspose2d(before, after, 4, 2, padding=1), nn.ReLU(inplace=True)]
        self.grow = nn.Sequential(*layers, nn.ConvTranspose2d(widths[-1], channels, 4, 2, padding=1))
        self.apply(glorot_uniform)

    def forward(self, h: Tensor) -> Tensor:
        """h [n, h_dim] -> reconstruction [n, channels, image_size, image_size], unbounded."""
        x = self.grow(self.start(h))
        cut = (x.shape[-1] - self.image_size) // 2
        return x[..., cut : cut + self.image_size, cut : cut + self.image_size]


def build_decoder(h_dim: int, channels: int, image_size: int) -> nn.Module:
    """A fresh decoder for images of `channels` channels and `image_size` pixels a side."""
    return Decoder(h_dim, channels, image_size)
