"""Rebuild the encoder of a checkpoint: the torch half of the public functions.

The reading process copies the encoder's tensors, checked and under the names of the plan, into a temporary
safetensors file. This process opens only that file.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.checkpoints.inspection import make_choices
from core.checkpoints.matching import neutral
from core.checkpoints.normalise import PRESETS, Preset
from core.checkpoints.plans import ConvPlan, Plan, ResNetPlan, SmallAlexNetPlan, ViTPlan
from core.checkpoints.questions import usual_heads
from core.checkpoints.report import CheckpointError, CheckpointReport, Head, Limits
from core.checkpoints.resnet import ResNet
from core.checkpoints.sandbox import Job, run
from core.checkpoints.small import SmallAlexNet, build_conv
from core.checkpoints.vit import build_vit
from core.datasets.randbit import append_planes

COUNTER = "num_batches_tracked"


class LoadedEncoder(nn.Module):
    """An encoder from a checkpoint, with its normalisation in front.

    Attributes:
        h_dim: Dimensions of the representation h.
        z_dim: Dimensions of the projector's output z, None without a projector.
        network: The encoder itself.
        projector: h -> z as in the file, or None where the file has none that can be rebuilt.
        normalisation: Name of the preset that images pass first.
        channels: Input channels.
    """

    def __init__(
        self, network: nn.Module, normalise: nn.Module, projector: nn.Module | None, report: CheckpointReport, preset: str
    ):
        super().__init__()
        self.normalise = normalise
        self.network = network
        self.projector = projector
        self.h_dim: int = report.h_dim
        self.z_dim: int | None = report.projector.layers[-1].outputs if projector is not None else None
        self.channels: int = report.in_channels
        self.normalisation = preset

    def forward(self, x: Tensor, planes: Tensor | None = None) -> Tensor:
        """Images [n, c, side, side], floats in [0, 1], and values [n, b] of further constant channels -> h [n, h_dim]."""
        x = x if planes is None else append_planes(x, planes)
        return self.network(self.normalise(x))


class Normalise(nn.Module):
    """Mean and standard deviation on the image channels; further channels (RandBit) pass unchanged."""

    def __init__(self, preset: Preset, channels: int):
        super().__init__()
        further = channels - len(preset.mean)
        self.scale = preset.scale
        scales = [preset.scale] * len(preset.mean) + [1.0] * further
        for name, values in (
            ("mean", [*preset.mean, *[0.0] * further]),
            ("std", [*preset.std, *[1.0] * further]),
            ("scales", scales),
        ):
            self.register_buffer(name, torch.tensor(values).view(1, -1, 1, 1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Images [n, channels, side, side] -> the same shape."""
        x = x * self.scales if self.scale != 1.0 else x
        return (x - self.mean) / self.std


def load_encoder(
    path: str | os.PathLike[str],
    branch: str | None = None,
    stem: str | None = None,
    padding: int | None = None,
    normalisation: str | None = None,
    heads: int | None = None,
    *,
    max_pool: bool | None = None,
    prefix: str | None = None,
    limits: Limits | None = None,
) -> tuple[LoadedEncoder, CheckpointReport]:
    """Rebuild the encoder of a checkpoint of any known codebase.

    Args:
        path: The file; see `inspect`.
        branch: Which weights, where there are several: "encoder_q" or "encoder_k", "teacher" or "student", ...
            None: the one the report names.
        stem: "imagenet" (stride 2, max-pool) or "cifar" (stride 1, none). None: by the size of the first kernel.
        padding: Of the first convolution, pixels. None: half the kernel.
        normalisation: Preset that images in [0, 1] pass first, a key of `PRESETS`. None: nothing is done, although
            the report's `normalisation_guess` may name the right one.
        heads: Attention heads; required for vision transformers.
        max_pool: After the stem of a ResNet. None: as the stem says.
        prefix: Where the encoder lies, when its prefix is not a known one.
        limits: What reading may cost.

    Returns:
        The encoder in float32 and eval mode, without gradients, and the report.

    Raises:
        CheckpointError: If the file cannot be opened, holds no encoder, less than 95 % of the encoder's tensors match,
            a weight is missing, or a choice is impossible or (heads) missing.
    """
    given = {
        "branch": branch,
        "stem": stem,
        "padding": padding,
        "normalisation": normalisation,
        "heads": heads,
        "max_pool": max_pool,
        "prefix": prefix,
    }
    choices = make_choices({name: value for name, value in given.items() if value is not None})
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as folder:
        report = run([Job(Path(path), choices, Path(folder))], limits or Limits())[0]
        if isinstance(report, CheckpointError):
            raise report
        return rebuild(report, Path(folder), normalisation or "none"), report


