"""One warm child process for torch work of less than a second, so that the process that serves pages never imports torch.

    from core import analysis
    flow = analysis.call("core.losses.flow:trajectory", tau=0.2, lam=0.2)

The child starts at the first call, or earlier with `warm_up()`, imports what it is asked for, and stays. Requests and
answers travel as length-prefixed pickles through its standard input and output. It ends with the parent, whose end
closes its input, and a dead or stuck child is replaced at the next call.

Run as a program (`python -m core.analysis`) this module is that child.
"""

import contextlib
import functools
import importlib
import io
import os
import pickle
import queue
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import IO, Any, NamedTuple

TIMEOUT = 120.0  # seconds; the first call pays two to four for importing torch, more on a busy machine
TARGET = re.compile(r"core(\.[A-Za-z_]\w*)+:[A-Za-z_]\w*")  # "core.losses.flow:trajectory"
HEADER = struct.Struct("!Q")  # length of the message that follows, in bytes
PLAIN_PACKAGES = frozenset({"numpy", "collections", "copyreg", "_codecs"})
PLAIN_BUILTINS = frozenset({"complex", "set", "frozenset", "bytearray", "slice", "range"})
ROOT = Path(__file__).resolve().parents[1]


class AnalysisError(RuntimeError):
    """The analysis process could not answer: it died, took too long, or the function failed in it."""


class Answer(NamedTuple):
    """What the child sends back for one request."""

    kind: str  # "result", "invalid" (a ValueError: bad input) or "failed"
    value: Any  # the result, or the message for people
    details: str = ""  # traceback of a failed call


class _PlainUnpickler(pickle.Unpickler):
    """Reads plain values, numpy arrays and the NamedTuples of `core` modules that this process already holds.

    Unpickling would otherwise import whatever module a result was defined in, and torch with it.
    """

    def find_class(self, module: str, name: str) -> Any:
        known = module.startswith("core.") and module in sys.modules
        if known or module.partition(".")[0] in PLAIN_PACKAGES or (module == "builtins" and name in PLAIN_BUILTINS):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def _write(stream: IO[bytes], message: bytes) -> None:
    stream.write(HEADER.pack(len(message)))
    stream.write(message)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    """The next message, or None when the other side has closed the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    message = stream.read(length)
    return message if len(message) == length else None


class _Worker:
    """Owns the child process. Calls from several threads wait for one another."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None

    def call(self, target: str, arguments: dict[str, Any], timeout: float) -> Any:
        deadline = time.monotonic() + timeout
        request = pickle.dumps((target, arguments), protocol=pickle.HIGHEST_PROTOCOL)
        if not self._turn.acquire(timeout=timeout):
            raise AnalysisError(f"{target}: the analysis process was busy for {timeout:g} s; try again in a moment.")
        try:
            message = self._exchange(target, request, deadline, timeout)
        finally:
            self._turn.release()
        return _unpack(target, message)

    def start(self) -> None:
        """Start the child when there is none or it has died."""
        with self._turn:
            self._ensure()

    def stop(self) -> None:
        """End the child, if there is one."""
        with self._turn:
            self._end()

    def pid(self) -> int | None:
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def _exchange(self, target: str, request: bytes, deadline: float, timeout: float) -> bytes:
        for attempt in (1, 2):  # a child that died while idle, or under an earlier call, is replaced once
            child = self._ensure()
            try:
                _write(child.stdin, request)
            except OSError:
                self._end()
                if attempt == 1:
                    continue
                raise AnalysisError(f"{target}: the analysis process does not start. {self._last_words()}") from None
            break
        try:
            message = self._answers.get(timeout=max(deadline - time.monotonic(), 0.001))
        except queue.Empty:
            self._end()
            raise AnalysisError(
                f"{target}: no answer after {timeout:g} s. The analysis process was ended; the next call starts a fresh one."
            ) from None
        if message is None:
            code = self._end()
            raise AnalysisError(
                f"{target}: the analysis process ended in the middle of the call (exit code {code}). "
                f"The next call starts a fresh one. {self._last_words()}".rstrip()
            )
        return message

    def _ensure(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._end()
        if self._errors is not None:
            self._errors.close()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._answers = queue.SimpleQueue()
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        environment = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path}
        command = [sys.executable, "-m", "core.analysis"]
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors, env=environment)
        threading.Thread(target=_forward, args=(self._child.stdout, self._answers), name="analysis-answers", daemon=True).start()
        return self._child

    def _end(self) -> int | None:
        """Kill and reap the child; returns its exit code."""
        child, self._child = self._child, None
        if child is None:
            return None
        child.kill()  # it holds nothing that would need a tidy end
        code = child.wait()
        for stream in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        return code

    def _last_words(self) -> str:
        """The last line the child wrote to its standard error."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"Its last message: {lines[-1]}" if lines else ""


def _forward(stream: IO[bytes], answers: "queue.SimpleQueue[bytes | None]") -> None:
    """Move messages from the child's output to a queue, because a queue can be waited for with a time limit."""
    with contextlib.suppress(OSError, ValueError):  # the stream is closed when the child is replaced
        while (message := _read(stream)) is not None:
            answers.put(message)
    answers.put(None)


