"""All encoders in a checkpoint, identical ones counted once, and the choice of one among them."""

from typing import NamedTuple

import numpy as np

from core.checkpoints.infer import infer_plan
from core.checkpoints.names import Root, find_roots, left_overs
from core.checkpoints.opened import Opened
from core.checkpoints.order import match_by_order
from core.checkpoints.plans import Plan, Shapes
from core.checkpoints.prefixes import PLAIN_ROLE, common_prefixes, is_known, role
from core.checkpoints.report import Branch, CheckpointError
from core.checkpoints.tensors import TensorRef
from core.checkpoints.tree import Tensors

SHORT_NAMES = {  # what people also call the branches
    "q": "encoder_q",
    "query": "encoder_q",
    "k": "encoder_k",
    "key": "encoder_k",
    "online": "online_encoder",
    "target": "target_encoder",
    "ema": "state_dict_ema",
    "raw": "state_dict",
    "momentum": "momentum",
}
REBUILT = " Only ResNets, vision transformers with timm's names, ConvN and SmallAlexNet are rebuilt."


class Encoder(NamedTuple):
    """One encoder in the file."""

    name: str
    role: str
    rank: int  # the lowest is the default
    group: Tensors
    root: Root
    plan: Plan | None
    same_as: tuple[str, ...] = ()
    by_order: bool = False

    def shapes(self) -> Shapes:
        """Shapes under the encoder's own names."""
        return {here: self.group.tensors[there].shape for here, there in self.root.mapping.items()}

    def branch(self) -> Branch:
        """For the report."""
        architecture = self.plan.name if self.plan else "incomplete"
        return Branch(
            name=self.name,
            role=self.role,
            container=self.group.path,
            prefix=self.root.prefix,
            tensors=len(self.root.mapping),
            family=self.root.family,
            architecture=architecture,
            same_as=self.same_as,
        )


def find_encoders(opened: Opened, groups: list[Tensors], prefix: str | None) -> tuple[list[Encoder], list[Encoder]]:
    """Encoders under known prefixes (or the given one), the default first, and encoders under unknown prefixes.

    Args:
        opened: Reads tensors where two encoders must be compared.
        groups: The dictionaries of tensors.
        prefix: Where a person says the encoder lies, or None.
    """
    wanted = None if prefix is None else prefix if not prefix or prefix.endswith(".") else f"{prefix}."
    known, unknown = [], []
    for group in groups:
        for encoder in _in_group(group, ordered=opened.kind != "safetensors"):
            fits = is_known(encoder.root.prefix) if wanted is None else encoder.root.prefix == wanted
            (known if fits else unknown).append(encoder)
    known.sort(key=lambda encoder: (encoder.plan is None, encoder.rank))  # stable: the order of the file decides between equals
    return _unique_names(_merge_identical(opened, known)), unknown


def _in_group(group: Tensors, ordered: bool) -> list[Encoder]:
    dropped = set(left_overs(group.tensors))
    shapes = {name: ref.shape for name, ref in group.tensors.items() if name not in dropped}
    encoders = []
    for root in find_roots(shapes):
        plan = infer_plan(root, {here: shapes[there] for here, there in root.mapping.items()})
        encoders.append(Encoder(*role(group.path, root.prefix), group, root, plan))
    if not encoders and ordered and (found := match_by_order(shapes)) is not None:
        encoders.append(Encoder(*role(group.path, ""), group, *found, by_order=True))
    return encoders


def _merge_identical(opened: Opened, encoders: list[Encoder]) -> list[Encoder]:
    """The same weights under two prefixes are one encoder."""
    kept: list[Encoder] = []
    for encoder in encoders:
        for place, other in enumerate(kept):
            if _identical(opened, encoder, other):
                speaking = encoder if other.role == PLAIN_ROLE[0] else other  # "online_encoder" says more than "net"
                same_as = (*other.same_as, encoder.root.prefix or encoder.name)
                kept[place] = other._replace(name=speaking.name, role=speaking.role, same_as=same_as)
                break
        else:
            kept.append(encoder)
    return kept


def _identical(opened: Opened, a: Encoder, b: Encoder) -> bool:
    if a.plan is None or a.plan != b.plan or a.root.mapping.keys() != b.root.mapping.keys():
        return False
    pairs = [(a.group.tensors[a.root.mapping[name]], b.group.tensors[b.root.mapping[name]]) for name in a.root.mapping]
    return all(same_tensor(opened, first, second) for first, second in pairs)


