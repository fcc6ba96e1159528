"""What the weights cannot show is asked; what does not fit is refused; nothing is guessed in silence."""

import pytest
import torch
from checkpoint_reference import filled, images, prefixed, resnet, vit
from torch import nn

from core.checkpoints import PRESETS, CheckpointError, inspect, load_encoder
from core.checkpoints.loading import Normalise


def saved(tmp_path, content, name="file.pth"):
    path = tmp_path / name
    torch.save(content, path)
    return path


def question(report, name):
    return next(question for question in report.questions if question.name == name)


def run(encoder, side=32, channels=3):
    with torch.no_grad():
        return encoder(images(side, channels))


def test_padding_cannot_be_seen_but_decides_the_features(tmp_path):
    """Row 19: the same weights, two paddings, two results; each equals a reference built with it (pitfall 27)."""
    path = saved(tmp_path, resnet(0, stem="cifar").state_dict())
    (one, first), (two, second) = load_encoder(path), load_encoder(path, padding=2)
    assert question(first, "padding").chosen == "1" and question(second, "padding").chosen == "2"
    assert question(first, "padding").options == ("1", "2")
    assert not torch.equal(run(one), run(two))
    assert torch.equal(run(one), run(resnet(0, stem="cifar"))) and torch.equal(run(two), run(resnet(0, stem="cifar", padding=2)))


def test_solo_learn_padding_is_the_likely_answer_but_is_not_taken(tmp_path):
    tensors = prefixed("backbone.", resnet(0, stem="cifar")) | prefixed("momentum_backbone.", resnet(1, stem="cifar"))
    asked = question(inspect(saved(tmp_path, {"state_dict": tensors})), "padding")
    assert (asked.chosen, asked.guess) == ("1", "2")


def test_stem_and_max_pool(tmp_path):
    """A 7 x 7 kernel is taken for an ImageNet stem; both parts can be chosen otherwise."""
    path = saved(tmp_path, resnet(0).state_dict())
    for choices, settings in (({}, {}), ({"max_pool": False}, {"max_pool": False})):
        encoder, report = load_encoder(path, **choices)
        assert question(report, "stem").chosen == "imagenet"
        assert torch.equal(run(encoder), run(resnet(0, **settings)))
    encoder, report = load_encoder(path, stem="cifar")
    assert question(report, "stem").chosen == "cifar" and question(report, "max_pool").chosen == "no"
    reference = resnet(0, max_pool=False)
    reference.conv1.stride = (1, 1)
    assert torch.equal(run(encoder), run(reference))


def test_heads_are_asked_for(tmp_path):
    """The same shapes serve any number of heads; another number gives other features (reference, MoCo v3 → DeiT)."""
    path = saved(tmp_path, vit(0, heads=4).state_dict())
    assert question(inspect(path), "heads").chosen is None
    with pytest.raises(CheckpointError) as missing:
        load_encoder(path)
    assert str(missing.value) == "heads: this is a ViT 2 × 32/8, whose weights do not show the number of attention heads."
    with pytest.raises(CheckpointError) as wrong:
        load_encoder(path, heads=5)
    assert str(wrong.value) == "heads: must divide the width 32, got 5."
    four, two = load_encoder(path, heads=4)[0], load_encoder(path, heads=2)[0]
    assert torch.equal(run(four), run(vit(0, heads=4))) and torch.equal(run(two), run(vit(0, heads=2)))
    assert not torch.equal(run(four), run(two))


@pytest.mark.parametrize(("layout", "width", "heads"), [("moco", 384, "12"), ("dino", 384, "6"), ("dino", 192, "3")])
def test_usual_heads_depend_on_the_codebase(tmp_path, layout, width, heads):
    from timm.models.vision_transformer import VisionTransformer

    tensors = VisionTransformer(img_size=32, patch_size=16, embed_dim=width, depth=1, num_heads=3, num_classes=0).state_dict()
    content = {"state_dict": prefixed("module.base_encoder.", tensors)} if layout == "moco" else tensors
    report = inspect(saved(tmp_path, content))
    assert question(report, "heads").guess == heads


