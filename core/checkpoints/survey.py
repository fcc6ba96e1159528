"""Put together what is known about an open checkpoint: the report, and the tensors that load_encoder would take."""

import hashlib
import math
from pathlib import Path
from typing import NamedTuple

from core.checkpoints import questions
from core.checkpoints.above import find_above
from core.checkpoints.branches import Encoder, choose, find_encoders, nothing_found
from core.checkpoints.facts import find_facts, own_settings, top_level
from core.checkpoints.heads import find_heads, head_of
from core.checkpoints.health import notices, row
from core.checkpoints.infer import split_norms
from core.checkpoints.layouts import UNKNOWN, Evidence, Layout, guess_normalisation, recognise
from core.checkpoints.matching import NEEDED, Match, Part, match
from core.checkpoints.names import left_overs
from core.checkpoints.opened import Opened
from core.checkpoints.pickles import carries_code
from core.checkpoints.plans import ConvPlan, Plan, ResNetPlan, ViTPlan
from core.checkpoints.prefixes import common_prefixes
from core.checkpoints.report import CheckpointReport, Choices, Head, Limits
from core.checkpoints.tree import Tensors, find_tensors

MAX_LISTED = 200  # names in a list of the report


class Survey(NamedTuple):
    """The report, and where the encoder's tensors lie."""

    report: CheckpointReport
    parts: tuple[Part, ...]  # of the encoder
    head_parts: tuple[Part, ...]  # of its projector, names as in the file; empty where it cannot be rebuilt


class _Found(NamedTuple):
    """What is known about the encoder."""

    encoders: list[Encoder]
    chosen: Encoder
    plan: Plan
    match: Match


def survey(opened: Opened, path: Path, choices: Choices, limits: Limits) -> Survey:
    """Examine an open checkpoint.

    Args:
        opened: From `reader.open_checkpoint`.
        path: For the name of the file.
        choices: What a person decided.
        limits: Caps on the number of tensors.

    Raises:
        CheckpointError: If the file is hostile or too large, or a choice is impossible. A checkpoint without a
            usable encoder gets a report with a `refusal`.
    """
    groups = find_tensors(opened.tree, limits, opened.size)
    encoders, unknown = find_encoders(opened, groups, choices.prefix)
    base = _about_the_file(opened, path, groups)
    chosen = choose(encoders, choices.branch) if encoders else None
    evidence = _evidence(opened, groups, chosen)
    layout = recognise(evidence) if groups else UNKNOWN
    base |= {"layout": layout.id, "layout_name": layout.name, "normalisation_guess": guess_normalisation(layout, evidence)}
    if chosen is None or chosen.plan is None:
        return Survey(_without_encoder(opened, base, groups, chosen, unknown, layout, choices.prefix), (), ())
    plan = _as_written(questions.apply(chosen.plan, choices), base["spec"], opened.metadata)
    questions.check_normalisation(choices.normalisation, plan.in_channels)
    found = _Found(encoders, chosen, plan, match(chosen, plan))
    return _with_encoder(opened, base, groups, found, choices, layout)


def _about_the_file(opened: Opened, path: Path, groups: list[Tensors]) -> dict:
    refs = [ref for group in groups for ref in group.tensors.values()]
    dtypes = [ref.dtype.name for ref in refs]
    spec, classes = own_settings(opened.metadata)
    return {
        "file": path.name,
        "bytes": opened.size,
        "sha256": _sha256(opened),
        "kind": opened.kind,
        "top_level": top_level(opened.tree),
        "facts": find_facts(opened.tree, opened.metadata),
        "ignored_globals": tuple(opened.ignored[:MAX_LISTED]),
        "tensors": len(refs),
        "tensor_bytes": sum(ref.bytes for ref in refs),
        "dtypes": {name: dtypes.count(name) for name in sorted(set(dtypes))},
        "spec": spec,
        "classes": classes,
    }


def _sha256(opened: Opened) -> str:
    opened.file.seek(0)
    return hashlib.file_digest(opened.file, "sha256").hexdigest()


