"""Statistics of an encoder's tensors, and what they give away: NaN, all-zero weights, batch norms that saw no data."""

import numpy as np

from core.checkpoints.matching import Part
from core.checkpoints.opened import Opened
from core.checkpoints.report import TensorRow
from core.checkpoints.tensors import FLOATS, as_numbers


def values(opened: Opened, part: Part) -> np.ndarray:
    """The tensor as stored, with the statistics of split batch norms averaged."""
    array = opened.array(part.ref)
    if part.splits > 1 and part.ref.dtype.name in FLOATS:
        array = as_numbers(array, part.ref.dtype).reshape(part.splits, -1).astype(np.float32).mean(axis=0, dtype=np.float32)
    return array


def row(opened: Opened, part: Part) -> TensorRow:
    """Statistics of one tensor; means and norms over its finite values, in float64."""
    array = values(opened, part)
    numbers = as_numbers(array, part.ref.dtype) if part.splits == 1 else array
    base = {"name": part.name, "source": part.source, "shape": array.shape, "dtype": part.ref.dtype.name}
    if numbers is None or not numbers.size:
        return TensorRow(**base)
    finite = np.isfinite(float(numbers.sum(dtype=np.float64)))  # a finite sum has finite terms only
    good = numbers if finite else numbers[np.isfinite(numbers)]
    mean = float(good.mean(dtype=np.float64)) if good.size else None
    squares = float(np.square(good, dtype=np.float64).sum()) if good.size else 0.0
    return TensorRow(
        **base,
        mean=mean,
        std=max(squares / good.size - mean**2, 0.0) ** 0.5 if good.size else None,
        norm=squares**0.5 if good.size else None,
        zeros=numbers.size - int(np.count_nonzero(numbers)),
        nans=0 if finite else int(np.isnan(numbers).sum()),
        infinities=0 if finite else int(np.isinf(numbers).sum()),
    )


def notices(rows: list[TensorRow]) -> list[str]:
    """What a person should know about the values."""
    found = []
    for count, one, many in (
        (sum(row.nans for row in rows), "value is NaN", "values are NaN"),
        (sum(row.infinities for row in rows), "value is infinite", "values are infinite"),
    ):
        if count:
            where = [row.name for row in rows if row.nans or row.infinities]
            text = f"{count:,} {one if count == 1 else many}, first in {where[0]}. Features will not be usable."
            found.append(text)
    dead = [row.name for row in rows if row.name.endswith("weight") and len(row.shape) > 1 and row.norm == 0]
    if dead:
        found.append(
            f"All weights are zero in {len(dead)} layer{'' if len(dead) == 1 else 's'}, "
            f"first in {dead[0]}. The training may have collapsed."
        )
    means = [row for row in rows if row.name.endswith("running_mean")]
    if means and all(row.norm == 0 for row in means):
        found.append("Every batch norm still has its initial statistics: this encoder was not trained, or they were lost.")
    return found
