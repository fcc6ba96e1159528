"""Findings, suggestions, sheets: what is said and asked, from numbers and reports alone."""

import numpy as np
import pytest
from PIL import Image

from core.checkpoints.plans import ConvPlan, ResNetPlan, SmallAlexNetPlan, ViTPlan
from core.checkpoints.report import CheckpointReport
from core.inspections import sheet, suggest
from core.inspections.findings import findings, follows
from pages.parts.inspect.numbers import against
from tests.inspections import made_up

RESNET = ResNetPlan(
    block="basic", layers=(1, 1, 1, 1), in_channels=3, stem_width=8, kernel=3, inner=(8, 8, 8, 8), outer=(8, 8, 8, 8)
)
VIT = ViTPlan(in_channels=3, patch=16, width=192, depth=12, hidden=768, positions=197)
CONV = ConvPlan(in_channels=1, width=1, side=2, image_size=28)


def report(**fields) -> CheckpointReport:
    base = dict(file="x", bytes=1, sha256="0" * 64, kind="zip", top_level=(), layout="unknown", layout_name="unknown")
    return CheckpointReport(**base | {"in_channels": 3} | fields)


def said(summary) -> str:
    return "\n".join(f"{finding.kind}: {finding.text}" for finding in findings(summary))


def test_a_sound_encoder():
    summary = made_up.summary(made_up.arrays())
    text = said(summary)
    assert "good: h tells the classes apart: linear probe 0.83, nearest neighbours 0.78, where guessing reaches 0.10." in text
    assert "note: The projector drops what the class needs: linear probe 0.83 on h, 0.61 on z." in text
    assert "“other random bits” costs the most: accuracy falls from 0.83 to 0.31." in text


@pytest.mark.parametrize(
    ("accuracy", "text"),
    [(0.19, "warning: h hardly knows the class:"), (0.32, "note: h tells the classes apart in part:"),
     (0.54, "note: h tells the classes apart in part:"), (0.56, "good: h tells the classes apart:")],
)  # fmt: skip
def test_how_well_the_class_is_known(accuracy, text):
    """A probe that is wrong on two of three images got the green mark."""
    assert said({"chance": 0.1, "h": {"linear_accuracy": accuracy}}).startswith(text)


def test_suppression_is_a_warning_although_the_sphere_looks_perfect():
    summary = {
        "chance": 0.1, "h": {"linear_accuracy": 0.09, "knn_accuracy": 0.088},
        "z": {"uniformity": -3.857, "uniformity_optimum": -3.8770, "alignment": 0.0005, "rankme": 63.0, "dim": 64},
        "bits": {"known": 10.2, "bits": 15},
    }  # fmt: skip
    assert said(summary).splitlines() == [
        "warning: h hardly knows the class: the linear probe reaches 0.09, nearest neighbours 0.09; guessing would reach 0.10.",
        "warning: h recovers 10.2 of the 15 random bits that were added to each image.",
        "good: z is spread over the sphere almost evenly, and views agree (alignment 0.001): uniformity −3.86, where the uniform "
        "distribution has −3.88.",
    ]


@pytest.mark.parametrize(
    ("image", "bits", "text"),
    [(-0.001, 1.0, "z follows the bits (cosine 1.00 with the same bits, 0.00 with the same image)"),
     (0.9, 0.1, "z follows the image (cosine 0.10 with the same bits, 0.90 with the same image)"),
     (0.5, 0.45, "z follows both alike (cosine 0.45 with the same bits, 0.50 with the same image)")],
)  # fmt: skip
def test_what_the_embedding_follows(image, bits, text):
    entry = {"name": "other_bits", "z": {"same_image": image, "same_feature": bits}}
    assert follows({"competing": [entry]}) == text


def test_collapse_is_said_before_anything_about_dimensions():
    text = said({"z": {"uniformity": -0.003, "uniformity_optimum": -3.88, "rankme": 3.0, "dim": 64, "dead_dimensions": 3}})
    assert text == "warning: z has collapsed to nearly one point: uniformity −0.003, where the uniform distribution has −3.88."


def test_a_narrow_space_is_noted_against_what_the_images_allow():
    space = {"uniformity": -2.0, "uniformity_optimum": -3.9, "rankme": 12.0, "dim": 512, "rankme_most": 20}
    assert said({"h": space}) == ""
    assert "note: h fills 12 of 512 dimensions" in said({"h": space | {"rankme_most": 512}})


def test_a_narrow_space_says_what_its_images_allow():
    """RankMe does not centre, so n rows can fill n dimensions; a covariance has n - 1."""
    space = {"uniformity": -2.0, "uniformity_optimum": -3.9, "rankme": 66.0, "dim": 512, "rankme_most": 300, "rows": 300}
    text = "note: h fills 66 dimensions, of at most 300 with 300 images (RankMe): part of the sphere stays empty."
    assert said({"h": space}) == text
    assert "h fills 66 of 512 dimensions" in said({"h": space | {"rankme_most": 512, "rows": 1000}})
    assert against("rankme", space, {}) == "of at most 300"
    assert against("participation_ratio", space, {}) == "of at most 299"
    assert against("rankme", space | {"rankme_most": 512, "rows": 1000}, {}) == "of 512"
    assert against("dead_dimensions", space, {}) == "of 512"