def _evidence(opened: Opened, groups: list[Tensors], chosen: Encoder | None) -> Evidence:
    group = chosen.group if chosen else groups[0] if groups else Tensors((), {})
    others = (name for other in groups if other is not group for name in other.tensors)
    stem = chosen.plan.kernel if chosen and isinstance(chosen.plan, ResNetPlan) else None
    return Evidence(
        kind=opened.kind,
        top=frozenset(top_level(opened.tree)),
        order=tuple(group.tensors),
        path=group.path,
        root=chosen.root if chosen else None,
        names=frozenset(group.tensors),
        others=frozenset(others),
        ignored=frozenset(opened.ignored),
        metadata=frozenset(opened.metadata),
        kernel=stem,
    )


def _as_written(plan: Plan, spec: dict | None, metadata: dict[str, str]) -> Plan:
    """Settings of our own runs that the weights do not show."""
    if spec is None or not isinstance(plan, ResNetPlan | ConvPlan):
        return plan
    eps, size = spec.get("bn_eps"), metadata.get("image_size", "")
    update = {"bn_eps": float(eps)} if isinstance(eps, int | float) and 0 < eps < 1 else {}
    if isinstance(plan, ConvPlan) and size.isdecimal() and int(size[:6]) in plan.image_sizes:
        update["image_size"] = int(size)
    return plan.model_copy(update=update)


def _bits(spec: dict | None, plan: Plan) -> int | None:
    """RandBit channels of one of our own runs; None for other files."""
    bits = spec.get("bits", 0) if spec is not None else None
    return bits if type(bits) is int and 0 <= bits < plan.in_channels else None


def _without_encoder(
    opened: Opened,
    base: dict,
    groups: list[Tensors],
    incomplete: Encoder | None,
    unknown: list[Encoder],
    layout: Layout,
    prefix: str | None,
) -> CheckpointReport:
    refusal, prefixes = nothing_found(groups, incomplete, unknown, NEEDED, prefix)
    if layout.id == "dino_linear":
        refusal = (
            "This file holds DINO's linear classifier only. The encoder "
            "is in the file with the pretrained weights; open that one."
        )
    elif not groups and (code := carries_code(opened.ignored)):
        refusal = f"This file holds pickled program code ({code[0]}) and no tensors. The code was not run."
    heads = [
        head for group in groups for head in find_heads(group.path, {n: r.shape for n, r in group.tensors.items()}, layout.id)
    ]
    dropped = tuple(name for group in groups for name in left_overs(group.tensors))
    return CheckpointReport(
        **base,
        heads=tuple(heads[:MAX_LISTED]),
        dropped=dropped[:MAX_LISTED],
        left_prefixes=prefixes,
        notes=tuple(_file_notes(opened, layout)),
        refusal=refusal,
        refusal_problem="no_encoder",
    )


def _with_encoder(opened: Opened, base: dict, groups: list[Tensors], found: _Found, choices: Choices, layout: Layout) -> Survey:
    chosen, plan, matched = found.chosen, found.plan, found.match
    heads, extras = find_above(groups, found.encoders, layout.id, ordered=opened.kind != "safetensors")
    projector = head_of(heads, chosen.group.path, chosen.root.prefix, plan.h_dim)
    if projector is not None and isinstance(plan, ResNetPlan | ConvPlan):
        projector = projector.model_copy(update={"bn_eps": plan.bn_eps})  # known of our own runs, the usual value of others
    rows = [row(opened, part) for part in matched.parts]
    values = sum(math.prod(r.shape) for r in rows)
    inputs = questions.input_options(plan.in_channels, _bits(base["spec"], plan))
    asked = questions.ask(found.encoders, chosen, plan, choices, layout.id, base["normalisation_guess"], inputs, layout.name)
    dropped = tuple(name for group in groups for name in left_overs(group.tensors))
    refusal, problem = matched.refusal, matched.problem
    # A norm without weights may be meant like that; without statistics it was meant to have some.
    left = _left(found)
    lost = [_missing(left)] if any("running_" in name for name in left) else []
    doubts = [*_cut_off(heads, found), *notices(rows)]
    report = CheckpointReport(
        **base,
        branches=tuple(encoder.branch() for encoder in found.encoders),
        branch=chosen.name,
        family=plan.family,
        architecture=plan.name,
        plan=plan,
        h_dim=plan.h_dim,
        in_channels=plan.in_channels,
        inputs=inputs,
        parameters=sum(math.prod(r.shape) for r in rows if not r.name.endswith(("running_mean", "running_var"))),
        heads=tuple(heads[:MAX_LISTED]),
        projector=projector,
        extras=tuple(extra.text for extra in extras[:MAX_LISTED]),
        dropped=dropped[:MAX_LISTED],
        expected=matched.expected,
        matched=len(matched.parts),
        missing=matched.missing[:MAX_LISTED],
        unexpected=matched.unexpected[:MAX_LISTED],
        mismatched=matched.mismatched[:MAX_LISTED],
        left_prefixes=tuple(prefix for prefix, _ in common_prefixes([*matched.unexpected, *(extra.name for extra in extras)])),
        rows=tuple(rows),
        nans=sum(r.nans for r in rows),
        infinities=sum(r.infinities for r in rows),
        zero_fraction=sum(r.zeros for r in rows) / values if values else None,
        questions=tuple(asked),
        notes=tuple(_file_notes(opened, layout) + _encoder_notes(found, dropped) + doubts),
        warnings=tuple(lost + doubts),
        refusal=refusal,
        refusal_problem=problem,
    )
    return Survey(report, matched.parts, _head_parts(groups, projector))


