"""The weight lam in other people's conventions. Without torch, so that pages can show it.

Three writings of the generalized loss are in use. Theirs weigh alignment and distribution differently against each
other, so the same lam means different things; and the same setting gives losses that differ by a factor and a constant.

- "standard": this project. 1 - cosine with the log-sum-exp; mean squared difference with the sliced Wasserstein terms.
- "notebook": the authors' published code. Half the mean squared difference; log-sum-exp with the self term, less log d.
- "paper": the formulas as printed. Ordered pairs over n for the log-sum-exp; Algorithm 1's sum over d d' for the others.

Derived from the formulas; the tests check every conversion against the losses themselves.
"""

import math
from typing import Literal, NamedTuple, get_args

Writing = Literal["standard", "notebook", "paper"]
Kind = Literal["log_sum_exp", "sliced_wasserstein"]
NAMES = {"standard": "our convention", "notebook": "the authors' notebook", "paper": "the paper's formulas"}


class Conversion(NamedTuple):
    """One setting in another convention: value there = scale * value here + shift, so the gradients are parallel."""

    lam: float  # weight in the other convention
    scale: float  # factor on the whole loss, and on its gradient
    shift: float  # constant, nats; no gradient
    text: str  # one sentence for display


def convert(lam: float, kind: Kind, source: Writing, target: Writing, *, dim: int, rows: int) -> Conversion:
    """Write a weighted loss of one convention in another.

    For the log-sum-exp, "notebook" includes the self term: it equals the standard loss with mask_self=False.

    Args:
        lam: Weight in the source convention, >= 0.
        kind: "log_sum_exp", or "sliced_wasserstein" for any of the three priors.
        source: Convention that lam is given in.
        target: Convention that is wanted.
        dim: Dimension d of the embedding, >= 1.
        rows: Embeddings in a batch, both views: b = 2n, >= 2.

    Raises:
        ValueError: If a name is unknown or a number out of range.
    """
    for name, value, allowed in (("kind", kind, Kind), ("source", source, Writing), ("target", target, Writing)):
        if value not in get_args(allowed):
            raise ValueError(f"{name} must be one of {', '.join(get_args(allowed))}, got {value!r}.")
    if not (lam >= 0 and math.isfinite(lam)):
        raise ValueError(f"lam must be a finite number >= 0, got {lam}.")
    if dim < 1 or rows < 2:
        raise ValueError(f"dim must be >= 1 and rows >= 2, got {dim} and {rows}.")
    weight_in, scale_in, shift_in = _from_standard(kind, source, dim, rows)
    weight_out, scale_out, shift_out = _from_standard(kind, target, dim, rows)
    standard = lam / weight_in
    scale = scale_out / scale_in
    shift = shift_out(standard) - scale * shift_in(standard)
    converted = standard * weight_out
    return Conversion(converted, scale, shift, _sentence(lam, converted, kind, source, target, dim, rows))


def _from_standard(kind: Kind, writing: Writing, dim: int, rows: int):
    """(factor on lam, factor on the loss, constant as a function of the standard lam) that lead out of our convention."""
    if writing == "standard":
        return 1.0, 1.0, lambda lam: 0.0
    if kind == "log_sum_exp":
        if writing == "notebook":
            return 1 / dim, 1 / dim, lambda lam: -lam * math.log(dim) / dim
        return 1.0, 2.0, lambda lam: -2.0
    if writing == "notebook":
        return 0.5, 0.5, lambda lam: 0.0
    return dim / rows, 1.0, lambda lam: 0.0


def _sentence(lam: float, converted: float, kind: Kind, source: Writing, target: Writing, dim: int, rows: int) -> str:
    """What a reader is told."""
    depends = ""
    if kind == "log_sum_exp" and source != target and "notebook" in (source, target):
        depends = f" (d = {dim})"
    elif kind == "sliced_wasserstein" and source != target and "paper" in (source, target):
        depends = f" (d = {dim}, {rows} embeddings a batch)"
    return f"lam = {lam:g} in {NAMES[source]} is lam = {converted:g} in {NAMES[target]}{depends}."
