"""Open a checkpoint file: its objects as plain data and stand-ins, its tensors as references that are checked before use.

Runs in the reading process only (`child.py`). Nothing here imports torch, and no tensor data is read until
`Opened.array` is asked for one tensor.
"""

import json
from pathlib import Path
from typing import Any

from core.checkpoints.opened import Bounded, Opened, Record, unpickle
from core.checkpoints.report import CheckpointError, Limits
from core.checkpoints.sniff import check_path, sniff
from core.checkpoints.tensors import FROM_SAFETENSORS, Storage, TensorRef, bytes_text, contiguous, tensor_ref
from core.checkpoints.zips import open_zip

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_PROTOCOL = 1001
MAX_HEADER = 64 * 2**20  # bytes of a safetensors header


def open_checkpoint(path: Path, limits: Limits) -> Opened:
    """Open a file of any supported kind.

    Args:
        path: The file.
        limits: What reading may cost.

    Returns:
        The open checkpoint; the caller closes `.file`.

    Raises:
        CheckpointError: If the file is missing, too large, damaged, hostile, or no checkpoint.
    """
    size = check_path(path, limits)
    file = path.open("rb")
    try:
        opened = Opened(file, size, sniff(file, size))
        {"zip": open_zip, "pickle": _open_pickle, "safetensors": _open_safetensors}[opened.kind](opened, limits)
        opened.check_claims()
    except BaseException:
        file.close()
        raise
    return opened


def _open_pickle(opened: Opened, limits: Limits) -> None:
    """torch.save before version 1.6 (several pickles, then the data), or one plain pickle with NumPy arrays."""
    opened.file.seek(0)
    window = Bounded(opened.file, opened.size, max(limits.pickle_bytes, opened.size))
    first = _first_pickle(opened, window)
    if first != LEGACY_MAGIC:
        opened.tree = first
        return
    opened.kind = "legacy"
    version, system = unpickle(opened, window), unpickle(opened, window)
    if version != LEGACY_PROTOCOL:
        raise CheckpointError("damaged", f"The file names format version {str(version)[:40]}; PyTorch writes {LEGACY_PROTOCOL}.")
    little = system.get("little_endian", True) if isinstance(system, dict) else True
    opened.swapped = little is False
    opened.tree = unpickle(opened, window, opened.storage)
    _find_legacy_records(opened, unpickle(opened, window))


def _first_pickle(opened: Opened, window: Bounded) -> Any:
    """The first object; a text that only looks like the oldest kind of pickle is called a text."""
    try:
        return unpickle(opened, window, opened.storage)
    except CheckpointError as error:
        opened.file.seek(0)
        if error.problem == "damaged" and opened.file.read(1) != b"\x80":
            raise CheckpointError("not_a_checkpoint", "This is a text file, not a checkpoint.") from None
        raise


def _find_legacy_records(opened: Opened, keys: Any) -> None:
    """Behind the pickles: for each key eight bytes with the number of elements, then the data."""
    if not isinstance(keys, list):
        raise CheckpointError("damaged", "The list of tensors is missing. The file is damaged or was cut off; get it again.")
    position = opened.file.tell()
    for key in map(str, keys):
        claim = opened.claims.get(key)
        opened.file.seek(position)
        count = opened.file.read(8)
        if claim is None or len(count) < 8:
            break  # check_claims names what is missing
        elements = int.from_bytes(count, "big" if opened.swapped else "little")
        size = claim.bytes
        if elements > size or position + 8 + size > opened.size:
            break
        opened.records[key] = Record(position + 8, size)
        position += 8 + size


def _open_safetensors(opened: Opened, limits: Limits) -> None:
    """Eight bytes with the header's length, the header as JSON, then the data."""
    opened.file.seek(0)
    length = int.from_bytes(opened.file.read(8), "little")
    if length > min(opened.size - 8, MAX_HEADER):
        raise CheckpointError(
            "too_large", f"The header of the file has {bytes_text(length)}; at most {bytes_text(MAX_HEADER)} are read."
        )
    try:
        header = json.loads(opened.file.read(length))
        metadata = header.pop("__metadata__", {})
    except (ValueError, RecursionError, AttributeError, TypeError):
        raise CheckpointError(
            "damaged", "The header of this safetensors file is garbled. The file is damaged; get it again."
        ) from None
    opened.metadata = (
        {str(key): value for key, value in metadata.items() if isinstance(value, str)} if isinstance(metadata, dict) else {}
    )
    opened.tree = {}
    for name, entry in header.items():
        opened.tree[name] = _safetensor(opened, name, entry, 8 + length)
    if sum(record.bytes for record in opened.records.values()) > opened.size:
        raise CheckpointError("hostile", "The tensors of this safetensors file overlap, so a small file could fill the memory.")


def _safetensor(opened: Opened, name: str, entry: Any, data: int) -> TensorRef:
    """One entry of a safetensors header."""
    begin, end = _offsets(entry)
    if begin is None or entry.get("dtype") not in FROM_SAFETENSORS:
        raise CheckpointError("damaged", f"The header of this safetensors file is garbled at tensor {name[:80]!r}.")
    if data + end > opened.size:
        raise CheckpointError(
            "damaged",
            f"The file ends before the data of tensor {name[:80]!r}. It was cut off; get it again and compare its size.",
        )
    shape = entry.get("shape")
    opened.records[name] = Record(data + begin, end - begin)
    ref = tensor_ref(
        Storage(name, end - begin, "cpu"),
        FROM_SAFETENSORS[entry["dtype"]],
        0,
        shape,
        contiguous(tuple(shape)) if _whole(shape) else None,
    )
    if ref.bytes != end - begin:
        raise CheckpointError(
            "damaged", f"Tensor {name[:80]!r} has {bytes_text(end - begin)} of data, but its shape needs {bytes_text(ref.bytes)}."
        )
    return ref


def _whole(shape: Any) -> bool:
    return isinstance(shape, list) and all(type(number) is int for number in shape)


def _offsets(entry: Any) -> tuple[Any, Any]:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not isinstance(offsets, list) or len(offsets) != 2 or not _whole(offsets) or not 0 <= offsets[0] <= offsets[1]:
        return None, None
    return tuple(offsets)