def rebuild(report: CheckpointReport, folder: Path, preset: str = "none") -> LoadedEncoder:
    """Build the encoder that a report describes, with the tensors that the reading process wrote.

    Args:
        report: Of a file that can be loaded.
        folder: Holds encoder.safetensors, and projector.safetensors where there is a projector.
        preset: A key of `PRESETS`.

    Raises:
        CheckpointError: If the report refuses the encoder, or the number of attention heads is missing.
    """
    if report.refusal is not None:
        raise CheckpointError(report.refusal_problem, report.refusal)
    _require_heads(report)
    tensors = load_file(folder / "encoder.safetensors")
    projecting = folder / "projector.safetensors"
    projector = _build_projector(report.projector, load_file(projecting)) if projecting.exists() else None
    normalise = Normalise(PRESETS[preset], report.in_channels) if PRESETS[preset].mean else nn.Identity()
    network = _fill(_build(report.plan), _complete(report.plan, tensors))
    return LoadedEncoder(network, normalise, projector, report, preset).eval().requires_grad_(False)


def _require_heads(report: CheckpointReport) -> None:
    plan: Any = report.plan
    if isinstance(plan, ViTPlan) and plan.heads is None:
        usual = usual_heads(plan, report.layout)
        hint = f"; {usual} is usual for {plan.name} of this kind" if usual else ""
        raise CheckpointError(
            "choice", f"heads: this is a {plan.name}, whose weights do not show the number of attention heads{hint}."
        )


def _build(plan: Plan) -> nn.Module:
    """The module that follows a plan, without values: nothing is drawn from a random generator."""
    builders = {ResNetPlan: ResNet, ViTPlan: build_vit, ConvPlan: build_conv, SmallAlexNetPlan: SmallAlexNet}
    with torch.device("meta"):
        return builders[type(plan)](plan)


def _build_projector(head: Head, tensors: dict[str, Tensor]) -> nn.Module:
    """Linear layers and batch norms in the order of the file, ReLU in front of every linear layer but the first."""
    modules: list[nn.Module] = []
    state: dict[str, Tensor] = {}
    with torch.device("meta"):
        for layer in head.layers:
            if layer.kind == "linear":
                modules += [nn.ReLU(inplace=True)] if modules else []
                modules.append(nn.Linear(layer.inputs, layer.outputs, bias=layer.bias))
            else:
                modules.append(nn.BatchNorm1d(layer.outputs, eps=head.bn_eps, affine=layer.bias))
            for part in ("weight", "bias", "running_mean", "running_var"):
                if (value := tensors.get(f"{layer.key}.{part}")) is not None:
                    state[f"{len(modules) - 1}.{part}"] = value.flatten(1) if value.ndim == 4 else value  # a 1 × 1 convolution
    return _fill(nn.Sequential(*modules), state)


def _complete(plan: Plan, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give tensors that a plan expects and a file lacks the value that does nothing, where there is one."""
    filled = dict(tensors)
    for name, shape in plan.tensors().items():
        if name not in filled and neutral(name, shape):
            filled[name] = torch.ones(shape) if name.endswith(("weight", "running_var")) else torch.zeros(shape)
    return filled


def _fill(module: nn.Module, tensors: dict[str, Tensor]) -> nn.Module:
    """Assign values to a module without values; every tensor must be there, and nothing else.

    Raises:
        CheckpointError: If names or shapes differ. The reading process has checked them, so this means an error here.
    """
    # a copy lies at an address that is a multiple of 64; elsewhere other kernels are chosen and the last bits may differ
    state = {name: value.to(torch.float32, copy=True) for name, value in tensors.items()}
    counters = {name: torch.zeros((), dtype=torch.long) for name in module.state_dict() if name.endswith(COUNTER)}
    try:
        module.load_state_dict(state | counters, strict=True, assign=True)
    except RuntimeError as error:
        raise CheckpointError(
            "mismatch", f"The tensors do not fit the rebuilt network: {str(error).splitlines()[-1].strip()}"
        ) from None
    return module
