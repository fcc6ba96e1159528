"""Plans of encoders: what is needed to rebuild one, read from names and shapes alone.

A plan lists the tensors it expects in the order of the module's `state_dict`; the modules that follow a plan live in
`resnet.py`, `vit.py` and `small.py`. Free of torch.
"""

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Shape = tuple[int, ...]
Shapes = dict[str, Shape]

DEPTHS = {
    ("basic", (1, 1, 1, 1)): "10", ("basic", (2, 2, 2, 2)): "18", ("basic", (3, 4, 6, 3)): "34",
    ("bottleneck", (2, 2, 2, 2)): "26", ("bottleneck", (3, 4, 6, 3)): "50", ("bottleneck", (3, 4, 23, 3)): "101",
    ("bottleneck", (3, 8, 36, 3)): "152", ("bottleneck", (3, 24, 36, 3)): "200",
}  # fmt: skip
VIT_SIZES = {(192, 12): "Ti", (384, 12): "S", (768, 12): "B", (1024, 24): "L", (1280, 32): "H", (1408, 40): "g"}


class _Plan(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ResNetPlan(_Plan):
    """A residual network, any depth and width."""

    family: Literal["resnet"] = "resnet"
    block: Literal["basic", "bottleneck"]
    layers: tuple[int, ...]  # blocks per stage
    in_channels: int
    stem_width: int  # channels after the first convolution
    kernel: int  # of the first convolution
    inner: tuple[int, ...]  # channels inside the blocks, per stage
    outer: tuple[int, ...]  # channels after the blocks, per stage
    groups: int = 1
    deep_stem: tuple[int, int] | None = None  # ResNet-D: three 3 × 3 convolutions; channels after the first two
    average_shortcut: bool = False  # ResNet-D: average pooling in front of the shortcut's convolution
    input_norm: bool = False  # a batch norm on the images (lightly's command line)
    relu: bool = True  # after the first batch norm; a plain Sequential of lightly's own ResNet has none
    stride: int = 2
    padding: int = 3
    max_pool: bool = True
    bn_eps: float = 1e-5

    @property
    def h_dim(self) -> int:
        """Dimensions of the representation."""
        return self.outer[-1]

    @property
    def name(self) -> str:
        """For people: "ResNet-50", "ResNet-50 ×2", "Wide ResNet-50-2"."""
        depth = DEPTHS.get((self.block, self.layers))
        base = f"ResNet-{depth}" if depth else f"ResNet {'-'.join(map(str, self.layers))}"
        expansion = 4 if self.block == "bottleneck" else 1
        base += "-D" if self.deep_stem else ""
        if self.groups > 1:
            return base.replace("ResNet", "ResNeXt") + f" {self.groups}x{self.inner[0] // self.groups}d"
        times = self.outer[0] / (64 * expansion)
        if times == 1 and self.inner[0] != 64:
            return f"Wide {base}-{self.inner[0] / 64:g}"
        return base if times == 1 else f"{base} ×{times:g}"

    def tensors(self) -> Shapes:
        """Names and shapes of parameters and buffers, without the counters of batch norm."""
        shapes: Shapes = {}
        if self.input_norm:
            shapes |= _norm("input_norm", self.in_channels)
        shapes |= self._stem()
        last = self.stem_width
        for stage, (blocks, inner, outer) in enumerate(zip(self.layers, self.inner, self.outer, strict=True), start=1):
            for index in range(blocks):
                name = f"layer{stage}.{index}"
                shapes |= self._block(name, last, inner, outer)
                if index == 0 and (stage > 1 or last != outer):
                    shapes[f"{name}.downsample.0.weight"] = (outer, last, 1, 1)
                    shapes |= _norm(f"{name}.downsample.1", outer)
                last = outer
        return shapes

    def _stem(self) -> Shapes:
        if self.deep_stem is None:
            shapes: Shapes = {"conv1.weight": (self.stem_width, self.in_channels, self.kernel, self.kernel)}
            return shapes | _norm("bn1", self.stem_width)
        first, second = self.deep_stem
        shapes = {"conv1.0.weight": (first, self.in_channels, self.kernel, self.kernel)} | _norm("conv1.1", first)
        shapes |= {"conv1.3.weight": (second, first, self.kernel, self.kernel)} | _norm("conv1.4", second)
        return shapes | {"conv1.6.weight": (self.stem_width, second, self.kernel, self.kernel)} | _norm("bn1", self.stem_width)

    def _block(self, name: str, last: int, inner: int, outer: int) -> Shapes:
        if self.block == "basic":
            convolutions = [(inner, last, 3, 3), (outer, inner, 3, 3)]
        else:
            convolutions = [(inner, last, 1, 1), (inner, inner // self.groups, 3, 3), (outer, inner, 1, 1)]
        shapes: Shapes = {}
        for number, shape in enumerate(convolutions, start=1):
            shapes[f"{name}.conv{number}.weight"] = shape
            shapes |= _norm(f"{name}.bn{number}", shape[0])
        return shapes


class ViTPlan(_Plan):
    """A vision transformer as timm builds it."""

    family: Literal["vit"] = "vit"
    in_channels: int
    patch: int  # pixels a side
    width: int
    depth: int
    hidden: int  # width inside the MLP
    positions: int  # rows of the position embedding
    class_token: bool = True
    registers: int = 0
    embedded: bool = True  # class token and registers have positions too
    qkv_bias: bool = True
    layer_scale: bool = False
    final_norm: Literal["norm", "fc_norm"] = "norm"  # fc_norm: features are averaged over patches first
    heads: Annotated[int, Field(ge=1)] | None = None  # attention heads; None: not known, must be chosen

    @property
    def h_dim(self) -> int:
        """Dimensions of the representation."""
        return self.width

    @property
    def grid(self) -> int:
        """Patches a side."""
        further = self.class_token + self.registers if self.embedded else 0
        return math.isqrt(self.positions - further)

    @property
    def image_size(self) -> int:
        """Pixels a side of the images it was trained on."""
        return self.grid * self.patch

    @property
    def name(self) -> str:
        """For people: "ViT-S/16"."""
        size = VIT_SIZES.get((self.width, self.depth))
        return f"ViT-{size}/{self.patch}" if size else f"ViT {self.depth} × {self.width}/{self.patch}"

    def tensors(self) -> Shapes:
        """Names and shapes of the parameters, timm's names."""
        width = self.width
        shapes: Shapes = {}
        if self.class_token:
            shapes["cls_token"] = (1, 1, width)
        if self.registers:
            shapes["reg_token"] = (1, self.registers, width)
        shapes["pos_embed"] = (1, self.positions, width)
        shapes |= _affine("patch_embed.proj", (width, self.in_channels, self.patch, self.patch))
        for index in range(self.depth):
            block = f"blocks.{index}"
            shapes |= _affine(f"{block}.norm1", (width,))
            shapes |= _affine(f"{block}.attn.qkv", (3 * width, width), bias=self.qkv_bias)
            shapes |= _affine(f"{block}.attn.proj", (width, width))
            if self.layer_scale:
                shapes[f"{block}.ls1.gamma"] = (width,)
            shapes |= _affine(f"{block}.norm2", (width,))
            shapes |= _affine(f"{block}.mlp.fc1", (self.hidden, width))
            shapes |= _affine(f"{block}.mlp.fc2", (width, self.hidden))
            if self.layer_scale:
                shapes[f"{block}.ls2.gamma"] = (width,)
        return shapes | _affine(self.final_norm, (width,))


class ConvPlan(_Plan):
    """ConvN, the small encoder of this project."""

    family: Literal["conv"] = "conv"
    in_channels: int
    width: int
    side: int  # pixels a side of the last feature map
    image_size: int  # pixels a side; several sizes lead to the same feature map
    bn_eps: float = 1e-5

    @property
    def h_dim(self) -> int:
        """Dimensions of the representation."""
        return 128 * self.width

    @property
    def image_sizes(self) -> range:
        """Pixels a side of all images that lead to such a feature map, through three strides of 2 without padding."""
        return range(8 * self.side + 7, 8 * self.side + 15)

    @property
    def name(self) -> str:
        """For people."""
        return "ConvN" if self.width == 1 else f"ConvN ×{self.width}"

    def tensors(self) -> Shapes:
        """Names and shapes of parameters and buffers, without the counters of batch norm."""
        shapes: Shapes = {}
        last = self.in_channels
        for index, filters in zip((0, 3, 6), (32, 64, 64), strict=True):
            shapes[f"convolutions.{index}.weight"] = (filters * self.width, last, 3, 3)
            shapes |= _norm(f"convolutions.{index + 1}", filters * self.width)
            last = filters * self.width
        shapes["dense.0.weight"] = (self.h_dim, last * self.side**2)
        return shapes | _norm("dense.1", self.h_dim)


class SmallAlexNetPlan(_Plan):
    """The small AlexNet of Wang & Isola's STL-10 experiment; its output has unit norm."""

    family: Literal["small_alexnet"] = "small_alexnet"
    in_channels: int
    side: int  # pixels a side of the last feature map: 7 for images of 64 x 64
    hidden: int = 4096
    h_dim: int = 128

    @property
    def name(self) -> str:
        """For people."""
        return "SmallAlexNet"

    def tensors(self) -> Shapes:
        """Names and shapes of parameters and buffers, without the counters of batch norm."""
        shapes: Shapes = {}
        last = self.in_channels
        for index, filters in enumerate((96, 192, 384, 384, 192)):
            shapes[f"blocks.{index}.0.weight"] = (filters, last, 3, 3)
            shapes |= _norm(f"blocks.{index}.1", filters)
            last = filters
        shapes["blocks.5.1.weight"] = (self.hidden, last * self.side**2)
        shapes |= _norm("blocks.5.2", self.hidden)
        shapes["blocks.6.0.weight"] = (self.hidden, self.hidden)
        shapes |= _norm("blocks.6.1", self.hidden)
        return shapes | _affine("blocks.7.0", (self.h_dim, self.hidden))


Plan = Annotated[ResNetPlan | ViTPlan | ConvPlan | SmallAlexNetPlan, Field(discriminator="family")]


def _norm(name: str, channels: int) -> Shapes:
    return {f"{name}.{part}": (channels,) for part in ("weight", "bias", "running_mean", "running_var")}


def _affine(name: str, weight: Shape, bias: bool = True) -> Shapes:
    return {f"{name}.weight": weight} | ({f"{name}.bias": (weight[0],)} if bias else {})
