"""The small encoders: ConvN of this project, and the SmallAlexNet of Wang & Isola's STL-10 experiment."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.checkpoints.plans import ConvPlan, SmallAlexNetPlan
from core.models.conv import ConvN

FILTERS = (96, 192, 384, 384, 192)
POOLED = (0, 1, 4)  # blocks that end in max-pooling


def build_conv(plan: ConvPlan) -> ConvN:
    """ConvN with the width, channels and image size of the plan."""
    return ConvN(width=plan.width, channels=plan.in_channels, image_size=plan.image_size, bn_eps=plan.bn_eps)


class SmallAlexNet(nn.Module):
    """Five convolutions, two dense layers, a linear layer, and L2 normalisation: h lies on the unit sphere.

    Source: Wang & Isola, "Understanding Contrastive Representation Learning through Alignment and Uniformity on the
        Hypersphere", 2020, section 5 (STL-10).
    """

    def __init__(self, plan: SmallAlexNetPlan):
        super().__init__()
        blocks: list[nn.Module] = []
        last = plan.in_channels
        for index, filters in enumerate(FILTERS):
            layers = [nn.Conv2d(last, filters, 3, padding=1, bias=False), nn.BatchNorm2d(filters), nn.ReLU(inplace=True)]
            blocks.append(nn.Sequential(*layers, *([nn.MaxPool2d(3, 2)] if index in POOLED else [])))
            last = filters
        dense = nn.Linear(last * plan.side**2, plan.hidden, bias=False)
        blocks.append(nn.Sequential(nn.Flatten(), dense, nn.BatchNorm1d(plan.hidden), nn.ReLU(inplace=True)))
        dense = nn.Linear(plan.hidden, plan.hidden, bias=False)
        blocks.append(nn.Sequential(dense, nn.BatchNorm1d(plan.hidden), nn.ReLU(inplace=True)))
        blocks.append(nn.Sequential(nn.Linear(plan.hidden, plan.h_dim)))
        self.blocks = nn.ModuleList(blocks)
        self.h_dim = plan.h_dim

    def forward(self, x: Tensor) -> Tensor:
        """Images [n, channels, side, side] -> h [n, h_dim], rows of norm 1."""
        for block in self.blocks:
            x = block(x)
        return F.normalize(torch.flatten(x, 1), dim=1)