def _unpack(target: str, message: bytes) -> Any:
    try:
        answer = Answer(*_PlainUnpickler(io.BytesIO(message)).load())
    except pickle.UnpicklingError as error:
        raise AnalysisError(
            f"{target}: returned {error}, but only numpy arrays, plain values and NamedTuples of loaded core modules may leave "
            "the analysis process. Convert the result in the function."
        ) from None
    if answer.kind == "result":
        return answer.value
    if answer.kind == "invalid":
        raise ValueError(answer.value)
    error = AnalysisError(f"{target}: {answer.value}")
    error.add_note(answer.details)
    raise error


@functools.cache
def _worker() -> _Worker:
    return _Worker()


def call(target: str, /, *, timeout: float = TIMEOUT, **arguments: Any) -> Any:
    """Run a function of `core` in the analysis process.

    Args:
        target: "module:function", the module inside core, for example "core.losses.flow:trajectory".
        timeout: Seconds to wait for the answer, the wait for calls of other threads included.
        arguments: Keyword arguments of the function: plain values and numpy arrays.

    Returns:
        What the function returns: plain values, numpy arrays, or NamedTuples whose module this process has imported.

    Raises:
        ValueError: If `target` is not of that form, or the function itself refuses its input with a ValueError
            (the same text).
        AnalysisError: If the function fails otherwise, returns something else, takes longer than `timeout`, or the
            process dies.
    """
    if not TARGET.fullmatch(target):
        raise ValueError(f"target must be 'core.<module>:<function>', got {target!r}.")
    if not timeout > 0:
        raise ValueError(f"timeout must be > 0 s, got {timeout}.")
    return _worker().call(target, arguments, timeout)


def warm_up() -> None:
    """Start the process and its imports without waiting, so that the first call finds it ready."""
    _worker().start()


def stop() -> None:
    """End the process; a later call starts a fresh one."""
    _worker().stop()


def process_id() -> int | None:
    """Process id of the running child, or None."""
    return _worker().pid()


def _answer(request: bytes) -> Answer:
    """Run one request; the child's side of `call`."""
    target, arguments = pickle.loads(request)  # from the parent through its private pipe, never from a file
    module, _, name = target.partition(":")
    try:
        return Answer("result", getattr(importlib.import_module(module), name)(**arguments))
    except ValueError as error:
        return Answer("invalid", str(error))
    except Exception as error:  # the border of the process: whatever went wrong is reported, and the child lives on
        return Answer("failed", f"{type(error).__name__}: {error}", traceback.format_exc())


def _pickled(answer: Answer) -> bytes:
    try:
        return pickle.dumps(tuple(answer), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps(("failed", f"the result cannot be sent ({type(error).__name__}: {error}).", ""))


def _serve() -> None:
    """Answer requests from standard input until it closes."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a print in a called function must not end up among the answers
    importlib.import_module("torch")
    while (request := _read(requests)) is not None:
        _write(answers, _pickled(_answer(request)))


if __name__ == "__main__":
    _serve()
