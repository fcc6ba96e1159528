"""Read a pickle without running it: every name it asks for becomes an inert stand-in.

Python's own unpickler looks every class and function up through `find_class` (see "Restricting globals" in its
documentation). Here that method never imports anything. It hands out a few constructors of this module, which
describe tensors and plain containers, and for all other names a class that keeps what it is given and does nothing.
So there is no name in a file that could run code: not because bad names are known, but because no name is followed.

This goes further than `torch.load(weights_only=True)`, whose list of allowed names contains functions that allocate
memory, which knows the operations of pickle protocol 2 only, and which stops at NumPy arrays, `deque` and
`defaultdict`. The tests use it as the oracle: wherever it opens a file, both readers give the same tensors.
"""

import _compat_pickle
import pickle
import re
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from core.checkpoints.report import CheckpointError
from core.checkpoints.tensors import DTYPES, STORAGES, DType, Storage, TensorRef, contiguous, tensor_ref

RUNS_PROGRAMS = frozenset(  # no checkpoint needs these; a file that names one is not opened further
    {
        "os", "posix", "nt", "sys", "subprocess", "pty", "socket", "ctypes", "importlib", "imp", "runpy", "shutil", "code",
        "codeop", "pdb", "timeit", "commands", "webbrowser", "multiprocessing", "asyncio", "urllib", "http", "ftplib", "requests",
        "pip", "io.open", "pickle", "_pickle", "marshal", "torch.hub", "numpy.testing", "builtins.eval", "builtins.exec",
        "builtins.execfile", "builtins.compile", "builtins.__import__", "builtins.open", "builtins.input", "builtins.breakpoint",
    }
)  # fmt: skip
CARRIES_CODE = frozenset({"cloudpickle", "dill", "marshal", "types.CodeType", "types.FunctionType", "builtins.code"})
NUMBER_CODE = re.compile(r"[<>|=]?[biufc]\d{1,2}|[?bBhHiIlLqQefdFD]")
MAX_NAME = 200  # characters of a name kept for the report


class _Sealed(type):
    """Classes the file cannot change: a pickle may otherwise set attributes on anything it holds."""

    def __setattr__(cls, name: str, value: object) -> None:
        raise CheckpointError("hostile", "The file tries to change a class while it is opened. It was not opened further.")


class StandIn(metaclass=_Sealed):
    """Takes the place of an object of a class that is not known here. Keeps what the file gives it; calls nothing."""

    __slots__ = ("args", "entries", "items", "state")
    origin = ""  # the name the file asked for

    def __new__(cls, *args: Any, **kwargs: Any) -> "StandIn":
        self = super().__new__(cls)
        self.args: Any = (*args, *kwargs.values())
        self.state: Any = None
        self.items: list[Any] = []  # of a list-like object
        self.entries: list[tuple[Any, Any]] = []  # of a dictionary-like object
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> "StandIn":
        """Files may call what a call returned (cloudpickle does); that, too, leads to a stand-in."""
        return type(self)(self, *args, *kwargs.values())

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.entries.append((key, value))

    def append(self, item: Any) -> None:
        self.items.append(item)

    def add(self, item: Any) -> None:
        self.items.append(item)

    def extend(self, items: Any) -> None:
        self.items.extend(items)


class PlainDict(dict, metaclass=_Sealed):
    """OrderedDict, defaultdict and Counter: a dictionary that ignores factories and attributes."""

    def __new__(cls, *args: Any) -> "PlainDict":
        return super().__new__(cls)

    def __init__(self, *args: Any) -> None:
        pairs = args[0] if args and isinstance(args[0], list | dict) else ()
        super().__init__(pairs)

    def __setstate__(self, state: Any) -> None:
        pass


class PlainList(list, metaclass=_Sealed):
    """deque: a list that ignores its greatest length."""

    def __new__(cls, *args: Any) -> "PlainList":
        return super().__new__(cls)

    def __init__(self, *args: Any) -> None:
        super().__init__(args[0] if args and isinstance(args[0], list) else ())

    def __setstate__(self, state: Any) -> None:
        pass


class NumpyType(metaclass=_Sealed):
    """numpy.dtype: resolved to an element type when it is one of the plain numbers."""

    __slots__ = ("code", "order")

    def __init__(self, code: Any = None, *_: Any) -> None:
        self.code = code.code if isinstance(code, NumpyType) else code
        self.order = "="

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            self.order = state[1]

    def resolve(self) -> tuple[DType, np.dtype] | None:
        """The element type and how the bytes are stored, or None for objects, texts and records."""
        if not isinstance(self.code, str) or not NUMBER_CODE.fullmatch(self.code):
            return None
        try:
            stored = np.dtype(self.code)
        except TypeError:
            return None
        stored = stored.newbyteorder(self.order) if self.order != "=" else stored
        dtype = DTYPES.get(stored.name)
        return (dtype, stored) if dtype else None


