"""`python -m core inspect FILE --dataset NAME`: an inspection done here, shown as a table, and kept for the dashboard."""

import json
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.checkpoints.report import CheckpointReport
from core.commands.terminal import Reporter, number, show_rows
from core.inspections.findings import findings
from core.inspections.spec import CHOICES, InspectionSpec
from core.inspections.store import InspectionError, InspectionStore
from core.inspections.suggest import Choice, choices, fields, suggest
from core.studies.names import cannot_write
from core.validation import explain

SHOWN = (
    "linear_accuracy", "knn_accuracy", "alignment", "uniformity", "uniformity_optimum", "tolerance", "rankme",
    "participation_ratio", "dead_dimensions", "dim",
)  # fmt: skip


def check_names(given: dict[str, Any]) -> None:
    """Is everything that was given used? A choice about the weights always is, the rest only when images are shown.

    Args:
        given: Fields of an inspection by name; those without a value count as not given.

    Raises:
        ValueError: If a name is unknown, or needs a data set and there is none; one line per mistake.
    """
    named = {name: value for name, value in given.items() if value is not None}
    wrong = [
        f"{name}: unknown field (value {value!r}); must be one of {', '.join(InspectionSpec.model_fields)}"
        for name, value in named.items()
        if name not in InspectionSpec.model_fields
    ]
    if "dataset" not in named:
        idle = [name for name in named if name in InspectionSpec.model_fields and name not in CHOICES]
        wrong += [f"{name}: needs --dataset NAME; without one the encoder is shown no images" for name in idle]
    if wrong:
        raise ValueError("\n".join(wrong))


def choices_of(given: dict[str, Any]) -> dict[str, Any]:
    """The choices about the weights among what was given."""
    return {name: given[name] for name in CHOICES if given.get(name) is not None}


def settings(file: Path, report: CheckpointReport, given: dict[str, Any]) -> InspectionSpec:
    """What is asked: what was given, else what suits the checkpoint.

    Args:
        file: The checkpoint.
        report: What it holds.
        given: Fields of the inspection, before those that would be filled in here; without a value they are filled in.

    Raises:
        ValueError: One line per mistake.
    """
    given = {name: value for name, value in given.items() if value is not None}
    dataset = given.get("dataset")
    root = given.get("data_root")
    fitting = suggest(report, dataset if isinstance(dataset, str) else None, root if isinstance(root, str) else None)
    decided = choices(report, given)
    filled = {
        "source": str(file.absolute()), "sha256": report.sha256, "name": file.name, "image_size": fitting.image_size,
        "bits": fitting.bits, "augment": fitting.augment, "color_strength": fitting.color_strength,
    }  # fmt: skip
    answered = {choice.name for choice in decided}
    asked = filled | {name: value for name, value in given.items() if name not in answered}
    try:
        return InspectionSpec(**asked | fields(decided))
    except ValidationError as error:
        raise ValueError(explain(error)) from None


def inspect_on_data(spec: InspectionSpec, decided: list[Choice], root: Path, as_json: bool) -> None:
    """Do an inspection in this process, or show it if it was done before and its result can be read.

    Args:
        spec: What is asked.
        decided: What the weights could not tell, and why it was decided so; shown with the result.
        root: Folder of the runs; the inspection is kept in `inspections` below it.
        as_json: Print the summary as JSON.

    Raises:
        ValueError: If checkpoint, choices and data set do not fit together.
        InspectionError: If the result cannot be written; the text names the folder.
    """
    store = InspectionStore(root / "inspections")
    done = store.load(spec.inspection_id) if store.state(spec.inspection_id).status == "finished" else None
    if done is None:
        from core.inspections.examine import examine

        with Reporter(as_json) as report:
            found = examine(spec, spec.source, lambda part, share, rate: report.bar("inspect", spec.name, share, part, rate=rate))
        _keep(store, spec, found)
        done = store.load(spec.inspection_id)
    summary = done.summary
    if as_json:
        used = {choice.name: choice._asdict() for choice in decided}
        print(json.dumps({"inspection": spec.inspection_id, "choices": used, **summary}, ensure_ascii=False))
        return
    spaces = [space for space in ("h", "z") if space in summary]
    show_rows(["", *spaces], [[name.replace("_", " "), *(summary[space].get(name) for space in spaces)] for name in SHOWN])
    for finding in findings(summary):
        print(finding.text)
    for choice in decided:
        print(f"{choice.name.replace('_', ' ')}: {choice.value} ({choice.why})")
    for note in summary["notes"]:
        print(f"note: {note}")
    share = summary["forward_share"]
    print(f"{number(summary['seconds']['total'])} s, {share:.0%} in the encoder; kept in {store.folder(spec.inspection_id)}")


def _keep(store: InspectionStore, spec: InspectionSpec, found: tuple[dict[str, Any], dict[str, Any], dict[str, Any]]) -> None:
    """Write report, summary and arrays for the dashboard."""
    started = time.time()
    store.create(spec)
    store.write_result(spec.inspection_id, *found)
    try:
        store.write_state(spec.inspection_id, status="finished", share=1.0, started=started, heartbeat=time.time())
    except OSError as error:
        raise InspectionError(cannot_write(store.folder(spec.inspection_id), error)) from None
