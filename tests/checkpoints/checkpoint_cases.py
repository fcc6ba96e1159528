"""Files as other codebases write them, each from one reference encoder, with what must be said about it.

The keys follow the saving code of the projects named; no released file is involved.
"""

import argparse
import collections
import pickle
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from checkpoint_reference import HIDDEN, OUT, filled, mlp, prefixed, resnet, sequential, vit
from torch import nn

H = 64  # h of the basic reference ResNet of width 8


def exclude_bias_and_norm(parameter):
    """Stands for the function of `__main__` that VICReg's optimizer settings hold."""
    return parameter.ndim == 1


class Case(NamedTuple):
    """One file and what the report must say."""

    id: str
    encoder: nn.Module  # whose features must come out
    content: Any  # what is saved
    layout: str
    choices: dict = MappingProxyType({})
    branches: tuple[str, ...] | None = None  # all of them, the default first; None: one
    others: dict = MappingProxyType({})  # branch -> encoder whose features must come out when it is asked for
    projector: str | None = None  # its sizes
    heads: dict = MappingProxyType({})  # prefix -> role
    ignored: tuple[str, ...] = ()  # names replaced by stand-ins
    preset: str | None = "imagenet"
    notes: tuple[str, ...] = ()  # pieces of text
    extras: tuple[str, ...] = ()
    dropped: int = 0
    side: int = 32
    save: Callable[[Any, Path], None] = lambda content, path: torch.save(content, path)


def legacy(content, path):
    """torch.save as before version 1.6."""
    torch.save(content, path, _use_new_zipfile_serialization=False)


def plain_pickle(content, path):
    """pickle.dump, as detectron2's converters do."""
    path.write_bytes(pickle.dumps(content))


