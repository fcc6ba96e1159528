"""Infer the plan of an encoder from the names and shapes of its tensors."""

import math
import re

from core.checkpoints.names import Root
from core.checkpoints.plans import ConvPlan, Plan, ResNetPlan, Shapes, SmallAlexNetPlan, ViTPlan

SPLIT = re.compile(r"running_(mean|var)$")
MAX_BLOCKS = 400  # per stage or transformer; a name could claim any number
CONV_SIZES = {1: 16, 2: 28, 3: 32}  # side of ConvN's last feature map -> the usual image size


def infer_plan(root: Root, shapes: Shapes) -> Plan | None:
    """The plan that an encoder's tensors follow.

    Args:
        root: The encoder.
        shapes: Shapes under the names of `root.mapping`.

    Returns:
        The plan with its usual settings (stride, padding, max-pool), or None where too much is missing.
    """
    builders = {"resnet": _resnet, "vit": _vit, "conv": _conv, "small_alexnet": _small_alexnet}
    return builders[root.family](root, shapes)


def split_norms(shapes: Shapes) -> dict[str, int]:
    """Running statistics that were kept for several parts of a batch (lightly's SplitBatchNorm): name -> parts."""
    parts = {}
    for name, shape in shapes.items():
        weight = shapes.get(SPLIT.sub("weight", name))
        if SPLIT.search(name) and weight and len(shape) == 1 and shape[0] > weight[0] and shape[0] % weight[0] == 0:
            parts[name] = shape[0] // weight[0]
    return parts


def _resnet(root: Root, shapes: Shapes) -> ResNetPlan | None:
    blocks: dict[int, set[int]] = {}
    for name in shapes:
        if (match := re.match(r"layer(\d)\.(\d+)\.", name)) is not None:
            blocks.setdefault(int(match[1]), set()).add(int(match[2]))
    first_conv, second_conv, third_conv = (shapes.get(f"conv1.{index}.weight") for index in (0, 3, 6))
    deep = first_conv is not None and second_conv is not None and third_conv is not None
    stem = (third_conv[0], *first_conv[1:]) if deep else shapes.get("conv1.weight")  # (out, in, kernel, kernel)
    if sorted(blocks) not in ([1, 2, 3], [1, 2, 3, 4]) or stem is None or len(stem) != 4:
        return None
    if max(map(max, blocks.values())) >= MAX_BLOCKS:
        return None
    bottleneck = any(re.match(r"layer\d\.\d+\.conv3\.weight", name) for name in shapes)
    inner, outer, groups = [], [], 1
    for stage in sorted(blocks):
        first = _channels(shapes, stage, blocks[stage], 1)
        last = _channels(shapes, stage, blocks[stage], 3 if bottleneck else 2)
        if first is None or last is None:
            return None
        inner.append(first)
        outer.append(last)
        middle = _any_block(shapes, stage, blocks[stage], "conv2.weight")
        if bottleneck and middle and len(middle) == 4 and 0 < middle[1] < first:
            groups = first // middle[1]
    kernel = stem[2]
    cifar = kernel < 5 and not deep
    return ResNetPlan(
        block="bottleneck" if bottleneck else "basic",
        layers=tuple(max(blocks[stage]) + 1 for stage in sorted(blocks)),
        in_channels=stem[1],
        stem_width=stem[0],
        kernel=kernel,
        inner=tuple(inner),
        outer=tuple(outer),
        groups=groups,
        deep_stem=(first_conv[0], second_conv[0]) if deep else None,
        average_shortcut=any(".downsample.2." in name for name in root.mapping.values()),
        input_norm=root.input_norm,
        relu=root.relu,
        stride=1 if cifar else 2,
        padding=kernel // 2,
        max_pool=root.max_pool if root.max_pool is not None else not cifar,
    )


def _channels(shapes: Shapes, stage: int, blocks: set[int], number: int) -> int | None:
    """Channels after a convolution of a stage, from its batch norm where the convolution is missing."""
    for name in (f"conv{number}.weight", f"bn{number}.weight", f"bn{number}.bias", f"bn{number}.running_mean"):
        if (shape := _any_block(shapes, stage, blocks, name)) is not None:
            return shape[0]
    return None


def _any_block(shapes: Shapes, stage: int, blocks: set[int], name: str) -> tuple[int, ...] | None:
    """Shape of a tensor in any block of a stage, so that one missing tensor does not hide the rest."""
    found = (shapes.get(f"layer{stage}.{index}.{name}") for index in sorted(blocks))
    return next((shape for shape in found if shape), None)


def _vit(root: Root, shapes: Shapes) -> ViTPlan | None:
    patches = shapes.get("patch_embed.proj.weight")
    positions = shapes.get("pos_embed")
    depth = 1 + max((int(match[1]) for name in shapes if (match := re.match(r"blocks\.(\d+)\.", name))), default=-1)
    hidden = next((shape[0] for name, shape in shapes.items() if name.endswith("mlp.fc1.weight") and len(shape) == 2), None)
    fits = (
        depth <= MAX_BLOCKS
        and patches
        and positions
        and len(patches) == 4
        and len(positions) == 3
        and patches[2] == patches[3]
        and depth
        and hidden
    )
    if not fits:
        return None
    class_token = "cls_token" in shapes
    registers = shapes["reg_token"][1] if len(shapes.get("reg_token", ())) == 3 else 0
    embedded = not _square(positions[1])
    if embedded and not _square(positions[1] - class_token - registers):
        return None
    return ViTPlan(
        in_channels=patches[1], patch=patches[2], width=patches[0], depth=depth, hidden=hidden, positions=positions[1],
        class_token=class_token, registers=registers,
        embedded=embedded or not (class_token or registers),
        qkv_bias=any(name.endswith("attn.qkv.bias") for name in shapes),
        layer_scale=any(name.endswith("ls1.gamma") for name in shapes),
        final_norm="fc_norm" if "fc_norm.weight" in shapes and "norm.weight" not in shapes else "norm",
    )  # fmt: skip


def _square(number: int) -> bool:
    return number > 0 and math.isqrt(number) ** 2 == number


def _conv(root: Root, shapes: Shapes) -> ConvPlan | None:
    first, dense, last = (shapes.get(f"{name}.weight") for name in ("convolutions.0", "dense.0", "convolutions.6"))
    if not (first and dense and last) or len(first) != 4 or len(dense) != 2 or first[0] % 32 or not last[0]:
        return None
    side = math.isqrt(dense[1] // last[0])
    return ConvPlan(in_channels=first[1], width=first[0] // 32, side=side, image_size=CONV_SIZES.get(side, 8 * side + 7))


def _small_alexnet(root: Root, shapes: Shapes) -> SmallAlexNetPlan | None:
    first, dense, last = (shapes.get(f"blocks.{name}.weight") for name in ("0.0", "5.1", "7.0"))
    if not (first and dense and last) or len(first) != 4 or len(dense) != 2 or len(last) != 2:
        return None
    return SmallAlexNetPlan(in_channels=first[1], side=math.isqrt(dense[1] // 192), hidden=dense[0], h_dim=last[0])
