"""background: machine code of a circuit, compiled while it is already in use.

`NativeCode.begin` returns at once. What the cache has is loaded; the rest is compiled in a process of low
priority, the smallest part first, and put into the table of addresses that kernels look into before each
part. So kernels change from the interpreter to machine code between two parts, and results are the same.

    GGP_NATIVE=0    or off or no: the interpreter only
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

import llvmlite
import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables
from ggp.jit.checked_store import CheckedStore
from ggp.jit.compiling import CACHE_FOLDER, IS_COMPILED
from ggp.native.code import LoadedCode, part_name, processor
from ggp.native.compile_client import CLIENT, CompileError
from ggp.native.compile_limit import COMPILE_THREAD, CompileLimit
from ggp.native.compile_process import Order, Outcome
from ggp.native.parts import PHASES_OF, SINGLE_PARTS, Layout, Part

SECONDS_PER_INPUT = 0.0001
"""CPU seconds to compile one input of a gate: 0.00006 in large circuits, twice that in small ones."""
CHOICE_OPERATIONS = 4
"""Operations to count or to select, for each move: each takes as long to compile as an input of a gate."""
WIDTHS = (1, 2, 4, 8, 16, 32)
"""Row widths, in words, that there is machine code for; entry k of a table of addresses is for 2**k words."""
CACHE_MEBIBYTES = 256
"""Of machine code that is kept; the least recently used goes first."""
SUFFIX = ".native"
_IMPOSSIBLE = b""
_OUT_OF_BUDGET = b"out of budget "
"""Kept in place of object code: there is none; there is none within the CPU seconds that follow."""

_logger = logging.getLogger("ggp.native")
_loaded: dict[int, list[LoadedCode]] = {}
"""Code by the `id` of its table of addresses: kept as long as the table is."""
_loading = threading.Lock()
"""Held where `_loaded` changes: several circuits, each with threads of its own, share a table."""


def is_native_wanted() -> bool:
    """Whether machine code is used: kernels are compiled, and GGP_NATIVE does not switch it off."""
    return IS_COMPILED and os.environ.get("GGP_NATIVE", "").lower() not in ("0", "off", "no")


class NativeCode:
    """Machine code of one circuit; `begin` may be called for several row widths, from any thread.

    addresses   int64[len(Part), len(WIDTHS) or more]: where kernels look the code up
    parts       what is compiled
    limit       how long that may take
    name        of the game, in the log
    """

    def __init__(
        self,
        tables: CircuitTables,
        layout: Layout,
        addresses: NDArray[np.int64],
        *,
        parts: Sequence[Part] = SINGLE_PARTS,
        limit: CompileLimit | None = None,
        name: str = "game",
    ) -> None:
        self._tables, self._layout, self._addresses = tables, layout, addresses
        self.parts, self.limit, self.name = tuple(parts), limit or CompileLimit(), name
        self._threads: dict[int, threading.Thread] = {}
        self._tried: dict[int, float] = {}
        self._lock = threading.Lock()

    def begin(self, words: int) -> None:
        """Load or compile, in a thread, the code for rows of `words` words.

        Unless a thread does, or one has done what it can in as many CPU seconds.
        """
        if words not in WIDTHS or not is_native_wanted() or not self.limit.is_on:
            return
        with self._lock:
            is_running = words in self._threads and self._threads[words].is_alive()
            if not is_running and self.limit.cpu_seconds > self._tried.get(words, -1.0):
                thread = threading.Thread(
                    target=self._run, args=(words, self.limit.cpu_seconds), name=COMPILE_THREAD, daemon=True
                )
                self._threads[words] = thread
                thread.start()

    def wait(self, words: int, seconds: float | None = None) -> bool:
        """Wait until `begin` has done what it can; return whether all parts are machine code."""
        thread = self._threads.get(words)
        if thread is not None:
            thread.join(seconds)
        column = WIDTHS.index(words) if words in WIDTHS else None
        return column is not None and bool((self._addresses[list(self.parts), column] != 0).all())

    def _run(self, words: int, cpu_seconds: float) -> None:
        try:
            self._begin(words, cpu_seconds)
        finally:  # not in the process that a fork makes meanwhile: that one begins again
            self._tried[words] = cpu_seconds

    def _begin(self, words: int, cpu_seconds: float) -> None:
        missing = self._load(self.parts, words, cpu_seconds)
        if not self.affordable(missing, cpu_seconds):
            return
        with CLIENT.turn(_store().folder):
            # Other processes may have compiled the same circuit meanwhile.
            missing = self.affordable(self._load(missing, words, cpu_seconds), cpu_seconds)
            if missing:
                self._compile(missing, words, cpu_seconds)

    def _compile(self, parts: list[Part], words: int, cpu_seconds: float) -> None:
        """Compile parts in order, load them and keep them; keep, too, which ones take longer."""
        left = cpu_seconds
        try:
            for answer in CLIENT.compile(Order(self._tables, self._layout, tuple(parts), words, cpu_seconds)):
                left -= answer.cpu_seconds
                content = answer.content if answer.outcome == Outcome.CODE else _IMPOSSIBLE
                if answer.outcome == Outcome.FAILED:
                    self._warn(answer.part, answer.content.decode())
                elif self._put(content, answer.part, words):
                    self._keep(content, answer.part, words)
        except CompileError as error:
            if error.was_ended:
                return
            if not error.is_out_of_budget:
                self._warn(error.part, str(error))
                return
            _logger.info(
                "%s: %.1f CPU seconds do not suffice to compile %s; it stays with the interpreter",
                *(self.name, left, part_name(error.part)),
            )
            for part in parts[parts.index(error.part) :]:
                self._keep(_OUT_OF_BUDGET + repr(left).encode(), part, words)

    def _load(self, parts: Sequence[Part], words: int, cpu_seconds: float) -> list[Part]:
        """Load what the cache has; return the parts that are still to be compiled within `cpu_seconds`."""
        store, missing = _store(), []
        for part in parts:
            entry = self._entry(part, words)
            content = store.load(entry)
            if content is None:
                missing.append(part)
            elif content.startswith(_OUT_OF_BUDGET):
                if float(content.removeprefix(_OUT_OF_BUDGET)) < cpu_seconds:
                    missing.append(part)
            elif self._put(content, part, words):
                store.touch(entry)
            else:
                missing.append(part)
        return missing

    def affordable(self, parts: Sequence[Part], cpu_seconds: float) -> list[Part]:
        """Those of `parts` that can be compiled within the budget, the smallest first."""
        starts = self._tables.first_input[[0, *self._tables.phase_end]].tolist()
        moves = CHOICE_OPERATIONS * int(self._tables.first_move[-1])

        def inputs(part: Part) -> int:
            gates = sum(starts[phase + 1] - starts[phase] for phase in PHASES_OF.get(part, ()))
            return int(gates + moves * (part >= Part.COUNT))

        parts = sorted(parts, key=inputs)
        ends = SECONDS_PER_INPUT * np.cumsum([inputs(part) for part in parts])
        return [part for part, end in zip(parts, ends, strict=True) if end < cpu_seconds]

    def _put(self, object_code: bytes, part: Part, words: int) -> bool:
        """Load code into this process and publish its address; return whether it is as it should be."""
        if object_code == _IMPOSSIBLE:
            return True
        try:
            code = LoadedCode(object_code, part)
        except RuntimeError as error:
            self._warn(part, f"not loaded: {error}")
            return False
        key = id(self._addresses)
        with _loading:
            if key not in _loaded:
                _loaded[key] = []
                # At exit kernels may still run in other threads, so code is not dropped then.
                weakref.finalize(self._addresses, _loaded.pop, key).atexit = False
            _loaded[key].append(code)
        self._addresses[part, WIDTHS.index(words)] = code.address
        return True

    def _warn(self, part: Part, reason: str) -> None:
        _logger.warning(
            "%s: no machine code for %s (%s); it stays with the interpreter",
            *(self.name, part_name(part), reason),
        )

    def _keep(self, content: bytes, part: Part, words: int) -> None:
        store, entry = _store(), self._entry(part, words)
        if store.save(entry, content):
            store.shrink(SUFFIX, CACHE_MEBIBYTES << 20, newest=entry)

    def _entry(self, part: Part, words: int) -> str:
        digest = hashlib.sha256(repr((_environment(), words, part)).encode())
        digest.update(self._digest)
        return f"{part_name(part)}-{words}-{digest.hexdigest()[:32]}{SUFFIX}"

    @functools.cached_property
    def _digest(self) -> bytes:
        digest = hashlib.sha256()
        for part in (*self._tables, *self._layout.turns, *self._layout[1:]):
            array = np.ascontiguousarray(part)
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(array.tobytes())
        return digest.digest()


def _store() -> CheckedStore:
    # In the folder of kernels, which is this user's alone.
    return CheckedStore(CACHE_FOLDER and CACHE_FOLDER / "native")


@functools.cache
def _environment() -> tuple[object, ...]:
    """What code depends on besides the circuit: the processor and what makes the code."""
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return (*processor(), llvmlite.__version__, hashlib.sha256(b"".join(sources)).hexdigest())
