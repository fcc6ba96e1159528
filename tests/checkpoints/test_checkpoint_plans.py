"""Plans: read back from their own shapes, followed by the modules, named as people name them; prefixes and their traps."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.checkpoints.infer import infer_plan
from core.checkpoints.loading import _build
from core.checkpoints.names import find_roots
from core.checkpoints.plans import ConvPlan, ResNetPlan, SmallAlexNetPlan, ViTPlan
from core.checkpoints.prefixes import common_prefixes, is_known, strip_known

widths = st.integers(1, 40).map(lambda n: 4 * n)


@st.composite
def resnet_plans(draw):
    block = draw(st.sampled_from(["basic", "bottleneck"]))
    stages = draw(st.sampled_from([3, 4]))
    deep = draw(st.booleans())
    groups = draw(st.sampled_from([1, 2, 4])) if block == "bottleneck" else 1
    kernel = 3 if deep else draw(st.sampled_from([3, 7]))
    cifar = kernel < 5 and not deep
    return ResNetPlan(
        block=block,
        layers=tuple(draw(st.lists(st.integers(1, 4), min_size=stages, max_size=stages))),
        in_channels=draw(st.integers(1, 20)),
        stem_width=draw(widths),
        kernel=kernel,
        inner=tuple(draw(st.lists(widths, min_size=stages, max_size=stages))),
        outer=tuple(draw(st.lists(widths, min_size=stages, max_size=stages))),
        groups=groups,
        deep_stem=(draw(widths), draw(widths)) if deep else None,
        stride=1 if cifar else 2,
        padding=kernel // 2,
        max_pool=not cifar,
    )


@st.composite
def vit_plans(draw):
    class_token, grid = draw(st.booleans()), draw(st.integers(4, 8))
    registers = draw(st.sampled_from([0, 4])) if class_token else 0
    embedded = draw(st.booleans()) if class_token else True
    return ViTPlan(
        in_channels=draw(st.integers(1, 13)),
        patch=draw(st.integers(2, 16)),
        width=12 * draw(st.integers(1, 6)),
        depth=draw(st.integers(1, 3)),
        hidden=draw(st.integers(8, 64)),
        positions=grid**2 + (class_token + registers if embedded else 0),
        class_token=class_token,
        registers=registers,
        embedded=embedded,
        qkv_bias=draw(st.booleans()),
        layer_scale=draw(st.booleans()),
    )


plans = st.one_of(
    resnet_plans(),
    vit_plans(),
    st.builds(
        lambda c, w, s: ConvPlan(in_channels=c, width=w, side=s, image_size={1: 16, 2: 28, 3: 32}[s]),
        st.integers(1, 33),
        st.integers(1, 4),
        st.integers(1, 3),
    ),
    st.builds(
        lambda c, s, d: SmallAlexNetPlan(in_channels=c, side=s, hidden=8, h_dim=d),
        st.integers(1, 5),
        st.integers(1, 7),
        st.integers(2, 9),
    ),
)


@settings(max_examples=150, deadline=None)
@given(plans)
def test_a_plan_is_read_back_from_its_tensors(plan):
    shapes = plan.tensors()
    (root,) = find_roots(shapes)
    assert not root.strays and set(root.mapping) == set(shapes)
    assert infer_plan(root, shapes) == plan


@settings(max_examples=60, deadline=None)
@given(plans)
def test_modules_have_exactly_the_tensors_of_their_plan(plan):
    if isinstance(plan, ViTPlan):
        plan = plan.model_copy(update={"heads": 2})
    state = _build(plan).state_dict()
    assert {
        name: tuple(value.shape) for name, value in state.items() if not name.endswith("num_batches_tracked")
    } == plan.tensors()


@pytest.mark.parametrize(
    ("settings_", "name"),
    [
        ({}, "ResNet-50"),
        ({"stem_width": 128, "inner": (128, 256, 512, 1024), "outer": (512, 1024, 2048, 4096)}, "ResNet-50 ×2"),  # SwAV's w2
        ({"inner": (128, 256, 512, 1024)}, "Wide ResNet-50-2"),  # torchvision's: only the inner convolutions are wider
        ({"inner": (128, 256, 512, 1024), "groups": 32}, "ResNeXt-50 32x4d"),
        ({"layers": (3, 24, 36, 3)}, "ResNet-200"),
        ({"layers": (1, 2, 3, 4)}, "ResNet 1-2-3-4"),
        ({"deep_stem": (32, 32)}, "ResNet-50-D"),
        ({"layers": (3, 4, 23, 3)}, "ResNet-101"),
    ],
)
def test_names_of_resnets(settings_, name):
    base = {
        "block": "bottleneck",
        "layers": (3, 4, 6, 3),
        "in_channels": 3,
        "stem_width": 64,
        "kernel": 7,
        "inner": (64, 128, 256, 512),
        "outer": (256, 512, 1024, 2048),
    }
    assert ResNetPlan(**base | settings_).name == name


@pytest.mark.parametrize("side", [1, 2, 3, 7])
def test_image_sizes_of_conv(side):
    from core.models.conv import conv_output_size

    sizes = ConvPlan(in_channels=1, width=1, side=side, image_size=28).image_sizes
    assert [size for size in range(15, 120) if conv_output_size(size) == side] == list(sizes)


def test_names_of_vits():
    plan = ViTPlan(in_channels=3, patch=16, width=384, depth=12, hidden=1536, positions=197)
    assert (plan.name, plan.image_size, plan.grid, plan.h_dim) == ("ViT-S/16", 224, 14, 384)


@pytest.mark.parametrize(
    ("name", "prefix", "rest"),
    [
        ("backbone.conv1.weight", "backbone.", "conv1.weight"),  # lstrip would give "v1.weight"
        ("backbone.bn1.weight", "backbone.", "bn1.weight"),  # lstrip would give "1.weight"
        ("backbone.norm.weight", "backbone.", "norm.weight"),  # lstrip would give "rm.weight"
        ("module._orig_mod.conv1.weight", "module._orig_mod.", "conv1.weight"),
        ("_orig_mod.module.backbone.layer1.0.conv1.weight", "_orig_mod.module.backbone.", "layer1.0.conv1.weight"),
        ("module.encoder_q.0.conv1.weight", "module.encoder_q.0.", "conv1.weight"),
        ("0.weight", "", "0.weight"),
        ("modular.conv1.weight", "", "modular.conv1.weight"),
        ("encoder", "", "encoder"),
    ],
)
def test_prefixes_are_taken_off_whole(name, prefix, rest):
    """Loader bugs 6 and 7: `lstrip` takes letters, and stripping each prefix once misses one nesting."""
    assert strip_known(name) == (prefix, rest)
    assert is_known(prefix)


def test_unknown_prefixes():
    assert not is_known("mystery.") and not is_known("module.mystery.") and is_known("")
    names = ["a.b.c.weight", "a.b.c.bias", "a.b.d.weight", "e.weight", "f.g.weight", "f.g.bias", "h"]
    assert common_prefixes(names) == (("a.b.", 3), ("f.g.", 2), ("e.weight", 1))


def test_rebuilding_keeps_no_memory_for_itself():
    """Modules are laid out without values; a plan of 300 million parameters costs nothing until its tensors arrive."""
    plan = ViTPlan(in_channels=3, patch=16, width=1024, depth=24, hidden=4096, positions=197, heads=16)
    assert all(parameter.device == torch.device("meta") for parameter in _build(plan).parameters())
