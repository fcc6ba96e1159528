"""Names in front of the encoder's own names: which are known, and which were left over."""

from collections.abc import Iterable

KNOWN = (
    "module", "_orig_mod", "model", "learner", "net", "base_encoder", "encoder_q", "online_encoder", "online_network",
    "backbone", "encoder", "convnet", "trunk", "_feature_blocks", "base_model", "features", "f", "encoder_k",
    "momentum_encoder", "momentum_backbone", "backbone_momentum", "target_encoder", "target_network", "student", "teacher",
    "student_backbone", "teacher_backbone", "resnet", "feature_extractor", "network", "online_net", "target_net",
    "online_backbone", "target_backbone", "student_encoder", "teacher_encoder", "key_encoder", "query_encoder",
)  # fmt: skip
WRAPPERS = frozenset({"module", "_orig_mod", "model", "state_dict", "model_state_dict", "classy_state_dict", "net", "network"})
ROLES = {  # how a person calls the owner of the weights; the lower number is taken unless asked otherwise
    "teacher": ("teacher", 0), "teacher_backbone": ("teacher", 0), "teacher_encoder": ("teacher", 0),
    "state_dict_ema": ("moving average of the weights", 0), "model_ema": ("moving average of the weights", 0),
    "ema_state_dict": ("moving average of the weights", 0), "encoder_q": ("query encoder", 1),
    "query_encoder": ("query encoder", 1), "online_encoder": ("online encoder", 1), "online_network": ("online encoder", 1),
    "online_net": ("online encoder", 1), "online_backbone": ("online encoder", 1), "base_encoder": ("encoder", 1),
    "student": ("student", 2), "student_backbone": ("student", 2), "student_encoder": ("student", 2),
    "encoder_k": ("key encoder (moving average)", 3), "key_encoder": ("key encoder (moving average)", 3),
    "momentum_encoder": ("momentum encoder", 3), "momentum_backbone": ("momentum encoder", 3),
    "backbone_momentum": ("momentum encoder", 3), "target_encoder": ("target encoder (moving average)", 3),
    "target_network": ("target encoder (moving average)", 3), "target_net": ("target encoder (moving average)", 3),
    "target_backbone": ("target encoder (moving average)", 3),
}  # fmt: skip
PLAIN_ROLE = ("encoder", 1)
SHOWN = 3  # left-over prefixes in a message


def strip_known(name: str) -> tuple[str, str]:
    """Take known prefixes off the front of a name, one after the other, in any nesting.

    A numbered part counts as known behind a known prefix, as in `encoder.0.conv1.weight`.

    Returns:
        The prefix that was taken, and the rest.
    """
    rest = name
    while True:
        head, dot, tail = rest.partition(".")
        if not dot or not (head in KNOWN or (head.isdigit() and rest is not name)):
            return name[: len(name) - len(rest)], rest
        rest = tail


def is_known(prefix: str) -> bool:
    """Does a prefix consist of known parts only? It ends with a dot, or is empty."""
    taken, _ = strip_known(f"{prefix}x")
    return taken == prefix


def role(path: tuple[str, ...], prefix: str) -> tuple[str, str, int]:
    """Name, role in words and rank of the encoder under a prefix; the lowest rank is the default branch."""
    parts = [*path, *prefix.split(".")]
    speaking = [part for part in parts if part in ROLES]
    if not speaking:
        rest = [part for part in prefix.split(".") if part and part not in WRAPPERS and not part.isdigit()]
        name = rest[-1] if rest else path[-1] if path else "encoder"
        return name, *PLAIN_ROLE
    words = ", ".join(dict.fromkeys(ROLES[part][0] for part in speaking))
    return "/".join(dict.fromkeys(speaking)), words, sum(ROLES[part][1] for part in speaking)


def common_prefixes(names: Iterable[str], shown: int = SHOWN) -> tuple[tuple[str, int], ...]:
    """The longest prefixes that names share, with the number of names under each.

    Names are grouped by their first part; each group is shortened to what all of it shares.

    Returns:
        At most `shown` pairs, the largest group first. A prefix ends with a dot, unless it is a whole name.
    """
    groups: dict[str, list[list[str]]] = {}
    for name in names:
        parts = name.split(".")
        groups.setdefault(parts[0], []).append(parts)
    pairs = []
    for members in groups.values():
        shared = _shared(members)
        whole = len(members) == 1
        pairs.append((".".join(shared) + ("" if whole else "."), len(members)))
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], -len(pair[0]), pair[0]))[:shown])


def _shared(members: list[list[str]]) -> list[str]:
    if len(members) == 1:
        return members[0]
    low, high = min(members), max(members)  # all others lie between these two
    count = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:count]
