"""Files that attack whoever opens them. Every payload would create the canary file; none must ever get to.

Each function takes a folder and the path of the canary, writes one file, and returns its path.
"""

import io
import os
import pickle
import random
import struct
import zipfile

import cloudpickle
import torch
from checkpoint_reference import resnet


def weights():
    """Something worth opening, so that the attack is the only reason to refuse."""
    return resnet(0).state_dict()


class _Calls:
    """Pickles as a call of a function."""

    def __init__(self, function, *args):
        self.function, self.args = function, args

    def __reduce__(self):
        return self.function, self.args


def _with_weights(folder, name, payload, **options):
    path = folder / name
    torch.save({"state_dict": weights(), "extra": payload}, path, **options)
    return path


def os_system(folder, canary):
    return _with_weights(folder, "os_system.pth", _Calls(os.system, f"touch {canary}"))


def os_system_legacy(folder, canary):
    return _with_weights(
        folder, "os_system_legacy.pth", _Calls(os.system, f"touch {canary}"), _use_new_zipfile_serialization=False
    )


def os_system_text_pickle(folder, canary):
    """The shortest attack of all, in protocol 0."""
    path = folder / "text.pkl"
    path.write_bytes(f"cos\nsystem\n(S'touch {canary}'\ntR.".encode())
    return path


def eval_payload(folder, canary):
    return _with_weights(folder, "eval.pth", _Calls(eval, f"open({str(canary)!r}, 'w').close()"))


def exec_payload(folder, canary):
    return _with_weights(folder, "exec.pth", _Calls(exec, f"open({str(canary)!r}, 'w').close()"))


def subprocess_payload(folder, canary):
    import subprocess

    return _with_weights(folder, "popen.pth", _Calls(subprocess.Popen, ["touch", str(canary)]))


def open_payload(folder, canary):
    """Writes without running anything: builtins.open in mode w."""
    return _with_weights(folder, "open.pth", _Calls(open, str(canary), "w"))


def reduce_chain(folder, canary):
    """A harmless-looking chain: functools.partial over importlib.import_module, called at the end."""
    import functools
    import importlib

    inner = _Calls(functools.partial, importlib.import_module, "antigravity")
    return _with_weights(folder, "chain.pth", _Calls(map, inner, [str(canary)]))


def hidden_in_attribute(folder, canary):
    """Protocol 4 allows dotted names: os reached through a harmless module."""
    path = folder / "dotted.pkl"
    body = b"\x80\x04\x8c\x13torch.serialization\x8c\tos.system\x93"
    command = f"touch {canary}".encode()
    path.write_bytes(body + b"\x8c" + bytes([len(command)]) + command + b"\x85R.")
    return path


def set_class_attribute(folder, canary):
    """BUILD on a class: tries to plant __setstate__ on whatever replaces it."""
    path = folder / "build_on_class.pkl"
    path.write_bytes(b"\x80\x02cargparse\nNamespace\nN}X\x0c\x00\x00\x00__setstate__cbuiltins\nlist\ns\x86b.")
    return path


