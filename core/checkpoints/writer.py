"""Write clean tensors as safetensors, one at a time, so that memory holds no more than the largest."""

import json
from pathlib import Path

import numpy as np

from core.checkpoints.health import values
from core.checkpoints.matching import Part
from core.checkpoints.opened import Opened
from core.checkpoints.tensors import DTYPES, DType


def write_parts(opened: Opened, parts: tuple[Part, ...], path: Path) -> None:
    """Copy tensors from a checkpoint into a new safetensors file.

    Args:
        opened: The checkpoint.
        parts: The tensors, under the names they get in the file. None at all: no file is written.
        path: The new file.

    Source: format description of the safetensors project: eight bytes with the length of the header, the header as
        JSON, the data without gaps.
    """
    if not parts:
        return
    header, position = {}, 0
    for part in parts:
        dtype, shape = _stored(part)
        size = dtype.bytes * int(np.prod(shape, dtype=np.int64))
        header[part.name] = {"dtype": dtype.safetensors, "shape": list(shape), "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for part in parts:
            file.write(memoryview(np.ascontiguousarray(values(opened, part)).reshape(-1).view(np.uint8)))


def _stored(part: Part) -> tuple[DType, tuple[int, ...]]:
    """Type and shape as written; averaged statistics become float32."""
    if part.splits > 1:
        return DTYPES["float32"], (part.ref.shape[0] // part.splits,)
    return part.ref.dtype, part.ref.shape
