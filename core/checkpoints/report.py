"""What is said about a checkpoint: the report, its parts, the limits of reading, and the one error.

Pages import this module, so it stays free of torch and NumPy.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.checkpoints.plans import Plan

REPORT_VERSION = 1

Problem = Literal[
    "not_found",  # no file there, or a folder
    "not_a_checkpoint",  # a web page, a picture, an archive, ...
    "unsupported",  # a kind of checkpoint that is not opened here
    "damaged",  # cut off, or bytes that contradict one another
    "too_large",  # over a limit on bytes, tensors or memory
    "hostile",  # asks for something no checkpoint needs
    "too_slow",  # over the time limit
    "crashed",  # the reading process died
    "no_encoder",  # opened, but no encoder in it
    "mismatch",  # an encoder, but its tensors do not fit
    "choice",  # a choice is missing or impossible
]


class CheckpointError(ValueError):
    """A checkpoint that is not opened, in words for people: what was found, what is allowed, what to do next.

    Attributes:
        problem: Which kind of reason it is; see `Problem`.
    """

    def __init__(self, problem: Problem, message: str):
        super().__init__(message)
        self.problem: Problem = problem


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(_Frozen):
    """What reading one file may cost. The reading process is ended when it goes beyond."""

    file_bytes: Annotated[int, Field(gt=0)] = 2 * 2**30  # size of the file
    memory_bytes: Annotated[int, Field(ge=2**26)] = 3 * 2**30  # of the reading process, beyond its own start
    seconds: Annotated[float, Field(gt=0)] = 120.0  # wall clock, and processor time
    tensors: Annotated[int, Field(gt=0)] = 100_000  # in the file
    pickle_bytes: Annotated[int, Field(gt=0)] = 512 * 2**20  # of the part that describes the tensors

    def out_of_memory(self) -> CheckpointError:
        """What is said when reading needs more."""
        return CheckpointError(
            "too_large",
            f"Reading the file needs more than the allowed {self.memory_bytes / 1e6:,.0f} MB of memory. "
            "It was not opened further.",
        )


class Choices(_Frozen):
    """What a person decides about a checkpoint, because the weights alone cannot tell. None: not decided."""

    branch: str | None = None  # encoder_q or encoder_k, teacher or student, state_dict or state_dict_ema, ...
    prefix: str | None = None  # where the encoder lies, when its prefix is unknown
    stem: Literal["imagenet", "cifar"] | None = None  # stride 2 and max-pool, or stride 1 and none
    padding: Annotated[int, Field(ge=0, le=16)] | None = None  # of the first convolution
    max_pool: bool | None = None  # after the stem
    normalisation: str | None = None  # a key of PRESETS
    heads: Annotated[int, Field(ge=1)] | None = None  # attention heads of a vision transformer


class Branch(_Frozen):
    """One set of encoder weights in the file."""

    name: str  # what `branch=` takes
    role: str  # in words: "query encoder", "teacher", ...
    container: tuple[str, ...]  # keys that lead to the dictionary of tensors
    prefix: str  # in front of the encoder's own names
    tensors: int
    family: str
    architecture: str
    same_as: tuple[str, ...] = ()  # prefixes that hold identical tensors, counted once


class Layer(_Frozen):
    """One layer of a head."""

    kind: Literal["linear", "batch_norm"]
    key: str  # name of the layer in the file
    inputs: int
    outputs: int
    bias: bool  # linear: has a bias; batch norm: has weight and bias


class Head(_Frozen):
    """A network on top of the encoder: described, never required."""

    role: Literal["projector", "predictor", "classifier", "prototypes", "other"]
    container: tuple[str, ...]
    prefix: str
    layers: tuple[Layer, ...]
    text: str  # "512 → 512 → 128, batch norm, no bias at the end"
    bn_eps: float = 1e-5
    rebuilt: bool  # load_encoder can run it: linear layers, batch norms, ReLU between them


class Question(_Frozen):
    """A choice that the weights cannot answer, with what is used unless a person decides."""

    name: Literal["branch", "stem", "padding", "max_pool", "normalisation", "heads", "channels"]
    text: str
    options: tuple[str, ...]
    chosen: str | None  # None: must be decided before the encoder can be built
    guess: str | None = None  # the likely answer where nothing was decided
    why: str = ""  # what makes it likely, or says that nothing does

    @property
    def usual(self) -> str | None:
        """The answer where nobody decides: the likely one if it is possible, else what the encoder is built with."""
        return self.guess if self.guess in self.options else self.chosen


class TensorRow(_Frozen):
    """One tensor of the chosen encoder."""

    name: str  # in the encoder
    source: str  # in the file
    shape: tuple[int, ...]
    dtype: str
    mean: float | None = None  # over finite values; None where there are none
    std: float | None = None
    norm: float | None = None
    zeros: int = 0
    nans: int = 0
    infinities: int = 0


class CheckpointReport(_Frozen):
    """Everything known about a checkpoint without running it."""

    report_version: int = REPORT_VERSION

    # The file
    file: str  # name only
    bytes: int
    sha256: str
    kind: Literal["zip", "legacy", "safetensors", "pickle"]
    top_level: tuple[str, ...]  # keys of the outermost dictionary, at most 50
    facts: dict[str, str] = {}  # epoch, arch, versions: short plain values found beside the weights
    ignored_globals: tuple[str, ...] = ()  # Python names the file asks for that were replaced by inert stand-ins
    tensors: int = 0  # in all dictionaries of tensors
    tensor_bytes: int = 0
    dtypes: dict[str, int] = {}

    # Where it comes from
    layout: str  # identifier of the format, "unknown" where none fits
    layout_name: str  # the same in words
    normalisation_guess: str | None = None  # preset this format was trained with
    spec: dict[str, Any] | None = None  # settings of the run, for checkpoints written here
    classes: tuple[str, ...] | None = None

    # The encoder
    branches: tuple[Branch, ...] = ()
    branch: str | None = None  # the one this report describes
    family: Literal["resnet", "vit", "conv", "small_alexnet"] | None = None
    architecture: str | None = None  # "ResNet-50", "ViT-S/16", ...
    plan: Plan | None = None
    h_dim: int | None = None
    parameters: int = 0  # of the encoder
    in_channels: int | None = None
    inputs: tuple[str, ...] = ()  # what the input channels can be: "3 colours and 10 RandBit channels"
    heads: tuple[Head, ...] = ()
    projector: Head | None = None  # the one that belongs to the branch
    extras: tuple[str, ...] = ()  # other tensors beside it: queue, prototypes, memory bank
    dropped: tuple[str, ...] = ()  # left-overs of profilers

    # How well it fits
    expected: int = 0  # tensors of the encoder
    matched: int = 0
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()  # in the encoder's part of the file, but unknown to the encoder
    mismatched: tuple[str, ...] = ()
    left_prefixes: tuple[str, ...] = ()  # the longest prefixes of tensors that nothing used

    # Health of the encoder's tensors
    rows: tuple[TensorRow, ...] = ()
    nans: int = 0
    infinities: int = 0
    zero_fraction: float | None = None

    # What a person should know or decide
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # those of the notes that make numbers about the encoder doubtful
    refusal: str | None = None  # why load_encoder would refuse; None: it would load
    refusal_problem: Problem | None = None

    @property
    def share_matched(self) -> float:
        """Matched tensors over all the encoder expects or the file holds for it, in [0, 1]."""
        everything = self.expected + len(self.unexpected)
        return self.matched / everything if everything else 0.0
