"""Describe the networks that sit on top of an encoder: projectors, predictors, classifiers, prototypes."""

import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

from core.checkpoints.plans import Shapes
from core.checkpoints.prefixes import strip_known
from core.checkpoints.report import Head, Layer

LAYER = re.compile(r"^(?P<layer>.*?)\.?(?P<part>weight|bias|running_mean|running_var|weight_g|weight_v|original[01])$")
WEIGHT_NORM = re.compile(r"\.parametrizations\.weight$")
ROLE_WORDS = (
    ("predictor", re.compile(r"predict", re.I)),
    ("prototypes", re.compile(r"prototype", re.I)),
    ("classifier", re.compile(r"classif|\bclf\b|cluster head|\blinear\b", re.I)),
    ("projector", re.compile(r"proj|contrastive head|neck|\bg\b|mlp|last layer", re.I)),
)  # fmt: skip
HEAD_STARTS = re.compile(
    r"^(fc|head|heads|linear|classifier|projector|projection_head|projection|projetion|predictor|prediction_head|"
    r"online_predictor|prototypes|online_classifier|contrastive_head|cluster_head|neck|bbox_head|g|last_layer|probe|"
    r"stem\.fc|classification_head|projection_head_momentum|momentum_projector|layers|student_head|teacher_head)(\.|\d|$)"
)

SINGLE_PROJECTOR = frozenset(
    {"moco_v1", "moco_v2", "detectron2", "supcon", "contrastive_lens"}
)  # formats whose one `fc` layer projects
HEAD_CONTAINERS = frozenset({"head", "heads", "projector", "projection_head", "classifier", "predictor", "linear"})


class Group(NamedTuple):
    """Names of one head."""

    prefix: str
    names: tuple[str, ...]


def find_heads(path: tuple[str, ...], shapes: Shapes, layout: str, ordered: bool = True) -> list[Head]:
    """The heads among the names that belong to no encoder.

    Args:
        path: Keys that lead to the dictionary.
        shapes: Names that belong to no encoder, and their shapes.
        layout: Identifier of the format; decides what a single `fc` layer is.
        ordered: The file keeps the order in which modules were made (safetensors does not); else only numbers tell
            which layer comes first.

    Returns:
        Heads with at least one linear layer, in the order of the file.
    """
    groups = _whole_groups(shapes) if path and path[-1] in HEAD_CONTAINERS else _groups(shapes)
    heads = [_describe(path, group, shapes, layout, ordered) for group in groups]
    return [head for head in heads if head is not None]


def _groups(names: Iterable[str]) -> list[Group]:
    """Names that start like a head, gathered by that start."""
    groups: dict[str, list[str]] = {}
    for name in names:
        taken, rest = strip_known(name)
        match = HEAD_STARTS.match(rest)
        if match is None:
            continue
        start = match[1] if match[2] == "." else rest.partition(".")[0]
        groups.setdefault(f"{taken}{start}.", []).append(name)
    return [Group(prefix, tuple(members)) for prefix, members in groups.items()]


def _whole_groups(names: Iterable[str]) -> list[Group]:
    """All names of a dictionary that holds heads only; numbers in front tell several heads apart."""
    groups: dict[str, list[str]] = {}
    for name in names:
        first = re.match(r"\d+\.(?=clf|head)", name)
        groups.setdefault(first[0] if first else "", []).append(name)
    return [Group(prefix, tuple(members)) for prefix, members in groups.items()]


def _describe(path: tuple[str, ...], group: Group, shapes: Shapes, layout: str, ordered: bool) -> Head | None:
    parts: dict[str, dict[str, tuple[int, ...]]] = {}
    odd = False
    for name in group.names:
        match = LAYER.match(name)
        if match is None:
            odd = odd or not name.endswith(("num_batches_tracked", "total_ops", "total_params"))
            continue
        layer = WEIGHT_NORM.sub("", match["layer"])
        odd = odd or match["part"] in ("weight_g", "weight_v", "original0", "original1")
        parts.setdefault(layer, {})[match["part"]] = shapes[name]
    places = {key: _place(key.removeprefix(group.prefix)) for key in parts}
    numbered = None not in places.values() and len(set(places.values())) == len(places)
    if numbered:
        parts = dict(sorted(parts.items(), key=lambda item: places[item[0]]))
    layers = [layer for key, found in parts.items() if (layer := _layer(key, found)) is not None]
    linear = [layer for layer in layers if layer.kind == "linear"]
    if not linear:
        return None
    in_order = ordered or numbered or len(layers) == 1
    chained = all(a.outputs == b.inputs for a, b in itertools.pairwise(layers))
    return Head(
        role=_role(path, layers[0].key, len(linear), layout),
        container=path,
        prefix=group.prefix,
        layers=tuple(layers),
        text=_text(layers, linear),
        rebuilt=chained and in_order and not odd and len(layers) == len(parts),
    )


def _place(rest: str) -> int | None:
    """The number that a Sequential gave a layer, behind words that all of its layers share."""
    numbers = re.findall(r"(?:^|\.)(\d+)(?=\.|$)", rest)
    return int(numbers[0]) if len(numbers) == 1 else None


def _layer(key: str, found: dict[str, tuple[int, ...]]) -> Layer | None:
    """A layer from the shapes of its parts: two dimensions make a linear layer, running statistics a batch norm."""
    weight = found.get("weight") or found.get("weight_v") or found.get("original1")
    if weight is not None and len(weight) == 4 and weight[2:] == (1, 1):
        weight = weight[:2]  # a 1 × 1 convolution on pooled features
    if weight is not None and len(weight) == 2:
        return Layer(kind="linear", key=key, inputs=weight[1], outputs=weight[0], bias="bias" in found)
    if "running_mean" in found:
        width = found["running_mean"][0] if found["running_mean"] else 1
        return Layer(kind="batch_norm", key=key, inputs=width, outputs=width, bias="weight" in found)
    return None


def _role(path: tuple[str, ...], key: str, linear_layers: int, layout: str) -> str:
    """What a head is for, by its name; `fc` and `head` alone are decided by their depth and by the format."""
    if "online_classifier" in key:
        return "classifier"
    spoken = " ".join((*path, key)).replace("_", " ").replace(".", " ")
    for role, words in ROLE_WORDS:
        if words.search(spoken):
            return role
    if re.search(r"(^|\.)(fc|head)(\.|\d|$)", key):
        return "projector" if linear_layers > 1 or layout in SINGLE_PROJECTOR else "classifier"
    return "projector" if linear_layers > 1 else "other"


def _text(layers: list[Layer], linear: list[Layer]) -> str:
    sizes = " → ".join(map(str, (linear[0].inputs, *(layer.outputs for layer in linear))))
    details = []
    if any(layer.kind == "batch_norm" for layer in layers):
        details.append("batch norm")
    if not any(layer.bias for layer in linear):
        details.append("no bias")
    elif not linear[-1].bias and len(linear) > 1:
        details.append("no bias at the end")
    return ", ".join([sizes, *details])


def head_of(heads: list[Head], container: tuple[str, ...], prefix: str, h_dim: int) -> Head | None:
    """The projector that belongs to an encoder: it takes its h, and shares the most of its place in the file."""
    fitting = [head for head in heads if head.role == "projector" and head.layers[0].inputs == h_dim]
    if not fitting:
        return None
    here = [*container, *prefix.split(".")]

    def shared(head: Head) -> tuple[int, bool]:
        there = [*head.container, *head.prefix.split(".")]
        same = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there)))
        return same, "momentum" not in head.prefix and "target" not in head.prefix

    best = max(fitting, key=shared)
    return best
