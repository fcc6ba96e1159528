"""Compare the tensors of an encoder in the file with those its plan expects."""

from typing import NamedTuple

from core.checkpoints.branches import Encoder
from core.checkpoints.infer import split_norms
from core.checkpoints.plans import Plan, Shape
from core.checkpoints.prefixes import common_prefixes
from core.checkpoints.report import Problem
from core.checkpoints.tensors import FLOATS, TensorRef, shape_text

NEEDED = 0.95  # share of the encoder's tensors that must match
SHOWN = 5  # names in a message


class Part(NamedTuple):
    """A tensor of the encoder and where it comes from."""

    name: str  # in the encoder
    source: str  # in the file
    ref: TensorRef
    splits: int  # > 1: statistics of so many parts of a batch, averaged when read


class Match(NamedTuple):
    """How well the file's tensors fit the plan."""

    parts: tuple[Part, ...]
    expected: int
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    mismatched: tuple[str, ...]
    problem: Problem | None  # None: fits
    refusal: str | None

    @property
    def share(self) -> float:
        """Matched tensors over all the plan expects or the file holds for it."""
        everything = self.expected + len(self.unexpected)
        return len(self.parts) / everything if everything else 0.0


def match(encoder: Encoder, plan: Plan) -> Match:
    """Match by name and shape. Nothing is reshaped, cut or filled with random values."""
    shapes = encoder.shapes()
    splits = split_norms(shapes)
    expected = plan.tensors()
    parts, mismatched = [], []
    for name, shape in expected.items():
        if name not in shapes:
            continue
        source = encoder.root.mapping[name]
        folded = (shapes[name][0] // splits[name],) if name in splits else shapes[name]
        if folded == shape:
            parts.append(Part(name, source, encoder.group.tensors[source], splits.get(name, 1)))
        else:
            mismatched.append(f"{source}: {shape_text(shapes[name])} in the file, {shape_text(shape)} expected")
    missing = tuple(name for name in expected if name not in shapes)
    unexpected = (*encoder.root.strays, *(encoder.root.mapping[name] for name in shapes if name not in expected))
    result = Match(tuple(parts), len(expected), missing, unexpected, tuple(mismatched), None, None)
    problem, refusal = _verdict(result, plan)
    return result._replace(problem=problem, refusal=refusal)


def _verdict(found: Match, plan: Plan) -> tuple[Problem | None, str | None]:
    """Would loading give the encoder that was trained?"""
    strange = sorted({part.ref.dtype.name for part in found.parts} - FLOATS)
    if strange:
        return "unsupported", f"The encoder's weights are stored as {', '.join(strange)}; only floating-point weights are loaded."
    if found.mismatched:
        rest = len(found.mismatched) - 1
        more = f" (and {rest} more)" if rest else ""
        return "mismatch", f"Shapes do not fit {plan.name}: {found.mismatched[0]}{more}."
    if found.share < NEEDED:
        prefixes = common_prefixes((*found.unexpected, *found.missing))
        shown = ", ".join(f"{prefix!r} ({count})" for prefix, count in prefixes)
        return "mismatch", (
            f"Only {len(found.parts)} of {found.expected + len(found.unexpected)} encoder tensors match {plan.name} "
            f"({found.share:.0%}, at least {NEEDED:.0%} needed). {_missing(found)}Unmatched prefixes: {shown}."
        )
    if found.unexpected:
        return "mismatch", (
            f"The file's encoder has {len(found.unexpected)} tensor{'s'[: len(found.unexpected) > 1]} that {plan.name} lacks "
            f"({', '.join(found.unexpected[:SHOWN])}{', …' if len(found.unexpected) > SHOWN else ''}): it is another network."
        )
    weights = [name for name, shape in plan.tensors().items() if name in found.missing and not neutral(name, shape)]
    if weights:
        return (
            "mismatch",
            f"{plan.name} needs {', '.join(weights[:SHOWN])}, which the file lacks. Random values are never filled in.",
        )
    return None, None


def neutral(name: str, shape: Shape) -> bool:
    """Can a missing tensor be left at the value that does nothing? True of biases and of batch- and layer-norm tensors."""
    part = name.rpartition(".")[2]
    return part in ("bias", "running_mean", "running_var") or (part == "weight" and len(shape) == 1)


def _missing(found: Match) -> str:
    parts = []
    if found.missing:
        parts.append(
            f"{len(found.missing)} missing ({', '.join(found.missing[:SHOWN])}{', …' if len(found.missing) > SHOWN else ''})"
        )
    if found.unexpected:
        parts.append(
            f"{len(found.unexpected)} unknown "
            f"({', '.join(found.unexpected[:SHOWN])}{', …' if len(found.unexpected) > SHOWN else ''})"
        )
    return f"{'; '.join(parts)}. " if parts else ""
