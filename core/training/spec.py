"""RunSpec: everything that decides a run. RunResult: everything that was measured in it.

Pages and the store import this module, so it must stay free of torch.
"""

import hashlib
import json
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from core.datasets.digit_layout import CANVAS, overlay_problem, scene_count, scene_problem
from core.validation import reject_conversion

SPEC_VERSION = 1  # part of the hash; raise it when the meaning of an existing field changes

Dataset = Literal["mnist-5k", "mnist", "fashion-mnist", "cifar10", "cifar100", "stl10", "folder"]
Encoder = Literal["conv", "resnet18", "resnet34", "resnet50"]
Objective = Literal[
    "nt_xent",  # 2n-1 candidates per anchor
    "cross_view",  # n candidates, both directions summed (the authors' RandBits notebook)
    "gcl",  # alignment + lam * log-sum-exp: tau and lam are separate
    "swd_hypersphere",  # alignment + lam * sliced Wasserstein distance to the prior
    "swd_hypercube",
    "swd_normal",
    "align_uniform",  # Wang & Isola: lam weighs the uniformity term
    "alignment",  # alignment alone: collapses, kept for teaching
    "uniformity",  # uniformity alone
    "moco",  # InfoNCE against a queue of keys from a momentum encoder
    "supervised",  # cross entropy on labels, trained end to end
    "autoencoder",  # reconstruction of the input
    "untrained",  # the encoder as initialised
]

