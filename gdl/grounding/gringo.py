"""gringo in a child process, watched for time, memory and cancellation.

Rule sheets come from strangers and some never end (function terms can grow). The child is a fresh
interpreter that imports clingo and little else (about 40 ms); what it prints is read as it comes,
so that the caller can count rules, and it is killed at once when a limit is passed.

gringo prints through C++ streams that are tied to C's: every number is a system call of its own, about
11 a rule. `std::ios_base::sync_with_stdio(false)` in the child buffers them, ten times faster in
all for large programs. Where that symbol is missing (no libstdc++) it is slow and still right.
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gdl.errors import GroundingError

Progress: TypeAlias = Callable[[int, float], None]
"""Called now and then with the number of ground rules so far and the seconds since the start."""

_TICK_SECONDS = 0.05
_CHUNK_BYTES = 1 << 20

_CHILD = """
import sys
sys.path[:0] = sys.argv[1].split("\\n")
limit = int(sys.argv[2])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
try:
    import ctypes
    ctypes.CDLL("libstdc++.so.6")._ZNSt8ios_base15sync_with_stdioEb(0)
except (ImportError, AttributeError, OSError):
    pass
from clingo import Application, clingo_main
class Gringo(Application):
    program_name = "gringo"
sys.exit(clingo_main(Gringo(), sys.argv[3:]))
"""


class GroundingCancelledError(GroundingError):
    """The caller cancelled."""


class GroundingLimitError(GroundingError):
    """A limit of time, memory or output was passed; `limit` says which."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"grounding passed its limit of {limit}")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Limits:
    """What one grounding may use.

    seconds     wall time
    mebibytes   address space of the child, and separately the size of what it prints
    cancel      when set, the child is killed within 50 ms
    """

    seconds: float = 60.0
    mebibytes: int = 4096
    cancel: threading.Event | None = None


def stream_aspif(asp: str, limits: Limits, progress: Progress | None = None) -> Iterator[bytes]:
    """The aspif text for the program `asp`, in pieces cut anywhere.

    Raises GroundingLimitError, GroundingCancelledError, and GroundingError where gringo refuses the text.
    """
    return _stream(asp, ["--mode=gringo"], limits, progress)


def stream_text(asp: str, limits: Limits) -> Iterator[bytes]:
    """The ground rules as readable lines, in chunks of whole lines, until a limit or the end."""
    rest = b""
    for chunk in _stream(asp, ["--text"], limits, None):
        lines, newline, rest_of_line = chunk.rpartition(b"\n")
        if newline:
            yield rest + lines
            rest = rest_of_line
        else:
            rest += chunk


def _stream(asp: str, arguments: list[str], limits: Limits, progress: Progress | None) -> Iterator[bytes]:
    start = time.monotonic()
    total = rules = 0
    with _child(asp, arguments, limits) as process:
        assert process.stdout is not None
        output = process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while True:
                if limits.cancel is not None and limits.cancel.is_set():
                    raise GroundingCancelledError("grounding was cancelled")
                elapsed = time.monotonic() - start
                if elapsed > limits.seconds:
                    raise GroundingLimitError(f"{limits.seconds:g} s")
                if not selector.select(min(_TICK_SECONDS, limits.seconds - elapsed)):
                    if progress is not None:
                        progress(rules, elapsed)
                    continue
                chunk = os.read(output, _CHUNK_BYTES)
                if not chunk:
                    break
                total += len(chunk)
                if total > limits.mebibytes << 20:
                    raise GroundingLimitError(f"{limits.mebibytes} MiB of output")
                if progress is not None:
                    rules += chunk.count(b"\n")
                    progress(rules, elapsed)
                yield chunk
        _check_exit(process, limits)


@contextmanager
def _child(asp: str, arguments: list[str], limits: Limits) -> Iterator[subprocess.Popen[bytes]]:
    """The running child, killed and reaped on the way out."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as complaints:
        source.write(asp.encode())
        source.seek(0)
        command = [sys.executable, "-I", "-S", "-c", _CHILD, _clingo_paths(), str(limits.mebibytes << 20)]
        process = subprocess.Popen(
            [*command, *arguments, "--warn=none", "-"],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=complaints,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _check_exit(process: subprocess.Popen[bytes], limits: Limits) -> None:
    """clingo's exit code for "grounded" is 0 or 10..30; 33 is out of memory, 65 an error in the text."""
    code = process.wait()
    if code in (0, 10, 20, 30):
        return
    if code in (33, 127, 128) or code < 0:
        raise GroundingLimitError(f"{limits.mebibytes} MiB")
    raise GroundingError(f"gringo refused the program (exit code {code})")


def _clingo_paths() -> str:
    """Where the child finds clingo and the foreign-function module it needs, one folder a line."""
    folders: list[str] = []
    for module in ("clingo", "_cffi_backend"):
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            raise GroundingError(f"the Python package that provides {module!r} is not installed")
        place = Path(spec.origin).parent
        folder = str(place.parent if spec.submodule_search_locations else place)
        if folder not in folders:
            folders.append(folder)
    return "\n".join(folders)
