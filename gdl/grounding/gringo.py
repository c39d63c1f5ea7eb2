"""gringo in a child process, with limits.

Rule sheets are untrusted, and grounding some of them never ends (function terms can grow). The child is a
fresh interpreter that imports clingo and little else (about 40 ms); its output is read as it arrives,
so that the caller can count rules, and it is killed as soon as a limit is exceeded.

gringo prints through C++ streams that are synchronized with C's: every number is a system call, about
11 per rule. `std::ios_base::sync_with_stdio(false)` in the child buffers them, which makes large programs
ten times as fast. Without that symbol (no libstdc++) the result is the same, only slower.
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from gdl.errors import GroundingError
from gdl.program import Rule
from gdl.work_clock import WorkClock

Progress: TypeAlias = Callable[[int, float], None]
"""Called regularly with the number of ground rules so far and gringo's CPU seconds."""

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


class GroundingLimitError(GroundingError):
    """A limit on time, memory or output was exceeded; `limit` names it."""

    def __init__(self, limit: str) -> None:
        super().__init__(f"grounding exceeded its limit of {limit}")
        self.limit = limit


class ExplodingRulesError(GroundingLimitError):
    """A limit was exceeded; `rule` probably has the most instances, by their estimated number."""

    def __init__(self, limit: str, source_name: str, rule: Rule) -> None:
        place = f"{source_name}:{rule.span.line}" if rule.span else source_name
        GroundingError.__init__(
            self,
            f"{place}: grounding exceeded its limit of {limit};"
            f" the rule for {rule.predicate} probably has the most instances",
        )
        self.limit, self.source_name, self.rule = limit, source_name, rule

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.limit, self.source_name, self.rule))


@dataclass(frozen=True, slots=True)
class GroundingLimits:
    """Limits on one run of gringo.

    seconds     CPU time of the child, see `gdl.work_clock`
    mebibytes   address space of the child, and separately the size of its output
    """

    seconds: float = 60.0
    mebibytes: int = 4096


def stream(asp: str, limits: GroundingLimits, progress: Progress | None = None) -> Iterator[bytes]:
    """The aspif text for the program `asp`, in chunks with arbitrary boundaries.

    Raises GroundingLimitError, and GroundingError if gringo rejects the text.
    """
    total = rules = 0
    with _child(asp, limits) as process:
        clock = WorkClock(process.pid)
        with closing(_chunks(process, clock, limits)) as chunks:
            for chunk in chunks:
                total += len(chunk)
                if total > limits.mebibytes << 20:
                    raise GroundingLimitError(f"{limits.mebibytes} MiB of output")
                if progress is not None:
                    rules += chunk.count(b"\n")
                    progress(rules, clock.seconds)
                if chunk:
                    yield chunk
        _check_exit(process, limits)


def _chunks(
    process: subprocess.Popen[bytes], clock: WorkClock, limits: GroundingLimits
) -> Generator[bytes, None, None]:
    """The output of the child until its end, in chunks; empty ones while there is no output."""
    assert process.stdout is not None
    output = process.stdout.fileno()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if clock.has_passed(limits.seconds):
                raise GroundingLimitError(f"{limits.seconds:g} s")
            if not selector.select(_TICK_SECONDS):
                yield b""
                continue
            chunk = os.read(output, _CHUNK_BYTES)
            if not chunk:
                return
            yield chunk


@contextmanager
def _child(asp: str, limits: GroundingLimits) -> Iterator[subprocess.Popen[bytes]]:
    """The running child, killed and reaped on exit."""
    with _scratch_file() as source, _scratch_file() as errors:
        source.write(asp.encode())
        source.seek(0)
        command = [sys.executable, "-I", "-S", "-c", _CHILD, _clingo_paths(), str(limits.mebibytes << 20)]
        process = subprocess.Popen(
            [*command, "--mode=gringo", "--warn=none", "-"],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _scratch_file() -> BinaryIO:
    """A file in memory if the system supports it, because the disk may be full."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("ggp"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def _check_exit(process: subprocess.Popen[bytes], limits: GroundingLimits) -> None:
    """Raise unless clingo's exit code means success; 33 is out of memory, 65 an error in the text."""
    code = process.wait()
    if code in (0, 10, 20, 30):
        return
    if code in (33, 127, 128) or code < 0:
        raise GroundingLimitError(f"{limits.mebibytes} MiB")
    raise GroundingError(f"gringo rejected the program (exit code {code})")


def _clingo_paths() -> str:
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
