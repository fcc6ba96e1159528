"""Kinds of files and of objects in them: row 30 and the traps of the reference's section 4.3."""

import argparse
import collections
import io
import json
import pathlib
import pickle
import threading
import warnings
import zipfile

import numpy as np
import pytest
import safetensors.torch
import torch
from checkpoint_cases import all_cases, legacy
from checkpoint_reference import images, resnet

from core.checkpoints import CheckpointError, Limits, inspect, load_encoder
from core.checkpoints.pickles import InertUnpickler
from core.checkpoints.reader import open_checkpoint
from core.checkpoints.tree import find_tensors


def run(encoder):
    with torch.no_grad():
        return encoder(images())


def tensors_of(path):
    """Every tensor of a file by (path, name), read by our reader in this process."""
    opened = open_checkpoint(path, Limits())
    with opened.file:
        groups = find_tensors(opened.tree, Limits(), opened.size)
        return {
            (group.path, name): (opened.array(ref), ref.dtype.name) for group in groups for name, ref in group.tensors.items()
        }, opened


# The oracle: torch.load(weights_only=True)

CASES = all_cases()


def flat(value, path=()):
    """Tensors in nested dictionaries."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flat(item, (*path, str(key)))
    elif isinstance(value, torch.Tensor):
        yield path, value


@pytest.mark.parametrize("format_", ["zip", "legacy"])
def test_same_tensors_as_torch(tmp_path, format_):
    """Wherever torch.load(weights_only=True) opens a file, both readers see the same names, shapes, types and bits."""
    compared = 0
    for case in CASES:
        path = tmp_path / "case.pth"
        torch.save(case.content, path, _use_new_zipfile_serialization=format_ == "zip")
        try:
            content = torch.load(path, weights_only=True)
        except pickle.UnpicklingError:
            continue  # the reason for a reader that goes further
        expected = {path: value for path, value in flat(content) if "optimizer" not in path}
        ours = {(*where, name): array for (where, name), array in tensors_of(path)[0].items()}
        assert ours.keys() == expected.keys(), case.id
        for name, (array, dtype) in ours.items():
            assert dtype == str(expected[name].dtype).removeprefix("torch.")
            assert np.array_equal(array, expected[name].numpy()), (case.id, name)
            compared += 1
    assert compared > 4000


def test_views_strides_and_types_as_torch(tmp_path):
    """Slices, transposed and expanded-by-one views, empty and scalar tensors, every element type."""
    base = torch.arange(24.0).reshape(2, 3, 4)
    content = {
        "slice": base[:, 1:, ::2],
        "transposed": base.permute(2, 0, 1),
        "channels_last": torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 4),
        "row": base[1, 2],
        "one": torch.ones(1, 1).expand(1, 1),
        "parameter": torch.nn.Parameter(torch.rand(3)),
    }
    for dtype in (
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
        torch.bool,
    ):
        content[str(dtype)] = torch.tensor([[1.5, 0.0], [3.0, 100.0]]).to(dtype)
    content |= {
        "complex": torch.tensor([1 + 2j]),
        "float8": torch.tensor([1.5]).to(torch.float8_e4m3fn),
        "uint16": torch.tensor([7], dtype=torch.uint16),
    }
    path = tmp_path / "views.pth"
    for old in (False, True):
        torch.save(content, path, _use_new_zipfile_serialization=not old)
        ours, _ = tensors_of(path)
        assert {name for _, name in ours} == set(content)
        for name, expected in content.items():
            array, dtype = ours[((), name)]
            assert dtype == str(expected.dtype).removeprefix("torch.") and array.shape == tuple(expected.shape)
            bits = expected.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
            assert np.array_equal(array.reshape(-1).view(np.uint8), bits), name


# Row 30


def test_safetensors(tmp_path):
    path = tmp_path / "encoder.safetensors"
    safetensors.torch.save_file(resnet(0).state_dict(), path, {"format": "pt"})
    encoder, report = load_encoder(path)
    assert report.kind == "safetensors" and torch.equal(run(encoder), run(resnet(0)))


def test_the_content_decides_not_the_name(tmp_path):
    path = tmp_path / "encoder.txt"
    safetensors.torch.save_file(resnet(0).state_dict(), path)
    assert inspect(path).kind == "safetensors"
    torch.save(resnet(0).state_dict(), tmp_path / "encoder.safetensors")
    assert inspect(tmp_path / "encoder.safetensors").kind == "zip"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("kind", ["zip", "legacy", "safetensors"])
def test_other_precisions(tmp_path, dtype, kind):
    """Half weights run in float32; values are those of the file, not of the encoder before it was halved."""
    content = {name: value.to(dtype) if value.is_floating_point() else value for name, value in resnet(0).state_dict().items()}
    path = tmp_path / "half.pth"
    safetensors.torch.save_file(content, path) if kind == "safetensors" else torch.save(
        content, path, _use_new_zipfile_serialization=kind == "zip"
    )
    encoder, report = load_encoder(path)
    reference = resnet(0)
    reference.load_state_dict({name: value.float() for name, value in content.items()})
    assert torch.equal(run(encoder), run(reference))
    assert report.dtypes == {str(dtype).removeprefix("torch."): 60, "int64": 12}
    row, expected = report.rows[0], content["conv1.weight"].double()
    assert row.norm == pytest.approx(expected.norm().item(), rel=1e-9)


@pytest.mark.parametrize("old", [False, True])
def test_cuda_tags(tmp_path, old):
    """Storages that lived on a GPU open on a machine without one (pitfall 23)."""
    path = tmp_path / "cuda.pth"
    torch.save(resnet(0).state_dict(), path, _use_new_zipfile_serialization=not old)
    if old:
        path.write_bytes(path.read_bytes().replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    else:
        with zipfile.ZipFile(path) as archive:
            records = {info.filename: archive.read(info) for info in archive.infolist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in records.items():
                archive.writestr(name, data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"))
    with pytest.raises(RuntimeError, match="CUDA"):  # the file really claims a GPU
        torch.load(path, weights_only=True)
    encoder, _ = load_encoder(path)
    assert torch.equal(run(encoder), run(resnet(0)))


MESSAGES = {
    "empty.pth": (b"", "The file is empty (0 bytes)."),
    "note.txt": (b"These are my weights,\nhonestly.", "This is a text file, not a checkpoint."),
    "pickle-like.txt": (b"dear reader,\nthis ends in a full stop.", "This is a text file, not a checkpoint."),
    "index.json": (
        b'{"weight_map": {"a": "part-1.safetensors"}}',
        ("It lists the parts of a divided checkpoint; open one of those."),
    ),
    "error.xml": (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "the error message of a file server"),
    "only_pk.pth": (b"PK\x03\x04" + b"x" * 50, "its directory is missing or garbled"),
    "picture.png": (b"\x89PNG\r\n\x1a\n....", "This is a PNG picture, not a checkpoint."),
    "model.h5": (b"\x89HDF\r\n\x1a\n....", "This is an HDF5 file (Keras)."),
    "archive.tar.gz": (b"\x1f\x8b\x08....", "This is a gzip archive."),
    "model.gguf": (b"GGUF....", "This is a GGUF file of a language model."),
    "array.npy": (b"\x93NUMPY....", "This is a single NumPy array (.npy)"),
    "model.onnx": (b"\x08\x07\x12\x07pytorch\x1a", "This looks like an ONNX model."),
    "model.ckpt.index": (
        b"\x00\x00\x02\x01" + bytes(100) + bytes.fromhex("57fb808b247547db"),
        "This is the index of a TensorFlow checkpoint.",
    ),
    "garbled.safetensors": (
        (20).to_bytes(8, "little") + b'{"a": nonsense     }',
        "The header of this safetensors file is garbled.",
    ),
    "cut.safetensors": ((2**20).to_bytes(8, "little") + b'{"a": ', "This looks like a safetensors file that was cut off"),
    "number.pkl": (pickle.dumps(5), None),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_other_files_are_named(tmp_path, name):
    content, text = MESSAGES[name]
    path = tmp_path / name
    path.write_bytes(content)
    if text is None:
        assert inspect(path).refusal == "There are no tensors in this file that belong to a model."
        return
    with pytest.raises(CheckpointError) as refused:
        inspect(path)
    assert text in str(refused.value)


def test_npz(tmp_path):
    np.savez(tmp_path / "weights.npz", a=np.zeros(3))
    with pytest.raises(CheckpointError, match=r"This is a NumPy archive \(\.npz\)"):
        inspect(tmp_path / "weights.npz")


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ([], "This is a folder. Choose the checkpoint file in it."),
        (["last.ckpt"], "Choose the checkpoint file in it. It contains last.ckpt."),
        (["model.ckpt-100.index", "model.ckpt-100.data-00000-of-00001"], "This is a folder with a TensorFlow checkpoint."),
    ],
)
def test_folders(tmp_path, inside, text):
    for name in inside:
        (tmp_path / name).touch()
    with pytest.raises(CheckpointError) as refused:
        inspect(tmp_path)
    assert text in str(refused.value)


def test_missing_and_too_large(tmp_path):
    with pytest.raises(CheckpointError, match="There is no such file"):
        inspect(tmp_path / "absent.pth")
    path = tmp_path / "large.pth"
    torch.save(resnet(0).state_dict(), path)
    with pytest.raises(CheckpointError) as refused:
        inspect(path, limits=Limits(file_bytes=1000))
    assert refused.value.problem == "too_large" and "at most 1.0 kB are read" in str(refused.value)


def test_safetensors_cut_behind_the_header(tmp_path):
    path = tmp_path / "cut.safetensors"
    safetensors.torch.save_file(resnet(0).state_dict(), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="The file ends before the data of tensor"):
        inspect(path)


def test_checksum_of_a_flipped_bit(tmp_path):
    """PyTorch does not compare the checksums of its records; a damaged download goes unnoticed there."""
    path = tmp_path / "flipped.pth"
    torch.save(resnet(0).state_dict(), path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(next(name for name in archive.namelist() if name.endswith("data/0")))
    content[info.header_offset + 200] ^= 1
    path.write_bytes(content)
    torch.load(path, weights_only=True)
    assert "1 of the stored tensors do not fit their checksums; the file may be damaged." in inspect(path).notes


# Objects


def test_numpy_arrays_of_every_type(tmp_path):
    """In torch files and in plain pickles of every protocol, written by this NumPy and named as by NumPy 1 (rows 5, 6)."""
    arrays = {
        code: np.array([[1, 0, 2], [3, 4, 5]]).astype(code)
        for code in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", ">f4", ">i2")
    }
    arrays["fortran"] = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    arrays["object"] = np.array([{"a": 1}, None], dtype=object)
    path = tmp_path / "arrays.pth"
    writers = [lambda: torch.save(arrays, path), lambda: legacy(arrays, path)]
    writers += [lambda protocol=protocol: path.write_bytes(pickle.dumps(arrays, protocol)) for protocol in range(2, 6)]
    writers.append(lambda: path.write_bytes(pickle.dumps(arrays, 2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")))
    for write in writers:
        write()
        ours = {name: array for (_, name), (array, _) in tensors_of(path)[0].items()}
        assert set(ours) == set(arrays) - {"object"}
        for name, array in ours.items():
            assert np.array_equal(array.astype(arrays[name].dtype), arrays[name]), name


def test_containers_and_numbers_load():
    """deque and defaultdict, which weights_only=True refuses even with stand-ins, are plain containers here (rows 1, 2)."""
    content = {
        "d": collections.defaultdict(list, a=[1, 2]),
        "q": collections.deque([1, 2, 3], 2),
        "o": collections.OrderedDict(b=2),
        "c": collections.Counter("aab"),
        "n": argparse.Namespace(x=1, y=argparse.Namespace(z=[2])),
        "s": {1, 2},
        "f": np.float32(1.5),
        "i": np.int64(-3),
        "p": pathlib.PurePosixPath("/a/b"),
        "b": b"bytes",
        "t": (1, (2,)),
        "big": 10**30,
        "none": None,
        "size": torch.Size([2, 3]),
        "dtype": torch.float16,
    }
    for protocol in range(2, 6):
        unpickler = InertUnpickler(io.BytesIO(pickle.dumps(content, protocol)))
        found = unpickler.load()
        assert found["d"] == {"a": [1, 2]} and found["q"] == [2, 3] and found["o"] == {"b": 2} and found["c"] == {"a": 2, "b": 1}
        assert found["n"].state["x"] == 1 and found["n"].state["y"].state == {"z": [2]}
        assert sorted(found["s"]) == [1, 2] and found["f"] == 1.5 and found["i"] == -3 and found["b"] == b"bytes"
        assert found["t"] == (1, (2,)) and found["big"] == 10**30 and found["none"] is None and found["size"] == (2, 3)
        assert found["dtype"].name == "float16"
        assert unpickler.ignored == ["argparse.Namespace", "pathlib.PurePosixPath"]


class Settings(dict):
    """Like addict's Dict or Lightning's AttributeDict: a dictionary of an unknown class."""


class History(list):
    """A list of an unknown class."""


@pytest.mark.parametrize("save", [torch.save, legacy])
def test_unknown_classes_of_every_shape(tmp_path, save):
    """Configuration objects that subclass dict and list do not stop the weights from loading (VISSL, mmengine)."""
    settings = Settings(lr=0.1, steps=History([1, 2]))
    settings.note = "attributes too"
    path = tmp_path / "settings.pth"
    save({"meta": settings, "state_dict": resnet(0).state_dict(), "hook": History([settings])}, path)
    with pytest.raises(pickle.UnpicklingError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.load(path, weights_only=True)
    encoder, report = load_encoder(path)
    assert torch.equal(run(encoder), run(resnet(0)))
    assert report.ignored_globals == (f"{__name__}.Settings", f"{__name__}.History")
    assert any("Nothing of it was imported or run" in note for note in report.notes)


def test_a_slice_counts_its_whole_storage(tmp_path):
    """Row 9: `randn(1000, 1000)[:1]` writes 4 MB; one row is read, and its values are right."""
    whole = torch.randn(1000, 1000)
    torch.save({"x": whole[3:4]}, tmp_path / "slice.pth")
    ours, opened = tensors_of(tmp_path / "slice.pth")
    assert opened.size > 4_000_000 and np.array_equal(ours[((), "x")][0], whole[3:4].numpy())


def test_facts_beside_the_weights(tmp_path):
    content = {
        "epoch": 12,
        "arch": "resnet50",
        "state_dict": resnet(0).state_dict(),
        "args": argparse.Namespace(temperature=0.07, batch_size=256, secret="x"),
        "best_acc1": 71.25,
    }
    torch.save(content, tmp_path / "facts.pth")
    assert inspect(tmp_path / "facts.pth").facts == {
        "epoch": "12",
        "arch": "resnet50",
        "best_acc1": "71.25",
        "args.temperature": "0.07",
        "args.batch_size": "256",
    }


def test_several_threads_at_once(tmp_path):
    """Row 7: torch's list of allowed names is one for the whole process; ours belongs to each reading process."""
    paths = []
    for number, extra in enumerate((argparse.Namespace(a=1), pathlib.PurePosixPath("/x"), Settings(a=1))):
        path = tmp_path / f"{number}.pth"
        torch.save({"state_dict": resnet(number).state_dict(), "extra": extra}, path)
        paths.append(path)
    found = {}
    threads = [threading.Thread(target=lambda path=path: found.update({path: inspect(path)})) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[path].ignored_globals for path in paths] == [
        ("argparse.Namespace",),
        ("pathlib.PurePosixPath",),
        (f"{__name__}.Settings",),
    ]


