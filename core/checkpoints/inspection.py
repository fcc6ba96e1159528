"""Look into checkpoints without building anything: the light half of the public functions, free of torch."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.checkpoints.report import CheckpointError, CheckpointReport, Choices, Limits
from core.checkpoints.sandbox import Job, run
from core.validation import explain


def inspect(path: str | os.PathLike[str], *, limits: Limits | None = None, **choices: Any) -> CheckpointReport:
    """Say what a checkpoint holds. Nothing in the file is run, imported or built.

    Args:
        path: A PyTorch (.pth, .pt, .ckpt, .tar, ...) or safetensors file; its content decides, not its name.
        limits: What reading may cost.
        choices: Fields of `Choices`, for a report about another branch or with other settings.

    Returns:
        The report. A checkpoint without a usable encoder gets one too; its `refusal` says why it would not load.

    Raises:
        CheckpointError: If the file is no checkpoint, damaged, hostile or over a limit, or a choice is impossible.
    """
    answer = run([Job(Path(path), make_choices(choices))], limits or Limits())[0]
    if isinstance(answer, CheckpointError):
        raise answer
    return answer


def inspect_many(
    paths: Sequence[str | os.PathLike[str]], *, limits: Limits | None = None
) -> list[CheckpointReport | CheckpointError]:
    """`inspect` for several files in one reading process, which saves its start. Errors are returned, not raised."""
    return run([Job(Path(path)) for path in paths], limits or Limits())


def make_choices(values: dict[str, Any]) -> Choices:
    """Validated choices.

    Raises:
        CheckpointError: If a name is unknown or a value is out of range; the text names it.
    """
    try:
        return Choices(**values)
    except ValidationError as error:
        raise CheckpointError("choice", explain(error)) from None
