"""Recognise which codebase wrote a checkpoint, from its keys. One row per format.

A format is recognised for three reasons only: to name it, to know how its images were normalised, and to warn of
its traps. How an encoder is found and rebuilt does not depend on it.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from core.checkpoints.names import Root


class Evidence(NamedTuple):
    """What a format can be recognised by."""

    kind: str  # zip, legacy, safetensors or pickle
    top: frozenset[str]  # outermost keys
    order: tuple[str, ...]  # names of the chosen dictionary, as in the file
    path: tuple[str, ...]  # keys that lead to the chosen dictionary
    root: Root | None
    names: frozenset[str]  # the same names
    others: frozenset[str]  # names in all other dictionaries
    ignored: frozenset[str]  # classes replaced by stand-ins
    metadata: frozenset[str]  # keys of a safetensors header
    kernel: int | None  # of the first convolution

    def has(self, pattern: str) -> bool:
        """Does any name of the chosen dictionary contain the pattern?"""
        return any(re.search(pattern, name) for name in self.names)

    def under(self, *tops: str) -> bool:
        """Are all of these outermost keys there?"""
        return set(tops) <= self.top

    @property
    def prefix(self) -> str:
        """Prefix of the chosen encoder."""
        return self.root.prefix if self.root else ""

    @property
    def style(self) -> str:
        """How the chosen encoder's names are written."""
        return self.root.style if self.root else ""


class Layout(NamedTuple):
    """One format."""

    id: str
    name: str
    fits: Callable[[Evidence], bool]
    normalisation: str | Callable[[Evidence], str | None] | None = None  # key of PRESETS; None: not known
    note: str = ""  # a trap to tell people about


def _by_stem(small: str, large: str) -> Callable[[Evidence], str | None]:
    return lambda e: small if e.kernel is not None and e.kernel < 5 else large


def _lightning(e: Evidence) -> bool:
    return "pytorch-lightning_version" in e.top or e.under("state_dict", "global_step", "epoch")


def _torchvision_names(e: Evidence) -> bool:
    return e.style == "torchvision" and e.prefix in ("", "module.")


def _only(e: Evidence, *tops: str) -> bool:
    return e.top == frozenset(tops)


def _downsample_first(e: Evidence) -> bool:
    """Does a block list its shortcut before its first convolution, as tonylins' converter does?"""
    places = {name: place for place, name in enumerate(e.order)}
    pairs = (
        (places[n], places.get(re.sub(r"downsample\.0\.weight$", "conv1.weight", n)))
        for n in places
        if n.endswith("downsample.0.weight")
    )
    return any(conv is not None and shortcut < conv for shortcut, conv in pairs)


LINEAR_CLASSIFIER = "a linear classifier; the encoder below it is the pretrained one only if it was frozen"
PADDING = "solo-learn trains small images with a 3 × 3 stem of padding 2; the weights cannot show it, so padding must be chosen"