def set_function_attribute(folder, canary):
    """BUILD on a function of the reader: tries to change its defaults for the files that follow."""
    path = folder / "build_on_function.pkl"
    path.write_bytes(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x0c\x00\x00\x00__defaults__K\x01\x85s\x86b.")
    return path


def cloudpickled_lambda(folder, canary):
    """A lambda as cloudpickle writes it: code objects and all."""
    path = folder / "lambda.pkl"
    name = str(canary)
    path.write_bytes(cloudpickle.dumps(lambda: open(name, "w").close()))
    return path


def nested_archive(folder, canary):
    inner = os_system(folder, canary)
    path = folder / "nested.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "release/model.pth")
    return path


def path_traversal(folder, canary):
    """A real checkpoint with a further entry that leaves the folder when unpacked."""
    path = folder / "traversal.pth"
    torch.save(weights(), path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"../../../../../../..{canary}", b"x")
    return path


def stride_bomb(folder, canary):
    """1.6 kB that hold a tensor of a billion elements over one number (reference, row 8)."""
    path = folder / "stride.pth"
    torch.save({"conv1.weight": torch.zeros(1).expand(10**9)}, path)
    return path


def huge_claim(folder, canary):
    """A storage that claims 10 GB in a file of a few kB."""
    return _patched(
        folder / "claim.pth", lambda text: text.replace(b"K\x04", b"J" + struct.pack("<i", 2_000_000_000) + b""), size=4
    )


def _patched(path, change, size):
    """A checkpoint whose description is rewritten."""
    torch.save({"x": torch.zeros(size)}, path)
    with zipfile.ZipFile(path) as archive:
        records = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in records.items():
            archive.writestr(name, change(data) if name.endswith("data.pkl") else data)
    return path


def bytearray_claim(folder, canary):
    """bytearray(10**11), which plain weights_only=True would allocate (reference, row 11)."""
    path = folder / "bytearray.pth"
    torch.save({"x": torch.zeros(4)}, path)
    request = b"\x80\x02}X\x01\x00\x00\x00xc__builtin__\nbytearray\n\x8a\x05" + (10**11).to_bytes(5, "little") + b"\x85Rs."
    return _rewritten(path, request)


def _rewritten(path, description):
    with zipfile.ZipFile(path) as archive:
        records = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in records.items():
            archive.writestr(name, description if name.endswith("data.pkl") else data)
    return path


def native_bytearray_claim(folder, canary):
    """The opcode BYTEARRAY8 itself, with a length of 10**11 and no data."""
    path = folder / "bytearray8.pkl"
    path.write_bytes(b"\x80\x05\x96" + (10**11).to_bytes(8, "little") + b"x.")
    return path


def memo_bomb(folder, canary):
    """A memo index of two billion makes the C unpickler ask for 32 GB."""
    path = folder / "memo.pkl"
    path.write_bytes(b"\x80\x02}r" + struct.pack("<I", 2**31 - 1) + b".")
    return path


def compressed(folder, canary):
    """66 kB that become 67 MB (reference, row 10)."""
    path = folder / "compressed.pth"
    torch.save({"x": torch.zeros(2**24)}, path)
    with zipfile.ZipFile(path) as archive:
        records = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    return path


def shared_storage(folder, canary):
    """Thousands of tensors over one storage of 4 MB: each honest, 8 GB together."""
    path = folder / "shared.pth"
    whole = torch.zeros(2**20)
    torch.save({f"layer{n}.weight": whole.view(1024, 1024) for n in range(2000)}, path)
    return path


def overlapping_safetensors(folder, canary):
    path = folder / "overlap.safetensors"
    entry = {f'"t{n}": {{"dtype": "F32", "shape": [1024], "data_offsets": [0, 4096]}}' for n in range(100)}
    header = ("{" + ", ".join(sorted(entry)) + "}").encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4096))
    return path


def truncated(folder, canary):
    path = folder / "truncated.pth"
    buffer = io.BytesIO()
    torch.save(weights(), buffer)
    path.write_bytes(buffer.getvalue()[: len(buffer.getvalue()) // 2])
    return path


def truncated_legacy(folder, canary):
    path = folder / "truncated_legacy.pth"
    torch.save(weights(), path, _use_new_zipfile_serialization=False)
    path.write_bytes(path.read_bytes()[:-1000])
    return path


def random_bytes(folder, canary):
    path = folder / "random.pth"
    path.write_bytes(b"\x07" + random.Random(0).randbytes(5000))
    return path


def web_page(folder, canary):
    path = folder / "page.pth"
    path.write_text("<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>...</body></html>")
    return path


def torch_script(folder, canary):
    path = folder / "script.pth"
    torch.jit.script(torch.nn.Linear(2, 2)).save(str(path))
    return path


def deep_nesting(folder, canary):
    """100,000 lists in one another (reference, row 14)."""
    path = folder / "deep.pkl"
    path.write_bytes(b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".")
    return path


def absurd_depth(folder, canary):
    """A name that claims a stage of two billion blocks, so that listing what is expected would fill the memory."""
    path = folder / "depth.pth"
    torch.save(
        weights() | {"layer4.2000000000.conv1.weight": torch.zeros(64, 64, 3, 3), "layer4.2000000000.bn1.bias": torch.zeros(64)},
        path,
    )
    return path


def shared_lists(folder, canary):
    """60 two-element lists, each twice in the next: 2**60 ways through 2 kB (reference, row 12)."""
    inner = [torch.zeros(2)]
    for _ in range(60):
        inner = [inner, inner]
    path = folder / "lists.pth"
    torch.save({"state_dict": weights(), "lists": inner}, path)
    return path


def cycle(folder, canary):
    """A dictionary that holds itself (reference, row 13)."""
    outer = {"state_dict": weights()}
    outer["self"] = outer
    path = folder / "cycle.pth"
    torch.save(outer, path)
    return path


def lfs_pointer(folder, canary):
    path = folder / "pointer.pth"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00ff\nsize 102530333\n")
    return path


def plain_function(folder, canary):
    """A pickled lambda of a module: the standard pickle stores its name only."""
    path = folder / "function.pkl"
    path.write_bytes(pickle.dumps(weights))
    return path
