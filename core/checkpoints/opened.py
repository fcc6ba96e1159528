"""An open checkpoint: plain objects, tensors that are read one at a time, and bounds on every read.

Runs in the reading process only.
"""

import pickle
import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from core.checkpoints.pickles import InertUnpickler
from core.checkpoints.report import CheckpointError
from core.checkpoints.tensors import Storage, TensorRef, bytes_text, read_array

MAX_LINE = 2**20  # bytes of a name or number in a pickle


class Record(NamedTuple):
    """Where the bytes of a storage lie in the file."""

    start: int
    bytes: int
    crc: int | None = None


class Opened:
    """An open checkpoint.

    Attributes:
        kind: zip, legacy, safetensors or pickle.
        tree: The object in the file: dictionaries, lists, plain values, `TensorRef`s and stand-ins.
        ignored: Names of classes and functions replaced by stand-ins.
        metadata: Texts of a safetensors header.
        damaged: Keys of storages whose checksum did not fit, filled while reading.
    """

    def __init__(self, file: BinaryIO, size: int, kind: str):
        self.file = file
        self.size = size
        self.kind = kind
        self.tree: Any = None
        self.ignored: list[str] = []
        self.metadata: dict[str, str] = {}
        self.swapped = False
        self.records: dict[str, Record] = {}
        self.claims: dict[str, Storage] = {}  # every storage the description refers to
        self.damaged: list[str] = []
        self._checked: set[str] = set()

    def storage(self, key: str, size: int, device: str, part: tuple[int, int] | None) -> Storage:
        """Note a storage that the pickle refers to; its record is looked up once all is known."""
        if key not in self.claims or size > self.claims[key].bytes:
            self.claims[key] = Storage(key, size, device)
        start, length = part if part is not None else (0, size)
        return Storage(key, length, device, start)

    def check_claims(self) -> None:
        """Every storage must lie in the file, complete.

        Raises:
            CheckpointError: If the description claims more data than the file holds.
        """
        for key, storage in self.claims.items():
            record = self.records.get(key)
            held = record.bytes if record else 0
            if storage.bytes > held:
                problem = "hostile" if storage.bytes > 10 * self.size else "damaged"
                reason = (
                    "It cannot be a real checkpoint."
                    if problem == "hostile"
                    else "The file is damaged or was cut off; get it again."
                )
                raise CheckpointError(
                    problem,
                    f"The file claims {bytes_text(storage.bytes)} of data for "
                    f"one tensor, but holds {bytes_text(held)} of it. {reason}",
                )

    def array(self, ref: TensorRef) -> np.ndarray:
        """Read one tensor.

        Args:
            ref: From this file, without a `problem`.

        Returns:
            Array of the tensor's shape; its type holds the bits (see `DType.raw`).
        """
        begin = ref.offset * ref.dtype.bytes
        length = ref.span * ref.dtype.bytes
        storage = ref.storage
        if storage.data is not None:
            return read_array(ref, storage.data[begin : begin + length])
        record = self.records[storage.key]
        if record.crc is not None and storage.key not in self._checked:
            self._check(storage.key, record)
        self.file.seek(record.start + storage.start + begin)
        return read_array(ref, self.file.read(length), self.swapped)

    def _check(self, key: str, record: Record) -> None:
        """Compare the checksum of a record, in pieces; PyTorch itself does not."""
        self._checked.add(key)
        self.file.seek(record.start)
        crc, left = 0, record.bytes
        while left > 0:
            piece = self.file.read(min(left, 2**22))
            crc, left = zlib.crc32(piece, crc), left - len(piece)
        if crc != record.crc:
            self.damaged.append(key)


class Bounded:
    """A window of a file that refuses to be asked for more than is left, before anything is allocated."""

    def __init__(self, file: BinaryIO, end: int, limit: int):
        self.file = file
        self.left = end - file.tell()
        self.limit = limit
        self.taken = 0

    def _take(self, count: int) -> int:
        if count > self.left:
            raise CheckpointError(
                "damaged",
                f"The file ends too early: {bytes_text(count)} should "
                f"follow, {bytes_text(self.left)} are left. Get the file again.",
            )
        self.taken += count
        if self.taken > self.limit:
            raise CheckpointError(
                "too_large", f"The description of the tensors is longer than {bytes_text(self.limit)}. Save the state_dict alone."
            )
        self.left -= count
        return count

    def read(self, count: int = -1) -> bytes:
        return self.file.read(self._take(self.left if count < 0 else count))

    def peek(self, count: int) -> bytes:
        """Bytes ahead, without taking them; the unpickler then asks once per buffer instead of once per operation."""
        return self.file.peek(count)[: self.left]

    def readinto(self, buffer: Any) -> int:
        self._take(len(buffer))
        return self.file.readinto(buffer)

    def readline(self) -> bytes:
        line = self.file.readline(min(self.left, MAX_LINE))
        self._take(len(line))
        return line


def unpickle(opened: Opened, file: Any, storage: Any = None) -> Any:
    """One pickle as plain data."""
    unpickler = InertUnpickler(file, storage)
    try:
        return unpickler.load()
    except (CheckpointError, MemoryError):
        raise
    except RecursionError:
        raise CheckpointError("damaged", "The objects in the file are nested too deeply to be a checkpoint.") from None
    except (EOFError, pickle.UnpicklingError) as error:
        cause = (
            "it ends in the middle of an object"
            if isinstance(error, EOFError) or "truncated" in str(error)
            else "its objects are garbled"
        )
        raise CheckpointError(
            "damaged", f"The file cannot be read: {cause}. It is damaged or was cut off; get it again."
        ) from None
    except Exception as error:  # whatever garbled bytes provoke inside the unpickler
        raise CheckpointError(
            "damaged", f"The file cannot be read: its objects are garbled ({type(error).__name__}). It is damaged; get it again."
        ) from None
    finally:
        opened.ignored.extend(name for name in unpickler.ignored if name not in opened.ignored)