def test_normalisation_is_a_visible_choice(tmp_path):
    """Pitfall 26: two presets, two results, each equal to the reference on images normalised by hand."""
    path = saved(tmp_path, resnet(0).state_dict())
    results = {}
    for name in ("none", "imagenet", "imagenet_228", "cifar10"):
        encoder, report = load_encoder(path, normalisation=name)
        assert question(report, "normalisation").chosen == encoder.normalisation == name
        preset = PRESETS[name]
        x = images()
        if preset.mean:
            x = (x - torch.tensor(preset.mean).view(1, 3, 1, 1)) / torch.tensor(preset.std).view(1, 3, 1, 1)
        with torch.no_grad():
            assert torch.equal(encoder(images()), resnet(0)(x))
        results[name] = run(encoder)
    assert len({tuple(result.flatten().tolist()) for result in results.values()}) == 4


def test_scale_of_255_equals_imagenet_up_to_rounding():
    x = images()
    assert torch.allclose(Normalise(PRESETS["imagenet_255"], 3)(x), Normalise(PRESETS["imagenet"], 3)(x), atol=1e-5)


@pytest.mark.parametrize(
    ("channels", "inputs", "presets"),
    [
        (1, ("grey",), {"none", "mnist"}),
        (3, ("3 colours",), set(PRESETS) - {"mnist"}),
        (13, ("3 colours and 10 RandBit channels", "grey and 12 RandBit channels"), set(PRESETS)),
    ],
)
def test_input_channels(tmp_path, channels, inputs, presets):
    """Row 29: the pipelines that fit are offered; bit channels pass normalisation unchanged (pitfall 28)."""
    path = saved(tmp_path, resnet(0, channels=channels).state_dict())
    report = inspect(path)
    assert report.inputs == inputs and set(question(report, "normalisation").options) == presets
    if channels == 13:
        x = images(channels=13)
        changed = Normalise(PRESETS["imagenet"], 13)(x)
        assert torch.equal(changed[:, 3:], x[:, 3:]) and not torch.equal(changed[:, :3], x[:, :3])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"branch": "student"},
            ("branch: there is no single branch 'student' in this file; choose one of 'encoder_q', 'encoder_k'."),
        ),
        (
            {"branch": "encoder"},
            ("branch: there is no single branch 'encoder' in this file; choose one of 'encoder_q', 'encoder_k'."),
        ),
        (
            {"normalisation": "mine"},
            (
                "normalisation: must be one of none, imagenet, imagenet_228, "
                "imagenet_255, cifar10, cifar10_2023, cifar100, half, mnist, got 'mine'."
            ),
        ),
        ({"normalisation": "mnist"}, "normalisation: preset 'mnist' does not fit 3 input channels."),
        ({"heads": 4}, "heads: only a vision transformer has attention heads, this is a ResNet-10 ×0.125."),
        ({"padding": -1}, "padding: input should be greater than or equal to 0, got -1"),
        ({"stem": "small"}, "stem: input should be 'imagenet' or 'cifar', got 'small'"),
    ],
)
def test_impossible_choices(tmp_path, choices, message):
    tensors = prefixed("module.encoder_q.", resnet(0)) | prefixed("module.encoder_k.", resnet(1))
    with pytest.raises(CheckpointError) as refused:
        load_encoder(saved(tmp_path, {"state_dict": tensors}), **choices)
    assert str(refused.value) == message and refused.value.problem == "choice"


# Row 28 and pitfall 19: a wrong prefix, 0 % and 60 % matched


def test_unknown_prefix_is_refused_and_can_be_named(tmp_path):
    path = saved(
        tmp_path, prefixed("mystery.part.", resnet(0)) | {"other.weight": torch.zeros(2, 2), "another.long.name": torch.zeros(1)}
    )
    with pytest.raises(CheckpointError) as refused:
        load_encoder(path)
    assert refused.value.problem == "no_encoder"
    assert str(refused.value) == (
        "No encoder under a known name: 0 of 60 encoder tensors match (0%, at "
        "least 95% needed). Left over: 'mystery.part.' (72 tensors), "
        "'another.long.name' (1 tensor), 'other.weight' (1 tensor). If the "
        "encoder lies under one of them, name it as the prefix 'mystery.part.'."
    )
    assert inspect(path).left_prefixes == ("mystery.part.", "another.long.name", "other.weight")
    encoder, report = load_encoder(path, prefix="mystery.part")
    assert report.matched == report.expected == 60 and torch.equal(run(encoder), run(resnet(0)))


