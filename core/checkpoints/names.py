"""Find encoders among the names of a dictionary of tensors, and give their tensors the names this project uses.

Several codebases write the same residual network under different names. An encoder is found by its structure and
renamed by the shape of its tensors, never by their order, so that nothing lands in the wrong place.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from core.checkpoints.plans import Shapes

Style = Literal["torchvision", "sequential", "separius", "detectron2", "vit", "conv", "small_alexnet"]

FAMILIES: dict[str, str] = {
    "torchvision": "resnet", "sequential": "resnet", "separius": "resnet", "detectron2": "resnet",
    "vit": "vit", "conv": "conv", "small_alexnet": "small_alexnet",
}  # fmt: skip
MARKS: tuple[tuple[Style, re.Pattern[str]], ...] = (  # group 1: the prefix
    ("vit", re.compile(r"^((?:.*\.)?)blocks\.\d+\.(?:attn\.qkv|mlp\.fc1)\.weight$")),
    ("separius", re.compile(r"^((?:.*\.)?)\d+\.blocks\.\d+\.net\.\d+\.weight$")),
    ("detectron2", re.compile(r"^((?:.*\.)?)res[2-5]\.\d+\.conv[1-3]\.weight$")),
    ("torchvision", re.compile(r"^((?:.*\.)?)layer[1-4]\.\d+\.conv[1-3]\.weight$")),
    ("sequential", re.compile(r"^((?:.*\.)?)\d+\.\d+\.conv[1-3]\.weight$")),
    ("small_alexnet", re.compile(r"^((?:.*\.)?)blocks\.[0-4]\.0\.weight$")),
    ("conv", re.compile(r"^((?:.*\.)?)convolutions\.[036]\.weight$")),
)
PARTS = {  # names inside the encoder; what does not match lies on top of it
    "torchvision": re.compile(r"^(conv1|bn1|layer[1-4])\."),
    "detectron2": re.compile(r"^(stem\.conv1|res[2-5])\."),
    "vit": re.compile(
        r"^(blocks|patch_embed|norm|fc_norm|ls_post|pos_drop|norm_pre)\.|^(cls_token|pos_embed|reg_token|register_tokens)$"
    ),
    "conv": re.compile(r"^(convolutions|dense)\."),
    "small_alexnet": re.compile(r"^blocks\."),
}
PROFILER = re.compile(r"(^|\.)total_(ops|params)$")
COUNTER = "num_batches_tracked"
NORM_PARTS = ("weight", "bias", "running_mean", "running_var")


class Root(NamedTuple):
    """An encoder among the names of a dictionary."""

    prefix: str  # in front of its names, with the last dot
    style: Style
    mapping: dict[str, str]  # name here -> name in the file
    strays: tuple[str, ...]  # names in the encoder's part of the file that have no place in it
    inside: frozenset[str]  # all names of the file that belong to it
    relu: bool = True  # hints that only a Sequential gives, by the gap between its numbers
    max_pool: bool | None = None
    input_norm: bool = False

    @property
    def family(self) -> str:
        """Which plan fits it."""
        return FAMILIES[self.style]


def left_overs(names: Iterable[str]) -> tuple[str, ...]:
    """Names that profilers leave behind."""
    return tuple(name for name in names if PROFILER.search(name))


def find_roots(shapes: Shapes) -> list[Root]:
    """All encoders in a dictionary, in the order of their appearance.

    Args:
        shapes: Name -> shape of every tensor; left-overs of profilers already taken out.
    """
    starts: dict[tuple[Style, str], None] = {}
    for name, shape in shapes.items():
        if len(shape) not in (2, 4):
            continue
        for style, mark in MARKS:
            if (match := mark.match(name)) is not None:
                starts[(style, match[1])] = None
                break
    roots = [_root(style, prefix, shapes) for style, prefix in starts]
    return [root for root in roots if root is not None and len(root.mapping) >= 4]


def _root(style: Style, prefix: str, shapes: Shapes) -> Root | None:
    under = {name[len(prefix) :]: shape for name, shape in shapes.items() if name.startswith(prefix)}
    if style == "sequential":
        return _sequential(prefix, under)
    if style == "separius":
        return _separius(prefix, under)
    inside = [name for name in under if PARTS[style].match(name)]
    if style == "small_alexnet" and not any(name.startswith("blocks.5.") for name in inside):
        return None
    rename = {"torchvision": _resnet_names, "detectron2": _detectron2_names}.get(style, _same_names)
    return _collect(prefix, style, rename({name: under[name] for name in inside}), inside)


def _collect(prefix: str, style: Style, mapping: dict[str, str], inside: Iterable[str], **hints) -> Root:
    """Put the prefix back and see which names found no place."""
    inside = list(inside)
    placed = set(mapping.values())
    strays = tuple(
        prefix + name for name in inside if name not in placed and not name.endswith(COUNTER) and not PROFILER.search(name)
    )
    mapping = {here: prefix + there for here, there in mapping.items()}
    return Root(prefix, style, mapping, strays, frozenset(prefix + name for name in inside), **hints)


def _same_names(under: Shapes) -> dict[str, str]:
    aliases = {"register_tokens": "reg_token"}
    return {aliases.get(name, name): name for name in under if not name.endswith(COUNTER)}


def _resnet_names(under: Shapes) -> dict[str, str]:
    """torchvision's names; `shortcut` and the positions inside `downsample` are told apart by shape."""
    mapping = {}
    for name, shape in under.items():
        match = re.fullmatch(r"(layer[1-4]\.\d+)\.(?:downsample|shortcut)\.(\d+)\.(\w+)", name)
        if match is None:
            if not name.endswith(COUNTER):
                mapping[name] = name
        elif match[3] in NORM_PARTS:
            mapping[f"{match[1]}.downsample.{0 if len(shape) == 4 else 1}.{match[3]}"] = name
    return mapping


