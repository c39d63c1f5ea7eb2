"""Compile parts in a process of low priority: `python -m ggp.native.compile_process`.

It reads one pickled `Order` from its input and writes, for every part in the order of the request,
`HEADER.pack(part, size)` and `size` bytes of object code. It ends when its CPU seconds are used up, and when
its input ends: then the process that ordered is no more, however it ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
from contextlib import suppress
from typing import NamedTuple

from ggp.circuit.tables import CircuitTables
from ggp.native.code import compile_part
from ggp.native.schedule import Layout, Part, ScheduleError

HEADER = struct.Struct("<Bq")
IMPOSSIBLE = b""
"""In place of the code of a part that cannot be compiled."""
NICENESS = 10


class Order(NamedTuple):
    """What to compile.

    parts         in order
    words         of a row
    cpu_seconds   for all of it
    """

    tables: CircuitTables
    layout: Layout
    parts: tuple[Part, ...]
    words: int
    cpu_seconds: float


def _run() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts of a terminal are meant for the parent
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    order: Order = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_input, daemon=True).start()
    _limit_cpu_seconds(order.cpu_seconds)
    with suppress(BrokenPipeError):
        for part in order.parts:
            try:
                code = compile_part(order.tables, order.layout, part, order.words)
            except ScheduleError:
                code = IMPOSSIBLE
            sys.stdout.buffer.write(HEADER.pack(part, len(code)) + code)
            sys.stdout.buffer.flush()


def _end_with_input() -> None:
    # Unbuffered: the end of this process would wait for the lock of `sys.stdin.buffer`.
    while os.read(0, 1):
        pass
    os._exit(0)


def _limit_cpu_seconds(seconds: float) -> None:
    """End this process by a signal when it has used so much of a processor."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, allowed = max(1, round(seconds)), resource.getrlimit(resource.RLIMIT_CPU)[1]
    if allowed != resource.RLIM_INFINITY:
        limit = min(limit, allowed)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))


if __name__ == "__main__":
    _run()