CONTRASTIVE = frozenset(get_args(Objective)) - {"supervised", "autoencoder", "untrained"}
USES_TAU = frozenset({"nt_xent", "cross_view", "gcl", "moco"})
USES_LAM = frozenset({"gcl", "swd_hypersphere", "swd_hypercube", "swd_normal", "align_uniform"})
DIGIT_SETS = frozenset({"mnist-5k", "mnist"})  # white digits on black, 28 px: what MultiDigits canvases are made of
SMALLEST_IMAGE = {"conv": 15, "resnet18": 8, "resnet34": 8, "resnet50": 8}  # pixels a side that survive the strides

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RunSpec(BaseModel):
    """The settings of one training run. Equal settings have equal ids, on every machine.

    The id hashes only the fields that differ from their defaults, so a field added later, with a neutral
    default, leaves old ids alone. A default is therefore never changed; the tests pin all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # Data
    dataset: Dataset = "mnist-5k"
    data_root: str | None = None  # folder; relative paths start at CONTRASTIVE_LENS_DATA
    n_train: Annotated[int, Field(ge=2)] | None = None  # stratified subset; None = all
    n_test: Annotated[int, Field(ge=1)] | None = None
    image_size: Annotated[int, Field(ge=1, le=512)] | None = None  # pixels a side; None = as the data set is

    # Competing features
    bits: Annotated[int, Field(ge=0, le=32)] = 0  # RandBit channels appended after augmentation
    digits: Annotated[int, Field(ge=0)] = 0  # DigitOnImage: number of unique digit images; 0 = no overlay
    digit_size: Annotated[int, Field(ge=0, le=512)] = 0  # pixels a side of the overlaid or growing digit; 0 = standard
    # Other digits and places in every epoch; always the same for an image; or as fresh, with other places in each view.
    digit_draw: Literal["fresh", "fixed", "views"] = "fresh"
    overlay: Literal["max", "add", "alpha"] = "max"  # DigitOnImage: how digit and picture become one
    scene: Literal["picture", "two_sizes", "grid", "random"] = "picture"  # others: MultiDigits, a canvas made from several digits
    scene_digits: Annotated[int, Field(ge=0, le=16)] = 0  # digits on a grid or random canvas; 0 = usual, 12 and 8

    # Augmentation
    augment: Literal["crop", "simclr", "none"] = "crop"  # crop: the RandBits notebook's recipe
    color_strength: Annotated[float, Field(ge=0, le=2)] = 0.5  # SimCLR's s: 0.5 for CIFAR, 1.0 for ImageNet
    gray: Annotated[float, Field(ge=0, le=1)] = 0.2  # recipe simclr: probability that a view loses its colours

    # Encoder and projection head
    encoder: Encoder = "conv"
    width: Annotated[int, Field(ge=1, le=8)] = 1
    stem: Literal["auto", "cifar", "imagenet"] = "auto"  # ResNets; auto: cifar up to 64 px
    head_layers: Annotated[int, Field(ge=0, le=4)] = 2
    head_hidden: Annotated[int, Field(ge=1, le=8192)] | None = None  # None: 2 x encoder width (conv), encoder width (ResNet)
    head_dim: Annotated[int, Field(ge=1, le=8192)] = 64
    head_norm: Literal["hidden", "all", "none"] = "hidden"  # batch norm after hidden layers, all layers, or none
    bn_momentum: Annotated[float, Field(gt=0, le=1)] = 0.1  # torch's meaning; the notebook's 0.99 is 0.01 here
    bn_eps: Positive = 1e-5
    bn_views: Literal["joint", "separate"] = "joint"  # both views through batch norm together, or one after the other

    # Objective
    objective: Objective = "nt_xent"
    tau: Positive = 0.1
    lam: NotNegative | None = None  # weight of the distribution term; None = tau (gcl) or 1 (others)
    mask_self: bool = True
    convention: Literal["standard", "notebook"] = "standard"
    label_layer: Literal["h", "z"] = "h"  # supervised: the classifier reads h, or the head's output z
    queue: Annotated[int, Field(ge=1)] = 1000  # MoCo: number of negatives K
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.99  # MoCo: key encoder's m

    # Optimisation
    batch_size: Annotated[int, Field(ge=2)] = 250
    epochs: Annotated[int, Field(ge=0)] = 20
    optimizer: Literal["adam", "sgd", "lars"] = "adam"
    lr: Positive = 1e-3
    lr_scaling: Literal["none", "sqrt", "linear"] = "none"  # sqrt: lr * sqrt(batch); linear: lr * batch / 256
    schedule: Literal["cosine", "linear", "constant"] = "cosine"
    warmup_epochs: NotNegative = 0
    weight_decay: NotNegative = 1e-4  # on convolution and dense weights only
    shuffle: bool = True
    online_probe: Literal["standard", "notebook"] = "standard"  # notebook: Keras' start, and decay as for the encoder
    save_every: Annotated[int, Field(ge=0)] = 0  # epochs between kept embeddings, from epoch 0 on; 0 = only the end

    # Machine
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    device: str = "auto"  # auto, cpu, cuda, cuda:1, mps
    precision: Literal["auto", "float32", "bfloat16"] = "auto"  # auto: bfloat16 on CUDA, else float32

    _as_written = field_validator("*", mode="before")(classmethod(reject_conversion))

    @model_validator(mode="after")
    def _fits_together(self) -> "RunSpec":
        if self.dataset == "folder" and not self.data_root:
            raise ValueError("data_root: the folder data set needs a folder with train/<class>/ and test/<class>/ inside")
        smallest = SMALLEST_IMAGE[self.encoder]
        if self.image_size is not None and self.image_size < smallest:
            raise ValueError(
                f"image_size: the {self.encoder} encoder needs at least {smallest} pixels a side, got {self.image_size}"
            )
        if problem := self._rival_problem():
            raise ValueError(problem)
        if self.encoder != "conv" and self.width != 1:
            raise ValueError(f"width: only the conv encoder can be widened, {self.encoder} has width 1, got {self.width}")
        if self.n_train is not None and self.batch_size > self.n_train and self.objective != "untrained":
            raise ValueError(f"batch_size: must not exceed the {self.n_train} training images (n_train), got {self.batch_size}")
        if self.objective == "moco" and self.n_train is not None and self.queue >= self.n_train:
            raise ValueError(
                f"queue: must be smaller than the {self.n_train} training images, or positives are among the negatives, "
                f"got {self.queue}"
            )
        if self.objective == "moco" and self.queue % self.batch_size:
            raise ValueError(f"queue: must be a multiple of the batch size {self.batch_size}, got {self.queue}")
        if self.convention == "notebook" and self.objective not in {"gcl", "swd_hypersphere", "swd_hypercube", "swd_normal"}:
            raise ValueError(
                f"convention: 'notebook' exists for gcl and the swd objectives only, got objective {self.objective!r}"
            )
        if self.convention == "notebook" and not self.mask_self:
            raise ValueError("mask_self: the notebook's convention always keeps the similarity to itself; leave mask_self out")
        if self.save_every and self.save_every > max(self.epochs, 1):
            raise ValueError(f"save_every: must not exceed the {self.epochs} epochs, got {self.save_every}")
        return self

    def _rival_problem(self) -> str:
        """What is wrong with the digits that compete with the class; empty if nothing is."""
        if self.scene == "picture":
            if self.scene_digits:
                return f"scene_digits: only a grid or random scene has several digits, got {self.scene_digits} with a picture"
            if self.digit_draw == "views":
                return "digit_draw: only the digits of a canvas (scene) can lie at other places in each view, got 'views'"
            too_large = self.digits and self.digit_size and self.image_size
            return overlay_problem(self.image_size, self.digit_size) if too_large else ""
        if self.dataset not in DIGIT_SETS:
            return f"scene: canvases are made of the digits of {' or '.join(sorted(DIGIT_SETS))}, got dataset {self.dataset!r}"
        if self.digits:
            return f"digits: a {self.scene} canvas has no room for an overlay; leave digits out, got {self.digits}"
        if self.objective == "supervised" and self.scene != "two_sizes" and scene_count(self.scene, self.scene_digits) > 1:
            return f"objective: a {self.scene} canvas of several digits has no one label to train on, got 'supervised'"
        return scene_problem(self.scene, self.scene_digits, self.image_size or CANVAS, self.digit_size)

    @property
    def weight(self) -> float:
        """lam as used: tau for gcl, 1 for the other weighted objectives, when not given."""
        if self.lam is not None:
            return self.lam
        return self.tau if self.objective == "gcl" else 1.0

    def changed(self) -> dict[str, Any]:
        """The fields that differ from their defaults, in the order of their declaration."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def canonical_json(self) -> str:
        """The text that is hashed: version and changed fields, keys sorted, no spaces."""
        settings = self.changed()
        if self.dataset != "folder":
            settings.pop("data_root", None)  # where a named data set lies does not change the run
        return json.dumps({"spec_version": SPEC_VERSION, **settings}, sort_keys=True, separators=(",", ":"))

    @property
    def run_id(self) -> str:
        """First 12 hex digits of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()[:12]


Status = Literal["finished", "diverged", "failed", "stopped"]


class RunResult(BaseModel):
    """What one run measured. Field names are the column names of every table. None = not measured, see `notes`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run_id: str
    status: Status
    linear_accuracy: float | None = None  # test accuracy of L-BFGS logistic regression on standardised frozen h
    linear_c: float | None = None  # its inverse regularisation strength
    linear_converged: bool | None = None
    knn_accuracy: float | None = None  # cosine kNN on h
    knn_k: int | None = None
    online_accuracy: float | None = None  # probe trained alongside, on stop-gradient h; test images
    bit_accuracy: float | None = None  # mean test accuracy of one logistic probe per bit, on h
    bit_accuracies: tuple[float, ...] | None = None  # the same, bit 0 first
    bits_known: float | None = None  # nats the bit probes recover, in bits: sum over bits of 1 - H(accuracy)
    digit_accuracy: float | None = None  # DigitOnImage: linear probe for the overlaid digit, test digits never trained on
    small_digit_accuracy: float | None = None  # MultiDigits, two sizes: linear probe for the fixed digit, the picture's class
    large_digit_accuracy: float | None = None  # the same for the growing digit
    color_accuracy: float | None = None  # linear probe for the image's group by colour histogram; test images
    color_chance: float | None = None  # share of the largest of these groups
    color_class_accuracy: float | None = None  # class read from the colour histogram alone: a property of the data
    alignment: float | None = None  # E||x - y||^2 of the unit z of two augmented views, test images
    uniformity: float | None = None  # log E exp(-2 ||x - y||^2), unit z, test images
    tolerance: float | None = None  # mean cosine of same-class pairs, unit z, test images
    rankme: float | None = None  # of z, test images
    rankme_h: float | None = None
    loss: float | None = None  # mean over the last epoch, nats
    loss_floor: float | None = None  # of an encoder that keeps the shared bits only; objective's own scale
    loss_chance: float | None = None  # all embeddings equal
    epochs_done: int = 0
    seconds: float = 0.0  # wall time of training and evaluation
    train_seconds: float = 0.0
    samples_per_second: float | None = None  # images (not views) in training
    n_train: int = 0
    n_test: int = 0
    classes: int = 0
    h_dim: int = 0
    device: str = ""
    versions: dict[str, str] = {}  # python, torch, contrastive_lens, ...
    finished_at: str = ""  # ISO 8601, UTC
    error: str | None = None  # of a failed run: the last line of its traceback
    notes: tuple[str, ...] = ()  # what was left out, clamped or did not converge
