"""Match a residual network by the order of its tensors: only when every shape agrees, one to one, and never silently."""

from core.checkpoints.names import COUNTER, Root
from core.checkpoints.plans import DEPTHS, ResNetPlan, Shapes

SMALLEST = 40  # tensors; fewer agree by chance


def match_by_order(shapes: Shapes) -> tuple[Root, ResNetPlan] | None:
    """An encoder whose names say nothing, but whose shapes are those of a standard ResNet in its usual order.

    Args:
        shapes: Name -> shape in the order of the file.

    Returns:
        The encoder and its plan, or None. Up to two tensors at the end (a classifier) may be left over.
    """
    names = [name for name, shape in shapes.items() if shape and not name.endswith(COUNTER)]
    if len(names) < SMALLEST or len(shapes[names[0]]) != 4:
        return None
    width, channels, kernel, _ = shapes[names[0]]
    for block, layers in DEPTHS:
        expansion = 4 if block == "bottleneck" else 1
        inner = tuple(width * 2**stage for stage in range(4))
        outer = tuple(expansion * channels for channels in inner)
        plan = ResNetPlan(
            block=block, layers=layers, in_channels=channels, stem_width=width, kernel=kernel, inner=inner, outer=outer,
            stride=1 if kernel < 5 else 2, padding=kernel // 2, max_pool=kernel >= 5,
        )  # fmt: skip
        expected = plan.tensors()
        if not 0 <= len(names) - len(expected) <= 2:
            continue
        if all(shapes[name] == shape for name, shape in zip(names, expected.values(), strict=False)):
            used = names[: len(expected)]
            return Root("", "torchvision", dict(zip(expected, used, strict=True)), (), frozenset(used)), plan
    return None
