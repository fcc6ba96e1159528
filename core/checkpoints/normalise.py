"""Presets that bring images in [0, 1] to the scale a checkpoint was trained on. Free of torch."""

from typing import NamedTuple


class Preset(NamedTuple):
    """Mean and standard deviation per colour channel, on the scale [0, 1]."""

    title: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    scale: float = 1.0  # images are multiplied by it first
    source: str = ""


IMAGENET_MEAN = (0.485, 0.456, 0.406)
CIFAR_MEAN = (0.4914, 0.4822, 0.4465)
PRESETS = {
    "none": Preset("[0, 1], nothing else", (), (), source="SimCLR's TensorFlow weights and their ports"),
    "imagenet": Preset("ImageNet, std .229", IMAGENET_MEAN, (0.229, 0.224, 0.225), source="torchvision, MoCo, DINO, VICReg"),
    "imagenet_228": Preset("ImageNet, std .228", IMAGENET_MEAN, (0.228, 0.224, 0.225), source="SwAV, solo-learn"),
    "imagenet_255": Preset(
        "ImageNet, on the scale 0–255", (123.675, 116.28, 103.53), (58.395, 57.12, 57.375), scale=255.0, source="mmpretrain"
    ),
    "cifar10": Preset("CIFAR-10, std .247", CIFAR_MEAN, (0.247, 0.243, 0.261), source="solo-learn"),
    "cifar10_2023": Preset("CIFAR-10, std .2023", CIFAR_MEAN, (0.2023, 0.1994, 0.2010), source="SupContrast, leftthomas/SimCLR"),
    "cifar100": Preset("CIFAR-100", (0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761), source="SupContrast"),
    "half": Preset("mean .5, std .5", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5), source="timm's Inception scale"),
    "mnist": Preset("MNIST", (0.1307,), (0.3081,), source="PyTorch's MNIST example"),
}


def why(used: str, guess: str | None, layout_name: str) -> str:
    """Why images are normalised as they are, or why that may be wrong, for the middle of a sentence.

    Args:
        used: A key of `PRESETS`.
        guess: The preset that checkpoints of this format were trained with; None if it is not known.
        layout_name: The format in words.
    """
    if guess is None:
        return "nothing in the file tells how its images were normalised"
    if used == guess:
        return f"usual for this format, {layout_name}"
    return f"checkpoints of this format ({layout_name}) usually expect {PRESETS[guess].title}"


def usable(name: str, channels: int) -> bool:
    """Does the preset fit the number of input channels? Further channels (RandBit) pass unchanged."""
    needed = len(PRESETS[name].mean)
    return needed == 0 or (channels >= needed and not (needed == 1 and channels == 3))