def same_tensor(opened: Opened, a: TensorRef, b: TensorRef) -> bool:
    """Do two references hold the same bits? Reads them only where they lie in different places."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a == b:
        return True
    first, second = opened.array(a), opened.array(b)
    return bool(np.array_equal(first.reshape(-1).view(np.uint8), second.reshape(-1).view(np.uint8)))


def _unique_names(encoders: list[Encoder]) -> list[Encoder]:
    """Two branches of one name get their place in the file as a name."""
    counts: dict[str, int] = {}
    for encoder in encoders:
        counts[encoder.name] = counts.get(encoder.name, 0) + 1
    named = []
    for encoder in encoders:
        place = ".".join([*encoder.group.path, encoder.root.prefix]).strip(".") or "top level"
        named.append(encoder._replace(name=place) if counts[encoder.name] > 1 else encoder)
    return named


def choose(encoders: list[Encoder], branch: str | None) -> Encoder:
    """The encoder a person asked for, or the default.

    Raises:
        CheckpointError: If there is no such branch, or several fit.
    """
    if branch is None:
        return encoders[0]
    asked = branch.strip().strip(".")
    for wanted in dict.fromkeys((asked, SHORT_NAMES.get(asked, asked))):
        exact = [e for e in encoders if wanted in (e.name, *(same.strip(".") for same in e.same_as))]
        partial = [e for e in encoders if wanted.lower() in e.name.lower().replace("/", ".") or wanted in e.name]
        found = exact or partial
        if len(found) == 1:
            return found[0]
    names = ", ".join(repr(encoder.name) for encoder in encoders)
    raise CheckpointError("choice", f"branch: there is no single branch {branch!r} in this file; choose one of {names}.")


def nothing_found(
    groups: list[Tensors], incomplete: Encoder | None, unknown: list[Encoder], needed: float, prefix: str | None = None
) -> tuple[str, tuple[str, ...]]:
    """Why no encoder can be rebuilt, and the longest prefixes that nothing used.

    Args:
        groups: The dictionaries of tensors.
        incomplete: An encoder under a known prefix of which too little is left to tell what it is.
        unknown: Encoders under unknown prefixes.
        needed: Share of an encoder's tensors that must match.
        prefix: Where a person says the encoder lies, or None.
    """
    used = incomplete.root.inside if incomplete else frozenset()
    names = [name for group in groups for name in group.tensors if name not in used]
    if not names and incomplete is None:
        return "There are no tensors in this file that belong to a model.", ()
    prefixes = common_prefixes(names)
    shown = ", ".join(f"{prefix!r} ({count:,} tensor{'' if count == 1 else 's'})" for prefix, count in prefixes)
    left = f" Left over: {shown}." if shown else ""
    whole = next((encoder for encoder in unknown if encoder.plan is not None), None)  # a piece is no reason to try its prefix
    hint = f" If the encoder lies under one of them, name it as the prefix {whole.root.prefix!r}." if whole else ""
    if incomplete is not None:
        where = repr(incomplete.root.prefix) if incomplete.root.prefix else "the top level"
        start = f"Under {where} lie {len(used)} tensors of an encoder, too few to tell which (at least {needed:.0%} needed)."
        return f"{start}{left}{hint}", tuple(prefix for prefix, _ in prefixes)
    if prefix is not None:
        start = f"No encoder lies under the given prefix {prefix!r}."
        return f"{start}{_elsewhere(unknown) or left}", tuple(prefix for prefix, _ in prefixes)
    expected = len(unknown[0].plan.tensors()) if unknown and unknown[0].plan else 0
    of = f"0 of {expected} encoder tensors match" if expected else "no encoder tensor matches"
    start = f"No encoder under a known name: {of} (0%, at least {needed:.0%} needed)."
    return f"{start}{left}{hint or REBUILT}", tuple(prefix for prefix, _ in prefixes)


def _elsewhere(others: list[Encoder]) -> str:
    """Where an encoder lies instead of under the prefix that was given; empty if there is none."""
    if not others:
        return ""
    there = next((encoder for encoder in others if is_known(encoder.root.prefix)), None)
    if there is None:
        return f" One lies under another: name it as the prefix {others[0].root.prefix!r}."
    where = f"under {there.root.prefix!r}" if there.root.prefix else "at the top level"
    return f" One lies {where}; it is found when no prefix is given."
