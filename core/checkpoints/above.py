"""What lies on top of the encoders in a checkpoint: heads, and tensors that are neither."""

from typing import NamedTuple

from core.checkpoints.branches import Encoder
from core.checkpoints.heads import find_heads
from core.checkpoints.names import COUNTER, left_overs
from core.checkpoints.plans import Shapes
from core.checkpoints.report import Head
from core.checkpoints.tensors import TensorRef, shape_text
from core.checkpoints.tree import Tensors


class Extra(NamedTuple):
    """A tensor that belongs to no encoder and no head: a queue, a memory bank, a schedule."""

    name: str
    text: str  # with shape and place


def find_above(groups: list[Tensors], encoders: list[Encoder], layout: str, ordered: bool) -> tuple[list[Head], list[Extra]]:
    """Heads and other tensors; one that lies under two names is taken once.

    Args:
        groups: The dictionaries of tensors.
        encoders: Found in them.
        layout: Identifier of the format.
        ordered: The file keeps the order in which modules were made.
    """
    heads: list[Head] = []
    extras: list[Extra] = []
    for group in groups:
        left = _left(group, [encoder for encoder in encoders if encoder.group.path == group.path])
        found = find_heads(group.path, left, layout, ordered)
        heads += found
        layers = tuple(f"{layer.key}." for head in found for layer in head.layers)
        where = f", in {'.'.join(group.path)}" if group.path else ""
        for name, shape in left.items():
            if not f"{name}.".startswith(layers):
                extras.append(Extra(name, f"{name} ({shape_text(shape)}{where})"))
    return heads, extras


def _left(group: Tensors, encoders: list[Encoder]) -> Shapes:
    """Names of a dictionary that no encoder uses, without copies of encoders and left-overs of profilers."""
    inside = {name for encoder in encoders for name in encoder.root.inside}
    copies = tuple(prefix for encoder in encoders for prefix in encoder.same_as)
    dropped = set(left_overs(group.tensors))
    left: Shapes = {}
    seen: set[TensorRef] = set()
    for name, ref in group.tensors.items():
        in_copy = name.startswith(copies) and not find_heads(group.path, {name: ref.shape}, "")
        if name in inside or name in dropped or name.endswith(COUNTER) or in_copy or ref in seen:
            continue
        seen.add(ref)
        left[name] = ref.shape
    return left