def _head_parts(groups: list[Tensors], projector: Head | None) -> tuple[Part, ...]:
    if projector is None or not projector.rebuilt:
        return ()
    tensors = next(group.tensors for group in groups if group.path == projector.container)
    keys = [f"{layer.key}.{part}" for layer in projector.layers for part in ("weight", "bias", "running_mean", "running_var")]
    return tuple(Part(key, key, tensors[key], 1) for key in keys if key in tensors)


def _file_notes(opened: Opened, layout: Layout) -> list[str]:
    notes = []
    if layout.note:
        notes.append(f"{layout.name}: {layout.note}.")
    if opened.ignored:
        shown = ", ".join(opened.ignored[:5]) + (f" and {len(opened.ignored) - 5} more" if len(opened.ignored) > 5 else "")
        notes.append(f"Left out, because only plain values and tensors are read: {shown}. Nothing of it was imported or run.")
    if code := carries_code(opened.ignored):
        notes.append(f"The file carries pickled program code ({code[0]}). It was not run.")
    return notes


def _encoder_notes(found: _Found, dropped: tuple[str, ...]) -> list[str]:
    chosen, plan = found.chosen, found.plan
    notes = []
    if chosen.same_as:
        notes.append(
            f"The same weights also lie under {', '.join(repr(prefix) for prefix in chosen.same_as)}; they are counted once."
        )
    if chosen.by_order:
        notes.append("The names say nothing, so tensors were matched by their order; every shape agrees, one to one.")
    if splits := split_norms(chosen.shapes()):
        notes.append(
            f"{len(splits)} running statistics were kept for {max(splits.values())} parts of a batch; their mean is used."
        )
    if dropped:
        notes.append(
            f"{len(dropped)} left-over{'s' if len(dropped) > 1 else ''} of a profiler (total_ops, total_params) dropped."
        )
    if left := _left(found):
        notes.append(_missing(left))
    if isinstance(plan, ResNetPlan) and not plan.relu:
        notes.append("This Sequential has no ReLU after the first batch norm, as its numbering shows; it is rebuilt like that.")
    if isinstance(plan, ViTPlan) and plan.heads is None:
        notes.append("The number of attention heads must be chosen before the encoder can be built.")
    return notes


def _cut_off(heads: list[Head], found: _Found) -> list[str]:
    """A layer that reads more than the encoder gives out: the last stages are not in the file, so h is another one."""
    chosen, h_dim = found.chosen, found.plan.h_dim
    names = [f"{chosen.root.prefix}{name}." for name in ("fc", "head", "linear", "classifier")]
    here = [head for head in heads if head.container == chosen.group.path and head.prefix in names]
    return [
        f"{head.prefix.rstrip('.')} reads {head.layers[0].inputs:,} dimensions, "
        f"but the encoder found in the file gives {h_dim:,}: a part of it may be missing."
        for head in here
        if head.layers[0].inputs != h_dim
    ]


def _left(found: _Found) -> tuple[str, ...]:
    """Tensors that the file lacks and that the encoder can do without."""
    return found.match.missing if found.match.refusal is None else ()


def _missing(left: tuple[str, ...]) -> str:
    return f"Missing and left at their neutral value: {', '.join(left[:5])}."