@pytest.mark.parametrize(
    ("lies", "text"),
    [
        ("module.encoder_q.", "One lies under 'module.encoder_q.'; it is found when no prefix is given."),
        ("", "One lies at the top level; it is found when no prefix is given."),
        ("mystery.part.", "One lies under another: name it as the prefix 'mystery.part.'."),
    ],
)
def test_a_given_prefix_that_fits_nothing_is_said(tmp_path, lies, text):
    path = saved(tmp_path, prefixed(lies, resnet(0)))
    with pytest.raises(CheckpointError) as refused:
        load_encoder(path, prefix="nonsense.")
    assert refused.value.problem == "no_encoder"
    assert str(refused.value) == f"No encoder lies under the given prefix 'nonsense.'. {text}"


def test_a_given_prefix_in_a_file_without_an_encoder_lists_what_is_there(tmp_path):
    report = inspect(saved(tmp_path, {"embedding.weight": torch.zeros(5, 4)}), prefix="nonsense")
    assert report.refusal == ("No encoder lies under the given prefix 'nonsense'. Left over: 'embedding.weight' (1 tensor).")


def test_a_piece_of_another_network_is_no_reason_to_try_its_prefix(tmp_path):
    """ConvNeXt's first stage looks like the start of an encoder; its prefix was named as the way out, and led nowhere."""
    from timm import create_model

    report = inspect(saved(tmp_path, create_model("convnext_atto", num_classes=0).state_dict()))
    assert "prefix=" not in report.refusal
    assert report.refusal.endswith("Only ResNets, vision transformers with timm's names, ConvN and SmallAlexNet are rebuilt.")


def test_nothing_known_at_all(tmp_path):
    with pytest.raises(CheckpointError) as refused:
        load_encoder(saved(tmp_path, {"embedding.weight": torch.zeros(5, 4), "lstm.weight_ih_l0": torch.zeros(8, 4)}))
    assert str(refused.value) == (
        "No encoder under a known name: no encoder tensor matches (0%, "
        "at least 95% needed). Left over: 'lstm.weight_ih_l0' (1 tensor), "
        "'embedding.weight' (1 tensor). Only ResNets, vision transformers with timm's names, ConvN and SmallAlexNet are rebuilt."
    )


def test_a_classifier_without_an_encoder(tmp_path):
    """DINO's linear evaluation saves its last layer only."""
    path = saved(
        tmp_path, {"epoch": 100, "state_dict": prefixed("module.linear.", nn.Linear(64, 10)), "optimizer": {}, "best_acc": 74.0}
    )
    report = inspect(path)
    assert report.layout == "dino_linear" and report.heads[0].role == "classifier" and report.heads[0].text == "64 → 10"
    assert report.refusal == (
        "This file holds DINO's linear classifier only. The encoder is in the file with the pretrained weights; open that one."
    )


def test_sixty_percent_is_refused(tmp_path):
    tensors = resnet(0).state_dict()
    expected = [name for name in tensors if not name.endswith("num_batches_tracked")]
    renamed = [name for name in expected if name.startswith(("layer3", "layer4.0.bn", "layer4.0.conv2"))]
    content = {(f"lost.{name}" if name in renamed else name): value for name, value in tensors.items()}
    share = 1 - len(renamed) / len(expected)
    assert 0.55 < share < 0.65
    with pytest.raises(CheckpointError) as refused:
        load_encoder(saved(tmp_path, content))
    assert refused.value.problem in ("mismatch", "no_encoder") and "at least 95% needed" in str(refused.value)
    assert "'lost.'" in str(refused.value)


