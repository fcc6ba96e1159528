"""A residual network of any depth and width, with torchvision's names, built from a `ResNetPlan`."""

import torch
from torch import Tensor, nn

from core.checkpoints.plans import ResNetPlan


class Block(nn.Module):
    """A basic block (two 3 x 3 convolutions) or a bottleneck (1 x 1, 3 x 3, 1 x 1), with the stride on the 3 x 3."""

    def __init__(self, plan: ResNetPlan, last: int, inner: int, outer: int, stride: int, first: bool):
        super().__init__()
        self.bottleneck = plan.block == "bottleneck"
        norm = dict(eps=plan.bn_eps)
        if self.bottleneck:
            self.conv1 = nn.Conv2d(last, inner, 1, bias=False)
            self.conv2 = nn.Conv2d(inner, inner, 3, stride, 1, groups=plan.groups, bias=False)
            self.conv3 = nn.Conv2d(inner, outer, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(outer, **norm)
        else:
            self.conv1 = nn.Conv2d(last, inner, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(inner, outer, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inner, **norm)
        self.bn2 = nn.BatchNorm2d(inner if self.bottleneck else outer, **norm)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if first:
            pooled = plan.average_shortcut and stride > 1
            self.pool = nn.AvgPool2d(stride, stride, ceil_mode=True, count_include_pad=False) if pooled else nn.Identity()
            shortcut = nn.Conv2d(last, outer, 1, 1 if plan.average_shortcut else stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outer, **norm))

    def forward(self, x: Tensor) -> Tensor:
        """[n, last, side, side] -> [n, outer, side / stride, side / stride]."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.bottleneck:
            out = self.bn3(self.conv3(self.relu(out)))
        out += x if self.downsample is None else self.downsample(self.pool(x))
        return self.relu(out)


class ResNet(nn.Module):
    """Stem, three or four stages, average pooling. The names of its tensors are those of `plan.tensors()`.

    Source: He et al., "Deep Residual Learning for Image Recognition", 2015; strides as in torchvision. The same
        operations in the same order as torchvision, so that features agree bit for bit.
    """

    def __init__(self, plan: ResNetPlan):
        super().__init__()
        self.plan = plan
        if plan.input_norm:
            self.input_norm = nn.BatchNorm2d(plan.in_channels, eps=plan.bn_eps)
        self.conv1 = _stem(plan)
        self.bn1 = nn.BatchNorm2d(plan.stem_width, eps=plan.bn_eps)
        self.maxpool = nn.MaxPool2d(3, 2, 1) if plan.max_pool else nn.Identity()
        last = plan.stem_width
        for stage, (blocks, inner, outer) in enumerate(zip(plan.layers, plan.inner, plan.outer, strict=True), start=1):
            layer = []
            for index in range(blocks):
                stride = 2 if stage > 1 and index == 0 else 1
                first = index == 0 and (stage > 1 or last != outer)
                layer.append(Block(plan, last, inner, outer, stride, first))
                last = outer
            setattr(self, f"layer{stage}", nn.Sequential(*layer))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.h_dim = plan.h_dim

    def forward(self, x: Tensor) -> Tensor:
        """Images [n, channels, side, side] -> h [n, h_dim]."""
        if self.plan.input_norm:
            x = self.input_norm(x)
        x = self.bn1(self.conv1(x))
        if self.plan.relu:
            x = torch.relu_(x)
        x = self.maxpool(x)
        for stage in range(1, len(self.plan.layers) + 1):
            x = getattr(self, f"layer{stage}")(x)
        return torch.flatten(self.avgpool(x), 1)


def _stem(plan: ResNetPlan) -> nn.Module:
    """One convolution, or the three of ResNet-D with batch norm and ReLU between them."""
    first = dict(kernel_size=plan.kernel, stride=plan.stride, padding=plan.padding, bias=False)
    if plan.deep_stem is None:
        return nn.Conv2d(plan.in_channels, plan.stem_width, **first)
    one, two = plan.deep_stem
    further = dict(kernel_size=plan.kernel, padding=plan.kernel // 2, bias=False)
    layers: list[nn.Module] = [
        nn.Conv2d(plan.in_channels, one, **first),
        nn.BatchNorm2d(one, eps=plan.bn_eps),
        nn.ReLU(inplace=True),
    ]
    layers += [nn.Conv2d(one, two, **further), nn.BatchNorm2d(two, eps=plan.bn_eps), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Conv2d(two, plan.stem_width, **further))
