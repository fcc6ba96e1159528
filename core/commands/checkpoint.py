"""What `python -m core inspect` prints: the report of a checkpoint."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.checkpoints.inspection import inspect
from core.checkpoints.report import CheckpointError, CheckpointReport
from core.checkpoints.tensors import bytes_text
from core.inspections.suggest import choices

WIDTH = 15  # characters of the names on the left


def read_report(file: Path, choices: dict[str, Any]) -> CheckpointReport:
    """The report of a file, with the choices that were made.

    Raises:
        CheckpointError: As `inspect` does, with the name of the file in front.
    """
    try:
        return inspect(file, **choices)
    except CheckpointError as error:
        raise CheckpointError(error.problem, f"{file}: {error}") from None


def show_report(report: CheckpointReport, given: dict[str, Any], as_json: bool) -> None:
    """Print a report: all of it as JSON for programs, the essence as text for people.

    Args:
        report: What the file holds.
        given: The choices about the weights that were made; the others are shown as they would be used, with the reason.
        as_json: As JSON.
    """
    if as_json:
        print(json.dumps(report.model_dump(mode="json"), ensure_ascii=False))
        return
    for name, text in _lines(report, given):
        print(f"{name:<{WIDTH}}{text}")


def _lines(report: CheckpointReport, given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "file", f"{report.file}  {bytes_text(report.bytes)}, {report.kind}, sha256 {report.sha256[:12]}"
    yield "format", report.layout_name
    if report.facts:
        yield "", ", ".join(f"{name} {value}" for name, value in report.facts.items())
    if report.branch is not None:
        yield "encoder", f"{report.architecture}, {report.parameters:,} parameters, h has {report.h_dim} dimensions"
        yield (
            "branch",
            "; ".join(f"{branch.name} ({branch.role})" for branch in report.branches) + f"; described: {report.branch}",
        )
        yield "input", f"{report.in_channels} channel{'' if report.in_channels == 1 else 's'}: {' or '.join(report.inputs)}"
        yield "matched", f"{report.matched} of {report.expected} tensors ({report.share_matched:.0%})"
    for head in report.heads:
        yield head.role, f"{head.prefix or 'head'}  {head.text}"
    if report.left_prefixes:
        yield "left over", ", ".join(report.left_prefixes)
    for choice, question in zip(choices(report, given), report.questions, strict=True):
        yield "choice", f"{choice.name} = {choice.value or 'to be chosen'} ({choice.why}); one of {', '.join(question.options)}"
    for note in report.notes:
        yield "note", note
    if report.refusal is not None:
        yield "not loadable", report.refusal.replace("with prefix=", "with --prefix ")  # as it is said here, not in Python
