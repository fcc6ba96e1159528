"""Small stand-ins for the published data sets, in the publishers' own formats, and a web server that misbehaves on demand."""

import gzip
import hashlib
import http.server
import io
import pickle
import struct
import tarfile
import threading
from pathlib import Path

import numpy as np

from core.datasets.catalogue import CIFAR10_TRAIN, IDX_FILES
from core.datasets.download import RemoteFile


def idx(array: np.ndarray) -> bytes:
    """An array as an IDX file of bytes."""
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def mnist_files(n_train: int = 40, n_test: int = 20, seed: int = 0) -> dict[str, bytes]:
    """MNIST's four files, unpacked, with random pixels and the classes in turn."""
    rng = np.random.default_rng(seed)
    parts = []
    for n in (n_train, n_test):
        parts += [rng.integers(0, 256, (n, 28, 28), np.uint8), (np.arange(n) % 10).astype(np.uint8)]
    return {name: idx(part) for name, part in zip(IDX_FILES, parts, strict=True)}


def tar_gz(files: dict[str, bytes]) -> bytes:
    """A gzipped tar archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def cifar10_files(n: int = 10) -> dict[str, bytes]:
    """CIFAR-10's seven files; image i of batch b is flat grey with red 10 b, green i, blue 200."""
    files = {}
    for batch, name in enumerate([*CIFAR10_TRAIN, "test_batch"]):
        pixels = np.zeros((n, 3, 32, 32), np.uint8)
        pixels[:, 0], pixels[:, 1], pixels[:, 2] = 10 * batch, np.arange(n)[:, None, None], 200
        pixels[:, 2, 0, 1] = 99  # second column of the first row: tells rows from columns
        files[name] = pickle.dumps({"data": pixels.reshape(n, -1), "labels": [i % 10 for i in range(n)]}, protocol=2)
    files["batches.meta"] = pickle.dumps({"label_names": [f"class_{i}" for i in range(10)]}, protocol=2)
    return files


def stl10_files(n: int = 10) -> dict[str, bytes]:
    """STL-10's five files: pixels column by column, labels from 1."""
    pixels = np.zeros((n, 3, 96, 96), np.uint8)  # image, channel, column, row
    pixels[:, 0], pixels[:, 1, 1, 0] = np.arange(n)[:, None, None], 77
    labels = (np.arange(n) % 10 + 1).astype(np.uint8).tobytes()
    names = "\n".join(f"class{i}" for i in range(10)).encode()
    return {"train_X.bin": pixels.tobytes(), "train_y.bin": labels, "test_X.bin": pixels.tobytes(), "test_y.bin": labels,
            "class_names.txt": names, "unlabeled_X.bin": b"not read"}


def write_all(folder: Path, files: dict[str, bytes], zipped: bool = False) -> None:
    """Write files into a folder, gzipped if asked."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / (f"{name}.gz" if zipped else name)).write_bytes(gzip.compress(content, mtime=0) if zipped else content)


class Server:
    """A local web server for a few files. Faults are asked for per path, and each one happens once."""

    def __init__(self, files: dict[str, bytes]):
        self.files = files
        self.requests: list[tuple[str, str | None]] = []  # path, Range header
        self.break_after: dict[str, list[int]] = {}  # path -> bytes to send before the connection breaks, one per request
        self.answer: dict[str, list[int]] = {}  # path -> status codes to answer before serving properly
        self.ignore_range = False
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.serve(self)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def remote(self, name: str, *more_urls: str) -> RemoteFile:
        """The published file, as the catalogue would list it."""
        return RemoteFile(name, (*more_urls, self.url(name)), hashlib.md5(self.files[f"/{name}"]).hexdigest())

    def serve(self, handler) -> None:
        path, wanted = handler.path, handler.headers.get("Range")
        self.requests.append((path, wanted))
        if self.answer.get(path):
            handler.send_error(self.answer[path].pop(0))
            return
        if path not in self.files:
            handler.send_error(404)
            return
        content = self.files[path]
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and not self.ignore_range else 0
        if start >= len(content):
            handler.send_error(416)
            return
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(content) - start))
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.end_headers()
        stop = start + self.break_after[path].pop(0) if self.break_after.get(path) else len(content)
        handler.wfile.write(content[start:stop])
        if stop < len(content):
            handler.wfile.flush()
            handler.connection.close()
