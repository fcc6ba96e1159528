"""torch.save since PyTorch 1.6: a zip archive with data.pkl and one stored record per storage."""

import re
import struct
import zipfile

from core.checkpoints.opened import Bounded, Opened, Record, unpickle
from core.checkpoints.report import CheckpointError, Limits
from core.checkpoints.tensors import bytes_text

CHECKPOINT_SUFFIXES = (".pth", ".pt", ".ckpt", ".safetensors", ".tar", ".bin", ".pkl")
MAX_RECORDS = 500_000  # entries of an archive


def open_zip(opened: Opened, limits: Limits) -> None:
    """Read data.pkl as plain data and note where the records of the storages lie.

    Raises:
        CheckpointError: If the archive is damaged, hostile, or holds something else.
    """
    infos = _zip_directory(opened)
    names = [info.filename for info in infos]
    pickles = [name for name in names if name == "data.pkl" or (name.endswith("/data.pkl") and name.count("/") == 1)]
    if any(name == "constants.pkl" or name.endswith("/constants.pkl") for name in names):
        raise CheckpointError(
            "unsupported",
            "This is a TorchScript archive, which carries program code. "
            "Load it where it was made and save model.state_dict() instead.",
        )
    if not pickles:
        raise CheckpointError("not_a_checkpoint", _describe_zip(names))
    _refuse_bombs(opened, infos)
    root = pickles[0].removesuffix("data.pkl")
    inside = {info.filename.removeprefix(root): _record(opened, info) for info in infos if info.filename.startswith(root)}
    opened.records = {name.removeprefix("data/"): record for name, record in inside.items() if name.startswith("data/")}
    if "byteorder" in inside:
        opened.swapped = _bytes(opened, inside["byteorder"]) == b"big"
    description = inside["data.pkl"]
    opened.file.seek(description.start)
    window = Bounded(opened.file, description.start + description.bytes, limits.pickle_bytes)
    opened.tree = unpickle(opened, window, opened.storage)


def _zip_directory(opened: Opened) -> list[zipfile.ZipInfo]:
    try:
        archive = zipfile.ZipFile(opened.file)
    except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError, UnicodeDecodeError):
        raise CheckpointError(
            "damaged",
            "The file starts like a PyTorch checkpoint (a zip archive), but its directory is missing or garbled: it was cut off "
            "or damaged on the way. Get it again and compare its size with the original.",
        ) from None
    infos = archive.infolist()
    if len(infos) > MAX_RECORDS:
        raise CheckpointError("too_large", f"The archive has {len(infos):,} entries; at most {MAX_RECORDS:,} are read.")
    return infos


def _describe_zip(names: list[str]) -> str:
    """What a zip archive without data.pkl may be."""
    if names and all(name.endswith(".npy") for name in names):
        return (
            "This is a NumPy archive (.npz). Only PyTorch and safetensors "
            "checkpoints are opened here; save the model's state_dict instead."
        )
    nested = sorted((name for name in names if name.lower().endswith(CHECKPOINT_SUFFIXES)), key=len)
    if nested:
        shown = "".join(char if char.isprintable() else "?" for char in nested[0][-80:])
        return (
            f"This is a zip archive with a checkpoint inside ({shown}). Unpack "
            "it and open that file; archives in archives are not followed."
        )
    if any(name.startswith((".data/", "word/", "xl/")) or "/.data/" in name for name in names):
        return "This is a document or a packaged program in a zip archive, not a checkpoint."
    return (
        f"This is a zip archive with {len(names)} entr{'y' if len(names) == 1 else 'ies'}, "
        "but without the tensors of a PyTorch checkpoint (data.pkl)."
    )


def _refuse_bombs(opened: Opened, infos: list[zipfile.ZipInfo]) -> None:
    """Stored records cannot hold more than the file; anything else is a decompression bomb or damage."""
    packed = [info for info in infos if info.compress_type != zipfile.ZIP_STORED]
    if packed:
        raise CheckpointError(
            "hostile",
            f"The archive holds compressed data ({bytes_text(sum(info.compress_size for info in packed))} "
            f"that claim to become {bytes_text(sum(info.file_size for info in packed))}). "
            "PyTorch never writes such files and they can fill the memory. If it is your own, save it again with torch.save.",
        )
    for info in infos:
        if info.flag_bits & 0x1:
            raise CheckpointError(
                "unsupported", "The archive is encrypted. Unpack it with its password and open the checkpoint inside."
            )
    total = sum(info.file_size for info in infos)
    if total > opened.size:
        raise CheckpointError(
            "hostile",
            f"The archive claims {bytes_text(total)} of content in a file of {bytes_text(opened.size)}: its entries overlap.",
        )
    if len({info.filename for info in infos}) < len(infos):
        raise CheckpointError("hostile", "The archive holds several entries with the same name, so it has no clear meaning.")
    for info in infos:
        parts = re.split(r"[/\\]", info.filename)
        if ".." in parts or not parts[0] or re.match(r"[A-Za-z]:", info.filename):
            shown = "".join(char if char.isprintable() else "?" for char in info.filename[:80])
            raise CheckpointError(
                "hostile", f"An entry of the archive is named {shown!r}, which would be written outside its folder when unpacked."
            )


def _record(opened: Opened, info: zipfile.ZipInfo) -> Record:
    """The bytes of a stored entry; its place follows from the entry's own header."""
    opened.file.seek(info.header_offset)
    header = opened.file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise CheckpointError(
            "damaged", "An entry of the archive is not where its directory says. The file is damaged; get it again."
        )
    name, extra = struct.unpack("<HH", header[26:30])
    start = info.header_offset + 30 + name + extra
    if start + info.file_size > opened.size:
        raise CheckpointError(
            "damaged", "An entry of the archive reaches beyond the end of the file. It was cut off; get it again."
        )
    return Record(start, info.file_size, info.CRC)


def _bytes(opened: Opened, record: Record) -> bytes:
    opened.file.seek(record.start)
    return opened.file.read(min(record.bytes, 100))
