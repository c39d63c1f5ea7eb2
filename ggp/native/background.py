"""background: machine code of a circuit, compiled while it is already in use.

`NativeCode.begin` returns at once. What the cache has is loaded; the rest is compiled in a process of low
priority, the smallest part first, and put into the table of addresses that kernels look into before each
part. So kernels change from the interpreter to machine code between two parts, and results are the same.

    GGP_NATIVE=0    the interpreter only
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pickle
import subprocess
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import llvmlite
import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables
from ggp.jit.checked_store import CheckedStore
from ggp.jit.compiling import CACHE_FOLDER, IS_COMPILED
from ggp.native.code import LoadedCode, part_name, processor
from ggp.native.compile_process import HEADER, IMPOSSIBLE, Order
from ggp.native.schedule import Layout, Part
from ggp.processes.isolation import isolated_command, isolated_environment

CPU_SECONDS = 20.0
"""Of the process that compiles, for one circuit and row width."""
SECONDS_PER_INPUT = 0.0002
"""CPU seconds to compile one input of a gate, in large circuits, on a slow core."""
CHOICE_OPERATIONS = 4
"""Operations to count or to select, for each move: each takes as long to compile as an input of a gate."""
WIDTHS = (1, 2, 4, 8, 16, 32)
"""Row widths, in words, that there is machine code for; entry k of a table of addresses is for 2**k words."""

_loaded: dict[int, list[LoadedCode]] = {}
"""Code by the `id` of its table of addresses: kept as long as the table is."""
_processes: set[subprocess.Popen[bytes]] = set()


def is_native_wanted() -> bool:
    """Whether machine code is used: kernels are compiled, and GGP_NATIVE is not 0."""
    return IS_COMPILED and os.environ.get("GGP_NATIVE") != "0"


class NativeCode:
    """Machine code of one circuit; `begin` may be called for several row widths, from any thread.

    addresses   int64[len(Part), len(WIDTHS) or more]: where kernels look the code up
    """

    def __init__(self, tables: CircuitTables, layout: Layout, addresses: NDArray[np.int64]) -> None:
        self._tables, self._layout, self._addresses = tables, layout, addresses
        self._threads: dict[int, threading.Thread] = {}
        self._lock = threading.Lock()

    def begin(self, words: int, cpu_seconds: float = CPU_SECONDS) -> None:
        """Load or compile, in a thread, the code for rows of `words` words, unless that has begun."""
        if words not in WIDTHS or not is_native_wanted():
            return
        with self._lock:
            if words not in self._threads:
                thread = threading.Thread(target=self._run, args=(words, cpu_seconds), daemon=True)
                self._threads[words] = thread
                thread.start()

    def wait(self, words: int, seconds: float | None = None) -> bool:
        """Wait until `begin` has done what it can; return whether all parts are machine code."""
        thread = self._threads.get(words)
        if thread is not None:
            thread.join(seconds)
        return words in WIDTHS and bool((self._addresses[:, WIDTHS.index(words)] != 0).all())

    def _run(self, words: int, cpu_seconds: float) -> None:
        store, missing = _store(), []
        for part in self._affordable(cpu_seconds):
            code = store.load(self._name(part, words))
            if code is None or not self._put(code, part, words):
                missing.append(part)
        if not missing:
            return
        order = Order(self._tables, self._layout, tuple(missing), words, cpu_seconds)
        for part, code in _compiled(order):
            if self._put(code, part, words):
                store.save(self._name(part, words), code)

    def _affordable(self, cpu_seconds: float) -> list[Part]:
        """The parts that can be compiled within the budget, the smallest first."""
        starts = self._tables.first_input[[0, *self._tables.phase_end]]
        moves = CHOICE_OPERATIONS * int(self._tables.first_move[-1])
        inputs = dict(zip(Part, [*np.diff(starts).tolist(), moves, moves], strict=True))
        parts = sorted(Part, key=lambda part: inputs[part])
        seconds = SECONDS_PER_INPUT * np.cumsum([inputs[part] for part in parts])
        return [part for part, end in zip(parts, seconds, strict=True) if end <= cpu_seconds]

    def _put(self, object_code: bytes, part: Part, words: int) -> bool:
        """Load code into this process and publish its address; return whether it is as it should be."""
        if object_code == IMPOSSIBLE:
            return True
        try:
            code = LoadedCode(object_code, part)
        except RuntimeError:
            return False
        key = id(self._addresses)
        with self._lock:
            if key not in _loaded:
                _loaded[key] = []
                # At exit kernels may still run in other threads, so code is not dropped then.
                weakref.finalize(self._addresses, _loaded.pop, key).atexit = False
            _loaded[key].append(code)
        self._addresses[part, WIDTHS.index(words)] = code.address
        return True

    def _name(self, part: Part, words: int) -> str:
        digest = hashlib.sha256(repr((_environment(), words, part)).encode())
        digest.update(self._digest)
        return f"{part_name(part)}-{words}-{digest.hexdigest()[:32]}.native"

    @functools.cached_property
    def _digest(self) -> bytes:
        digest = hashlib.sha256()
        for part in (*self._tables, *self._layout):
            array = np.ascontiguousarray(part)
            digest.update(repr((array.dtype.str, array.shape)).encode())
            digest.update(array.tobytes())
        return digest.digest()


def _compiled(order: Order) -> Iterator[tuple[Part, bytes]]:
    """The parts and object code that a process of low priority makes of an order, as they come."""
    try:
        process = subprocess.Popen(
            isolated_command("ggp.native.compile_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=isolated_environment(),
        )
    except OSError:
        return
    _processes.add(process)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with suppress(OSError):
            pickle.dump(order, process.stdin)
            process.stdin.flush()  # and not closed: its end is that of the process
        while len(header := process.stdout.read(HEADER.size)) == HEADER.size:
            part, size = HEADER.unpack(header)
            code = process.stdout.read(size)
            if len(code) < size:  # it was ended while it wrote
                return
            yield Part(part), code
    finally:
        process.kill()
        process.wait()
        with suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        _processes.discard(process)


@atexit.register
def _end_processes() -> None:
    for process in list(_processes):
        process.kill()


def _store() -> CheckedStore:
    # In the folder of kernels, which is this user's alone.
    return CheckedStore(CACHE_FOLDER and CACHE_FOLDER / "native")


@functools.cache
def _environment() -> tuple[object, ...]:
    """What code depends on besides the circuit: the processor and what makes the code."""
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return (*processor(), llvmlite.__version__, hashlib.sha256(b"".join(sources)).hexdigest())