LAYOUTS: tuple[Layout, ...] = (  # the first that fits is taken
    Layout("contrastive_lens", "Contrastive Lens run", lambda e: {"spec", "format_version"} <= e.metadata, "none"),
    Layout(
        "detectron2",
        "Detectron2 (converted from MoCo)",
        lambda e: e.style == "detectron2" or "matching_heuristics" in e.top,
        "imagenet",
    ),
    Layout("vissl", "VISSL", lambda e: "classy_state_dict" in e.top or "_feature_blocks." in e.prefix, "imagenet"),
    Layout(
        "mmpretrain",
        "mmpretrain / mmselfsup",
        lambda e: e.under("meta", "state_dict") and "pytorch-lightning_version" not in e.top,
        "imagenet_255",
    ),
    Layout("openselfsup", "OpenSelfSup (MoCo)", lambda e: bool(re.search(r"encoder_q\.0\.", e.prefix)), "imagenet_255"),
    Layout(
        "moco_v3",
        "MoCo v3",
        lambda e: "base_encoder." in e.prefix or ("momentum_encoder." in e.prefix and e.has(r"base_encoder\.")),
        "imagenet",
        "ViT-S of MoCo v3 has 12 attention heads, timm's has 6",
    ),
    Layout("moco_v2", "MoCo v2", lambda e: e.has(r"encoder_[qk]\.fc\.0\.weight"), "imagenet"),
    Layout("moco_v1", "MoCo v1", lambda e: e.has(r"encoder_[qk]\."), "imagenet"),
    Layout("dino_full", "DINO (student and teacher)", lambda e: e.under("student", "teacher"), "imagenet"),
    Layout(
        "simsiam_patrickhua",
        "SimSiam (PatrickHua)",
        lambda e: e.has(r"projector\.layer\d\.|(^|\.)encoder\.1\.layer\d\.0\.weight"),
        _by_stem("cifar10", "imagenet"),
    ),
    Layout("simsiam", "SimSiam (Facebook)", lambda e: e.has(r"encoder\.fc\.[36]\.") and e.has(r"predictor\.[03]\."), "imagenet"),
    Layout("simclr_sthalles", "SimCLR (sthalles)", lambda e: e.has(r"backbone\.fc\.[02]\."), "none"),
    Layout("simclr_v2_separius", "SimCLR v2 (Separius)", lambda e: e.style == "separius" or e.under("resnet", "head"), "none"),
    Layout("simclr_andrewatanov", "SimCLR (AndrewAtanov)", lambda e: "convnet." in e.prefix, "none"),
    Layout(
        "scan",
        "SCAN / SimCLR (wvangansbeke)",
        lambda e: any(re.match(r"(module\.)?(contrastive|cluster)_head", n) for n in e.names | e.others),
        _by_stem("cifar10_2023", "imagenet"),
    ),
    Layout(
        "supcon_ce",
        "SupContrast, cross entropy",
        lambda e: e.under("opt", "model") and e.has(r"(^|\.)fc\.weight") and not e.has(r"(^|\.)head\."),
        "cifar10_2023",
    ),
    Layout("supcon", "SupContrast (SimCLR or SupCon)", lambda e: e.under("opt", "model", "epoch"), "cifar10_2023"),
    Layout(
        "simclr_bolts", "SimCLR (lightning-bolts)", lambda e: e.has(r"projection\.model\.\d"), _by_stem("cifar10", "imagenet")
    ),
    Layout("swav", "SwAV", lambda e: e.has(r"projection_head\.") and e.has(r"prototypes"), "imagenet_228"),
    Layout(
        "barlow_twins", "Barlow Twins", lambda e: e.has(r"^(module\.)?bn\.running_mean$") and e.has(r"projector\."), "imagenet"
    ),
    Layout(
        "barlow_linear", "Barlow Twins, linear evaluation", lambda e: e.under("best_acc", "model"), "imagenet", LINEAR_CLASSIFIER
    ),
    Layout("byol_lucidrains", "BYOL (lucidrains, Lightning)", lambda e: e.has(r"online_encoder\.(net|projector)\."), "imagenet"),
    Layout("byol_yaox12", "BYOL (yaox12)", lambda e: e.has(r"online_network\."), "imagenet"),
    Layout("byol_deepmind", "BYOL (converted from DeepMind's)", lambda e: "online_backbone" in e.top, "imagenet"),
    Layout(
        "dino_linear",
        "DINO, linear classifier only",
        lambda e: e.root is None and "state_dict" in e.top and all(re.match(r"(module\.)?linear\.", name) for name in e.names),
    ),
    Layout(
        "lightly_cli",
        "lightly, command line or old hub",
        lambda e: bool(re.search(r"(^|\.)model\.(backbone|features)\.|(^|\.)features\.", e.prefix)) and e.style == "sequential",
        "imagenet",
    ),
    Layout(
        "lightly_benchmark",
        "lightly, benchmark",
        lambda e: e.style == "torchvision" and e.has(r"online_classifier\.classification_head|backbone_momentum|memory_bank"),
        "imagenet",
    ),
    Layout(
        "lightly",
        "lightly",
        lambda e: e.style == "sequential" and "backbone." in e.prefix and not e.has(r"contrastive_head"),
        _by_stem("cifar10", "imagenet"),
    ),
    Layout(
        "solo_learn",
        "solo-learn",
        lambda e: (
            e.has(r"^momentum_(backbone|encoder)\.|^momentum_projector\.")
            or (e.has(r"^projector\.\d") and e.has(r"^classifier\."))
        ),
        _by_stem("cifar10", "imagenet_228"),
        PADDING,
    ),
    Layout(
        "simclr_leftthomas",
        "SimCLR (leftthomas, HSIC)",
        lambda e: e.style == "sequential" and e.has(r"(^|\.)g\.\d"),
        "cifar10_2023",
    ),
    Layout(
        "simclr_spijkervet",
        "SimCLR (Spijkervet)",
        lambda e: e.has(r"projector\.0\.weight") and not e.has(r"projector\.[02]\.bias") and "encoder." in e.prefix,
        "none",
    ),
    Layout(
        "vicreg", "VICReg", lambda e: e.under("model", "optimizer") and e.has(r"backbone\.") and e.has(r"projector\."), "imagenet"
    ),
    Layout("align_uniform", "Wang & Isola, STL-10", lambda e: e.style == "small_alexnet", "none"),
    Layout(
        "timm",
        "timm training checkpoint",
        lambda e: e.under("arch", "state_dict", "version") or "state_dict_ema" in e.top,
        "imagenet",
    ),
    Layout(
        "linear_classifier",
        "Linear classifier (MoCo, PyTorch's ImageNet example)",
        lambda e: "best_acc1" in e.top,
        "imagenet",
        LINEAR_CLASSIFIER,
    ),
    Layout(
        "simclr_tonylins",
        "SimCLR (tonylins' converter)",
        lambda e: _only(e, "state_dict") and _torchvision_names(e) and (_downsample_first(e) or "fc.weight" in e.names),
        "none",
        "fc.bias is random in files of this converter, so fc is no classifier",
    ),
    Layout(
        "moco_v3_deit",
        "MoCo v3 converted for DeiT",
        lambda e: _only(e, "model") and e.style == "vit",
        "imagenet",
        "ViT-S has 12 heads here",
    ),
    Layout("dino", "Vision transformer with timm's names (DINO, timm)", lambda e: e.style == "vit" and not e.path, "imagenet"),
    Layout("pickled_module", "Whole pickled module", lambda e: any(name.startswith("__module__") for name in e.top)),
    Layout("lightning", "Lightning", _lightning),
    Layout("torchvision", "torchvision's names", lambda e: _torchvision_names(e) and not e.path, "imagenet"),
    Layout("state_dict", "state_dict in a dictionary", lambda e: e.root is not None and bool(e.path)),
    Layout("named", "state_dict with a prefix", lambda e: e.root is not None),
)
UNKNOWN = Layout("unknown", "Unknown format", lambda e: True)


def recognise(evidence: Evidence) -> Layout:
    """The first format that fits, or `UNKNOWN`."""
    return next((layout for layout in LAYOUTS if layout.fits(evidence)), UNKNOWN)


def guess_normalisation(layout: Layout, evidence: Evidence) -> str | None:
    """The preset that checkpoints of this format were trained with, as far as is known."""
    return layout.normalisation(evidence) if callable(layout.normalisation) else layout.normalisation
