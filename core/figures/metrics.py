"""What each metric and setting is called, in which unit, with how many digits: the same in charts, tables and sentences."""

import math
from typing import NamedTuple

from core.figures.theme import OBJECTIVE_NAMES
from core.training.spec import CONTRASTIVE, USES_LAM, USES_TAU


class Metric(NamedTuple):
    """How to show one RunResult field."""

    key: str
    name: str  # in selectors and sentences
    axis: str  # axis title with unit
    is_accuracy: bool = False  # a share from 0 to 1 with a chance line
    higher_is_better: bool = True
    digits: int = 3  # decimals where no spread says otherwise


METRICS = {
    metric.key: metric
    for metric in (
        Metric("linear_accuracy", "linear probe", "Linear accuracy (test)", is_accuracy=True),
        Metric("knn_accuracy", "kNN", "kNN accuracy (test)", is_accuracy=True),
        Metric("online_accuracy", "online probe", "Online probe accuracy (test)", is_accuracy=True),
        Metric("bit_accuracy", "accuracy per bit", "Mean accuracy per bit (test)", is_accuracy=True),
        Metric("bits_known", "bits known", "Bits of the code known", digits=1),
        Metric("digit_accuracy", "digit probe", "Digit accuracy (test)", is_accuracy=True),
        Metric("small_digit_accuracy", "small digit probe", "Accuracy on the fixed digit (test)", is_accuracy=True),
        Metric("large_digit_accuracy", "large digit probe", "Accuracy on the growing digit (test)", is_accuracy=True),
        Metric("color_accuracy", "colour probe", "Colour group accuracy (test)", is_accuracy=True),
        Metric("color_class_accuracy", "class from colours", "Class read from colours alone (test)", is_accuracy=True),
        Metric("loss", "loss", "Loss (nats)", higher_is_better=False),
        Metric("alignment", "alignment", "Alignment, E‖x − y‖² (0 = views agree)", higher_is_better=False),
        Metric("uniformity", "uniformity", "Uniformity, log E exp(−2‖x − y‖²)", higher_is_better=False),
        Metric("tolerance", "tolerance", "Tolerance (mean cosine within a class)"),
        Metric("rankme", "RankMe of z", "RankMe of z (dimensions in use)", digits=1),
        Metric("rankme_h", "RankMe of h", "RankMe of h (dimensions in use)", digits=1),
        Metric("samples_per_second", "images per second", "Training speed (images/s)", digits=0),
        Metric("seconds", "seconds", "Wall time (s)", higher_is_better=False, digits=0),
    )
}

FIELD_NAMES = {
    "n_train": "training images",
    "n_test": "test images",
    "image_size": "image size",
    "digits": "digit images",
    "digit_size": "digit size",
    "digit_draw": "digits drawn",
    "scene_digits": "digits on the canvas",
    "color_strength": "colour strength",
    "gray": "grey probability",
    "head_layers": "head layers",
    "head_hidden": "head width",
    "head_dim": "embedding dimensions",
    "head_norm": "head norm",
    "bn_momentum": "BN momentum",
    "bn_eps": "BN eps",
    "bn_views": "BN views",
    "lam": "lambda",
    "mask_self": "mask self",
    "batch_size": "batch size",
    "lr": "learning rate",
    "lr_scaling": "rate scaling",
    "online_probe": "online probe's recipe",
    "warmup_epochs": "warm-up epochs",
    "weight_decay": "weight decay",
    "data_root": "data folder",
    "save_every": "save every",
}
DATASET_NAMES = {
    "mnist-5k": "MNIST-5k",
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "stl10": "STL-10",
    "folder": "image folder",
}
ENCODER_NAMES = {"conv": "ConvN", "resnet18": "ResNet-18", "resnet34": "ResNet-34", "resnet50": "ResNet-50"}

SMALLEST_SPREAD = 1e-6  # below it a spread is rounding noise


def field_name(field: str) -> str:
    """A RunSpec field in words: `batch_size` becomes "batch size"."""
    return FIELD_NAMES.get(field, field.replace("_", " "))


LABEL_LAYER_NAMES = {"h": "labels read h", "z": "labels read z"}  # a supervised run's classifier
NAMED_VALUES = {
    "objective": OBJECTIVE_NAMES,
    "dataset": DATASET_NAMES,
    "encoder": ENCODER_NAMES,
    "label_layer": LABEL_LAYER_NAMES,
}
COUNTED = {"bits": "bits", "epochs": "epochs", "digits": "digits"}  # fields that read best behind their number


def setting_value(field: str, value: object) -> str:
    """A setting's value as written in a table whose row names the field."""
    return NAMED_VALUES[field].get(str(value), str(value)) if field in NAMED_VALUES else plain(value)


def setting_text(field: str, value: object) -> str:
    """A setting as written in labels: `tau 0.1`, `NT-Xent`, `batch size 512`."""
    return setting_value(field, value) if field in NAMED_VALUES else f"{field_name(field)} {plain(value)}"


def short_setting(field: str, value: object) -> str:
    """A setting as written in a list: `10 bits`, `1 bit`, `tau 0.1`, `NT-Xent`."""
    if field not in COUNTED:
        return setting_text(field, value)
    return f"{plain(value)} {COUNTED[field].removesuffix('s') if value == 1 else COUNTED[field]}"


def plain(value: object) -> str:
    """A setting's value without float noise: 0.1, 1e-4, 512, "auto" when it is not set."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "auto"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def applies(field: str, objective: str) -> bool:
    """Whether a setting does anything under an objective: tau says nothing about a supervised run."""
    if field == "tau":
        return objective in USES_TAU
    if field == "lam":
        return objective in USES_LAM
    if field in {"queue", "momentum"}:
        return objective == "moco"
    if field in {"head_layers", "head_hidden", "head_dim", "head_norm", "mask_self", "convention", "bn_views"}:
        return objective in CONTRASTIVE
    return True


def number(value: float | None, metric: str, spread: float | None = None) -> str:
    """A measured value with as many decimals as its spread supports: two digits of a spread that begins with
    1 or 2, else one.

    Args:
        value: Mean or single value; None or NaN is written as a dash.
        metric: RunResult field, decides the decimals where there is no spread.
        spread: Standard deviation over seeds; None or 0 where there is none.
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{_decimals(metric, spread)}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")  # no "−0.000"


def with_spread(value: float | None, metric: str, spread: float | None) -> str:
    """Value and spread with the same decimals: "0.823 ± 0.012"; the value alone where there is no spread."""
    text = number(value, metric, spread)
    if text == "–" or spread is None or math.isnan(spread):
        return text
    return f"{text} ± {spread:.{_decimals(metric, spread)}f}"


def _decimals(metric: str, spread: float | None) -> int:
    usual = METRICS[metric].digits if metric in METRICS else 3
    if spread is None or math.isnan(spread) or spread < SMALLEST_SPREAD:
        return usual
    place = -math.floor(math.log10(spread))
    most = usual + (metric not in METRICS or not METRICS[metric].is_accuracy)  # an accuracy is a share of about 1,000 images
    return min(most, max(0, place + (spread * 10**place < 3)))
