"""What is asked of a checkpoint unless a person decides otherwise: choices, data set, image size, views. Without torch.

The page Inspect and the command line both ask here, so the same file with the same answers is the same inspection.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from core.checkpoints.plans import ConvPlan, Plan, SmallAlexNetPlan, ViTPlan
from core.checkpoints.report import CheckpointReport, Question
from core.datasets.folder import usual_side
from core.datasets.sources import raw_folders
from core.training.spec import SMALLEST_IMAGE

GREY, COLOURS = 1, 3


class DataFacts(NamedTuple):
    """What is known about a data set before it is loaded."""

    title: str
    channels: int | None  # None: as the images in the folder are
    side: int | None  # pixels


PHOTO_SIDE = 64  # px a side that larger pictures of a folder get unless another size is asked for: an inspection in minutes
DATA = {
    "mnist-5k": DataFacts("MNIST, 5,000 digits (no download)", GREY, 28),
    "mnist": DataFacts("MNIST", GREY, 28),
    "fashion-mnist": DataFacts("Fashion-MNIST", GREY, 28),
    "cifar10": DataFacts("CIFAR-10", COLOURS, 32),
    "cifar100": DataFacts("CIFAR-100", COLOURS, 32),
    "stl10": DataFacts("STL-10", COLOURS, 96),
    "folder": DataFacts("Folder of images", None, None),
}


class Suggestion(NamedTuple):
    """Settings of an inspection that suit a checkpoint."""

    dataset: str
    image_size: int | None  # None: as the data set is
    bits: int
    augment: str
    color_strength: float


def suggest(report: CheckpointReport, dataset: str | None = None, data_root: str | None = None) -> Suggestion:
    """Settings that suit a checkpoint: those of its own run where they are known.

    Args:
        report: What the file holds.
        dataset: A data set that a person chose; None for the one that suits the input channels.
        data_root: Folder of the images, where the data set is one and it is known already.
    """
    own = report.spec or {}
    bits = bits_of(report)
    grey = (report.in_channels or COLOURS) - bits == GREY
    chosen = dataset or own.get("dataset") or ("mnist-5k" if grey else "cifar10")
    if chosen not in DATA:
        chosen = "mnist-5k"
    recipe = own.get("augment") or ("crop" if DATA[chosen].channels == GREY else "simclr")
    side = DATA[chosen].side
    if chosen == "folder" and data_root:
        side = usual_side(raw_folders(data_root)[0])
        side = side if side is not None and side <= PHOTO_SIDE else None  # small pictures stay as they are
    return Suggestion(
        dataset=chosen,
        image_size=image_size(report.plan, side),
        bits=bits,
        augment=recipe if recipe in ("crop", "simclr") else "crop",
        color_strength=float(own.get("color_strength", 0.5)),
    )


class Choice(NamedTuple):
    """One thing that the weights cannot tell, as it is decided."""

    name: str  # of the question
    value: str | None  # one of the question's options; None: nothing is usual, a person must decide
    why: str  # for the middle of a sentence


def choices(report: CheckpointReport, answers: Mapping[str, Any] | None = None) -> list[Choice]:
    """Everything that the weights cannot tell: what was answered, else what is usual.

    Args:
        report: What the file holds, read with the answers about its branch, prefix and stem.
        answers: Option by name of the question, or the field of an inspection; None counts as not answered.
    """
    return [_decided(question, (answers or {}).get(question.name)) for question in report.questions]


def fields(decided: Iterable[Choice]) -> dict[str, Any]:
    """Choices as fields of an InspectionSpec; those that leave everything as it is are left out, for one id per meaning."""
    found: dict[str, Any] = {}
    for name, value, _ in decided:
        if value is None or name == "channels" or (name, value) == ("normalisation", "none"):
            continue
        found[name] = int(value) if name in ("padding", "heads") else value == "yes" if name == "max_pool" else value
    return found


def _decided(question: Question, answer: Any) -> Choice:
    if answer is None:
        return Choice(question.name, question.usual, question.why)
    if question.name == "branch":
        answer = question.chosen  # may have been asked for by a shorter name
    value = ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)
    return Choice(question.name, value, question.why if value == question.guess else "as asked")


def bits_of(report: CheckpointReport) -> int:
    """RandBit channels of a checkpoint: those of its run, else the input channels beyond an image's."""
    if report.spec is not None:
        return int(report.spec.get("bits", 0))
    channels = report.in_channels or COLOURS
    return channels - (COLOURS if channels >= COLOURS else GREY)


def bits_options(report: CheckpointReport) -> dict[str, int]:
    """How the input channels can be read, in the report's words, and how many RandBit channels each reading has."""
    if report.spec is not None or not report.in_channels:
        return {text: bits_of(report) for text in report.inputs[:1]}
    given = report.in_channels
    images = [image for image in (COLOURS, GREY) if given >= image and not (image == GREY and given == COLOURS)]
    return {text: report.in_channels - image for text, image in zip(report.inputs, images, strict=False)}


def image_size(plan: Plan | None, side: int | None) -> int | None:
    """Pixels a side that the encoder needs; None where the data set's own size will do.

    Args:
        plan: Of the encoder.
        side: Of the data set's images; None if unknown.
    """
    accepted = sides(plan)
    if accepted is None:
        return None if side is not None else PHOTO_SIDE
    if side in accepted:
        return None
    return plan.image_size if isinstance(plan, ConvPlan | ViTPlan) else 8 * plan.side + 8


def sides(plan: Plan | None) -> range | None:
    """The image sizes that an encoder takes; None for any from 8 pixels on."""
    if isinstance(plan, ConvPlan):
        return plan.image_sizes
    if isinstance(plan, ViTPlan):
        return range(plan.image_size, plan.image_size + 1)
    if isinstance(plan, SmallAlexNetPlan):
        return range(8 * plan.side + 7, 8 * plan.side + 15)  # three pools of 3 with stride 2
    return None


def check_size(plan: Plan | None, side: int) -> None:
    """Do images of this size fit the encoder?

    Raises:
        ValueError: If not; the text says which sizes do.
    """
    accepted = sides(plan)
    smallest = SMALLEST_IMAGE["resnet18"]
    if accepted is None and side < smallest:
        raise ValueError(f"image_size: this encoder needs at least {smallest} pixels a side, the images have {side}.")
    if accepted is not None and side not in accepted:
        span = f"{accepted[0]}" if len(accepted) == 1 else f"{accepted[0]} to {accepted[-1]}"
        raise ValueError(f"image_size: this {plan.name} takes images of {span} pixels a side, the images have {side}.")


def check_channels(in_channels: int, bits: int) -> int:
    """How many of the input channels are the image: 1 or 3.

    Raises:
        ValueError: If neither is left beside the RandBit channels.
    """
    image = in_channels - bits
    if image not in (GREY, COLOURS):
        raise ValueError(
            f"bits: the encoder has {in_channels} input channels; with {bits} RandBit channels {image} are left for the image, "
            f"which needs {GREY} (grey) or {COLOURS} (colours)."
        )
    return image