@pytest.mark.parametrize(
    ("lost", "text"),
    [
        (
            "layer2.0.conv2.weight",
            ("ResNet-10 ×0.125 needs layer2.0.conv2.weight, which the file lacks. Random values are never filled in."),
        ),
        (
            ("layer3.0.bn1.", "layer3.0.bn2."),
            ("Only 52 of 60 encoder tensors match ResNet-10 ×0.125 (87%, at least 95% needed). 8 missing (layer3.0.bn1.weight,"),
        ),
    ],
)
def test_missing_weights_are_never_random(tmp_path, lost, text):
    content = {name: value for name, value in resnet(0).state_dict().items() if not name.startswith(lost)}
    with pytest.raises(CheckpointError) as refused:
        load_encoder(saved(tmp_path, content))
    assert text in str(refused.value) and refused.value.problem == "mismatch"


def test_missing_statistics_are_a_warning(tmp_path):
    content = resnet(0).state_dict()
    del content["layer4.0.bn2.running_mean"]
    _, report = load_encoder(saved(tmp_path, content))
    assert "Missing and left at their neutral value: layer4.0.bn2.running_mean." in report.warnings
    assert set(report.warnings) <= set(report.notes)


def test_a_missing_bias_is_named_and_neutral(tmp_path):
    content = resnet(0).state_dict()
    del content["layer4.0.bn2.bias"]
    encoder, report = load_encoder(saved(tmp_path, content))
    assert report.missing == ("layer4.0.bn2.bias",) and report.matched == 59
    assert "Missing and left at their neutral value: layer4.0.bn2.bias." in report.notes and not report.warnings
    reference = resnet(0)
    nn.init.zeros_(reference.layer4[0].bn2.bias)
    assert torch.equal(run(encoder), run(reference))


def test_further_layers_inside_the_encoder_are_refused(tmp_path):
    """Squeeze-and-excitation layers between known ones: every expected tensor is there, yet the features would be wrong."""
    content = resnet(0).state_dict()
    for stage in (1, 2, 3, 4):
        content |= prefixed(f"layer{stage}.0.se.fc1.", nn.Linear(8, 2)) | prefixed(f"layer{stage}.0.se.fc2.", nn.Linear(2, 8))
    report = inspect(saved(tmp_path, content))
    assert report.matched == report.expected == 60 and len(report.unexpected) == 16
    assert report.refusal.startswith(
        "Only 60 of 76 encoder tensors match ResNet-10 ×0.125 (79%, at least 95% needed). 16 unknown ("
    )


def test_one_unknown_tensor_inside_the_encoder_is_refused(tmp_path):
    """98 % match, but what the extra tensor does is unknown: the features could be anything."""
    content = resnet(0).state_dict() | {"layer2.0.gate": torch.ones(1)}
    with pytest.raises(CheckpointError) as refused:
        load_encoder(saved(tmp_path, content))
    assert (
        str(refused.value)
        == "The file's encoder has 1 tensor that ResNet-10 ×0.125 lacks (layer2.0.gate): it is another network."
    )


def test_vision_transformers_of_timm_with_and_without_class_token(tmp_path):
    """Class token, registers and position embeddings come in several combinations; features equal timm's own."""
    from timm.models.vision_transformer import VisionTransformer

    base = {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 2, "num_heads": 2, "num_classes": 0}
    for settings in (
        {},
        {"no_embed_class": True},
        {"reg_tokens": 4, "no_embed_class": True},
        {"reg_tokens": 4},
        {"class_token": False, "global_pool": "avg"},
        {"class_token": False, "global_pool": "avg", "fc_norm": False},
        {"global_pool": "avg"},
        {"init_values": 0.1, "qkv_bias": False},
    ):
        network = filled(VisionTransformer(**base, **settings), 0)
        encoder, report = load_encoder(saved(tmp_path, network.state_dict()), heads=2)
        assert report.matched == report.expected and torch.equal(run(encoder), run(network)), settings


def test_an_encoder_without_its_last_stage_is_a_warning(tmp_path):
    """Every tensor of a ResNet of three stages matched, and nothing told that the file had lost the fourth."""
    whole = resnet(0).state_dict() | prefixed("fc.", nn.Linear(64, 10))
    assert not inspect(saved(tmp_path, whole)).warnings
    cut = {name: value for name, value in whole.items() if not name.startswith("layer4")}
    report = inspect(saved(tmp_path, prefixed("module.", cut)))
    assert report.refusal is None and report.h_dim == 32 and report.matched == report.expected
    assert report.warnings == (
        "module.fc reads 64 dimensions, but the encoder found in the file gives 32: a part of it may be missing.",
    )
    assert set(report.warnings) <= set(report.notes)


