"""Build the encoder that a RunSpec asks for."""

import torch
from torch import Tensor, nn

from core.datasets.randbit import append_planes
from core.models.conv import ConvN
from core.training.spec import SMALLEST_IMAGE, RunSpec

CIFAR_STEM_UP_TO = 64  # pixels a side; above, stem="auto" means the ImageNet stem


def build_encoder(spec: RunSpec, channels: int, image_size: int) -> nn.Module:
    """The encoder with fresh weights; `h_dim` says how many dimensions it returns.

    Args:
        spec: Uses encoder, width, stem, bn_momentum and bn_eps.
        channels: Input channels, image and bit channels together.
        image_size: Pixels a side.

    Raises:
        ValueError: If the image is too small for the encoder.
    """
    smallest = SMALLEST_IMAGE[spec.encoder]
    if image_size < smallest:
        raise ValueError(
            f"image_size: the {spec.encoder} encoder needs at least {smallest} pixels a side, the images have {image_size}. "
            "Set image_size to enlarge them, or choose another encoder."
        )
    if spec.encoder == "conv":
        return ConvN(spec.width, channels, image_size, spec.bn_momentum, spec.bn_eps)
    return ResNet(spec, channels, image_size)


class ResNet(nn.Module):
    """A timm ResNet with global average pooling and the stem that suits the image size.

    The CIFAR stem is a 3 x 3 convolution of stride 1 without max-pooling (SimCLR paper, appendix B.9).
    """

    def __init__(self, spec: RunSpec, channels: int, image_size: int):
        super().__init__()
        import timm  # takes a second; the conv encoder never needs it

        self.net = timm.create_model(spec.encoder, pretrained=False, in_chans=channels, num_classes=0)
        stem = spec.stem if spec.stem != "auto" else "cifar" if image_size <= CIFAR_STEM_UP_TO else "imagenet"
        if stem == "cifar":
            self.net.conv1 = nn.Conv2d(channels, 64, 3, stride=1, padding=1, bias=False)
            nn.init.kaiming_normal_(self.net.conv1.weight, mode="fan_out", nonlinearity="relu")
            self.net.maxpool = nn.Identity()
        for module in self.net.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.momentum, module.eps = spec.bn_momentum, spec.bn_eps
        self.stem = stem
        self.h_dim: int = self.net.num_features
        self.channels = channels

    def forward(self, x: Tensor, planes: Tensor | None = None) -> Tensor:
        """Images [n, c, side, side], and values [n, b] of further constant channels -> h [n, h_dim], after average pooling."""
        return self.net(x if planes is None else append_planes(x, planes))


def count_parameters(module: nn.Module) -> int:
    """Number of trainable scalars."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


@torch.no_grad()
def encode(encoder: nn.Module, batches, head: nn.Module | None = None) -> tuple[Tensor, Tensor | None]:
    """Run the encoder (and head) in eval mode over an iterable of image batches.

    Args:
        encoder: Put into eval mode for the call and back afterwards.
        batches: Yields float images [n, c, side, side] on the encoder's device, or pairs of images and planes [n, b], the
            values of further channels that are constant over each image.
        head: Projection head, or None.

    Returns:
        h [N, h_dim] and z [N, head_dim] (None without a head), float32 on the CPU.
    """
    modules = [module for module in (encoder, head) if module is not None]
    modes = [module.training for module in modules]
    for module in modules:
        module.eval()
    try:
        hs, zs = [], []
        for batch in batches:
            h = encoder(*batch) if isinstance(batch, tuple) else encoder(batch)
            hs.append(h.float().cpu())
            if head is not None:
                zs.append(head(h).float().cpu())
    finally:
        for module, mode in zip(modules, modes, strict=True):
            module.train(mode)
    return torch.cat(hs), torch.cat(zs) if head is not None else None
