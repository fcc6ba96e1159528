"""Sample checkpoints that ship with the code, and their finished inspections. Without torch.

They are the runs of data/studies/sample-checkpoints.toml with convolution and dense weights in half precision. To make them
again (some minutes):

    python -m core sweep sample-checkpoints --store /tmp/samples
    python -m core.inspections.samples /tmp/samples
"""

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.checkpoints.inspection import inspect
from core.inspections.spec import InspectionSpec
from core.inspections.store import InspectionStore
from core.inspections.suggest import suggest
from core.studies.files import write_bytes
from core.studies.shipped import definition
from core.studies.store import Store

ROOT = Path(__file__).resolve().parents[2]
STUDY = "sample-checkpoints"
INSPECTED = "inspections"  # folder beside the checkpoints


class Sample(NamedTuple):
    """One shipped checkpoint."""

    name: str  # file name without its ending
    title: str
    label: str  # of its block in the study
    story: str  # what to look for, one sentence

    @property
    def path(self) -> Path:
        """Where it lies."""
        return folder() / f"{self.name}.safetensors"


SAMPLES = (
    Sample(
        "suppressed",
        "Suppressed by 15 random bits",
        "Suppressed by 15 random bits",
        "Views agree and the embedding covers the sphere almost evenly, yet it cannot tell digits apart: it learned the bits.",
    ),
    Sample("clean", "Clean", "Clean", "A sound encoder: classes form clusters, and wrong neighbours look alike."),
    Sample(
        "collapsed",
        "Collapsed",
        "Collapsed",
        "Trained to align views and nothing else: z has become a point, while h still knows the digits.",
    ),
)


def folder() -> Path:
    """Where the samples lie: CONTRASTIVE_LENS_SAMPLES, else the one in this code's data."""
    return Path(os.environ.get("CONTRASTIVE_LENS_SAMPLES") or ROOT / "data" / "samples")


def present() -> list[Sample]:
    """The samples whose files are there."""
    return [sample for sample in SAMPLES if sample.path.is_file()]


def inspections() -> InspectionStore:
    """Their finished inspections; read only."""
    return InspectionStore(folder() / INSPECTED)


def sample_spec(sample: Sample) -> InspectionSpec:
    """The inspection of a sample as it is shipped: its own data set, all settings as suggested."""
    report = inspect(sample.path)
    fitting = suggest(report)
    return InspectionSpec(
        source=str(sample.path), sha256=report.sha256, name=sample.title, dataset=fitting.dataset, bits=fitting.bits,
        image_size=fitting.image_size, augment=fitting.augment, color_strength=fitting.color_strength,
    )  # fmt: skip


def located(spec: InspectionSpec) -> InspectionSpec:
    """Settings whose file can be found from anywhere: shipped inspections name a sample by its file name alone."""
    path = folder() / spec.source
    shipped = Path(spec.source).name == spec.source and path.is_file()
    return spec.model_copy(update={"source": str(path.absolute())}) if shipped else spec


def halved(checkpoint: bytes) -> bytes:
    """A checkpoint of this project with its matrices in half precision; batch-norm values stay as they are."""
    from safetensors.numpy import load, save

    from core.training.loop import sorted_header

    header = json.loads(checkpoint[8 : 8 + int.from_bytes(checkpoint[:8], "little")])
    tensors = {
        name: array.astype(np.float16) if array.ndim > 1 and array.dtype == np.float32 else array
        for name, array in load(checkpoint).items()
    }
    return sorted_header(save(tensors, header["__metadata__"]))


def make(root: Path) -> None:
    """Write the samples and their inspections from the runs of a store."""
    from core.inspections.examine import examine

    store, study = Store(root), definition(STUDY)
    folder().mkdir(parents=True, exist_ok=True)
    for sample in SAMPLES:
        run = next(run for run in study.expand() if study.label_of(run) == sample.label)
        source = store.checkpoint(STUDY, run.run_id)
        if source is None:
            raise SystemExit(f"The run {run.run_id} ({sample.label}) is not in {root}; run: python -m core sweep {STUDY}")
        write_bytes(sample.path, halved(source.read_bytes()))
        spec = sample_spec(sample)
        shipped = spec.model_copy(update={"source": sample.path.name})
        into = inspections()
        into.create(shipped)
        into.write_result(spec.inspection_id, *examine(spec, sample.path, device="cpu"))
        print(f"{sample.path}  {sample.path.stat().st_size / 1e3:.0f} kB, inspection {spec.inspection_id}")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
