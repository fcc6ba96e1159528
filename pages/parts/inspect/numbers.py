"""How the numbers of an inspection are written, and what each is compared with."""

from typing import Any

from core.figures.text import signed
from core.geometry.limits import most_dimensions, of_most

DIGITS = {
    "linear_accuracy": 3, "knn_accuracy": 3, "alignment": 3, "uniformity": 3, "tolerance": 3, "rankme": 1,
    "participation_ratio": 1, "dead_dimensions": 0,
}  # fmt: skip


def written(key: str, value: float) -> str:
    """A number with the digits that about 1,000 images support."""
    text = f"{value:,.{DIGITS.get(key, 3)}f}"
    if value and not float(text.replace(",", "")):
        return signed(value, 2)
    return text.replace("-", "−")


def against(key: str, values: dict[str, Any], numbers: dict[str, Any]) -> str | None:
    """What a number is compared with, in a few words; None where there is nothing exact to compare it with.

    Args:
        key: Name of the number.
        values: Numbers of the space, h or z.
        numbers: The whole summary.
    """
    chance, dim = numbers.get("chance"), values.get("dim")
    if key in ("linear_accuracy", "knn_accuracy"):
        return f"guessing {chance:.2f}" if chance is not None else None
    if key == "uniformity":
        return f"uniform {signed(values['uniformity_optimum'], 4)}" if values.get("uniformity_optimum") is not None else None
    if key == "alignment":
        return "0 agree, 2 random"
    if key == "tolerance":
        return "1: class is a point"
    if key == "rankme":  # its rows are not centred, so that n of them can fill n dimensions
        return _of(values.get("rankme_most") or dim, values) if dim else None
    if key == "participation_ratio":
        return _of(most_dimensions(dim, values.get("rows")), values) if dim else None
    if key == "dead_dimensions":
        return f"of {dim:,}" if dim else None
    return None


def _of(most: int, values: dict[str, Any]) -> str:
    """The largest value of a rank, short enough for a chip; how many images limit it stands in the finding and the help."""
    return of_most(most, values["dim"], values.get("rows")).partition(" with")[0]