def sgd(module):
    """State of an optimizer that has made a step."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    return {"state": {0: {"momentum_buffer": torch.zeros(3)}}, "param_groups": optimizer.state_dict()["param_groups"]}


def without_counters(tensors):
    """As files from before PyTorch 0.4.1."""
    return {name: value for name, value in tensors.items() if not name.endswith("num_batches_tracked")}


def shortcut_names(tensors):
    """SupContrast and lightly call the downsampling `shortcut`."""
    return {name.replace("downsample", "shortcut"): value for name, value in tensors.items()}


def separius_names(tensors):
    """SimCLRv2 of Separius: numbers instead of names, batch norm and ReLU in a Sequential."""
    renamed = {}
    for name, value in tensors.items():
        part = name.split(".")
        if part[0] in ("conv1", "bn1"):
            renamed[f"net.0.{'0' if part[0] == 'conv1' else '1.0'}.{part[1]}"] = value
            continue
        stage, index, layer, rest = part[0][5:], part[1], part[2], part[3:]
        if layer == "downsample":
            where = "projection.shortcut" if rest[0] == "0" else "projection.bn.0"
            renamed[f"net.{stage}.blocks.{index}.{where}.{rest[1]}"] = value
        else:
            number = 2 * (int(layer[-1]) - 1) + (layer.startswith("bn"))
            middle = f"{number}.0" if layer.startswith("bn") else f"{number}"
            renamed[f"net.{stage}.blocks.{index}.net.{middle}.{rest[0]}"] = value
    return renamed


def detectron2_names(tensors):
    """What MoCo's converter makes of torchvision's names, as NumPy arrays."""
    renamed = {}
    for name, value in tensors.items():
        if "layer" not in name:
            name = f"stem.{name}"
        for number in (1, 2, 3, 4):
            name = name.replace(f"layer{number}", f"res{number + 1}")
        for number in (1, 2, 3):
            name = name.replace(f"bn{number}", f"conv{number}.norm")
        name = name.replace("downsample.0", "shortcut").replace("downsample.1", "shortcut.norm")
        renamed[name] = value.numpy()
    return renamed


def swav_stem(encoder):
    """SwAV: one pixel of padding in front of a convolution of padding 2; the weights are those of padding 3."""
    return encoder


def lightning(state_dict, **extra):
    """What a Lightning trainer writes around a state_dict."""
    return {
        "epoch": 3,
        "global_step": 40,
        "pytorch-lightning_version": "2.1.0",
        "state_dict": state_dict,
        "loops": {},
        "callbacks": {},
        "optimizer_states": [],
        "lr_schedulers": [],
    } | extra


def moco_cases():
    q, k, deep, slow = resnet(0), resnet(1), resnet(0, bottleneck=True), resnet(1, bottleneck=True)
    head = mlp([H, H, OUT])
    both = prefixed("module.encoder_q.", q) | prefixed("module.encoder_k.", k)
    queue = {"module.queue": torch.randn(OUT, 32), "module.queue_ptr": torch.zeros(1, dtype=torch.long)}
    outer = {"epoch": 200, "arch": "resnet18", "optimizer": sgd(q)}
    branches = ("encoder_q", "encoder_k")
    yield Case(
        "moco_v2",
        q,
        outer | {"state_dict": both | prefixed("module.encoder_q.fc.", head) | prefixed("module.encoder_k.fc.", head) | queue},
        "moco_v2",
        branches=branches,
        others={"encoder_k": k, "k": k},
        projector="64 → 64 → 12",
        extras=("module.queue (12 × 32, in state_dict)",),
    )
    single = {"module.encoder_q.fc.weight": torch.randn(OUT, H), "module.encoder_q.fc.bias": torch.zeros(OUT)}
    yield Case("moco_v1", q, outer | {"state_dict": both | single | queue}, "moco_v1", branches=branches, projector="64 → 12")
    released = prefixed("module.encoder_q.", q) | prefixed("module.encoder_q.fc.", head)
    yield Case(
        "moco_v2 released",
        q,
        {"epoch": 800, "arch": "resnet18", "state_dict": released},
        "moco_v2",
        projector="64 → 64 → 12",
        save=legacy,
    )
    linear = prefixed("module.", q) | {"module.fc.weight": torch.randn(10, H), "module.fc.bias": torch.zeros(10)}
    yield Case(
        "moco linear",
        q,
        outer | {"state_dict": linear, "best_acc1": torch.tensor(71.1)},
        "linear_classifier",
        heads={"module.fc.": "classifier"},
        notes=("a linear classifier",),
    )
    converted = {"model": detectron2_names(q.state_dict()), "__author__": "MOCO", "matching_heuristics": True}
    yield Case("detectron2", q, converted, "detectron2", save=plain_pickle)
    v3_head = mlp([256, HIDDEN, OUT], norm=True, bias=False, last_norm=True)
    v3 = prefixed("module.base_encoder.", deep) | prefixed("module.base_encoder.fc.", v3_head)
    v3 |= prefixed("module.momentum_encoder.", slow) | prefixed("module.momentum_encoder.fc.", v3_head)
    v3 |= prefixed("module.predictor.", mlp([OUT, HIDDEN, OUT], norm=True, bias=False))
    yield Case(
        "moco_v3",
        deep,
        outer | {"state_dict": v3, "scaler": {"scale": 65536.0}},
        "moco_v3",
        branches=("base_encoder", "momentum_encoder"),
        others={"momentum": slow},
        projector="256 → 16 → 12, batch norm, no bias",
        heads={"module.predictor.": "predictor"},
    )
    fast, slow_vit = vit(0), vit(1)
    vit_head = mlp([32, HIDDEN, HIDDEN, OUT], norm=True, bias=False, last_norm=True)
    v3 = (
        prefixed("module.base_encoder.", fast)
        | prefixed("module.base_encoder.head.", vit_head)
        | prefixed("module.momentum_encoder.", slow_vit)
    )
    yield Case(
        "moco_v3 vit",
        fast,
        outer | {"state_dict": v3},
        "moco_v3",
        {"heads": 4},
        branches=("base_encoder", "momentum_encoder"),
        others={"momentum_encoder": slow_vit},
        projector="32 → 16 → 16 → 12, batch norm, no bias",
        notes=("12 attention heads",),
    )
    yield Case("moco_v3 deit", fast, {"model": fast.state_dict()}, "moco_v3_deit", {"heads": 4})
    yield Case(
        "openselfsup",
        q,
        {"meta": {}, "state_dict": without_counters(prefixed("encoder_q.0.", q))},
        "mmpretrain",
        preset="imagenet_255",
    )


def simsiam_cases():
    encoder = resnet(0)
    head = mlp([H, H, H, OUT], norm=True, bias=False, last_bias=True, last_norm=True)
    predictor = mlp([OUT, HIDDEN, OUT], norm=True)
    tensors = (
        prefixed("module.encoder.", encoder) | prefixed("module.encoder.fc.", head) | prefixed("module.predictor.", predictor)
    )
    yield Case(
        "simsiam",
        encoder,
        {"epoch": 100, "arch": "resnet18", "state_dict": tensors, "optimizer": sgd(encoder)},
        "simsiam",
        projector="64 → 64 → 64 → 12, batch norm",
        heads={"module.predictor.": "predictor"},
    )
    cifar = resnet(0, stem="cifar")
    projector = {f"layer{n}.{part}": v for n in (1, 2) for part, v in prefixed("0.", nn.Linear(H, H)).items()}
    twice = nn.Module()
    twice.backbone, twice.encoder = cifar, nn.Sequential(cifar)
    tensors = twice.state_dict() | prefixed("projector.", projector) | prefixed("encoder.1.", projector)
    yield Case(
        "simsiam patrickhua",
        cifar,
        {"epoch": 1, "state_dict": tensors},
        "simsiam_patrickhua",
        preset="cifar10",
        notes=("counted once",),
    )


def simclr_cases():
    encoder, cifar, deep = resnet(0), resnet(0, stem="cifar"), resnet(0, bottleneck=True)
    inside = prefixed("backbone.", encoder) | prefixed("backbone.fc.", mlp([H, H, OUT]))
    outer = {"epoch": 200, "arch": "resnet18", "optimizer": sgd(encoder)}
    yield Case("sthalles", encoder, outer | {"state_dict": inside}, "simclr_sthalles", projector="64 → 64 → 12", preset="none")
    flat = prefixed("encoder.", encoder) | prefixed("projector.", mlp([H, H, OUT], bias=False))
    yield Case("spijkervet", encoder, flat, "simclr_spijkervet", projector="64 → 64 → 12, no bias", preset="none")
    yield Case(
        "spijkervet ddp",
        encoder,
        prefixed("module.", flat),
        "simclr_spijkervet",
        projector="64 → 64 → 12, no bias",
        preset="none",
    )
    names = sorted(encoder.state_dict(), key=lambda name: "downsample" not in name)
    converted = {name: encoder.state_dict()[name] for name in names} | {
        "fc.weight": torch.randn(10, H),
        "fc.bias": torch.randn(10),
    }
    yield Case(
        "tonylins",
        encoder,
        {"state_dict": converted},
        "simclr_tonylins",
        preset="none",
        notes=("fc.bias is random",),
        heads={"fc.": "classifier"},
    )
    v2 = separius_names(without_counters(deep.state_dict())) | {"fc.weight": torch.randn(10, 256), "fc.bias": torch.zeros(10)}
    layers = mlp([256, HIDDEN, HIDDEN, OUT], norm=True, bias=False)
    layers = prefixed("layers.", nn.Sequential(*layers, nn.BatchNorm1d(OUT)))
    yield Case(
        "separius",
        deep,
        {"resnet": v2, "head": layers},
        "simclr_v2_separius",
        preset="none",
        projector="256 → 16 → 16 → 12, batch norm, no bias",
    )
    g = nn.Sequential(nn.Linear(H, HIDDEN, bias=False), nn.BatchNorm1d(HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, OUT))
    small = prefixed("f.", sequential(cifar)) | prefixed("g.", g)
    profiler = {"f.0.total_ops": torch.zeros(1, dtype=torch.float64), "f.total_params": torch.zeros(1, dtype=torch.float64)}
    yield Case(
        "leftthomas cifar",
        cifar,
        small | profiler,
        "simclr_leftthomas",
        preset="cifar10_2023",
        projector="64 → 16 → 12, batch norm",
        dropped=2,
        notes=("left-overs of a profiler",),
    )
    stl = resnet(0, stem="cifar", max_pool=True)
    yield Case(
        "leftthomas stl", stl, prefixed("f.", sequential(stl)) | prefixed("g.", g), "simclr_leftthomas", preset="cifar10_2023"
    )
    tensors = {
        "convnet": cifar,
        "projection": nn.ModuleDict({"fc1": nn.Linear(H, H), "bn1": nn.BatchNorm1d(H), "fc2": nn.Linear(H, OUT)}),
    }
    state = {name: value for part, module in tensors.items() for name, value in prefixed(f"{part}.", module).items()}
    yield Case(
        "andrewatanov",
        cifar,
        {"state_dict": state, "hparams": argparse.Namespace(temperature=0.5, arch="ResNet18")},
        "simclr_andrewatanov",
        preset="none",
        projector="64 → 64 → 12, batch norm",
        ignored=("argparse.Namespace",),
    )
    old = prefixed("model.module.convnet.", cifar)
    yield Case(
        "andrewatanov old", cifar, {"state_dict": old, "hparams": argparse.Namespace()}, "simclr_andrewatanov", preset="none"
    )
    scan = prefixed("backbone.", cifar) | prefixed("contrastive_head.", mlp([H, H, OUT]))
    yield Case("scan pretext", cifar, scan, "scan", preset="cifar10_2023", projector="64 → 64 → 12")
    clusters = prefixed("backbone.", cifar) | prefixed("cluster_head.0.", nn.Linear(H, 10))
    yield Case(
        "scan model", cifar, {"model": clusters, "head": 0}, "scan", preset="cifar10_2023", heads={"cluster_head.": "classifier"}
    )
    bolts = prefixed("encoder.", cifar) | prefixed(
        "projection.model.", nn.Sequential(nn.Linear(H, H), nn.BatchNorm1d(H), nn.ReLU(), nn.Linear(H, OUT))
    )
    yield Case(
        "bolts",
        cifar,
        lightning(bolts, hyper_parameters={"lr": 1.0}),
        "simclr_bolts",
        preset="cifar10",
        projector="64 → 64 → 12, batch norm",
    )


def supervised_contrast_cases():
    cifar = resnet(0, stem="cifar")
    names = shortcut_names(cifar.state_dict())
    opt = argparse.Namespace(temp=0.07, method="SimCLR", batch_size=1024)
    head = prefixed("head.", mlp([H, H, OUT]))
    yield Case(
        "supcon",
        cifar,
        {"opt": opt, "model": prefixed("encoder.module.", names) | head, "optimizer": sgd(cifar), "epoch": 1000},
        "supcon",
        preset="cifar10_2023",
        projector="64 → 64 → 12",
        ignored=("argparse.Namespace",),
    )
    linear = {"head.weight": torch.randn(OUT, H), "head.bias": torch.zeros(OUT)}
    yield Case(
        "supcon linear head",
        cifar,
        {"opt": opt, "model": prefixed("encoder.", names) | linear, "optimizer": {}, "epoch": 1},
        "supcon",
        preset="cifar10_2023",
        projector="64 → 12",
    )
    fc = {"fc.weight": torch.randn(10, H), "fc.bias": torch.zeros(10)}
    yield Case(
        "supcon cross entropy",
        cifar,
        {"opt": opt, "model": prefixed("encoder.", names) | fc, "optimizer": {}, "epoch": 1},
        "supcon_ce",
        preset="cifar10_2023",
        heads={"fc.": "classifier"},
    )


def relative_cases():
    encoder, other, deep = resnet(0), resnet(1), resnet(0, bottleneck=True)
    outer = {"epoch": 1, "optimizer": sgd(encoder)}
    swav = prefixed("module.", swav_stem(deep)) | prefixed("module.projection_head.", mlp([256, HIDDEN, OUT], norm=True))
    prototypes = {"module.prototypes.weight": torch.randn(30, OUT)}
    yield Case(
        "swav",
        deep,
        swav | prototypes,
        "swav",
        preset="imagenet_228",
        projector="256 → 16 → 12, batch norm",
        heads={"module.prototypes.": "prototypes"},
    )
    several = {f"module.prototypes.prototypes{n}.weight": torch.randn(30, OUT) for n in (0, 1)}
    yield Case("swav training", deep, outer | {"state_dict": swav | several}, "swav", preset="imagenet_228")
    barlow = prefixed("module.backbone.", encoder) | prefixed(
        "module.projector.", mlp([H, HIDDEN, HIDDEN, OUT], norm=True, bias=False)
    )
    barlow |= prefixed("module.bn.", nn.BatchNorm1d(OUT, affine=False))
    yield Case("barlow", encoder, outer | {"model": barlow}, "barlow_twins", projector="64 → 16 → 16 → 12, batch norm, no bias")
    linear = prefixed("module.", encoder) | {"module.fc.weight": torch.randn(10, H), "module.fc.bias": torch.zeros(10)}
    best = argparse.Namespace(top1=70.0, top5=90.0)
    yield Case(
        "barlow linear",
        encoder,
        outer | {"model": linear, "best_acc": best, "scheduler": {}},
        "barlow_linear",
        ignored=("argparse.Namespace",),
    )
    group = {"params": [0], "weight_decay_filter": exclude_bias_and_norm, "lars_adaptation_filter": exclude_bias_and_norm}
    vicreg = prefixed("module.backbone.", encoder) | prefixed(
        "module.projector.", mlp([H, HIDDEN, HIDDEN, OUT], norm=True, last_bias=False)
    )
    yield Case(
        "vicreg full",
        encoder,
        {"epoch": 1, "model": vicreg, "optimizer": {"state": {}, "param_groups": [group]}},
        "vicreg",
        projector="64 → 16 → 16 → 12, batch norm, no bias at the end",
        ignored=("checkpoint_cases.exclude_bias_and_norm",),
    )
    student, teacher = vit(0), vit(1)
    head = mlp([32, HIDDEN, HIDDEN, OUT])
    last = nn.utils.parametrizations.weight_norm(nn.Linear(OUT, 20, bias=False))
    dino_head = prefixed("head.mlp.", head) | prefixed(
        "head.last_layer.", {"weight_g": torch.ones(20, 1), "weight_v": torch.randn(20, OUT)}
    )
    newer = prefixed("head.mlp.", head) | prefixed("head.last_layer.", last)
    full = {
        "student": prefixed("module.", prefixed("backbone.", student) | dino_head),
        "teacher": prefixed("backbone.", teacher) | newer,
        "epoch": 100,
        "args": argparse.Namespace(arch="vit_small"),
        "dino_loss": {"center": torch.zeros(1, 20)},
        "fp16_scaler": {},
        "optimizer": {},
    }
    yield Case(
        "dino vit",
        teacher,
        full,
        "dino_full",
        {"heads": 4},
        branches=("teacher", "student"),
        others={"student": student},
        projector="32 → 16 → 16 → 12 → 20, no bias at the end",
        ignored=("argparse.Namespace",),
    )
    full = {
        "student": prefixed("module.backbone.", other),
        "teacher": prefixed("module.backbone.", encoder),
        "epoch": 100,
        "args": argparse.Namespace(arch="resnet50"),
    }
    yield Case("dino resnet", encoder, full, "dino_full", branches=("teacher", "student"), others={"student": other})
    yield Case("dino backbone", teacher, teacher.state_dict(), "dino", {"heads": 4})


def byol_cases():
    online, target = resnet(0), resnet(1)
    learner = (
        prefixed("learner.net.", online)
        | prefixed("learner.online_encoder.net.", online)
        | prefixed("learner.target_encoder.net.", target)
    )
    learner |= prefixed("learner.online_encoder.projector.", mlp([H, HIDDEN, OUT], norm=True))
    learner |= prefixed("learner.online_predictor.", mlp([OUT, HIDDEN, OUT], norm=True))
    yield Case(
        "byol lucidrains",
        online,
        lightning(learner),
        "byol_lucidrains",
        branches=("online_encoder", "target_encoder"),
        others={"target": target},
        projector="64 → 16 → 12, batch norm",
        heads={"learner.online_predictor.": "predictor"},
        notes=("counted once",),
    )
    yield Case("byol readme", online, online.state_dict(), "torchvision")
    head = collections.OrderedDict(
        l1=nn.Linear(H, HIDDEN), bn1=nn.BatchNorm1d(HIDDEN), relu1=nn.ReLU(), l2=nn.Linear(HIDDEN, OUT)
    )
    tensors = prefixed("module.online_network.encoder.", sequential(online)) | prefixed(
        "module.online_network.projetion.", nn.Sequential(head)
    )
    tensors |= prefixed("module.target_network.encoder.", sequential(target))
    predictor = collections.OrderedDict(l1=nn.Linear(OUT, HIDDEN), bn1=nn.BatchNorm1d(HIDDEN), l2=nn.Linear(HIDDEN, OUT))
    tensors |= prefixed("module.predictor.predictor.", nn.Sequential(predictor))
    yield Case(
        "byol yaox12",
        online,
        {"config": {}, "epoch": 1, "steps": 10, "model": tensors, "optimizer": {}, "amp": None},
        "byol_yaox12",
        branches=("online_network", "target_network"),
        others={"target_network": target},
        projector="64 → 16 → 12, batch norm",
        heads={"module.predictor.": "predictor"},
    )
    haiku = resnet(0, layers=(2, 2, 2, 2))
    unnamed = {f"res_net/~/tensor_{n}": value for n, value in enumerate(without_counters(haiku.state_dict()).values())}
    yield Case("byol deepmind", haiku, {"online_backbone": unnamed}, "byol_deepmind", notes=("matched by their order",))


def framework_cases():
    encoder, other, cifar = resnet(0), resnet(1), resnet(0, stem="cifar")
    head = prefixed("projection_head.layers.", mlp([H, H, OUT], norm=True, bias=False))
    numbered = prefixed("backbone.", sequential(encoder)) | head
    yield Case("lightly flat", encoder, numbered, "lightly", projector="64 → 64 → 12, batch norm, no bias")
    yield Case("lightly lightning", encoder, lightning(numbered), "lightly", projector="64 → 64 → 12, batch norm, no bias")
    bare = resnet(0, stem="cifar", relu=False)
    own = prefixed("backbone.", shortcut_names(sequential(bare, relu=False, max_pool=False).state_dict())) | head
    yield Case("lightly own resnet", bare, own, "lightly", preset="cifar10", notes=("no ReLU after the first batch norm",))
    benchmark = prefixed("backbone.", encoder) | head | prefixed("online_classifier.classification_head.", nn.Linear(H, 10))
    benchmark |= prefixed("backbone_momentum.", other) | prefixed(
        "projection_head_momentum.layers.", mlp([H, H, OUT], norm=True, bias=False, seed=6)
    )
    benchmark |= {"criterion.memory_bank.bank": torch.randn(OUT, 16)}
    yield Case(
        "lightly benchmark",
        encoder,
        lightning(benchmark),
        "lightly_benchmark",
        branches=("backbone", "backbone_momentum"),
        others={"backbone_momentum": other},
        projector="64 → 64 → 12, batch norm, no bias",
        heads={"online_classifier.": "classifier"},
    )
    norm = filled(nn.BatchNorm2d(3), 3)
    with_norm = nn.Sequential(norm, *sequential(encoder))
    yield Case("lightly cli", with_norm, {"state_dict": prefixed("model.backbone.", with_norm)}, "lightly_cli")
    yield Case("lightly hub", with_norm, {"state_dict": prefixed("model.features.", with_norm)}, "lightly_cli")
    classifier = prefixed("classifier.", nn.Linear(H, 10))
    solo = (
        prefixed("backbone.", encoder)
        | prefixed("momentum_backbone.", other)
        | prefixed("projector.", mlp([H, HIDDEN, OUT]))
        | classifier
    )
    solo |= prefixed("momentum_projector.", mlp([H, HIDDEN, OUT], seed=6)) | {"queue": torch.randn(2, OUT, 8)}
    yield Case(
        "solo new",
        encoder,
        lightning(solo),
        "solo_learn",
        branches=("backbone", "momentum_backbone"),
        others={"momentum_backbone": other},
        projector="64 → 16 → 12",
        preset="imagenet_228",
        heads={"classifier.": "classifier"},
    )
    old = prefixed("encoder.", encoder) | prefixed("projector.", mlp([H, HIDDEN, OUT])) | classifier
    yield Case("solo old", encoder, lightning(old), "solo_learn", projector="64 → 16 → 12", preset="imagenet_228")
    padded = resnet(0, stem="cifar", padding=2)
    small = prefixed("backbone.", padded) | prefixed("projector.", mlp([H, HIDDEN, OUT])) | classifier
    yield Case(
        "solo cifar", padded, lightning(small), "solo_learn", {"padding": 2}, preset="cifar10", notes=("padding must be chosen",)
    )
    trunk = {
        "classy_state_dict": {
            "base_model": {
                "model": {"trunk": prefixed("_feature_blocks.", encoder), "heads": prefixed("0.clf.0.", nn.Linear(H, 10))}
            }
        }
    }
    yield Case("vissl", encoder, trunk, "vissl", heads={"0.": "classifier"})
    yield Case("vissl flat", encoder, {"model_state_dict": prefixed("base_model._feature_blocks.", encoder)}, "vissl")
    necks = collections.OrderedDict(
        fc0=nn.Linear(H, HIDDEN), bn0=nn.BatchNorm1d(HIDDEN), fc1=nn.Linear(HIDDEN, OUT), bn1=nn.BatchNorm1d(OUT)
    )
    mm = (
        prefixed("backbone.", encoder)
        | prefixed("neck.", nn.Sequential(necks))
        | {"encoder_k.steps": torch.tensor(5), "queue": torch.randn(OUT, 8)}
    )
    mm |= prefixed("encoder_k.module.0.", other)
    hub = {"log": np.arange(6, dtype=np.float64).reshape(2, 3), "last": np.float64(0.5), "counts": np.arange(3, dtype=np.int32)}
    yield Case(
        "mmpretrain",
        encoder,
        {"meta": {"epoch": 1}, "state_dict": mm, "message_hub": hub, "optimizer": {}, "param_schedulers": []},
        "mmpretrain",
        branches=("backbone", "encoder_k"),
        others={"k": other},
        projector="64 → 16 → 12, batch norm",
        preset="imagenet_255",
    )
    hyper = {
        "path": PurePosixPath("/data"),
        "args": argparse.Namespace(a=1),
        "d": collections.defaultdict(list, a=[1]),
        "q": collections.deque([1, 2], 3),
    }
    yield Case(
        "lightning hyper_parameters",
        encoder,
        lightning(prefixed("model.", encoder), hyper_parameters=hyper),
        "lightning",
        ignored=("pathlib.PurePosixPath", "argparse.Namespace"),
        preset=None,
    )
    fc = {"fc.weight": torch.randn(10, H), "fc.bias": torch.zeros(10)}
    timm = {
        "epoch": 3,
        "arch": "resnet18",
        "state_dict": other.state_dict() | fc,
        "state_dict_ema": prefixed("module.", encoder.state_dict() | fc),
        "optimizer": {},
        "version": 2,
        "args": argparse.Namespace(model="resnet18"),
        "amp_scaler": {},
        "metric": 70.0,
    }
    yield Case(
        "timm",
        encoder,
        timm,
        "timm",
        branches=("state_dict_ema", "state_dict"),
        others={"state_dict": other, "raw": other},
        ignored=("argparse.Namespace",),
    )
    yield Case("torchvision", encoder, encoder.state_dict(), "torchvision")
    yield Case("torchvision fc", encoder, encoder.state_dict() | fc, "torchvision", heads={"fc.": "classifier"})
    yield Case("torchvision 0.4.0", encoder, without_counters(encoder.state_dict()), "torchvision")
    yield Case("compiled ddp", encoder, prefixed("_orig_mod.module.", encoder), "named", preset=None)
    yield Case("ddp compiled", encoder, prefixed("module._orig_mod.", encoder), "named", preset=None)
    yield Case(
        "legacy namespace",
        cifar,
        {"opt": argparse.Namespace(temp=0.1), "model": prefixed("encoder.", cifar), "epoch": 1, "optimizer": {}},
        "supcon",
        preset="cifar10_2023",
        ignored=("argparse.Namespace",),
        save=legacy,
    )
    yield Case("whole module", encoder, encoder, "pickled_module", preset=None, ignored=("checkpoint_reference.Reference",))
    yield Case(
        "whole module, legacy",
        encoder,
        encoder,
        "pickled_module",
        preset=None,
        ignored=("checkpoint_reference.Reference",),
        save=legacy,
    )
    for channels in (1, 13):
        own = resnet(0, stem="cifar", channels=channels)
        yield Case(f"{channels} channels", own, own.state_dict(), "torchvision")


def small_alexnet(hidden=32):
    """The STL-10 encoder of Wang & Isola with fewer dense units; the last layer normalises."""

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            sizes, blocks = [(3, 96), (96, 192), (192, 384), (384, 384), (384, 192)], []
            for index, (a, b) in enumerate(sizes):
                pool = [nn.MaxPool2d(3, 2)] if index in (0, 1, 4) else []
                blocks.append(nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), *pool))
            blocks.append(nn.Sequential(nn.Flatten(), nn.Linear(192 * 9, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU()))
            blocks.append(nn.Sequential(nn.Linear(hidden, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU()))
            blocks.append(nn.Sequential(nn.Linear(hidden, OUT)))
            self.blocks = nn.ModuleList(blocks)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return nn.functional.normalize(x, dim=1)

    return filled(Encoder(), 0)


def small_cases():
    encoder = small_alexnet()
    yield Case("align_uniform", encoder, encoder.state_dict(), "align_uniform", preset="none")
    yield Case("align_uniform parallel", encoder, prefixed("module.", encoder), "align_uniform", preset="none")


def all_cases():
    """Every fixture, in the order of the reference."""
    groups = (
        moco_cases,
        simsiam_cases,
        simclr_cases,
        supervised_contrast_cases,
        relative_cases,
        byol_cases,
        framework_cases,
        small_cases,
    )
    return [case for group in groups for case in group()]