def _detectron2_names(under: Shapes) -> dict[str, str]:
    """Detectron2: `stem.conv1`, `res2`, norms inside the convolutions."""
    mapping = {}
    for name in under:
        here = re.sub(r"^stem\.", "", name)
        here = re.sub(r"^res(\d)\.", lambda match: f"layer{int(match[1]) - 1}.", here)
        here = re.sub(r"conv(\d)\.norm\.", r"bn\1.", here)
        here = re.sub(r"shortcut\.norm\.", "downsample.1.", here)
        here = re.sub(r"shortcut\.(weight|bias)$", r"downsample.0.\1", here)
        if not here.endswith(COUNTER):
            mapping[here] = name
    return mapping


def _sequential(prefix: str, under: Shapes) -> Root | None:
    """A Sequential over the children of a ResNet. Stages are the numbers with blocks in them, the rest goes by shape.

    The gap between the first convolution and the first stage tells which parts without weights lie between:
    batch norm, ReLU and max-pool (4), batch norm and ReLU (3), batch norm alone (2).
    """
    numbered: dict[int, list[str]] = {}
    for name in under:
        if (match := re.match(r"(\d+)\.", name)) is not None:
            numbered.setdefault(int(match[1]), []).append(name)
    stages = sorted(
        number for number, names in numbered.items() if any(re.match(r"\d+\.\d+\.conv[1-3]\.", name) for name in names)
    )
    convolutions = [
        number for number in numbered if len(under.get(f"{number}.weight", ())) == 4 and number < min(stages, default=0)
    ]
    if not stages or not convolutions or stages != list(range(stages[0], stages[0] + len(stages))):
        return None
    conv = min(convolutions)
    norms = [number for number in numbered if number < stages[0] and f"{number}.running_mean" in under]
    after, before = [number for number in norms if number > conv], [number for number in norms if number < conv]
    renamed = {conv: "conv1"} | ({after[0]: "bn1"} if after else {}) | ({before[0]: "input_norm"} if before else {})
    renamed |= {number: f"layer{stage}" for stage, number in enumerate(stages, start=1)}
    inside = {f"{renamed[number]}.{name.partition('.')[2]}": name for number in renamed for name in numbered[number]}
    mapping = {here: inside[name] for here, name in _resnet_names({here: under[there] for here, there in inside.items()}).items()}
    gap = stages[0] - conv
    hints = {"relu": gap > 2, "max_pool": gap > 3, "input_norm": bool(before)}
    return _collect(prefix, "sequential", mapping, inside.values(), **hints)


def _separius(prefix: str, under: Shapes) -> Root:
    """Separius' SimCLRv2: `0.0` is the stem, `1` to `4` hold `blocks`, convolutions and norms alternate inside `net`."""
    mapping: dict[str, str] = {}
    inside = [name for name in under if re.match(r"0\.\d+\.|\d+\.blocks\.", name)]
    for name in inside:
        part = name.rpartition(".")[2]
        kind = "conv" if len(under[name]) == 4 else "bn"
        stem = re.fullmatch(r"0\.([01])(?:\.\d+)*\.\w+", name)
        block = re.fullmatch(r"(\d+)\.blocks\.(\d+)\.net\.(\d+)(?:\.\d+)*\.\w+", name)
        shortcut = re.fullmatch(r"(\d+)\.blocks\.(\d+)\.projection\.(?:shortcut|bn)(?:\.\d+)*\.\w+", name)
        if part not in NORM_PARTS:
            continue
        if stem is not None and (kind == "conv") == (stem[1] == "0"):
            mapping[f"{kind}1.{part}"] = name
        elif block is not None:
            mapping[f"layer{block[1]}.{block[2]}.{kind}{int(block[3]) // 2 + 1}.{part}"] = name
        elif shortcut is not None:
            mapping[f"layer{shortcut[1]}.{shortcut[2]}.downsample.{0 if kind == 'conv' else 1}.{part}"] = name
    return _collect(prefix, "separius", mapping, inside)
