"""Reference encoders, built from torchvision's and timm's own parts and filled with random values, batch norms included."""

import itertools

import torch
import torchvision
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck

HIDDEN, OUT = 16, 12  # sizes of the heads in the fixtures


class Reference(nn.Module):
    """A ResNet with torchvision's names and blocks, any width, no classifier."""

    def __init__(self, block, layers=(1, 1, 1, 1), width=8, channels=3, stem="imagenet", padding=None, max_pool=None, relu=True):
        super().__init__()
        large = stem == "imagenet"
        kernel = 7 if large else 3
        self.conv1 = nn.Conv2d(
            channels, width, kernel, 2 if large else 1, kernel // 2 if padding is None else padding, bias=False
        )
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU() if relu else nn.Identity()
        self.maxpool = nn.MaxPool2d(3, 2, 1) if (large if max_pool is None else max_pool) else nn.Identity()
        last = width
        for stage, count in enumerate(layers):
            planes, blocks = width * 2**stage, []
            for index in range(count):
                stride = 2 if stage and not index else 1
                shortcut = None
                if not index and (stage or last != planes * block.expansion):
                    out = planes * block.expansion
                    shortcut = nn.Sequential(nn.Conv2d(last, out, 1, stride, bias=False), nn.BatchNorm2d(out))
                # torchvision's bottleneck allows the standard width only through base_width
                blocks.append(block(last, planes, stride, shortcut, base_width=64))
                last = planes * block.expansion
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.h_dim = last

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return torch.flatten(self.avgpool(x), 1)


def resnet(seed=0, bottleneck=False, **settings):
    """A reference encoder in eval mode."""
    return filled(Reference(Bottleneck if bottleneck else BasicBlock, **settings), seed)


def sequential(encoder, relu=True, max_pool=None):
    """`nn.Sequential(*children)` of a torchvision network: names become numbers."""
    keep_pool = isinstance(encoder.maxpool, nn.MaxPool2d) if max_pool is None else max_pool
    children = [encoder.conv1, encoder.bn1] + [encoder.relu] * relu + [encoder.maxpool] * keep_pool
    return nn.Sequential(*children, encoder.layer1, encoder.layer2, encoder.layer3, encoder.layer4, encoder.avgpool, nn.Flatten())


def vit(seed=0, heads=4):
    """A small vision transformer of timm's."""
    from timm.models.vision_transformer import VisionTransformer

    network = VisionTransformer(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=heads, num_classes=0)
    return filled(network, seed)


def torchvision_resnet18(seed=0):
    """torchvision's own ResNet-18, for files whose sizes must be real."""
    network = filled(torchvision.models.resnet18(), seed)
    return network


def filled(module, seed):
    """Random values everywhere, so that no tensor can be swapped or forgotten without a trace."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if name.endswith("num_batches_tracked"):
                tensor.fill_(7)
            elif name.endswith("running_var"):
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
            elif tensor.ndim > 1:
                fan = max(tensor[0].numel(), 1)
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * fan**-0.5)
            else:
                tensor.copy_(torch.randn(tensor.shape, generator=generator) * 0.2 + (0.9 if name.endswith("weight") else 0))
    return module.eval()


def mlp(sizes, norm=False, bias=True, last_bias=None, last_norm=False, seed=5):
    """A head: linear layers with ReLU between them, numbered as in a Sequential."""
    layers = []
    for index, (a, b) in enumerate(itertools.pairwise(sizes)):
        last = index == len(sizes) - 2
        layers.append(nn.Linear(a, b, bias=bias if not last or last_bias is None else last_bias))
        if norm and not last:
            layers.append(nn.BatchNorm1d(b))
        if last and last_norm:
            layers.append(nn.BatchNorm1d(b, affine=False))
        if not last:
            layers.append(nn.ReLU())
    return filled(nn.Sequential(*layers), seed)


def prefixed(prefix, module_or_tensors):
    """A state_dict with a prefix."""
    tensors = module_or_tensors.state_dict() if isinstance(module_or_tensors, nn.Module) else module_or_tensors
    return {f"{prefix}{name}": value for name, value in tensors.items()}


def images(side=32, channels=3, count=3):
    """Fixed images in [0, 1]."""
    return torch.rand(count, channels, side, side, generator=torch.Generator().manual_seed(11))
