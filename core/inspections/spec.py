"""InspectionSpec: everything that decides an inspection. Pages import this module, so it stays free of torch."""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from core.training.spec import Dataset, RunSpec
from core.validation import reject_conversion

SPEC_VERSION = 1  # part of the hash; raise it when an inspection starts to measure something else under the same settings
CHOICES = ("branch", "prefix", "stem", "padding", "max_pool", "normalisation", "heads")
NOT_DECIDING = frozenset({"source", "name"})  # where the file lies and what it is called do not change the result

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class InspectionSpec(BaseModel):
    """A checkpoint, the choices it leaves open, and the images it is shown. Equal settings have equal ids."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The checkpoint
    source: Annotated[str, Field(min_length=1)]  # SHA-256 of an uploaded file, or the absolute path of one on this machine
    sha256: Digest  # of its content; the job refuses a file that has changed since it was looked at
    name: Annotated[str, Field(min_length=1, max_length=160)]  # as shown

    # What the weights cannot tell, see `core.checkpoints.Choices`; None: as the report says
    branch: str | None = None
    prefix: str | None = None
    stem: Literal["imagenet", "cifar"] | None = None
    padding: Annotated[int, Field(ge=0, le=16)] | None = None
    max_pool: bool | None = None
    normalisation: str | None = None
    heads: Annotated[int, Field(ge=1)] | None = None
    bits: Annotated[int, Field(ge=0, le=32)] = 0  # RandBit channels among the input channels

    # The images
    dataset: Dataset = "mnist-5k"
    data_root: str | None = None  # as in RunSpec
    n_train: Annotated[int, Field(ge=20)] = 4000  # images that the probes are fitted on; stratified, fewer if there are fewer
    n_test: Annotated[int, Field(ge=20, le=10_000)] = 1000  # images that everything else is measured on
    image_size: Annotated[int, Field(ge=1, le=512)] | None = None  # pixels a side; None = as the data set is
    augment: Literal["crop", "simclr"] = "crop"  # recipe of the two views that alignment is measured on
    color_strength: Annotated[float, Field(ge=0, le=2)] = 0.5
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0  # of the choice of images, the views, the alterations and t-SNE

    _as_written = field_validator("*", mode="before")(classmethod(reject_conversion))

    @model_validator(mode="after")
    def _folder_has_a_root(self) -> "InspectionSpec":
        if self.dataset == "folder" and not self.data_root:
            raise ValueError("data_root: the folder data set needs a folder with train/<class>/ and test/<class>/ inside")
        return self

    @property
    def uploaded(self) -> bool:
        """Whether the source is the digest of an upload, not a path."""
        return self.source == self.sha256

    @property
    def choices(self) -> dict[str, Any]:
        """The choices that were made, as `inspect` and `load_encoder` take them."""
        return {name: value for name in CHOICES if (value := getattr(self, name)) is not None}

    @property
    def inspection_id(self) -> str:
        """First 12 hex digits of the SHA-256 of what decides the result; fields that have their defaults are left out."""
        deciding = self.model_dump(mode="json", exclude_defaults=True, exclude=set(NOT_DECIDING))
        if self.dataset != "folder":
            deciding.pop("data_root", None)
        text = json.dumps({"spec_version": SPEC_VERSION, **deciding}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def data_spec(self) -> RunSpec:
        """The data set as `core.datasets.load` takes it, with all of its images."""
        size = {"image_size": self.image_size} if self.image_size else {}
        return RunSpec(dataset=self.dataset, data_root=self.data_root, encoder="resnet18", objective="untrained", **size)