class NumpyArray(metaclass=_Sealed):
    """numpy.ndarray: a tensor once its state has arrived."""

    __slots__ = ("tensor",)

    def __init__(self, *_: Any) -> None:
        self.tensor: TensorRef | None = None

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) == 5:
            _, shape, kind, fortran, raw = state
            self.tensor = _array(raw, kind, shape, bool(fortran))


def _array(raw: Any, kind: Any, shape: Any, fortran: bool) -> TensorRef | None:
    """A tensor over the bytes of a NumPy array; None where it does not hold plain numbers."""
    resolved = kind.resolve() if isinstance(kind, NumpyType) else None
    raw = raw.encode("latin1") if isinstance(raw, str) else raw
    if resolved is None or not isinstance(raw, bytes | bytearray) or not isinstance(shape, tuple):
        return None
    dtype, stored = resolved
    if len(raw) % stored.itemsize:
        return None
    if stored.byteorder == ">":
        raw = np.frombuffer(raw, stored).astype(dtype.raw).tobytes()
    strides = contiguous(shape[::-1])[::-1] if fortran else contiguous(shape)
    data = bytes(raw)
    return tensor_ref(Storage(f"array {id(data)}", len(data), "cpu", data=data), dtype, 0, shape, strides)


def _scalar(kind: Any = None, raw: Any = None, *_: Any) -> Any:
    """numpy.core.multiarray.scalar: a plain Python number."""
    ref = _array(raw, kind, (), False) if raw is not None else None
    if ref is None or ref.problem():
        return None
    return np.frombuffer(ref.storage.data, ref.dtype.raw)[0].item()


def _numpy_from_buffer(raw: Any = None, kind: Any = None, shape: Any = None, order: Any = "C", *_: Any) -> Any:
    array = NumpyArray()
    array.tensor = _array(raw, kind, shape if isinstance(shape, tuple) else (), order == "F")
    return array


class StorageKind(NamedTuple):
    """A class of torch.storage: says what the elements of a storage are. Cannot be called."""

    dtype: DType


class TypedStorage(NamedTuple):
    """A storage with the element type that tensors over it have."""

    storage: Storage
    dtype: DType


class Maker(NamedTuple):
    """A function of this module that a file may call. A tuple, because a pickle could set attributes of a function."""

    make: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.make(*args)


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any, *_: Any) -> Any:
    """torch._utils._rebuild_tensor and _rebuild_tensor_v2."""
    if not isinstance(storage, TypedStorage):
        return None
    return tensor_ref(storage.storage, storage.dtype, offset, shape, stride)


def _tensor_with_dtype(storage: Any, offset: Any, shape: Any, stride: Any, _grad: Any, _hooks: Any, dtype: Any, *_: Any) -> Any:
    """torch._utils._rebuild_tensor_v3."""
    if not isinstance(storage, TypedStorage) or not isinstance(dtype, DType):
        return None
    return tensor_ref(storage.storage, dtype, offset, shape, stride)


def _first(value: Any = None, *_: Any) -> Any:
    """Wrappers around a tensor: parameters, tensors of other devices."""
    return value.tensor if isinstance(value, NumpyArray) else value


def _from_type(function: Any = None, _kind: Any = None, args: Any = (), *_: Any) -> Any:
    """torch._tensor._rebuild_from_type_v2: a subclass of tensor, read as the tensor it holds."""
    known = isinstance(function, Maker) and function.make in (_tensor, _tensor_with_dtype, _first)
    return function(*args) if known and isinstance(args, tuple) else None


def _sized(*args: Any) -> Any:
    """torch.Size."""
    return tuple(args[0]) if args and isinstance(args[0], tuple | list) else args


def _encode(text: Any = "", _codec: Any = None, *_: Any) -> Any:
    """_codecs.encode: how protocol 2 writes bytes."""
    return text.encode("latin1", "replace") if isinstance(text, str) else b""


def _reconstruct(kind: Any = None, *_: Any) -> Any:
    """copyreg._reconstructor and __newobj__: an object before its state arrives."""
    plain = isinstance(kind, type) and issubclass(kind, StandIn | PlainDict | PlainList | NumpyArray | NumpyType)
    return kind() if plain else None


def _set(items: Any = (), *_: Any) -> Any:
    return list(items) if isinstance(items, list | tuple) else []


