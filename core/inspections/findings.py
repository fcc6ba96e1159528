"""What stands out in an inspection, in sentences made from its numbers. Without torch."""

from typing import Any, Literal, NamedTuple

from core.geometry.limits import of_most
from core.geometry.verdicts import COLLAPSED
from core.inspections.alterations import ALTERATIONS

SPREAD = 0.95  # share from which it counts as evenly spread
NARROW = 0.4  # share of the dimensions below which a space counts as narrow
NEAR_CHANCE = 0.1  # accuracy above chance up to which the class counts as unknown
PARTLY = 0.5  # share of the way from chance to 1 up to which the class counts as known in part
CLEAR = 0.2  # difference of mean cosines from which one feature is said to win
DROP = 0.1  # accuracy lost between two spaces, or under an alteration, that is worth a sentence


class Finding(NamedTuple):
    """One sentence and how it is meant."""

    kind: Literal["good", "note", "warning", "failure"]  # failure: the other numbers mean nothing
    text: str


def findings(summary: dict[str, Any]) -> list[Finding]:
    """The sentences, the most important first.

    Args:
        summary: As an inspection keeps it; parts that were not measured give no sentence.
    """
    h, z = summary.get("h") or {}, summary.get("z") or {}
    warnings = [Finding("warning", text) for text in summary.get("warnings") or ()]
    if all_zero(h):
        return [*_zeros("h", h), *warnings]
    found = [*_zeros("h", h), *_zeros("z", z), *warnings, *_class_knowledge(h, summary), *_bits(h, summary)]
    for name, space in (("z", z), ("h", h if not z else {})):
        found += _shape(name, space)
    found += _projection(h, z)
    return found + _reliance(summary)


def all_zero(space: dict[str, Any]) -> bool:
    """Whether every row of a space is zero, so that none of them has a direction."""
    return bool(space.get("rows")) and space.get("zero_rows") == space["rows"]


def _zeros(name: str, space: dict[str, Any]) -> list[Finding]:
    """Rows without a direction, which the numbers about the sphere cannot take."""
    zero, rows = space.get("zero_rows"), space.get("rows")
    if not zero or not rows:
        return []
    who = {"h": "encoder", "z": "projector"}[name]
    if zero == rows:
        text = f"The {who} returns zero for all images ({rows:,} of {rows:,}): {name} has no direction and tells nothing apart."
        return [Finding("failure", text)]
    text = f"The {who} returns zero for {zero:,} of {rows:,} images. These have no direction and count as at right angles to all."
    return [Finding("warning", text)]


def _class_knowledge(h: dict[str, Any], summary: dict[str, Any]) -> list[Finding]:
    accuracy, chance = h.get("linear_accuracy"), summary.get("chance")
    if accuracy is None or chance is None:
        return []
    near = f", nearest neighbours {h['knn_accuracy']:.2f}" if h.get("knn_accuracy") is not None else ""
    if accuracy < chance + NEAR_CHANCE:
        text = f"h hardly knows the class: the linear probe reaches {accuracy:.2f}{near}; guessing would reach {chance:.2f}."
        return [Finding("warning", text)]
    if accuracy < chance + PARTLY * (1 - chance):
        text = f"h tells the classes apart in part: linear probe {accuracy:.2f}{near}, where guessing reaches {chance:.2f}."
        return [Finding("note", text)]
    return [
        Finding("good", f"h tells the classes apart: linear probe {accuracy:.2f}{near}, where guessing reaches {chance:.2f}.")
    ]


def _bits(h: dict[str, Any], summary: dict[str, Any]) -> list[Finding]:
    bits = summary.get("bits")
    if not bits:
        return []
    known, count = bits["known"], bits["bits"]
    kind = "warning" if known > 0.5 * count else "note"
    found = [Finding(kind, f"h recovers {known:.1f} of the {count} random bits that were added to each image.")]
    followed = follows(summary)
    return found + ([Finding(kind, f"Where image and bits disagree, {followed}.")] if followed else [])


def follows(summary: dict[str, Any]) -> str:
    """What the embedding follows when each image carries the bits of another one; empty where that was not measured."""
    entry = next((entry for entry in summary.get("competing") or () if entry["name"] == "other_bits"), {})
    space = "z" if "z" in entry else "h"
    pull = entry.get(space, {})
    image, bits = pull.get("same_image"), pull.get("same_feature")
    if image is None or bits is None:
        return ""
    values = f"(cosine {_cosine(bits)} with the same bits, {_cosine(image)} with the same image)"
    if abs(bits - image) < CLEAR:
        return f"{space} follows both alike {values}"
    return f"{space} follows the bits {values}" if bits > image else f"{space} follows the image {values}"


def _shape(name: str, space: dict[str, Any]) -> list[Finding]:
    """Is the embedding a point, a thin slice, or all over the sphere?"""
    uniformity, best = space.get("uniformity"), space.get("uniformity_optimum")
    if uniformity is None or not best or all_zero(space):
        return []
    share, found = uniformity / best, []
    values = f"uniformity {_signed(uniformity)}, where the uniform distribution has {_signed(best)}"
    if share < COLLAPSED:
        return [Finding("warning", f"{name} has collapsed to nearly one point: {values}.")]
    if share > SPREAD and (space.get("zero_rows") or 0) <= (1 - SPREAD) * space.get("rows", 0):
        aligned = space.get("alignment")
        agree = f", and views agree (alignment {aligned:.3f})" if aligned is not None and aligned < 0.1 else ""
        found.append(Finding("good", f"{name} is spread over the sphere almost evenly{agree}: {values}."))
    used, most = space.get("rankme"), space.get("rankme_most") or space.get("dim")
    if used is not None and most and used < NARROW * most:
        limit = of_most(most, space.get("dim") or most, space.get("rows"))
        fills = f"{used:.0f} {limit} dimensions" if " with " not in limit else f"{used:.0f} dimensions, {limit}"
        found.append(Finding("note", f"{name} fills {fills} (RankMe): part of the sphere stays empty."))
    if space.get("dead_dimensions"):
        found.append(Finding("note", f"{space['dead_dimensions']} of {space['dim']} dimensions of {name} never change."))
    return found


def _projection(h: dict[str, Any], z: dict[str, Any]) -> list[Finding]:
    first, second = h.get("linear_accuracy"), z.get("linear_accuracy")
    if first is None or second is None or first - second < DROP:
        return []
    return [Finding("note", f"The projector drops what the class needs: linear probe {first:.2f} on h, {second:.2f} on z.")]


def _reliance(summary: dict[str, Any]) -> list[Finding]:
    text = costliest(summary)
    return [Finding("note", text)] if text else []


def costliest(summary: dict[str, Any]) -> str:
    """The alteration that costs the most accuracy, in a sentence; empty where none costs much."""
    plain = (summary.get("h") or {}).get("linear_accuracy")
    drops = {entry["name"]: plain - entry["h"]["accuracy"] for entry in summary.get("competing") or () if plain is not None}
    drops = {name: drop for name, drop in drops.items() if name in ALTERATIONS}
    worst = max(drops, key=drops.get, default=None)
    if worst is None or drops[worst] < DROP:
        return ""
    title = ALTERATIONS[worst].title
    return f"Of the alterations, “{title}” costs the most: accuracy falls from {plain:.2f} to {plain - drops[worst]:.2f}."


def _signed(value: float) -> str:
    """Two decimals; two digits where that would leave none."""
    return (f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}").replace("-", "−")


def _cosine(value: float) -> str:
    """Two decimals, without a negative zero."""
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")
