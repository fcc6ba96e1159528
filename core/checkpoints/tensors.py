"""Tensors as a file describes them: nothing is read or allocated until `TensorRef.check` has found them honest."""

import math
from typing import NamedTuple

import numpy as np

from core.checkpoints.report import CheckpointError

MAX_DIMENSIONS = 16
UNITS = ("bytes", "kB", "MB", "GB", "TB")


class DType(NamedTuple):
    """An element type, under the names of the three worlds it appears in."""

    name: str  # torch
    bytes: int  # per element
    raw: str  # NumPy type that holds the bits
    safetensors: str | None  # None: that format has no such type
    number: bool = True  # NumPy can compute with `raw`


DTYPES = {
    dtype.name: dtype
    for dtype in (
        DType("float64", 8, "<f8", "F64"),
        DType("float32", 4, "<f4", "F32"),
        DType("float16", 2, "<f2", "F16"),
        DType("bfloat16", 2, "<u2", "BF16", number=False),
        DType("float8_e4m3fn", 1, "u1", "F8_E4M3", number=False),
        DType("float8_e5m2", 1, "u1", "F8_E5M2", number=False),
        DType("int64", 8, "<i8", "I64"),
        DType("int32", 4, "<i4", "I32"),
        DType("int16", 2, "<i2", "I16"),
        DType("int8", 1, "i1", "I8"),
        DType("uint64", 8, "<u8", "U64"),
        DType("uint32", 4, "<u4", "U32"),
        DType("uint16", 2, "<u2", "U16"),
        DType("uint8", 1, "u1", "U8"),
        DType("bool", 1, "u1", "BOOL"),
        DType("complex64", 8, "<c8", None),
        DType("complex128", 16, "<c16", None),
    )
}
FLOATS = frozenset({"float64", "float32", "float16", "bfloat16"})
FROM_SAFETENSORS = {dtype.safetensors: dtype for dtype in DTYPES.values() if dtype.safetensors}
STORAGES = {  # class names of torch.storage
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
    "BoolStorage": "bool", "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
}  # fmt: skip


class Storage(NamedTuple):
    """A run of bytes that tensors look into."""

    key: str  # its name in the file
    bytes: int  # as the file claims
    device: str  # where it lived: "cpu", "cuda:0"; read for the report only
    start: int = 0  # bytes into the record, for views of old files
    data: bytes | None = None  # the bytes themselves, where the description carries them


class TensorRef(NamedTuple):
    """A tensor that has not been read: where its elements lie."""

    storage: Storage
    dtype: DType
    offset: int  # elements into the storage
    shape: tuple[int, ...]
    stride: tuple[int, ...]  # elements

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes once read."""
        return self.elements * self.dtype.bytes

    @property
    def span(self) -> int:
        """Elements between the first and the last one it touches, both included."""
        return sum((n - 1) * step for n, step in zip(self.shape, self.stride, strict=True)) + 1 if self.elements else 0

    def problem(self) -> str | None:
        """Why the tensor must not be touched, or None. Nothing is allocated to find out."""
        if self.bytes > self.storage.bytes:
            return (
                f"has shape {shape_text(self.shape)}, which is {bytes_text(self.bytes)}, over {bytes_text(self.storage.bytes)} "
                "of stored data: a small file that would fill the memory"
            )
        if (self.offset + self.span) * self.dtype.bytes > self.storage.bytes:
            return f"of shape {shape_text(self.shape)} reaches beyond its {bytes_text(self.storage.bytes)} of stored data"
        return None


def tensor_ref(storage: Storage, dtype: DType, offset: object, shape: object, stride: object) -> TensorRef:
    """Check what a file says about a tensor and keep it.

    Raises:
        CheckpointError: If the numbers are no whole numbers >= 0, or shape and stride do not belong together.
    """
    numbers = (offset, *shape, *stride) if isinstance(shape, tuple | list) and isinstance(stride, tuple | list) else (None,)
    if not all(type(number) is int and 0 <= number < 2**62 for number in numbers):
        raise CheckpointError(
            "damaged", "The file describes a tensor whose shape, stride or offset is not a list of whole numbers."
        )
    if len(shape) != len(stride) or len(shape) > MAX_DIMENSIONS:
        raise CheckpointError("damaged", f"The file describes a tensor of {len(shape)} dimensions with {len(stride)} strides.")
    return TensorRef(storage, dtype, offset, tuple(shape), tuple(stride))


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a tensor stored row by row."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def read_array(ref: TensorRef, raw: bytes, swapped: bool = False) -> np.ndarray:
    """Turn the bytes of a tensor's span into an array.

    Args:
        ref: A tensor without a `problem`.
        raw: Exactly the `ref.span` elements from the first one on.
        swapped: The bytes are in the other order than this machine's.

    Returns:
        Array of shape `ref.shape` and type `ref.dtype.raw`, contiguous.
    """
    flat = np.frombuffer(raw, dtype=ref.dtype.raw)
    if swapped and ref.dtype.bytes > 1:
        flat = flat.byteswap()
    if not ref.elements:
        return np.empty(ref.shape, dtype=flat.dtype)
    steps = tuple(step * ref.dtype.bytes for step in ref.stride)
    return np.array(np.lib.stride_tricks.as_strided(flat, ref.shape, steps, writeable=False), order="C")


def as_numbers(array: np.ndarray, dtype: DType) -> np.ndarray | None:
    """The values as something NumPy can compute with: bfloat16 widened to float32, None for 8-bit floats."""
    if dtype.name == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array if dtype.number else None


def shape_text(shape: tuple[int, ...]) -> str:
    """ "64 × 3 × 7 × 7", or "one value" for a scalar."""
    return " × ".join(map(str, shape)) if shape else "one value"


def bytes_text(count: float) -> str:
    """ "4 bytes", "66 kB", "1.6 GB"; powers of 1,000."""
    if count < 1000:
        return f"{count:.0f} byte{'' if count == 1 else 's'}"
    power = min(int(math.log10(count) // 3), 4)
    power += count / 1000**power >= 999.5 and power < 4  # 999,950 bytes are "1.0 MB"
    value = count / 1000**power
    return f"{value:.1f} {UNITS[power]}" if value < 9.95 else f"{value:,.0f} {UNITS[power]}"