def test_report_survives_json(tmp_path):
    torch.save(resnet(0).state_dict(), tmp_path / "a.pth")
    report = inspect(tmp_path / "a.pth")
    assert type(report).model_validate(json.loads(report.model_dump_json())) == report


def test_views_of_old_files(tmp_path):
    """Files of PyTorch before 0.4 name a window into a storage; written by hand, because no current version does."""
    values = torch.arange(10, dtype=torch.float32)

    class Window:
        def __reduce__(self):
            return torch._utils._rebuild_tensor, ("window", 1, (2, 2), (2, 1))

    class Writer(pickle._Pickler):
        def persistent_id(self, value):
            return ("storage", torch.FloatStorage, "7", "cpu", 10, ("view", 3, 6)) if value == "window" else None

    buffer = io.BytesIO()
    for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True, "protocol_version": 1001, "type_sizes": {}}):
        pickle.dump(value, buffer, 2)
    Writer(buffer, 2).dump({"x": Window()})
    pickle.dump(["7"], buffer, 2)
    buffer.write((10).to_bytes(8, "little") + values.numpy().tobytes())
    path = tmp_path / "old.pth"
    path.write_bytes(buffer.getvalue())
    ours, opened = tensors_of(path)
    assert opened.kind == "legacy" and np.array_equal(
        ours[((), "x")][0], [[4, 5], [6, 7]]
    )  # 3 into the storage, 1 into the window
