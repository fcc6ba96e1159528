"""Short plain values beside the weights that help a person: epoch, architecture, temperature, versions."""

import json
from typing import Any

from core.checkpoints.pickles import StandIn
from core.checkpoints.tensors import TensorRef

OUTER = (
    "epoch", "arch", "step", "steps", "global_step", "iteration", "version", "pytorch-lightning_version", "best_acc", "best_acc1",
    "metric", "__author__", "format_version", "run_id",
)  # fmt: skip
SETTINGS = (
    "method", "arch", "model", "model_name", "backbone", "encoder", "dataset", "temperature", "temp", "tau", "moco_t", "moco_m",
    "batch_size", "epochs", "max_epochs", "lr", "learning_rate", "img_size", "crop_size", "seed",
)  # fmt: skip
CONTAINERS = ("args", "opt", "hyper_parameters", "hparams", "config", "meta")
MAX_TEXT = 80


def find_facts(tree: Any, metadata: dict[str, str]) -> dict[str, str]:
    """Facts by name, as text; nothing longer than a line."""
    facts = {key: text for key in OUTER if (text := _plain(metadata.get(key))) is not None}
    outer = tree if isinstance(tree, dict) else {}
    facts |= {key: text for key in OUTER if (text := _plain(outer.get(key))) is not None}
    for container in CONTAINERS:
        settings = _as_dict(outer.get(container))
        facts |= {f"{container}.{key}": text for key in SETTINGS if (text := _plain(settings.get(key))) is not None}
    return facts


def top_level(tree: Any, limit: int = 50) -> tuple[str, ...]:
    """The outermost keys, as text."""
    if isinstance(tree, StandIn):
        return (f"__module__ {tree.origin}"[:120],)
    keys = list(tree)[:limit] if isinstance(tree, dict) else []
    return tuple(str(key)[:120] if isinstance(key, str | int) else type(key).__name__ for key in keys)


def own_settings(metadata: dict[str, str]) -> tuple[dict[str, Any] | None, tuple[str, ...] | None]:
    """Spec and class names of a checkpoint written by this project; None where the header does not hold them."""
    return _json(metadata.get("spec"), dict), _names(_json(metadata.get("classes"), list))


def _json(text: str | None, kind: type) -> Any:
    try:
        value = json.loads(text) if text is not None and len(text) < 100_000 else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, kind) else None


def _names(values: list[Any] | None) -> tuple[str, ...] | None:
    return tuple(str(value)[:MAX_TEXT] for value in values[:10_000]) if values is not None else None


def _as_dict(value: Any) -> dict[Any, Any]:
    """A Namespace is a stand-in with a dictionary as its state."""
    if isinstance(value, StandIn):
        entries = {key: item for key, item in value.entries if isinstance(key, str)}
        return entries | (value.state if isinstance(value.state, dict) else {})
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or isinstance(value, TensorRef):
        return None
    text = (
        f"{value:g}"
        if isinstance(value, float)
        else str(value)
        if not isinstance(value, int) or abs(value) < 10**18
        else "a huge number"
    )
    text = "".join(char if char.isprintable() else " " for char in text[: MAX_TEXT + 1]).strip()
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