def test_shape_mismatch_is_an_error_that_names_the_tensor(tmp_path):
    """swav's eval_linear.py replaced such tensors by random ones with a log line (loader bugs, 5)."""
    content = resnet(0).state_dict()
    content["layer2.0.bn1.weight"] = torch.ones(99)
    with pytest.raises(CheckpointError) as refused:
        load_encoder(saved(tmp_path, content))
    assert str(refused.value) == "Shapes do not fit ResNet-10 ×0.125: layer2.0.bn1.weight: 99 in the file, 16 expected."


# Health (pitfall 25)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (
            lambda t: t["conv1.weight"].view(-1).__setitem__(5, torch.nan),
            ("1 value is NaN, first in conv1.weight. Features will not be usable."),
        ),
        (
            lambda t: t["layer1.0.conv1.weight"].view(-1)[:2].fill_(torch.inf),
            ("2 values are infinite, first in layer1.0.conv1.weight. Features will not be usable."),
        ),
        (
            lambda t: t["layer3.0.conv2.weight"].zero_(),
            ("All weights are zero in 1 layer, first in layer3.0.conv2.weight. The training may have collapsed."),
        ),
        (
            lambda t: [v.zero_() for n, v in t.items() if n.endswith("running_mean")],
            ("Every batch norm still has its initial statistics: this encoder was not trained, or they were lost."),
        ),
    ],
)
def test_unhealthy_values_raise_their_own_notice(tmp_path, change, note):
    tensors = resnet(0).state_dict()
    assert not any(word in str(inspect(saved(tmp_path, tensors)).notes) for word in ("NaN", "infinite", "zero", "initial"))
    change(tensors)
    report = inspect(saved(tmp_path, tensors))
    assert note in report.notes and report.warnings == (note,)
    assert report.refusal is None


def test_statistics_of_a_tensor(tmp_path):
    tensors = resnet(0).state_dict()
    weight = tensors["layer2.0.conv1.weight"]
    weight.view(-1)[:3] = 0
    rows = {row.name: row for row in inspect(saved(tmp_path, tensors)).rows}
    row, exact = rows["layer2.0.conv1.weight"], weight.double()
    assert row.shape == tuple(weight.shape) and row.zeros == 3 and row.dtype == "float32"
    assert row.mean == pytest.approx(exact.mean().item(), abs=1e-12)
    assert row.std == pytest.approx(exact.std(correction=0).item(), rel=1e-9)
    assert row.norm == pytest.approx(exact.norm().item(), rel=1e-12)


def test_split_batch_norm_is_averaged(tmp_path):
    """lightly's SplitBatchNorm keeps statistics for each part of the batch; in evaluation it uses their mean."""
    reference = resnet(0)
    content = reference.state_dict()
    generator = torch.Generator().manual_seed(3)
    for name in [name for name in content if "running" in name]:
        parts = torch.rand(4, len(content[name]), generator=generator) + 0.5
        content[name] = parts.flatten()
        reference.get_buffer(name).copy_(parts.mean(0))
    encoder, report = load_encoder(saved(tmp_path, content))
    assert "24 running statistics were kept for 4 parts of a batch; their mean is used." in report.notes
    assert torch.allclose(run(encoder), run(reference), rtol=1e-5, atol=1e-6)


def test_projector_of_the_file_runs(tmp_path):
    """z of the rebuilt projector equals the reference's, batch norm in evaluation mode."""
    head = filled(nn.Sequential(nn.Linear(64, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 12)), 4)
    content = prefixed("backbone.", resnet(0)) | prefixed("projection_head.layers.", head)
    encoder, report = load_encoder(saved(tmp_path, content))
    assert report.projector.text == "64 → 16 → 12, batch norm" and encoder.z_dim == 12
    h = run(encoder)
    with torch.no_grad():
        assert torch.equal(encoder.projector(h), head(h))


def test_loading_draws_no_random_numbers(tmp_path):
    path = saved(tmp_path, resnet(0).state_dict())
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    load_encoder(path)
    assert torch.equal(torch.rand(1), expected)