@pytest.mark.parametrize("uniformity", [None, -4.0])
def test_rows_of_zeros_are_never_praised(uniformity):
    """-4 is what earlier versions stored for them."""
    zero = {"uniformity": uniformity, "uniformity_optimum": -3.96, "alignment": 0.0, "dim": 64, "rows": 300, "zero_rows": 300}
    known = {"linear_accuracy": 0.1, "knn_accuracy": 0.1}
    text = said({"h": zero | known, "z": zero, "chance": 0.1})
    assert text == "failure: The encoder returns zero for all images (300 of 300): h has no direction and tells nothing apart."
    lines = said({"h": known | {"linear_accuracy": 0.9, "rows": 300, "zero_rows": 0}, "z": zero, "chance": 0.1}).splitlines()
    assert lines[0].startswith("failure: The projector returns zero for all images") and len(lines) == 2
    some = zero | {"uniformity": -3.95, "zero_rows": 120}
    assert said({"z": some}) == (
        "warning: The projector returns zero for 120 of 300 images. These have no direction and count as at right angles to all."
    )
    assert "almost evenly" in said({"z": some | {"zero_rows": 3}})


def test_doubts_about_the_checkpoint_come_before_what_was_measured():
    summary = made_up.summary(made_up.arrays()) | {"warnings": ["Every batch norm still has its initial statistics."]}
    assert said(summary).startswith("warning: Every batch norm still has its initial statistics.\n")


def test_nothing_measured_says_nothing():
    assert findings({}) == []


@pytest.mark.parametrize(
    ("plan", "side", "size"),
    [(RESNET, 28, None), (RESNET, None, 64), (VIT, 32, 224), (VIT, 224, None), (CONV, 28, None), (CONV, 32, 28),
     (SmallAlexNetPlan(in_channels=3, side=7), 96, 64), (None, 32, None)],
)  # fmt: skip
def test_image_size(plan, side, size):
    assert suggest.image_size(plan, side) == size


def test_small_alexnet_really_takes_the_sizes_that_are_named():
    """Three pools of 3 with stride 2, as SmallAlexNet has them."""

    def last(side):
        for _ in range(3):
            side = (side - 3) // 2 + 1
        return side

    assert [side for side in range(20, 120) if last(side) == 7] == list(suggest.sides(SmallAlexNetPlan(in_channels=3, side=7)))


def test_sizes_and_channels_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"image_size: this ViT-Ti/16 takes images of 224 pixels a side, the images have 32."):
        suggest.check_size(VIT, 32)
    with pytest.raises(ValueError, match=r"image_size: this ConvN takes images of 23 to 30 pixels a side, the images have 32."):
        suggest.check_size(CONV, 32)
    with pytest.raises(ValueError, match="needs at least 8 pixels a side, the images have 4"):
        suggest.check_size(RESNET, 4)
    with pytest.raises(ValueError, match="bits: the encoder has 3 input channels; with 1 RandBit channels 2 are left"):
        suggest.check_channels(3, 1)
    assert suggest.check_channels(13, 10) == 3 and suggest.check_channels(11, 10) == 1


def test_suggestions_follow_the_run_that_wrote_the_checkpoint():
    own = report(spec={"dataset": "fashion-mnist", "bits": 10, "augment": "simclr", "color_strength": 1.0}, in_channels=11)
    assert suggest.suggest(own) == suggest.Suggestion("fashion-mnist", None, 10, "simclr", 1.0)


def test_suggestions_for_a_stranger_follow_its_channels():
    assert suggest.suggest(report(in_channels=1)).dataset == "mnist-5k"
    colours = suggest.suggest(report(normalisation_guess="imagenet"))
    assert (colours.dataset, colours.augment) == ("cifar10", "simclr")


@pytest.mark.parametrize(("side", "asked"), [(32, None), (64, None), (65, 64), (500, 64), (None, 64)])
def test_small_pictures_of_a_folder_are_not_enlarged(tmp_path, side, asked):
    (tmp_path / "train" / "cat").mkdir(parents=True)
    for number in range(3 if side else 0):
        Image.fromarray(np.zeros((side, side + 9, 3), np.uint8)).save(tmp_path / "train" / "cat" / f"{number}.png")
    assert suggest.suggest(report(plan=RESNET), "folder", str(tmp_path)).image_size == asked
    assert suggest.suggest(report(plan=RESNET), "folder").image_size == 64
    assert suggest.suggest(report(plan=RESNET), "folder", str(tmp_path / "not there")).image_size == 64


def test_readings_of_thirteen_channels():
    texts = ("3 colours and 10 RandBit channels", "grey and 12 RandBit channels")
    assert suggest.bits_options(report(in_channels=13, inputs=texts)) == {texts[0]: 10, texts[1]: 12}
    assert suggest.bits_options(report(in_channels=3, inputs=("3 colours",))) == {"3 colours": 0}


def test_sheets():
    made, classes = made_up.arrays(), tuple(map(str, range(10)))
    own = (made["labels"][made["neighbours"]] == made["labels"][:, None]).mean(1)
    lonely = sheet.choose(made, sheet.LONELY, classes, 12, 0)
    assert own[lonely].tolist() == sorted(own)[:12]
    wrong = sheet.choose(made, sheet.WRONG, classes, 500, 0)
    assert wrong.tolist() == np.flatnonzero(made["labels"] != made["predicted"]).tolist()
    assert set(made["labels"][sheet.choose(made, "class 7", classes, 5, 0)]) == {7}
    assert len(sheet.choose(made, sheet.ANY, classes, 36, 0)) == 36
    assert sheet.choose(made, sheet.ANY, classes, 36, 0).tolist() == sheet.choose(made, sheet.ANY, classes, 36, 0).tolist()


def test_share_of_class_by_hand():
    labels, near = np.array([0, 0, 1]), np.array([[1, 2], [0, 2], [0, 1]])
    assert sheet.share_of_class(labels, near) == pytest.approx((0.5 + 0.5 + 0) / 3)
