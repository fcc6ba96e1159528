"""Decoder of the autoencoder baseline: from the representation h back to the input image."""

import math

from torch import Tensor, nn

from core.models.conv import glorot_uniform

FILTERS = 64
START = 4  # pixels a side of the first feature map; doubled until the image is covered


class Decoder(nn.Module):
    """Dense layer, then nearest-neighbour doubling and 3 x 3 convolutions, cut to the image size."""

    def __init__(self, h_dim: int, channels: int, image_size: int):
        super().__init__()
        doublings = max(0, math.ceil(math.log2(image_size / START)))
        self.image_size = image_size
        self.start = nn.Sequential(nn.Linear(h_dim, FILTERS * START * START), nn.ReLU(inplace=True))
        layers: list[nn.Module] = []
        for _ in range(doublings):
            layers += [nn.Upsample(scale_factor=2), nn.Conv2d(FILTERS, FILTERS, 3, padding=1), nn.ReLU(inplace=True)]
        self.grow = nn.Sequential(*layers, nn.Conv2d(FILTERS, channels, 3, padding=1))
        self.apply(glorot_uniform)

    def forward(self, h: Tensor) -> Tensor:
        """h [n, h_dim] -> reconstruction [n, channels, image_size, image_size], unbounded."""
        x = self.grow(self.start(h).view(-1, FILTERS, START, START))
        cut = (x.shape[-1] - self.image_size) // 2
        return x[..., cut : cut + self.image_size, cut : cut + self.image_size]


def build_decoder(h_dim: int, channels: int, image_size: int) -> nn.Module:
    """A fresh decoder for images of `channels` channels and `image_size` pixels a side."""
    return Decoder(h_dim, channels, image_size)
