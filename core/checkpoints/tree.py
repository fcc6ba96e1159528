"""Find the dictionaries of tensors in whatever object a checkpoint holds: nested, shared, cyclic or pickled whole."""

from collections import deque
from typing import Any, NamedTuple

from core.checkpoints.pickles import NumpyArray, StandIn
from core.checkpoints.report import CheckpointError, Limits
from core.checkpoints.tensors import TensorRef, bytes_text

MAX_DEPTH = 64  # real checkpoints nest five deep
MAX_NODES = 2_000_000
MAX_KEY = 400  # characters of a tensor's name
SHARED_TIMES = 8  # tensors may share data; all of them together claim at most this many times the file
NOT_WEIGHTS = frozenset(  # containers whose tensors are no weights of a model
    {
        "optimizer", "optimizers", "optimizer_states", "optimizer_state", "optimizer_state_dict", "opt_state_dict", "optim",
        "opt", "lr_scheduler", "lr_schedulers", "scheduler", "schedulers", "param_schedulers", "scaler", "amp", "amp_scaler",
        "fp16_scaler", "grad_scaler", "callbacks", "loops", "hyper_parameters", "hparams", "message_hub", "args", "config",
        "cfg", "rng_state", "torch_rng_state", "cuda_rng_state", "metric", "metrics", "log", "history",
    }
)  # fmt: skip


class Tensors(NamedTuple):
    """One dictionary of tensors."""

    path: tuple[str, ...]  # keys that lead to it
    tensors: dict[str, TensorRef]
    module: str = ""  # class name, when it is a pickled module


def find_tensors(tree: Any, limits: Limits, file_bytes: int) -> list[Tensors]:
    """All dictionaries that hold tensors, outermost first.

    Shared objects are visited once, cycles end, and depth and number of visits have a cap: a file of 2 kB can nest
    lists so that a naive walk would take longer than the age of the universe.

    Raises:
        CheckpointError: If there are too many objects or tensors, or a tensor claims more than its data holds.
    """
    found: list[Tensors] = []
    seen: set[int] = set()
    waiting: deque[tuple[tuple[str, ...], Any]] = deque([((), tree)])
    visits = 0
    while waiting:
        path, node = waiting.popleft()
        if id(node) in seen or len(path) > MAX_DEPTH:
            continue
        seen.add(id(node))
        visits += 1
        if visits > MAX_NODES:
            raise CheckpointError("too_large", f"The file holds more than {MAX_NODES:,} objects. Save the state_dict alone.")
        module = _module_tensors(node)
        if module is not None:
            found.append(Tensors(path, module, node.origin))
            continue
        children = _children(node)
        tensors = {key: ref for key, value in children if (ref := as_tensor(value)) is not None and isinstance(node, dict)}
        if tensors:
            found.append(Tensors(path, tensors))
        waiting.extend(((*path, key), value) for key, value in children if _worth_a_visit(key, value))
    _check(found, limits, file_bytes)
    return found


def as_tensor(value: Any) -> TensorRef | None:
    """The tensor in a value, NumPy arrays included."""
    if isinstance(value, TensorRef):
        return value
    return value.tensor if isinstance(value, NumpyArray) else None


def _worth_a_visit(key: str, value: Any) -> bool:
    plain = isinstance(value, TensorRef | NumpyArray | str | int | float | bytes | bool | None)
    return not plain and key not in NOT_WEIGHTS


def _children(node: Any) -> list[tuple[str, Any]]:
    """Named parts of a container; positions serve as names in lists."""
    if isinstance(node, dict):
        return [(key[:MAX_KEY] if isinstance(key, str) else str(key)[:20], value) for key, value in node.items()]
    if isinstance(node, list | tuple) and not isinstance(node, TensorRef):
        return [(str(index), value) for index, value in enumerate(node)]
    if isinstance(node, StandIn):
        pairs = [(str(key)[:MAX_KEY], value) for key, value in node.entries if isinstance(key, str | int)]
        named = list(node.state.items()) if isinstance(node.state, dict) else [("state", node.state)]
        pairs += [(str(key)[:MAX_KEY], value) for key, value in named if isinstance(key, str | int)]
        return pairs + [(str(index), value) for index, value in enumerate([*node.args, *node.items])]
    return []


def _module_tensors(node: Any) -> dict[str, TensorRef] | None:
    """The state_dict of a pickled torch module, read from its stand-in; None for any other object."""
    if not _is_module(node):
        return None
    tensors: dict[str, TensorRef] = {}
    waiting, seen = [("", node)], set()
    while waiting:
        prefix, module = waiting.pop()
        if id(module) in seen or prefix.count(".") > MAX_DEPTH:
            continue
        seen.add(id(module))
        state = module.state
        skipped = state.get("_non_persistent_buffers_set")
        skipped = set(filter(lambda name: isinstance(name, str), skipped)) if isinstance(skipped, list) else set()
        for kind in ("_parameters", "_buffers"):
            for name, value in (state[kind] if isinstance(state[kind], dict) else {}).items():
                ref = as_tensor(value)
                if ref is not None and isinstance(name, str) and not (kind == "_buffers" and name in skipped):
                    tensors[f"{prefix}{name}"[:MAX_KEY]] = ref
        children = [(f"{prefix}{name}.", child) for name, child in state["_modules"].items() if isinstance(name, str)]
        waiting.extend(reversed([(name, child) for name, child in children if _is_module(child)]))
    return tensors


def _is_module(node: Any) -> bool:
    if not isinstance(node, StandIn) or not isinstance(node.state, dict):
        return False
    state = node.state
    return all(isinstance(state.get(part), dict) for part in ("_parameters", "_buffers", "_modules"))


def _check(found: list[Tensors], limits: Limits, file_bytes: int) -> None:
    """Refuse bombs before anything is read."""
    count = sum(len(group.tensors) for group in found)
    if count > limits.tensors:
        raise CheckpointError("too_large", f"The file holds {count:,} tensors; at most {limits.tensors:,} are read.")
    for group in found:
        for name, ref in group.tensors.items():
            if (problem := ref.problem()) is not None:
                raise CheckpointError("hostile", f"Tensor {name[:80]!r} {problem}. Nothing was computed with it.")
    claimed = sum(ref.bytes for group in found for ref in group.tensors.values())
    if claimed > SHARED_TIMES * file_bytes + 2**20:
        raise CheckpointError(
            "hostile",
            f"The tensors claim {bytes_text(claimed)} in a file of {bytes_text(file_bytes)}: they share data many times over.",
        )
