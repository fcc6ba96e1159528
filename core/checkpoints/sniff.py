"""Tell what kind of file this is from its bytes, whatever its name says, and say so politely when it is no checkpoint."""

import re
from pathlib import Path
from typing import BinaryIO, Literal

from core.checkpoints.report import CheckpointError, Limits
from core.checkpoints.tensors import bytes_text

Kind = Literal["zip", "pickle", "safetensors"]

HEAD = 4096  # bytes looked at
TEXT_PICKLE = re.compile(rb"[(\]}ldcI]")  # how pickles of protocol 0 begin
SIGNATURES = (
    (b"\x1f\x8b", "a gzip archive. Unpack it (gunzip, or tar -xzf) and open the checkpoint inside"),
    (b"BZh", "a bzip2 archive. Unpack it and open the checkpoint inside"),
    (b"\xfd7zXZ\x00", "an xz archive. Unpack it and open the checkpoint inside"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive. Unpack it and open the checkpoint inside"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive. Unpack it and open the checkpoint inside"),
    (b"Rar!\x1a\x07", "a RAR archive. Unpack it and open the checkpoint inside"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras). Only PyTorch and safetensors checkpoints are opened here"),
    (b"GGUF", "a GGUF file of a language model. Only image encoders are opened here"),
    (b"\x93NUMPY", "a single NumPy array (.npy), without names of layers. Save the model's state_dict instead"),
    (b"%PDF", "a PDF document, not a checkpoint"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture, not a checkpoint"),
    (b"\xff\xd8\xff", "a JPEG picture, not a checkpoint"),
    (b"GIF8", "a GIF picture, not a checkpoint"),
    (b"\x7fELF", "a Linux program, not a checkpoint"),
    (b"MZ", "a Windows program, not a checkpoint"),
    (b"\xcf\xfa\xed\xfe", "a macOS program, not a checkpoint"),
    (b"SQLite format 3", "an SQLite database, not a checkpoint"),
    (b"PAR1", "a Parquet table, not a checkpoint"),
)  # fmt: skip
TENSORFLOW_INDEX = bytes.fromhex("57fb808b247547db")  # the last eight bytes of a TensorFlow checkpoint's .index file


def check_path(path: Path, limits: Limits) -> int:
    """Is there a file of an allowed size?

    Returns:
        Its size in bytes.

    Raises:
        CheckpointError: If there is none, it is a folder or a device, it is empty, or it is too large.
    """
    if path.is_dir():
        inside = {item.name for item in list(path.iterdir())[:200]}
        if any(name.endswith(".index") or name == "saved_model.pb" for name in inside):
            raise CheckpointError(
                "unsupported", "This is a folder with a TensorFlow checkpoint. Convert it to PyTorch first, then open that file."
            )
        found = sorted(name for name in inside if name.endswith((".safetensors", ".pth", ".pt", ".ckpt", ".bin", ".tar")))
        hint = f" It contains {found[0]}." if found else ""
        raise CheckpointError("not_found", f"This is a folder. Choose the checkpoint file in it.{hint}")
    if not path.exists():
        raise CheckpointError("not_found", "There is no such file. Check the path.")
    if not path.is_file():
        raise CheckpointError("not_found", "This is a device or a pipe, not a file.")
    size = path.stat().st_size
    if size == 0:
        raise CheckpointError(
            "damaged", "The file is empty (0 bytes). The download or the save did not finish; get the file again."
        )
    if size > limits.file_bytes:
        raise CheckpointError(
            "too_large",
            f"The file has {bytes_text(size)}; at most {bytes_text(limits.file_bytes)} are read. "
            "Save the state_dict without the optimizer, or raise the limit.",
        )
    return size


def sniff(file: BinaryIO, size: int) -> Kind:
    """The container of a checkpoint.

    Args:
        file: Open for reading, any position.
        size: Bytes in it.

    Returns:
        "zip", "pickle" (torch's old format and plain pickles) or "safetensors".

    Raises:
        CheckpointError: If it is something else; the text says what, and what to do.
    """
    file.seek(0)
    head = file.read(HEAD)
    if head.startswith(b"version https://git-lfs.github.com/spec/"):
        claimed = re.search(rb"size (\d+)", head)
        real = f" of {bytes_text(int(claimed[1][:18]))}" if claimed else ""
        raise CheckpointError(
            "not_a_checkpoint",
            f"This is a Git LFS pointer: a note that stands for the real file{real}. Fetch it with `git lfs pull`.",
        )
    for signature, what in SIGNATURES:
        if head.startswith(signature):
            raise CheckpointError("not_a_checkpoint", f"This is {what}.")
    if head[257:262] == b"ustar":
        raise CheckpointError(
            "not_a_checkpoint",
            "This is a tar archive: several files packed together, or a checkpoint of PyTorch before version 0.1.10. "
            "Unpack it and open the checkpoint inside.",
        )
    if head.startswith(b"PK"):
        return "zip"
    header = int.from_bytes(head[:8], "little")
    if size > 8 and head[8:9] == b"{" and head[9:10] in b'"} \n':
        if header > size - 8:
            raise CheckpointError(
                "damaged",
                (
                    "This looks like a safetensors file that was cut off: its "
                    f"header has {bytes_text(header)}, the file {bytes_text(size)}."
                ),
            )
        return "safetensors"
    if head[0] == 0x80 and len(head) > 1 and head[1] <= 5:
        return "pickle"
    if TEXT_PICKLE.match(head) and _last_byte(file, size) == b"." and not _is_text_document(head):
        return "pickle"
    raise CheckpointError("not_a_checkpoint", _describe(file, head, size))


def _last_byte(file: BinaryIO, size: int) -> bytes:
    file.seek(size - 1)
    return file.read(1)


def _is_text_document(head: bytes) -> bool:
    """JSON and prose may begin like a pickle of protocol 0; pickles have a line break within their first bytes."""
    return head.lstrip()[:1] in b"[{" or b"\n" not in head[:200]


def _describe(file: BinaryIO, head: bytes, size: int) -> str:
    """What a file that is no checkpoint may be."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<script")):
        return (
            "This is a web page (HTML), not a checkpoint. The download link probably asked for a login or a confirmation; "
            "open it in a browser and save the file itself."
        )
    if start.startswith(b"<?xml"):
        return "This is an XML document, often the error message of a file server, not a checkpoint. Download the file again."
    if start[:1] in (b"{", b"["):
        hint = " It lists the parts of a divided checkpoint; open one of those." if b"weight_map" in head else ""
        return f"This is a JSON document, not a checkpoint.{hint}"
    if b"onnx" in head[:200] or b"pytorch" in head[:64]:
        return (
            "This looks like an ONNX model. Only PyTorch and safetensors "
            "checkpoints are opened here; save the state_dict instead."
        )
    file.seek(max(0, size - 8))
    if file.read(8) == TENSORFLOW_INDEX:
        return "This is the index of a TensorFlow checkpoint. Convert the checkpoint to PyTorch first, then open that file."
    printable = sum(byte in b"\t\r\n" or 32 <= byte < 127 for byte in head)
    if printable > 0.95 * len(head):
        return "This is a text file, not a checkpoint."
    first = head[:4].hex(" ")
    return (
        f"This is no kind of checkpoint known here (its first bytes are {first}). "
        "PyTorch (.pth, .pt, .ckpt, .tar) and safetensors files are opened."
    )