KNOWN: dict[str, Any] = {
    "collections.OrderedDict": PlainDict,
    "collections.defaultdict": PlainDict,
    "collections.Counter": PlainDict,
    "collections.deque": PlainList,
    "builtins.set": Maker(_set),
    "builtins.frozenset": Maker(_set),
    "_codecs.encode": Maker(_encode),
    "copyreg._reconstructor": Maker(_reconstruct),
    "copyreg.__newobj__": Maker(_reconstruct),
    "torch.Size": Maker(_sized),
    "torch._utils._rebuild_tensor": Maker(_tensor),
    "torch._utils._rebuild_tensor_v2": Maker(_tensor),
    "torch._utils._rebuild_tensor_v3": Maker(_tensor_with_dtype),
    "torch._utils._rebuild_parameter": Maker(_first),
    "torch._utils._rebuild_parameter_with_state": Maker(_first),
    "torch._utils._rebuild_device_tensor_from_numpy": Maker(_first),
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": Maker(_first),
    "torch._utils._rebuild_xla_tensor": Maker(_first),
    "torch._tensor._rebuild_from_type_v2": Maker(_from_type),
    "torch.tensor._rebuild_from_type": Maker(_from_type),
    "torch._tensor._rebuild_from_type": Maker(_from_type),
    "numpy.dtype": NumpyType,
    "numpy.ndarray": NumpyArray,
}
for _package in ("numpy.core", "numpy._core"):  # the second name since NumPy 2
    KNOWN[f"{_package}.multiarray._reconstruct"] = Maker(lambda *_: NumpyArray())
    KNOWN[f"{_package}.multiarray.scalar"] = Maker(_scalar)
    KNOWN[f"{_package}.numeric._frombuffer"] = Maker(_numpy_from_buffer)
KNOWN |= {f"torch.{name}": dtype for name, dtype in DTYPES.items()}
KNOWN |= {
    f"{module}.{name}": StorageKind(DTYPES[dtype])
    for name, dtype in STORAGES.items()
    for module in ("torch", "torch.cuda", "torch.storage")
}


# Common and harmless: stand-ins for these are not reported
PLAIN_BUILTINS = (
    "list",
    "dict",
    "tuple",
    "int",
    "float",
    "complex",
    "str",
    "bytes",
    "bytearray",
    "bool",
    "object",
    "type",
    "slice",
    "range",
)
QUIET = frozenset({"torch.device", "torch.serialization._get_layout", *(f"builtins.{name}" for name in PLAIN_BUILTINS)})


def _is_program(name: str) -> bool:
    """Does the name, or a module it lies in, run programs or reach outside?"""
    parts = name.split(".")
    return any(".".join(parts[:count]) in RUNS_PROGRAMS for count in range(1, len(parts) + 1))


class InertUnpickler(pickle.Unpickler):
    """An unpickler that follows no name and calls nothing from outside this module.

    Args:
        file: Where the pickle starts.
        storage: Called with (key, bytes, device, part) for each run of tensor data the pickle refers to; the part is None, or
            the (start, bytes) of a window into it, in files from before PyTorch 0.4.

    Attributes:
        ignored: Names replaced by stand-ins, in the order of their appearance.
    """

    def __init__(self, file: BinaryIO, storage: Callable[[str, int, str, Any], Storage] | None = None):
        super().__init__(file, encoding="latin1")  # Python 2 wrote texts as bytes
        self._storage = storage
        self._stand_ins: dict[str, type[StandIn]] = {}
        self.ignored: list[str] = []

    def find_class(self, module: str, name: str) -> Any:
        """The constructor of this module that describes `module.name`, or a fresh stand-in."""
        module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
        module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        full = f"{module}.{name}"[:MAX_NAME]
        if _is_program(full):
            raise CheckpointError(
                "hostile",
                f"The file asks Python to use {full}, which can run programs or reach other files. No checkpoint needs that. "
                "Nothing was run, and the file was not opened further. Do not open it with other tools.",
            )
        if full in KNOWN:
            return KNOWN[full]
        if full not in self._stand_ins:
            self._stand_ins[full] = _Sealed("StandIn", (StandIn,), {"origin": full, "__slots__": ()})
            if full not in QUIET:
                self.ignored.append(full)
        return self._stand_ins[full]

    def persistent_load(self, pid: Any) -> Any:
        """Torch's references to tensor data, and to the class of a pickled module in old files."""
        pid = tuple(part.decode("latin1") if isinstance(part, bytes) else part for part in pid) if isinstance(pid, tuple) else ()
        if len(pid) >= 2 and pid[0] == "module":
            return pid[1]
        good = len(pid) in (5, 6) and pid[0] == "storage" and isinstance(pid[1], StorageKind) and type(pid[4]) is int
        if not good or self._storage is None or not 0 <= pid[4] < 2**58:
            raise CheckpointError("damaged", "The file refers to tensor data in a way that PyTorch does not write.")
        _, kind, key, device, elements, *view = pid
        window = view[0] if view and isinstance(view[0], tuple) and len(view[0]) == 3 else None  # (key, offset, elements)
        if window is not None and not (
            type(window[1]) is type(window[2]) is int and 0 <= window[1] <= window[1] + window[2] <= elements
        ):
            raise CheckpointError("damaged", "The file refers to a part of tensor data that reaches beyond it.")
        size = kind.dtype.bytes
        part = (window[1] * size, window[2] * size) if window is not None else None
        return TypedStorage(self._storage(str(key), elements * size, str(device), part), kind.dtype)


def carries_code(names: list[str]) -> list[str]:
    """Those names that belong to pickled program code (dill, cloudpickle)."""
    return [name for name in names if any(name == part or name.startswith(f"{part}.") for part in CARRIES_CODE)]
